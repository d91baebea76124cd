"""Batch facts, from the host's report and from the child sessions: one rule for each label.

Each function opens with the id of the requirement it implements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from harness.model.values import NULL, NotComparable, Reading, Reason, known
from harness.project.child import outcome_of
from harness.project.nodes import BatchNode
from harness.project.stated import Rule, Stated, by_rule, count_of, derived, silent
from harness.project.telemetry import POINTER, Telemetry
from harness.spec import bounds


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """A batch and its valid report, None when there is none."""

    node: BatchNode
    report: Telemetry | None


def no_report(batch: Batch) -> Stated:
    """That the host's report says nothing of a batch, and why."""
    detail = "no result was saved" if batch.node.call.ending is None else "the saved result has no valid task report"
    return silent(Reason.NOT_RECORDED, detail, "report")


def terminal_outcome(outcome: str | None) -> str:
    """``batch.terminal-unfinished``: in a final report a task that has not ended counts as unknown, as has a null."""
    return "unknown" if outcome in (None, "running") else outcome


# From the host's report


def _reported(batch: Batch, *outcomes: str) -> Stated:
    if batch.report is None or batch.node.call.ending is None:
        return no_report(batch)
    count = sum(1 for task in batch.report.tasks if terminal_outcome(task.outcome) in outcomes)
    place = batch.node.scope.place(batch.node.call.ending.record, f"{POINTER}/tasks")
    return Stated(value=known(count), via="report", place=place)


def reported_total(batch: Batch) -> Stated:
    """``batch.tasks-total``: the validated number of original tasks."""
    return _reported(batch, "success", "failure", "unknown", "cancelled")


def reported_done(batch: Batch) -> Stated:
    """``batch.tasks-done``: tasks that ended in success."""
    return _reported(batch, "success")


def reported_failed(batch: Batch) -> Stated:
    """``batch.tasks-failed``: tasks that ended in failure; the scheduler's coarse status has no say."""
    return _reported(batch, "failure")


def reported_running(batch: Batch) -> Stated:
    """``batch.terminal-unfinished``: none in a final report."""
    return by_rule(0) if batch.report else no_report(batch)


def reported_unknown(batch: Batch) -> Stated:
    """``batch.tasks-unknown``: tasks never seen to start, or without an outcome that can be told."""
    return _reported(batch, "unknown")


def reported_cancelled(batch: Batch) -> Stated:
    """``batch.tasks-cancelled``: tasks seen to be cancelled."""
    return _reported(batch, "cancelled")


def _references(total: Stated, complete: Callable[[int], bool | int]) -> Stated:
    count = count_of(total.value)
    return Stated(value=total.value, via=total.via) if count is None else by_rule(complete(count))


def reported_references_complete(batch: Batch) -> Stated:
    """``batch.child-references-complete``: of an unreduced card, which refers to every task it can hold."""
    return _references(reported_total(batch), lambda count: count <= bounds.CHILDREN_PER_BLOCK)


def reported_references_omitted(batch: Batch) -> Stated:
    """``batch.child-references-omitted``: of an unreduced card."""
    return _references(reported_total(batch), lambda count: max(count - bounds.CHILDREN_PER_BLOCK, 0))


# From the call and the child sessions


def _derived_outcomes(batch: Batch) -> list[Reading]:
    return [outcome_of(batch.node, task).value for task in batch.node.tasks]


def _counted(batch: Batch, outcome: str) -> Stated:
    """Tasks with one outcome: null without a valid report, not comparable when some outcome cannot be told."""
    if batch.report is None:
        return by_rule(NULL)
    outcomes = _derived_outcomes(batch)
    count = sum(1 for reading in outcomes if reading == known(outcome))
    value = derived(outcomes, known(count))
    via = "nested" if isinstance(value, NotComparable) else "child"
    return Stated(value=value, via=via, place=batch.node.scope.place(batch.node.call.record))


def declared_total(batch: Batch) -> Stated:
    """``batch.tasks-total``: the tasks that the call declares; null without a valid report."""
    if batch.report is None:
        return by_rule(NULL)
    place = batch.node.scope.place(batch.node.call.record, "/payload/arguments/tasks")
    return Stated(value=known(len(batch.node.tasks)), via="call", place=place)


def derived_done(batch: Batch) -> Stated:
    """``batch.tasks-done``: child sessions that ended with an answer."""
    return _counted(batch, "success")


def derived_failed(batch: Batch) -> Stated:
    """``batch.tasks-failed``: child sessions whose last turn failed."""
    return _counted(batch, "failure")


def derived_running(batch: Batch) -> Stated:
    """``batch.terminal-unfinished``: none once a final report is saved; null without one."""
    return by_rule(0 if batch.report else NULL)


def derived_unknown(batch: Batch) -> Stated:
    """``batch.tasks-unknown``: tasks that never began, or whose session has no end."""
    return _counted(batch, "unknown")


def derived_cancelled(batch: Batch) -> Stated:
    """``batch.tasks-cancelled``: child sessions whose last turn was cancelled."""
    return _counted(batch, "cancelled")


def derived_references_complete(batch: Batch) -> Stated:
    """``batch.child-references-complete``: of an unreduced card, by the declared tasks."""
    return _references(declared_total(batch), lambda count: count <= bounds.CHILDREN_PER_BLOCK)


def derived_references_omitted(batch: Batch) -> Stated:
    """``batch.child-references-omitted``: of an unreduced card, by the declared tasks."""
    return _references(declared_total(batch), lambda count: max(count - bounds.CHILDREN_PER_BLOCK, 0))


REPORT_RULES: Final[dict[str, Rule[Batch]]] = {
    "Tasks total": reported_total,
    "Tasks done": reported_done,
    "Tasks failed": reported_failed,
    "Tasks running": reported_running,
    "Tasks unknown": reported_unknown,
    "Tasks cancelled": reported_cancelled,
    "Child references complete": reported_references_complete,
    "Child references omitted": reported_references_omitted,
}

NESTED_RULES: Final[dict[str, Rule[Batch]]] = {
    "Tasks total": declared_total,
    "Tasks done": derived_done,
    "Tasks failed": derived_failed,
    "Tasks running": derived_running,
    "Tasks unknown": derived_unknown,
    "Tasks cancelled": derived_cancelled,
    "Child references complete": derived_references_complete,
    "Child references omitted": derived_references_omitted,
}
