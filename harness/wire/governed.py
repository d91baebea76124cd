"""What card-facts.md asks of cards and only the wire shows: that facts stand in results blocks and nowhere else, and
that the ids by which cards are linked are the host's public ones.

Source: card-facts.md, opening paragraphs (``general.results-blocks``, ``general.public-child-ids``,
``general.execution-label``). A task's execution identity is made of the backend's own call ids and the task's number;
neither the whole nor a call id in it may be an id that a client could open.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from harness.model.facts import CardKind
from harness.spec.facts import facts_of
from harness.wire.breaches import Breach, Key
from harness.wire.capture import Line
from harness.wire.factrows import fact_rows, kind_of
from harness.wire.fold import Snapshot
from harness.wire.locate import Locator
from harness.wire.reading import Reading
from harness.wire.shapes import Card, Children, Progress, Resources, Results

IN_RESULTS: Final = "general.results-blocks"
CHILD_IDS: Final = "general.public-child-ids"
EXECUTION: Final = "general.execution-label"
_IDENTITY = "Task execution identity"
_NUMBER = re.compile(r"g\d+")


def judge(reading: Reading) -> tuple[tuple[Breach, ...], dict[str, int]]:
    """What breaks these rules in a capture, and by rule how many folded cards, identities and children were tried."""
    breaches: list[Breach] = []
    cases: Counter[str] = Counter()
    for scope in _scopes(reading):
        governed = [held for held in scope if kind_of(held.card) is not None]
        cases[IN_RESULTS] += sum(any(type(block) is Results for block in held.card.blocks) for held in governed)
        cases[CHILD_IDS] += sum(len(list(_children(held.card))) for held in governed)
        cases[EXECUTION] += len(set(_identities(governed)))
        for held in governed:
            breaches += _elsewhere(held)
        breaches += _inner_ids(scope, set(_identities(governed)))
    return tuple(_once(breaches)), {rule: count for rule, count in cases.items() if count}


def _scopes(reading: Reading) -> Iterator[list[Snapshot]]:
    """The folded cards of every run, and of every history."""
    for run in reading.runs:
        yield [activity.snapshot for activity in run.activities.values() if activity.snapshot is not None]
    for history in reading.histories:
        yield [entry.snapshot for entry in history.entries if entry.snapshot is not None]


def _children(card: Card) -> Iterator[tuple[str, str]]:
    """Pointer and id of every displayed child."""
    for number, block in enumerate(card.blocks):
        if isinstance(block, Children):
            for place, child in enumerate(block.children):
                yield f"/blocks/{number}/children/{place}/activity_id", child.activity_id


def _identities(cards: Iterable[Snapshot]) -> Iterator[str]:
    for held in cards:
        if kind_of(held.card) is CardKind.TASK:
            for found in fact_rows(held.card, CardKind.TASK):
                if found.entry.label == _IDENTITY and found.row.value:
                    yield found.row.value


def _inner_ids(cards: Iterable[Snapshot], identities: set[str]) -> Iterator[Breach]:
    """Public ids that are an execution identity, or one of the backend's ids that an identity is made of."""
    parts = {part for identity in identities for part in identity.split("/") if not _NUMBER.fullmatch(part)}
    parts -= identities
    for held in cards:
        card = held.card
        ids = [("/activity_id", card.activity_id), ("/card_id", card.card_id)]
        ids += [("/parent_activity_id", card.parent_activity_id or ""), ("/task_id", card.task_id or "")]
        for pointer, identity in (*ids, *_children(card)):
            if identity in identities:
                expected = "a public id that is no execution identity"
                yield _breach(EXECUTION, held, pointer, label=_IDENTITY, expected=expected, observed=identity)
            elif identity in parts:
                seen = f"the backend's own {identity}"
                yield _breach(CHILD_IDS, held, pointer, label="", expected="a public id", observed=seen)


def _elsewhere(held: Snapshot) -> Iterator[Breach]:
    """Rows of other blocks that bear the label of a fact."""
    kind = kind_of(held.card)
    labels = facts_of(kind) if kind is not None else {}
    for number, block in enumerate(held.card.blocks):
        rows: list[tuple[str, str]] = []
        if isinstance(block, Resources):
            rows = [(f"/blocks/{number}/rows/{place}/label", row.label) for place, row in enumerate(block.rows)]
        elif isinstance(block, Progress):
            rows = [(f"/blocks/{number}/label", block.label)]
        for pointer, label in rows:
            if label in labels:
                expected, seen = "facts in results blocks only", f"{label!r} in another block"
                yield _breach(IN_RESULTS, held, pointer, label=label, expected=expected, observed=seen)


def _once(breaches: Iterable[Breach]) -> Iterator[Breach]:
    """The first breach of a rule in each card, with the number of all that it stands for."""
    found: dict[tuple[str, Key | None, str], list[Breach]] = {}
    for breach in breaches:
        found.setdefault((breach.rule, breach.key, breach.label), []).append(breach)
    for same in found.values():
        yield msgspec.structs.replace(same[0], times=len(same))


def _breach(rule: str, held: Snapshot, pointer: str, *, label: str, expected: str, observed: str) -> Breach:
    at: Line = held.spot
    return Breach(
        rule=rule,
        key=held.key,
        label=label,
        expected=expected,
        observed=observed,
        line=at.number,
        pointer=held.pointer + pointer,
        offset=Locator(at.text).offset(held.pointer + pointer),
        times=1,
    )
