"""Values as scenario tables spell them: literal, ``null``, ``absent``, or a pattern for what only the run can know."""

from __future__ import annotations

import msgspec

from harness.model.errors import UsageError
from harness.model.facts import CardFacts, CardKind, Column, ColumnFacts, Fact, Place
from harness.model.patterns import Pattern, is_lower_bound
from harness.model.values import ABSENT, NULL, Reading, Value, known
from harness.spec.facts import FactType, fact, spelling_error

WORKSPACE = "<workspace>"
"""Stands for the neutral absolute path at which the run happened."""
_NUMBERS = (FactType.COUNT, FactType.MILLISECONDS)
_PATTERN_TYPES: dict[str, tuple[FactType, ...]] = {
    Pattern.COUNT: (FactType.COUNT,),
    Pattern.MILLISECONDS: (FactType.MILLISECONDS,),
    Pattern.TEXT: (FactType.TEXT,),
}


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """One cell of a scenario's table: exactly one of a reading (literal, null or absent) or a pattern's spelling."""

    reading: Reading | None = None
    pattern: str = ""


class ExpectedFact(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a scenario's table. `line` is the feature file's line of the row."""

    label: str
    ordinal: int
    value: Expected
    line: int


class ExpectedCard(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that the author expects of one card, whose place follows from the stimulus alone."""

    path: str
    kind: CardKind
    facts: tuple[ExpectedFact, ...]


def parse_expected(text: str, kind: CardKind, label: str, *, where: str) -> Expected:
    """Read a table cell. ``null`` and ``absent`` are states; quote them to mean the words, and ``""`` for no text.

    Raises UsageError for a label that the card kind does not have, an empty cell, a literal that the label's type
    cannot spell, or a pattern for values of another type.
    """
    try:
        entry = fact(kind, label)
    except KeyError:
        raise UsageError(
            f"{label!r} is not a label of a {kind.value} card", where=where, hint="`harness facts` lists them"
        ) from None
    match text:
        case "":
            raise UsageError(f"{label} has no value", where=where, hint='write null, absent or ""')
        case "null":
            if not entry.nullable:
                raise UsageError(f"{label} can never be null", where=where)
            return Expected(reading=NULL)
        case "absent":
            return Expected(reading=ABSENT)
    if is_lower_bound(text) or text in tuple(Pattern):
        if entry.type not in _PATTERN_TYPES.get(text, _NUMBERS):
            raise UsageError(f"{label} is of type {entry.type}, {text} cannot be held against it", where=where)
        return Expected(pattern=text)
    if text.startswith("<") and not text.startswith(WORKSPACE):
        raise UsageError(f"{label}: {text} is not one of the patterns {', '.join(Pattern)}", where=where)
    literal = text[1:-1] if len(text) >= 2 and text[0] == text[-1] == '"' else text
    if problem := spelling_error(entry, literal):
        raise UsageError(f"{label}: {problem}", where=where)
    return Expected(reading=known(literal))


def expected_column(cards: tuple[ExpectedCard, ...], *, file: str, workspace: str) -> ColumnFacts:
    """The author's tables as a column: literals come ``via`` ``table``, patterns ``via`` ``pattern``.

    `workspace` stands in for ``<workspace>`` in literals: only the run knows where it happened.
    """
    return ColumnFacts(
        column=Column.EXPECTED,
        cards=tuple(
            CardFacts(
                path=card.path,
                kind=card.kind,
                facts=tuple(_fact(stated, file, workspace) for stated in card.facts),
                place=Place(file=file, line=card.facts[0].line if card.facts else None),
            )
            for card in cards
        ),
    )


def _fact(stated: ExpectedFact, file: str, workspace: str) -> Fact:
    place = Place(file=file, line=stated.line)
    if stated.value.pattern:
        return Fact(
            label=stated.label,
            ordinal=stated.ordinal,
            value=known(stated.value.pattern),
            via="pattern",
            place=place,
        )
    reading = stated.value.reading
    if isinstance(reading, Value) and reading.text is not None:
        reading = known(reading.text.replace(WORKSPACE, workspace))
    return Fact(label=stated.label, ordinal=stated.ordinal, value=reading or ABSENT, via="table", place=place)
