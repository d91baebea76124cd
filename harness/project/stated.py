"""What one rule says of one label, and how tables of such rules become the facts of a card."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import msgspec

from harness.model.facts import CardKind, Fact, Place
from harness.model.values import NULL, NotComparable, Reading, Reason, State, Value, known, nullable
from harness.spec.facts import fact

E = TypeVar("E")


class Stated(msgspec.Struct, frozen=True, kw_only=True):
    """One rule's word: the reading, what it was read from (`Fact.via`) and where that stands."""

    value: Reading
    via: str
    place: Place | None = None


Rule = Callable[[E], Stated | tuple[Stated, ...]]
"""A rule of one derivation: evidence in, one reading out, or as many as there are rows for a repeated label."""


def by_rule(value: Reading | bool | int | str) -> Stated:
    """What card-facts.md says without looking at any record."""
    return Stated(value=value if isinstance(value, Value | NotComparable) else known(value), via="rule")


def silent(reason: Reason, detail: str, via: str) -> Stated:
    """That this derivation says nothing here, and why."""
    return Stated(value=NotComparable(reason=reason, detail=detail), via=via)


def silent_rows(kind: CardKind, label: str, why: Stated, *, rows: int | None = None) -> tuple[Stated, ...]:
    """`why` for every row that a repeated label may have (`rows`, when their number is known), so that none of them
    counts as absent."""
    bound = fact(kind, label).bound or 1
    return (why,) * (bound if rows is None else min(rows, bound))


def count_of(reading: Reading) -> int | None:
    """The number that a count says, or None when it says none."""
    return int(reading.text) if isinstance(reading, Value) and reading.text is not None else None


def is_null(reading: Reading) -> bool:
    return isinstance(reading, Value) and reading.state is State.NULL


def derived(sources: Iterable[Reading], value: Reading) -> Reading:
    """`value`, unless a source says nothing at all: then its reason, for nothing can be worked out from it."""
    return next((source for source in sources if isinstance(source, NotComparable)), value)


def over(text: str, limit: int) -> bool:
    """Whether a text is over `limit` bytes of UTF-8."""
    return len(text.encode()) > limit


def submitted_text(text: str | None, *, limit: int, via: str, place: Place) -> Stated:
    """A text as it was submitted, where the card must show exactly that.

    Null for None. How a text looks after sanitizing control characters, or cut down to `limit` bytes, is not in the
    rules: such a text cannot be compared.
    """
    if text is None:
        return Stated(value=NULL, via=via, place=place)
    if any(not char.isprintable() for char in text):
        return silent(Reason.NOT_DERIVABLE, "the rules do not say how control characters are sanitized", via)
    if over(text, limit):
        return silent(Reason.NOT_DERIVABLE, f"the rules do not say how a text over {limit} bytes is shortened", via)
    return Stated(value=known(text), via=via, place=place)


def stored_text(text: str | None, *, via: str, place: Place | None) -> Stated:
    """A text as the host stored it for display; null for None.

    Stored texts are sanitized. One that still holds control characters has a displayed form that the rules do not give.
    """
    if text is not None and not text.isprintable():
        return silent(Reason.NOT_DERIVABLE, "the rules do not say how control characters are sanitized", via)
    return Stated(value=nullable(text), via=via, place=place)


def facts_from(table: Mapping[str, Rule[E]], evidence: E) -> tuple[Fact, ...]:
    """The facts of one card: every label of `table` by its rule, in the table's order."""
    facts: list[Fact] = []
    for label, rule in table.items():
        said = rule(evidence)
        rows = said if isinstance(said, tuple) else (said,)
        facts.extend(
            Fact(label=label, value=row.value, via=row.via, ordinal=ordinal, place=row.place)
            for ordinal, row in enumerate(rows)
        )
    return tuple(facts)
