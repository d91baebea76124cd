"""Mutants of the rows that state facts on the local agent: values, outcomes, labels, and whether they stand at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from harness.model.facts import CardFacts, Column, Fact
from harness.model.values import State, Value
from harness.selfcheck.frames import Frames, Tree, at
from harness.selfcheck.mutant import Baseline, Mutant
from harness.selfcheck.subject import Subject
from harness.selfcheck.values import other_values, repairs, undecidable
from harness.spec.facts import FactSpec, facts_of

LOCAL_AGENT = (Column.LOCAL_AGENT_LIVE, Column.LOCAL_AGENT_REOPEN)
_ROW_OUTCOMES = ("success", "failure", "partial")
Rows = Callable[[list[Any], int], None]
"""Changes the rows of a block, given the index of one."""


def wire_facts(subject: Subject, baseline: Baseline) -> Iterator[Mutant]:
    """Every mutant of every fact row on both columns of the local agent."""
    for column in LOCAL_AGENT:
        capture = subject.captures.get(column)
        facts = baseline.examined.columns.get(column)
        if capture is None or facts is None:
            continue
        frames = Frames(subject.raw[capture.file])
        for card in facts.cards:
            for fact in card.facts:
                yield from _of_fact(
                    _Row(
                        subject=subject,
                        baseline=baseline,
                        column=column,
                        file=capture.file,
                        frames=frames,
                        card=card,
                        fact=fact,
                    )
                )


class _Row:
    """One fact row, and how to make a mutant of it."""

    def __init__(
        self,
        *,
        subject: Subject,
        baseline: Baseline,
        column: Column,
        file: str,
        frames: Frames,
        card: CardFacts,
        fact: Fact,
    ) -> None:
        self.subject = subject
        self.column = column
        self.file = file
        self.frames = frames
        self.card = card
        self.fact = fact
        self.entry: FactSpec = facts_of(card.kind)[fact.label]
        self.row = baseline.rows.get((card.path, fact.label, fact.ordinal))
        self.text = fact.value.text if isinstance(fact.value, Value) else None
        self.state = fact.value.state if isinstance(fact.value, Value) else State.ABSENT

    def mutant(self, class_: str, kind: str, requirement: str, edit: Rows, equivalent: str = "") -> Mutant:
        return Mutant(
            class_=class_,
            kind=kind,
            requirement=requirement,
            where=self.column.value,
            card=self.card.path,
            label=self.fact.label,
            ordinal=self.fact.ordinal,
            card_kind=self.card.kind.value,
            state=self.state.value,
            equivalent=equivalent,
            examine=partial(self._examine, edit),
        )

    def _examine(self, edit: Rows) -> Any:
        place = self.fact.place
        line, pointer = (place.line or 0, place.pointer or "") if place is not None else (0, "")
        holder, _, index = pointer.rpartition("/")

        def change(tree: Tree) -> None:
            edit(at(tree, holder), int(index))

        return self.subject.with_members({self.file: self.frames.edited(line, change)})


def _of_fact(row: _Row) -> Iterator[Mutant]:
    if row.row is None or row.fact.place is None:
        return
    entry = row.entry
    for change in other_values(entry, row.text):
        value = change.value if isinstance(change.value, str) else None
        if change.spelled and repairs(row.row, row.column, value):
            continue
        class_ = "fact-null" if row.text is None or change.value is None else "fact-value"
        requirement, equivalent = entry.requirement, ""
        if change.spelled:
            equivalent = undecidable(row.row, row.column, value)
        else:
            class_, requirement = "fact-spelling", _SPELLED.get(entry.type.value, "general.row-members")
        yield row.mutant(class_, change.kind, requirement, partial(_set, "value", change.value), equivalent)
    yield row.mutant("fact-row", "dropped", entry.requirement, _drop)
    yield row.mutant("fact-row", "duplicated", "general.exact-labels", _duplicate)
    yield row.mutant("fact-row", "without its value", "general.row-members", _without_value)
    yield row.mutant("fact-row", "foreign member", "general.row-members", partial(_set, "kind", "fact"))
    for kind, label in (("unknown label", f"{row.fact.label}s"), ("label in small letters", row.fact.label.lower())):
        yield row.mutant("fact-row", kind, "general.exact-labels", partial(_set, "label", label))
    yield from _swapped(row)
    for outcome in _ROW_OUTCOMES:
        yield row.mutant("row-outcome", outcome, "general.row-members", partial(_set, "outcome", outcome))


_SPELLED = {
    "count": "general.count-spelling",
    "milliseconds": "general.count-spelling",
    "boolean": "general.boolean-spelling",
}


def _swapped(row: _Row) -> Iterator[Mutant]:
    """The value exchanged with that of the next row of the card that has another one."""
    values = [
        (fact, fact.value.text) for fact in row.card.facts if isinstance(fact.value, Value) and fact.place is not None
    ]
    own = next((index for index, (fact, _) in enumerate(values) if fact is row.fact), None)
    if own is None:
        return
    pointer = _holder(row.fact)
    order = [*values[own + 1 :], *values[:own]]
    partner = next((fact for fact, text in order if text != row.text and _holder(fact) == pointer), None)
    if partner is None or row.row is None:
        return
    other = int((partner.place.pointer or "").rpartition("/")[2]) if partner.place is not None else 0
    yield row.mutant("fact-row", "swapped with a sibling", row.entry.requirement, partial(_swap, other))


def _holder(fact: Fact) -> str:
    return (fact.place.pointer or "").rpartition("/")[0] if fact.place is not None else ""


def _set(member: str, value: object, rows: list[Any], index: int) -> None:
    rows[index][member] = value


def _drop(rows: list[Any], index: int) -> None:
    del rows[index]


def _duplicate(rows: list[Any], index: int) -> None:
    rows.insert(index, dict(rows[index]))


def _without_value(rows: list[Any], index: int) -> None:
    del rows[index]["value"]


def _swap(other: int, rows: list[Any], index: int) -> None:
    rows[index]["value"], rows[other]["value"] = rows[other]["value"], rows[index]["value"]
