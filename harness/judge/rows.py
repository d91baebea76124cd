"""The rules that comparisons of rows hold: which of a run's rows are cases of each, and how they ended.

The other structural rules are tried where captures and records are read (`Observation.cases`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.model.facts import SURFACES, Column
from harness.model.values import NULL, State, Value, known
from harness.model.verdict import Agreement, FactRow, Observation
from harness.spec.facts import facts_of
from harness.spec.requirements import Requirement


def governs(requirement: Requirement, row: FactRow) -> bool:
    """Whether a row is of a label and a card that the requirement is about."""
    return row.label in requirement.labels and row.kind in requirement.cards


def _governed(
    requirement: Requirement, observation: Observation, label: str, wanted: str, columns: Iterable[Column] = SURFACES
) -> Iterator[Agreement]:
    """The comparisons of a requirement's labels on cards of which the reference says `wanted` for `label`."""
    about = {row.card for row in observation.rows if row.label == label and row.reference == known(wanted)}
    for row in observation.rows:
        if row.card in about and governs(requirement, row) and isinstance(row.reference, Value):
            yield from (row.cells[column].agreement for column in columns)


def interrupted(requirement: Requirement, observation: Observation) -> Iterator[Agreement]:
    """Facts of scripts that the records know to be interrupted."""
    yield from _governed(requirement, observation, "Script outcome", "interrupted")


def replayed(requirement: Requirement, observation: Observation) -> Iterator[Agreement]:
    """Their outcome where they are replayed: it must read interrupted."""
    columns = (Column.LOCAL_AGENT_REOPEN, Column.MISSION_CONTROL_REOPEN)
    yield from _governed(requirement, observation, "Script outcome", "interrupted", columns)


def legacy(requirement: Requirement, observation: Observation) -> Iterator[Agreement]:
    """Facts of tasks without telemetry, in sessions that an older release saved."""
    if any(product.version != observation.release for product in observation.products):
        yield from _governed(requirement, observation, "Task persistence", "not_recorded")


def beyond_cap(requirement: Requirement, observation: Observation) -> Iterator[Agreement]:
    """Counters that are null although telemetry was saved, in batches with more direct calls than are tracked."""
    if not observation.cases.get("task.direct-call-cap"):
        return
    recorded = {
        row.card for row in observation.rows if row.label == "Task persistence" and row.reference == known("recorded")
    }
    for row in observation.rows:
        if row.card in recorded and governs(requirement, row) and row.reference == NULL:
            yield from (row.cells[column].agreement for column in SURFACES)


_SAME_MOMENT = (
    (Column.LOCAL_AGENT_LIVE, Column.MISSION_CONTROL_LIVE),
    (Column.LOCAL_AGENT_REOPEN, Column.MISSION_CONTROL_REOPEN),
)
_SHORTENED = ("rows", "blocks", "children")


def agreement(requirement: Requirement, observation: Observation) -> Iterator[Agreement]:
    """Facts that both surfaces show at the same moment: equal or different, whatever the reference says.

    What a fact counts of its own card's display may differ where the local agent's card says that it was shortened.
    """
    shortened = {
        (card.path, column)
        for card in observation.cards
        for column, omissions in card.omissions.items()
        if any(item.subject in _SHORTENED for item in omissions)
    }
    for row in observation.rows:
        if not governs(requirement, row):
            continue
        relative = facts_of(row.kind)[row.label].relative is not None
        for ours, theirs in _SAME_MOMENT:
            first, second = _shown(row, ours), _shown(row, theirs)
            if not first or not second or (relative and (row.card, ours) in shortened):
                yield Agreement.NOT_COMPARABLE
            else:
                yield Agreement.AGREE if {*first, *second} == {first[0]} else Agreement.DISAGREE


def _shown(row: FactRow, column: Column) -> list[tuple[State, str | None]]:
    """What a column shows for a fact, if only null."""
    values = (reading.value for reading in row.cells[column].readings)
    return [
        (value.state, value.text)
        for value in values
        if isinstance(value, Value) and value.state in (State.KNOWN, State.NULL)
    ]
