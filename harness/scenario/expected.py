"""Values as scenario tables spell them: literal, ``null``, ``absent``, or a pattern for what only the run can know."""

from __future__ import annotations

import msgspec

from harness.model.errors import UsageError
from harness.model.facts import CardKind
from harness.model.patterns import Pattern, is_lower_bound
from harness.model.values import ABSENT, NULL, Reading, known
from harness.spec.facts import FactType, fact, spelling_error

WORKSPACE = "<workspace>"
"""Stands for the neutral absolute path at which the run happened."""


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """One cell of a scenario's table: exactly one of a reading (literal, null or absent) or a pattern's spelling."""

    reading: Reading | None = None
    pattern: str = ""


def parse_expected(text: str, kind: CardKind, label: str, *, where: str) -> Expected:
    """Read a table cell. ``null`` and ``absent`` are states; quote them to mean the words.

    Raises UsageError for a label that the card kind does not have, or a literal that its type cannot spell.
    """
    try:
        entry = fact(kind, label)
    except KeyError:
        raise UsageError(
            f"{label!r} is not a label of a {kind.value} card", where=where, hint="`harness facts` lists them"
        ) from None
    match text:
        case "null":
            if not entry.nullable:
                raise UsageError(f"{label} can never be null", where=where)
            return Expected(reading=NULL)
        case "absent":
            return Expected(reading=ABSENT)
        case Pattern.COUNT | Pattern.MILLISECONDS | Pattern.TEXT:
            return Expected(pattern=text)
    if is_lower_bound(text):
        if entry.type not in (FactType.COUNT, FactType.MILLISECONDS):
            raise UsageError(f"{label} is no number, {text} cannot be held against it", where=where)
        return Expected(pattern=text)
    if text.startswith("<") and not text.startswith(WORKSPACE):
        raise UsageError(f"{text} is not a pattern; use one of {', '.join(Pattern)}", where=where)
    literal = text[1:-1] if len(text) >= 2 and text[0] == text[-1] == '"' else text
    if problem := spelling_error(entry, literal):
        raise UsageError(f"{label}: {problem}", where=where)
    return Expected(reading=known(literal))
