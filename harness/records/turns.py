"""What the records add up to: turns, their tool calls in order, each with its result and its nested calls.

A result, a nested record or a warning belongs to the one call of its id that stands before it in the same turn. Where
that is not exactly one call it belongs to none, and the problem says so.
"""

from __future__ import annotations

from typing import Any

import msgspec

from harness.model.facts import Problem
from harness.records.payloads import (
    NestedCall,
    NestedResult,
    NestedWarning,
    ToolCall,
    ToolResult,
    TurnStatus,
    UserInput,
)
from harness.records.rules import RULES
from harness.records.session import Record, Session


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """The saved result of a call: its record and what it says."""

    record: Record
    value: ToolResult | NestedResult


class Warned(msgspec.Struct, frozen=True, kw_only=True):
    """One warning event of a script."""

    record: Record
    text: str


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call of an agent, or of a script.

    `number` counts from 1: an agent's calls in file order within the turn, a script's by their sequence. `ending` is
    None when no result is saved; of two results the first counts. `repeated`: another call of the turn has the same
    id, so nothing nested can be told apart. `contradictory`: nested ids or results stand twice, so that nested counts
    cannot be trusted.
    """

    number: int
    id: str
    name: str
    arguments: Any
    record: Record
    ending: Ending | None
    repeated: bool = False
    contradictory: bool = False
    inner: tuple[Call, ...] = ()
    warnings: tuple[Warned, ...] = ()

    @property
    def nested(self) -> bool:
        """Whether any nested record is attached."""
        return bool(self.inner or self.warnings)


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn: records `start` to `end` (0-based, end excluded). `status` is its last turn status, or None."""

    number: int
    start: int
    end: int
    calls: tuple[Call, ...]
    status: str | None = None
    status_record: Record | None = None


class Turns(msgspec.Struct, frozen=True, kw_only=True):
    turns: tuple[Turn, ...]
    problems: tuple[Problem, ...]


class _Open:
    """A call whose later records are still to come."""

    def __init__(self, record: Record, call: ToolCall | NestedCall) -> None:
        self.record = record
        self.call = call
        self.ending: Ending | None = None
        self.inner: dict[str, _Open] = {}
        self.warnings: list[Warned] = []
        self.contradictory = False


class _Builder:
    """One pass over a session; holds the open turn."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.turns: list[Turn] = []
        self.problems: list[Problem] = []
        self.start: int | None = None
        self.calls: list[_Open] = []
        self.by_id: dict[str, list[_Open]] = {}
        self.status: tuple[Record, str] | None = None

    def report(self, rule: str, record: Record, observed: str, pointer: str = "/payload") -> None:
        self.problems.append(
            Problem(
                requirement=rule,
                card="",
                label="",
                expected=RULES[rule],
                observed=observed,
                place=self.session.place(record, pointer),
            )
        )

    def read(self, record: Record) -> None:
        match record.payload:
            case UserInput(origin=origin):
                if origin != "steering" or self.start is None:
                    self.close(record.index)
                    self.start = record.index
            case TurnStatus(status=status):
                self.status = (record, "cancelled" if status == "canceled" else status)
            case ToolCall() as call:
                self.called(record, call)
            case ToolResult(call_id=id_) as result:
                self.ended(record, id_, self.by_id.get(id_, []), result)
            case NestedCall() | NestedResult() | NestedWarning() as nested:
                self.nested(record, nested)
            case _:
                pass

    def called(self, record: Record, call: ToolCall) -> None:
        if self.start is None:
            self.report("records.turn", record, f"call {call.id!r} before any user input")
            return
        same = self.by_id.setdefault(call.id, [])
        if same:
            self.report("records.call-id", record, f"{call.id!r}, as on line {same[0].record.line}", "/payload/id")
        opened = _Open(record, call)
        same.append(opened)
        self.calls.append(opened)

    def ended(self, record: Record, id_: str, calls: list[_Open], result: ToolResult | NestedResult) -> None:
        """Give a result to the one call that it can belong to: the only one of its id, or the only one still open."""
        waiting = [opened for opened in calls if opened.ending is None]
        if not calls:
            self.report("records.result-call", record, f"a result for {id_!r}", "/payload/call_id")
        elif not waiting:
            self.report("records.result-once", record, f"one more result for {id_!r}", "/payload/call_id")
        elif len(waiting) > 1:
            self.report("records.result-call", record, f"{len(waiting)} open calls {id_!r}", "/payload/call_id")
        else:
            waiting[0].ending = Ending(record=record, value=result)

    def nested(self, record: Record, nested: NestedCall | NestedResult | NestedWarning) -> None:
        parents = self.by_id.get(nested.parent_call_id, [])
        if len(parents) != 1:
            text = f"{len(parents)} calls {nested.parent_call_id!r} before it in its turn"
            self.report("records.nested-parent", record, text, "/payload/parent_call_id")
            return
        parent = parents[0]
        if isinstance(nested, NestedWarning):
            parent.warnings.append(Warned(record=record, text=nested.warning))
        elif isinstance(nested, NestedCall):
            if nested.id in parent.inner:
                self.report("records.nested-once", record, f"a second call {nested.id!r}", "/payload/id")
                parent.contradictory = True
            else:
                parent.inner[nested.id] = _Open(record, nested)
        elif nested.call_id not in parent.inner or parent.inner[nested.call_id].ending is not None:
            which = "one more" if nested.call_id in parent.inner else "no call for"
            self.report("records.nested-once", record, f"{which} result {nested.call_id!r}", "/payload/call_id")
            parent.contradictory = True
        else:
            parent.inner[nested.call_id].ending = Ending(record=record, value=nested)

    def close(self, end: int) -> None:
        """End the open turn, if there is one; what stood before any turn has been reported already."""
        if self.start is not None:
            repeated = {id_ for id_, calls in self.by_id.items() if len(calls) > 1}
            self.turns.append(
                Turn(
                    number=len(self.turns) + 1,
                    start=self.start,
                    end=end,
                    calls=tuple(_call(opened, n, repeated) for n, opened in enumerate(self.calls, 1)),
                    status=self.status[1] if self.status else None,
                    status_record=self.status[0] if self.status else None,
                )
            )
        self.calls, self.by_id, self.status = [], {}, None


def _call(opened: _Open, number: int, repeated: set[str]) -> Call:
    def sequence(inner: _Open) -> tuple[int, int]:
        assert isinstance(inner.call, NestedCall)  # noqa: S101 # only nested calls are kept as inner ones
        return inner.call.sequence, inner.record.index

    return Call(
        number=number,
        id=opened.call.id,
        name=opened.call.name,
        arguments=opened.call.arguments,
        record=opened.record,
        ending=opened.ending,
        repeated=opened.call.id in repeated,
        contradictory=opened.contradictory,
        inner=tuple(_call(inner, n, set()) for n, inner in enumerate(sorted(opened.inner.values(), key=sequence), 1)),
        warnings=tuple(opened.warnings),
    )


def turns_of(session: Session) -> Turns:
    """The turns of a session in order, with the problems of how its records fit together."""
    builder = _Builder(session)
    for record in session.records:
        builder.read(record)
    builder.close(len(session.records))
    return Turns(turns=tuple(builder.turns), problems=tuple(builder.problems))
