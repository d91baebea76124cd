"""Task facts as the host's validated report says them: one rule for each label, in catalogue order.

Each function opens with the id of the requirement it implements.
"""

from __future__ import annotations

from typing import Final

import msgspec

from harness.model.facts import CardKind, Place
from harness.model.values import NULL, Reading, known, nullable
from harness.project.batch import Batch, no_report, terminal_outcome
from harness.project.nodes import TaskNode
from harness.project.stated import Rule, Stated, count_of, silent_rows, stored_text
from harness.project.telemetry import POINTER, TaskReport
from harness.project.usage import Source, from_report
from harness.spec import bounds

VIA: Final = "report"


class ReportedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A declared task of a batch and its part of the report, None when there is no valid report."""

    batch: Batch
    node: TaskNode
    report: TaskReport | None


def reported_task(batch: Batch, node: TaskNode) -> ReportedTask:
    report = batch.report.tasks[node.index] if batch.report else None
    return ReportedTask(batch=batch, node=node, report=report)


def _place(task: ReportedTask, member: str) -> Place | None:
    ending = task.batch.node.call.ending
    return task.batch.node.scope.place(ending.record, f"{POINTER}/tasks/{task.node.index}/{member}") if ending else None


def _member(task: ReportedTask, member: str) -> Stated:
    """The report's own word: a text, a count, a flag or its explicit null."""
    if task.report is None:
        return no_report(task.batch)
    value = getattr(task.report, member)
    if isinstance(value, str):
        return stored_text(value, via=VIA, place=_place(task, member))
    return Stated(value=nullable(value), via=VIA, place=_place(task, member))


def execution_identity(task: ReportedTask) -> Stated:
    """``task.task-execution-identity``: the scoped identity."""
    return _member(task, "scoped_id")


def intent(task: ReportedTask) -> Stated:
    """``task.task-intent``: the sanitized, perhaps shortened intent, never the context."""
    return _member(task, "intent")


def profile(task: ReportedTask) -> Stated:
    """``task.task-profile``: the identity profile, null when none was supplied."""
    return _member(task, "profile")


def agent(task: ReportedTask) -> Stated:
    """``task.task-agent``: the agent label, null when none was supplied."""
    return _member(task, "agent")


def provider(task: ReportedTask) -> Stated:
    """``task.task-provider-task-model``: what the child started with, null when its start is not known."""
    return _member(task, "provider")


def model(task: ReportedTask) -> Stated:
    """``task.task-provider-task-model``: what the child started with, null when its start is not known."""
    return _member(task, "model")


def outcome(task: ReportedTask) -> Stated:
    """``task.task-outcome``: the reported word, or null; a task that still ran in a final report is unknown."""
    said = _member(task, "outcome")
    if task.report is not None and task.report.outcome == "running":
        return Stated(value=known(terminal_outcome("running")), via="rule", place=said.place)
    return said


def persistence(task: ReportedTask) -> Stated:
    """``task.task-persistence``: a saved report is recorded."""
    if task.report is None:
        return no_report(task.batch)
    return Stated(value=known("recorded"), via="rule", place=_place(task, "scoped_id"))


def facts_limited(task: ReportedTask) -> Stated:
    """``task.task-facts-limited``: whether texts or activities were shortened."""
    return _member(task, "text_limited")


def changed_paths(task: ReportedTask) -> Stated:
    """``task.task-changed-paths``: distinct paths of the child's result, null without a reliable one."""
    return _member(task, "changed_paths")


def failed_calls(task: ReportedTask) -> Stated:
    """``task.task-failed-calls-task-unknown-calls``: the task's own failed calls."""
    return _member(task, "calls_failed")


def unknown_calls(task: ReportedTask) -> Stated:
    """``task.task-failed-calls-task-unknown-calls``: the task's own calls without a definite result."""
    return _member(task, "calls_unknown")


def calls_with_effects(task: ReportedTask) -> Stated:
    """``task.task-calls-with-effects``: the task's own results that say changes were applied or partial."""
    return _member(task, "calls_changed")


def activity_count(task: ReportedTask) -> Stated:
    """``task.task-activity-count``: stored activities and omitted ones; null when the omitted are not accounted for."""
    if task.report is None:
        return no_report(task.batch)
    left = task.report.activity_omitted
    value: Reading = NULL if left is None else known(len(task.report.activity) + left)
    return Stated(value=value, via=VIA, place=_place(task, "activity_omitted"))


def activity_omitted(task: ReportedTask) -> Stated:
    """``task.task-activity-omitted``: activities less the rows of an unreduced card."""
    total = activity_count(task)
    count = count_of(total.value)
    if task.report is None or count is None:
        return total
    shown = min(len(task.report.activity), bounds.TASK_ACTIVITY_ENTRIES)
    return Stated(value=known(count - shown), via="rule", place=total.place)


def activity_rows(task: ReportedTask) -> tuple[Stated, ...]:
    """``task.activity-rows``: the stored activities, at most eight."""
    if task.report is None:
        return silent_rows(CardKind.TASK, "Task activity", no_report(task.batch))
    return tuple(
        stored_text(text, via=VIA, place=_place(task, f"activity/{index}"))
        for index, text in enumerate(task.report.activity[: bounds.TASK_ACTIVITY_ENTRIES])
    )


def usage(task: ReportedTask) -> Source:
    """``task.usage-provenance``: the task's usage in the report."""
    place = _place(task, "usage")
    if task.report is None or place is None:
        return no_report(task.batch)
    return from_report(task.report.usage, place)


RULES: Final[dict[str, Rule[ReportedTask]]] = {
    "Task execution identity": execution_identity,
    "Task intent": intent,
    "Task profile": profile,
    "Task agent": agent,
    "Task provider": provider,
    "Task model": model,
    "Task outcome": outcome,
    "Task persistence": persistence,
    "Task facts limited": facts_limited,
    "Task changed paths": changed_paths,
    "Task failed calls": failed_calls,
    "Task unknown calls": unknown_calls,
    "Task calls with effects": calls_with_effects,
    "Task activity count": activity_count,
    "Task activity omitted": activity_omitted,
    "Task activity": activity_rows,
}
