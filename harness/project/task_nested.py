"""Task facts from the batch's call, the task's child session and its usage snapshots: one rule for each label.

Where a saved result has no telemetry report, its telemetry is null; what was recorded elsewhere stays. Each function
opens with the id of the requirement it implements.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from harness.model.facts import CardKind
from harness.model.values import NULL, Reading, Reason, known
from harness.project.batch import Batch
from harness.project.child import Work, direct_calls, end_of, missing_child, outcome_of, work_of
from harness.project.nodes import TaskNode
from harness.project.stated import Rule, Stated, by_rule, count_of, over, silent, silent_rows, submitted_text
from harness.project.usage import Source, from_snapshots
from harness.spec import bounds

VIA: Final = "child"
_PLAIN_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


class NestedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A declared task of a batch. Of the batch's report only whether a valid one is saved counts.

    `work`: the task's own calls, None when its session is not there or not whole. `beyond`: the task's call counters
    are unavailable because the batch made more direct calls than are tracked.
    """

    batch: Batch
    node: TaskNode
    work: Work | None
    beyond: Stated | None

    @property
    def telemetry(self) -> bool:
        return self.batch.report is not None


def nested_task(batch: Batch, node: TaskNode) -> NestedTask:
    work = work_of(node.child) if node.child else None
    return NestedTask(batch=batch, node=node, work=work, beyond=_beyond_cap(batch, node))


def _beyond_cap(batch: Batch, node: TaskNode) -> Stated | None:
    """``task.counters-beyond-cap``: null once the batch made more direct calls than are tracked.

    Which of several busy tasks lost calls depends on their timing, which no record tells. A task without calls of its
    own lost none; one that made more than the cap by itself surely did.
    """
    calls = direct_calls(batch.node)
    own = calls[node.index]
    if sum(calls) <= bounds.DIRECT_CALLS_TRACKED_PER_BATCH or not own:
        return None
    if own > bounds.DIRECT_CALLS_TRACKED_PER_BATCH:
        return by_rule(NULL)
    return silent(Reason.NOT_DERIVABLE, "the records do not say which task's calls were beyond the cap", VIA)


def _from_call(task: NestedTask, text: str | None, member: str) -> Stated:
    place = task.batch.node.scope.place(
        task.batch.node.call.record, f"/payload/arguments/tasks/{task.node.index}/{member}"
    )
    return submitted_text(text, limit=bounds.TASK_TEXT_BYTES, via="call", place=place)


def execution_identity(task: NestedTask) -> Stated:
    """``task.task-execution-identity``: as the task's usage snapshots name it; null where no telemetry was saved."""
    if not task.telemetry:
        return by_rule(NULL)
    scope = task.batch.node.scope
    identity = f"{scope.chain}{task.batch.node.call.id}/g{task.node.index + 1}"
    snapshots = scope.run.usage.get(identity)
    if not snapshots:
        return silent(Reason.NOT_DERIVABLE, "no usage snapshot names the task", "nested")
    place = scope.run.root.place(snapshots[0].record, "/payload/id")
    return Stated(value=known(identity), via="nested", place=place)


def intent(task: NestedTask) -> Stated:
    """``task.task-intent``: as the call declares it."""
    return _from_call(task, task.node.declared.intent, "intent")


def profile(task: NestedTask) -> Stated:
    """``task.task-profile``: as the call declares it; null when it declares none."""
    return _from_call(task, task.node.declared.identity, "identity")


def agent(task: NestedTask) -> Stated:
    """``task.task-agent.own-source``: as the call declares it, never inferred from a profile."""
    return _from_call(task, task.node.declared.agent, "agent")


def provider_or_model(task: NestedTask) -> Stated:
    """``task.task-provider-task-model``: child sessions do not record it; null where no telemetry was saved."""
    if not task.telemetry:
        return by_rule(NULL)
    return silent(Reason.NOT_DERIVABLE, "child sessions do not record the selection", VIA)


def outcome(task: NestedTask) -> Stated:
    """``task.task-outcome``: how the child session ended."""
    return outcome_of(task.batch.node, task.node)


def persistence(task: NestedTask) -> Stated:
    """``task.task-persistence``: recorded with a saved report; ``not_recorded`` when none was saved."""
    return by_rule("recorded" if task.telemetry else "not_recorded")


def _activities(task: NestedTask) -> Stated:
    """Number of activities: one for each finished call of the task; not told while calls are unfinished."""
    if not task.telemetry:
        return by_rule(NULL)
    if task.beyond:
        return task.beyond
    if task.node.child is None:
        return missing_child(task.node)
    if task.work is None or task.work.unfinished:
        return silent(Reason.NOT_DERIVABLE, "the child session does not hold all results", VIA)
    place = task.node.child.place(task.node.child.session.records[0])
    return Stated(value=known(len(task.work.calls)), via=VIA, place=place)


def facts_limited(task: NestedTask) -> Stated:
    """``task.task-facts-limited``: true for a selected text over its bound or more activities than are stored."""
    if not task.telemetry:
        return by_rule(NULL)
    declared = task.node.declared
    if any(
        text and over(text, bounds.TASK_TEXT_BYTES) for text in (declared.intent, declared.identity, declared.agent)
    ):
        return Stated(value=known(True), via="call", place=_from_call(task, None, "intent").place)
    activities = _activities(task)
    count = count_of(activities.value)
    if count is None:
        return activities
    return Stated(value=known(count > bounds.TASK_ACTIVITY_ENTRIES), via=VIA, place=activities.place)


def changed_paths(task: NestedTask) -> Stated:
    """``task.task-changed-paths``: distinct paths of the child's own results; null without a reliable terminal result.

    Without a saved result of the batch there is none (``acceptance.no-promotion``). A child that handed work to tasks
    of its own says nothing: whether their paths are part of its result is not in the rules.
    """
    if task.batch.node.call.ending is None:
        return by_rule(NULL)
    if task.node.child is None:
        known_unstarted = outcome(task).value == known("unknown")
        return by_rule(NULL) if known_unstarted else missing_child(task.node)
    if end_of(task.node.child) is None:
        return by_rule(NULL)
    if task.work is None or task.work.paths.distinct is None:
        return silent(Reason.NOT_DERIVABLE, "the child session does not name all changed paths", VIA)
    if any(call.name == "subagents" or _hands_on(task.work) for call in task.work.calls):
        return silent(Reason.NOT_DERIVABLE, "the rules do not say whether paths of deeper tasks count", VIA)
    place = task.node.child.place(task.node.child.session.records[0])
    return Stated(value=known(len(task.work.paths.distinct)), via=VIA, place=place)


def _hands_on(work: Work) -> bool:
    return any(inner.name == "subagents" for call in work.calls for inner in call.inner)


def _counter(task: NestedTask, member: str) -> Stated:
    if not task.telemetry:
        return by_rule(NULL)
    if task.beyond:
        return task.beyond
    if task.node.child is None:
        return missing_child(task.node)
    if task.work is None:
        return silent(Reason.NOT_DERIVABLE, "the child session is not whole", VIA)
    place = task.node.child.place(task.node.child.session.records[0])
    return Stated(value=known(int(getattr(task.work, member))), via=VIA, place=place)


def failed_calls(task: NestedTask) -> Stated:
    """``task.task-failed-calls-task-unknown-calls.direct-only``: the child session's own failed calls."""
    return _counter(task, "failed")


def unknown_calls(task: NestedTask) -> Stated:
    """``task.task-failed-calls-task-unknown-calls.direct-only``: the child session's own calls without a result."""
    return _counter(task, "unfinished")


def calls_with_effects(task: NestedTask) -> Stated:
    """``task.task-calls-with-effects``: the child session's own results that changed paths."""
    return _counter(task, "changed")


def activity_count(task: NestedTask) -> Stated:
    """``task.task-activity-count``: one activity for each of the child session's own calls."""
    return _activities(task)


def activity_omitted(task: NestedTask) -> Stated:
    """``task.task-activity-omitted``: activities less the rows of an unreduced card."""
    total = _activities(task)
    count = count_of(total.value)
    if count is None:
        return total
    return Stated(value=known(max(count - bounds.TASK_ACTIVITY_ENTRIES, 0)), via="rule", place=total.place)


def activity_rows(task: NestedTask) -> tuple[Stated, ...]:
    """``task.activity-rows``: tool name and status of each own call, in the order of results.

    Which eight of more are stored is not in the rules, nor how an unusual tool name is sanitized.
    """
    total: Reading = _activities(task).value
    count = count_of(total)
    if total == NULL:
        return ()
    if count is None or task.work is None or task.node.child is None:
        return silent_rows(CardKind.TASK, "Task activity", Stated(value=total, via=VIA))
    if count > bounds.TASK_ACTIVITY_ENTRIES or any(not _PLAIN_NAME.fullmatch(call.name) for call in task.work.calls):
        why = silent(Reason.NOT_DERIVABLE, "the rules do not say which activities are stored, and how", VIA)
        return silent_rows(CardKind.TASK, "Task activity", why, rows=count)
    ended = [(call, call.ending) for call in task.work.calls if call.ending]
    return tuple(
        Stated(
            value=known(f"{call.name}: {'success' if ending.value.result.success else 'failure'}"),
            via=VIA,
            place=task.node.child.place(ending.record, "/payload/result/success"),
        )
        for call, ending in sorted(ended, key=lambda pair: pair[1].record.index)
    )


def usage(task: NestedTask) -> Source:
    """``task.usage-provenance``: the task's usage snapshots."""
    return from_snapshots(task.batch.node, task.node)


RULES: Final[dict[str, Rule[NestedTask]]] = {
    "Task execution identity": execution_identity,
    "Task intent": intent,
    "Task profile": profile,
    "Task agent": agent,
    "Task provider": provider_or_model,
    "Task model": provider_or_model,
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
