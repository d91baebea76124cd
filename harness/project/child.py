"""What a child session says of its task: how it ended, what its own calls did, which paths they changed.

A batch's saved result is the condition for all of it: progress that no saved result followed is not promoted.
"""

from __future__ import annotations

from typing import Final

import msgspec

from harness.model.values import NULL, Reason, known
from harness.project.nodes import BatchNode, Scope, TaskNode
from harness.project.paths import Paths, paths_of
from harness.project.stated import Stated, by_rule, silent
from harness.records import Call, Record
from harness.records.payloads import AssistantOutput, TurnStatus, UserInput

VIA: Final = "child"
_REWRITTEN: Final = ("compaction", "rewind")
"""Kinds of records after which a session file no longer holds all that happened."""
_ENDS: Final = {"cancelled": "cancelled", "canceled": "cancelled", "failed": "failure", "complete": "success"}
"""Turn status to task outcome; a status that is not here leaves the outcome unknown."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """A task's own calls, in the order in which they were made."""

    calls: tuple[Call, ...]

    @property
    def unfinished(self) -> int:
        return sum(1 for call in self.calls if call.ending is None)

    @property
    def failed(self) -> int:
        return sum(1 for call in self.calls if call.ending and not call.ending.value.result.success)

    @property
    def changed(self) -> int:
        """Results that name changed paths or count them, which is what makes a card say applied or partial."""
        return sum(1 for call in self.calls if call.ending and _has_effects(call))

    @property
    def paths(self) -> Paths:
        return paths_of(self.calls)


def _has_effects(call: Call) -> bool:
    assert call.ending is not None  # noqa: S101 # the caller asks about finished calls only
    effects = call.ending.value.execution_effects
    return bool(call.ending.value.changed_paths) or (effects is not None and effects.changed_path_count > 0)


def work_of(child: Scope) -> Work | None:
    """The calls of a child session over all of its turns, or None when its file does not hold all of them."""
    if child.session.problems or child.turns.problems:
        return None
    if any(record.kind in _REWRITTEN for record in child.session.records):
        return None
    return Work(calls=tuple(call for turn in child.turns.turns for call in turn.calls))


def end_of(child: Scope) -> tuple[str, Record] | None:
    """How a child session ended and the record that says so, or None when nothing does.

    Its last turn's answer is success, its last turn's status what the status says; work after either reopens it.
    """
    end: tuple[str, Record] | None = None
    for record in child.session.records:
        match record.payload:
            case UserInput(origin=origin):
                end = end if origin == "steering" else None
            case AssistantOutput():
                end = ("success", record)
            case TurnStatus(status=status):
                end = (_ENDS.get(status, "unknown"), record)
            case _:
                end = None if record.kind in ("tool_call", "provider_response_item") else end
    return end


def missing_child(task: TaskNode) -> Stated:
    """Why nothing can be read from a child session that is not there."""
    if task.unaccounted:
        return silent(Reason.NOT_CAPTURED, "a child session of the batch is missing or names no task", VIA)
    return silent(Reason.NOT_DERIVABLE, "the task has no child session", VIA)


def outcome_of(batch: BatchNode, task: TaskNode) -> Stated:
    """``task.task-outcome``: how the task's child session ended, once the batch's result is saved.

    ``batch.terminal-unfinished``: a session without an end is unknown. A task that never had a session is unknown
    when the batch was cancelled; otherwise it may have failed before one began, and nothing tells. Without a saved
    result of the batch the outcome is null (``acceptance.no-promotion``).
    """
    if batch.call.ending is None:
        return by_rule(NULL)
    if task.child is not None:
        end = end_of(task.child)
        if end is None:
            record = task.child.session.records[-1]
            return Stated(value=known("unknown"), via=VIA, place=task.child.place(record))
        return Stated(value=known(end[0]), via=VIA, place=task.child.place(end[1]))
    startable = not task.unaccounted and task.declared.identity is None and not task.declared.moved
    if startable and batch.turn.status == "cancelled":
        return Stated(value=known("unknown"), via="nested", place=batch.scope.place(batch.call.record))
    return missing_child(task)


def direct_calls(batch: BatchNode) -> list[int]:
    """How many calls each task of a batch made itself, by index; 0 for a task without a session."""
    return [sum(len(turn.calls) for turn in task.child.turns.turns) if task.child else 0 for task in batch.tasks]
