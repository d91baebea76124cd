"""The rows of a card that state facts of card-facts.md: which they are, and whether they may stand as they do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from harness.model.facts import CardKind
from harness.spec import bounds
from harness.spec.facts import FactSpec, FactType, facts_of, spelling_error
from harness.wire.checking import Report, over
from harness.wire.shapes import Card, Results, Row

_KINDS = {kind: facts_of(kind) for kind in CardKind}
_ROW_BYTES = {"Warning": bounds.WARNING_BYTES, "Task activity": bounds.TASK_TEXT_BYTES}
"""Bytes of preview rows; what the catalogue bounds for them is how many there are."""
_SHOWN = 64
_label = attrgetter("label")


def kind_of(card: Card) -> CardKind | None:
    """The kind that card-facts.md governs, None for every other card. A task's own card bears its own activity id as
    its task id; every other subagent card is a batch."""
    if card.tool_kind == "code_mode":
        return CardKind.CODE_MODE
    if card.tool_kind == "subagent":
        return CardKind.TASK if card.task_id == card.activity_id else CardKind.SUBAGENT_BATCH
    return None


class FactRow(NamedTuple):
    """A row that states a fact. `ordinal` counts the rows of a repeated label from 0 and is 0 for all others; `pointer`
    leads from the card's root to the row."""

    entry: FactSpec
    row: Row
    ordinal: int
    pointer: str


def fact_rows(card: Card, kind: CardKind) -> Iterator[FactRow]:
    """All rows whose label the catalogue knows for this kind of card, in display order."""
    catalogue = _KINDS[kind]
    ordinals: dict[str, int] = {}
    for number, block in enumerate(card.blocks):
        if type(block) is not Results:
            continue
        for index, row in enumerate(block.rows):
            entry = catalogue.get(row.label)
            if entry is None:
                continue
            ordinal = 0
            if entry.repeated:
                ordinal = ordinals.get(row.label, 0)
                ordinals[row.label] = ordinal + 1
            yield FactRow(entry, row, ordinal, f"/blocks/{number}/rows/{index}")


def check_rows(card: Card, report: Report) -> None:
    """The rules for rows of results: of every card their bytes, and of the cards that card-facts.md governs that they
    state facts of the catalogue, well spelled and not twice."""
    kind = kind_of(card)
    fine = _FINE[kind]
    labels: list[str] = []
    for number, block in enumerate(card.blocks):
        if type(block) is Results:
            labels += map(_label, block.rows)
            if not fine.issuperset(block.rows):
                _check_block(block, kind, f"/blocks/{number}/rows", report)
    if kind is not None and len(set(labels)) != len(labels):
        for label, count in Counter(labels).items():
            if count > 1 and label in _KINDS[kind]:
                _check_count(_KINDS[kind][label], count, report)


_FINE: dict[CardKind | None, set[Row]] = {kind: set() for kind in (None, *CardKind)}
"""Rows in which nothing was found wrong. A snapshot repeats most rows of the one before, and whether a row is fine
depends on nothing but the row and the kind of its card."""
_FINE_KEPT = 4_096


def _check_block(block: Results, kind: CardKind | None, at: str, report: Report) -> None:
    fine = _FINE[kind]
    for index, row in enumerate(block.rows):
        faults = list(_size_faults(row))
        if kind is not None:
            faults += _fact_faults(kind, row)
        for rule, member, expected, observed in faults:
            report(rule, member if kind is None else row.label[:_SHOWN], f"{at}/{index}/{member}", expected, observed)
        if not faults:
            if len(fine) >= _FINE_KEPT:
                fine.clear()
            fine.add(row)


def _check_count(entry: FactSpec, count: int, report: Report) -> None:
    if not entry.repeated:
        report("wire.fact-repeated", entry.label, "/blocks", "one row", f"{count} rows")
    elif entry.bound is not None and count > entry.bound:
        report("wire.fact-rows", entry.label, "/blocks", f"at most {entry.bound} rows", f"{count} rows")


Fault = tuple[str, str, str, str]
"""(rule, member of the row, expected, observed)"""


def _size_faults(row: Row) -> Iterator[Fault]:
    for member, text in (("label", row.label), ("value", row.value or "")):
        if (size := over(text, bounds.STRING_BYTES)) is not None:
            yield "wire.text-bytes", member, f"at most {bounds.STRING_BYTES} bytes", f"{size} bytes"


def _fact_faults(kind: CardKind, row: Row) -> Iterator[Fault]:
    if row.outcome != "unknown":
        yield "wire.fact-outcome", "outcome", "unknown", row.outcome
    entry = _KINDS[kind].get(row.label)
    if entry is None:
        yield "wire.fact-label", "label", f"a label of {kind.value} cards", repr(row.label)
    elif row.value is not None:
        if (wrong := spelling_error(entry, row.value)) is not None:
            yield "wire.fact-spelling", "value", entry.type.value, wrong
        bound = _ROW_BYTES.get(row.label) if entry.repeated else entry.bound
        if entry.type is FactType.TEXT and bound is not None and (size := over(row.value, bound)) is not None:
            yield "wire.fact-bytes", "value", f"at most {bound} bytes", f"{size} bytes"
