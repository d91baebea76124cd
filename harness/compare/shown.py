"""What one surface shows in one release, reduced to what can be held against another release's run of the same.

Two runs never share ids, places or workspaces; the values, where on the surface they stand, and what the card says of
itself are what is left.
"""

from __future__ import annotations

import msgspec

from harness.compare.readings import comparable
from harness.model.facts import Column, Omission
from harness.model.values import Reason, State, Value
from harness.model.verdict import Agreement, CardRow, Cell, FactRow, Observation

WORKSPACE = "<workspace>"
_STATES = frozenset(state.value for state in State)


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What one surface shows of one fact in one release.

    `state` is that of a `State`, or of the `Reason` why nothing can be said. `values` are the distinct values that its
    readings give, None for null, with the run's workspace as ``<workspace>``; `via` how they were read, each way once.
    """

    state: str
    values: tuple[str | None, ...] = ()
    via: tuple[str, ...] = ()
    agreement: Agreement = Agreement.NOT_COMPARABLE

    @property
    def displayed(self) -> bool:
        return self.state in (State.KNOWN, State.NULL)

    @property
    def silent(self) -> bool:
        """Whether nothing was read that could say that the fact is there or not."""
        return self.state not in _STATES

    def __str__(self) -> str:
        if not self.displayed:
            return f"({self.state.replace('_', ' ')})"
        return " | ".join("(null)" if value is None else value for value in self.values)


def _neutral(value: Value, workspace: str) -> str | None:
    return value.text.replace(workspace, WORKSPACE) if value.text is not None and workspace else value.text


def shown_of(cell: Cell, workspace: str) -> Shown:
    """What a cell says; `workspace` is where the run happened, "" when that is not known."""
    said = [
        (fact.via, fact.value) for fact in cell.readings if isinstance(fact.value, Value) and not comparable(fact.value)
    ]
    shown = [(via, value) for via, value in said if value.state is not State.ABSENT]
    if shown:
        texts = {_neutral(value, workspace) for _, value in shown}
        known = sorted(text for text in texts if text is not None)
        return Shown(
            state=State.KNOWN.value if known else State.NULL.value,
            values=(*known, *([None] if None in texts else [])),
            via=tuple(sorted({via for via, _ in shown})),
            agreement=cell.agreement,
        )
    if said:
        return Shown(state=State.ABSENT.value, agreement=cell.agreement)
    reasons = [why for reading in cell.readings if (why := comparable(reading.value))]
    why = reasons[0] if reasons else cell.reason
    return Shown(state=(why.reason if why else Reason.NOT_CAPTURED).value, agreement=cell.agreement)


def fact_on(card: CardRow | None, row: FactRow | None, surface: Column, workspace: str) -> Shown:
    """What a surface shows of a fact of a card; a row that no source of the release has is absent from every card."""
    if card is None or card.shown.get(surface) != "shown":
        return Shown(state=Reason.NOT_CAPTURED.value)
    return shown_of(row.cells[surface], workspace) if row else Shown(state=State.ABSENT.value)


def capture_of(side: Observation, surface: Column) -> str:
    """What capture of a surface there is, in words."""
    if why := side.unavailable.get(surface):
        return f"not there: {why.detail or why.reason.value.replace('_', ' ')}"
    whole = all(capture.complete for capture in side.captures if capture.column is surface)
    return "captured" if whole else "captured, cut"


def members_of(card: CardRow | None, surface: Column) -> dict[str, str]:
    """What a surface shows of a card itself, in words."""
    if card is None:
        return {"shown": "missing"}
    return {
        "shown": card.shown.get(surface, "missing"),
        "kind": card.kind.value,
        "outcome": card.outcomes.get(surface, ""),
        "changes": card.changes.get(surface, ""),
        "omissions": "; ".join(sorted(map(_omission, card.omissions.get(surface, ())))),
    }


def _omission(omission: Omission) -> str:
    count = "null" if omission.omitted_count is None else str(omission.omitted_count)
    return f"{omission.subject}, {omission.reason}: {count}"
