"""How a fact's value can be wrong, by the type of the fact, and when nothing can tell that it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from harness.compare.readings import comparable
from harness.model.facts import SURFACES, Column
from harness.model.patterns import matches
from harness.model.values import NULL, Reading
from harness.model.verdict import Agreement, FactRow
from harness.spec.facts import FactSpec, FactType, facts_of

NUMBERS = (FactType.COUNT, FactType.MILLISECONDS)
OFF = 7
"""A plain change of a count, other than off by one."""


class Change(NamedTuple):
    """Another value. `value` is what stands in its place, as JSON would have it; `spelled` whether the type can be
    spelled so."""

    kind: str
    value: object
    spelled: bool = True


def other_values(entry: FactSpec, text: str | None) -> Iterator[Change]:
    """Every way in which the value `text` (None: null) of a label can be another one."""
    if text is None:
        yield from _invented(entry)
        return
    yield Change("nulled", None)
    match entry.type:
        case FactType.COUNT | FactType.MILLISECONDS:
            yield from _other_counts(text)
        case FactType.BOOLEAN:
            yield Change("changed", "false" if text == "true" else "true")
            yield Change("capital letter", text.capitalize(), spelled=False)
            yield Change("boolean instead of string", text == "true", spelled=False)
        case FactType.ENUMERATION:
            yield from (Change(f"member {word}", word) for word in entry.members if word != text)
            yield Change("no member", "finished", spelled=False)
            yield Change("capital letter", text.capitalize(), spelled=False)
        case FactType.TEXT:
            yield Change("changed", _another_letter(text))
            yield Change("cut short", text[: len(text) // 2])
            yield Change("number instead of string", 1, spelled=False)


def _invented(entry: FactSpec) -> Iterator[Change]:
    """Values where there is none."""
    match entry.type:
        case FactType.COUNT | FactType.MILLISECONDS:
            yield Change("zero instead of null", "0")
            yield Change("number instead of null", str(OFF))
        case FactType.BOOLEAN:
            yield from (Change(f"{word} instead of null", word) for word in ("false", "true"))
        case FactType.ENUMERATION:
            yield from (Change(f"member {word} instead of null", word) for word in entry.members[:2])
        case FactType.TEXT:
            yield Change("text instead of null", "something")


def _other_counts(text: str) -> Iterator[Change]:
    number = int(text) if text.isascii() and text.isdecimal() else 0
    yield Change("changed", str(number + OFF))
    yield Change("one more", str(number + 1))
    if number:
        yield Change("one less", str(number - 1))
        yield Change("zeroed", "0")
    yield Change("leading zero", f"0{text}", spelled=False)
    yield Change("number instead of string", number, spelled=False)


def _another_letter(text: str) -> str:
    last = text[-1:]
    return text[:-1] + ("y" if last == "x" else "x")


def says(reading: Reading) -> bool:
    """Whether a reading can be held against anything: known, null or absent."""
    return comparable(reading) is None


def undecidable(row: FactRow, column: Column, value: str | None) -> str:
    """Why no rule says anything about another value of this fact there, "" when one does.

    Decided from what the fact is held against, never from what became of a mutant: a well spelled value can be wrong
    only where a reference, a second surface, a second reading on this one or the author's pattern decides.
    """
    entry = facts_of(row.kind)[row.label]
    cell = row.cells[column]
    if sum(1 for fact in cell.readings if says(fact.value)) > 1:
        return ""
    decided = comparable(row.reference) is None
    if decided and cell.agreement is not Agreement.NOT_COMPARABLE:
        return ""
    showing = [name for name in SURFACES if any(says(fact.value) for fact in row.cells[name].readings)]
    if not decided and entry.relative is None and len(showing) > 1:
        return ""
    pattern = next((str(fact.value) for fact in row.cells[Column.EXPECTED].readings if fact.via == "pattern"), "")
    if not decided and pattern and (value is None or not matches(pattern, value)):
        return ""
    why = cell.reason or comparable(row.reference)
    told = f"{why.reason.value.replace('_', ' ')}: {why.detail}" if why is not None else "it agrees with a pattern only"
    return f"nothing to hold it against ({told})"


def repairs(row: FactRow, column: Column, value: str | None) -> bool:
    """Whether the value may be what a disagreeing fact should have been: no mutant, a mended release."""
    if row.cells[column].agreement is not Agreement.DISAGREE:
        return False
    if facts_of(row.kind)[row.label].relative is not None:
        return True
    wanted = row.reference
    return str(wanted) == value if value is not None else wanted == NULL
