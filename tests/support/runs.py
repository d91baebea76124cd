"""Whole consistent runs for property tests: one description, saved as the host would save it.

A description says what happened; `saved` writes the session, the child sessions and the host's report of it. Report
and records are written from the description, not from each other, and know nothing of the projector.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.support.sessions import Lines, execution, task_report, telemetry, tokens

TOOLS = ("read", "write", "bash", "grep")


@dataclass(frozen=True)
class Did:
    """One call: `success` None means that it never finished."""

    tool: str
    success: bool | None
    paths: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Script:
    calls: tuple[Did, ...]
    success: bool
    intent: str | None = "Do it"
    saved: bool = True


@dataclass(frozen=True)
class Task:
    """`requests`: input, output and cache tokens of each request; None for a request that reported nothing."""

    outcome: str
    calls: tuple[Did, ...] = ()
    requests: tuple[tuple[int, int, int] | None, ...] = ()
    agent: str | None = None


@dataclass(frozen=True)
class Batch:
    tasks: tuple[Task, ...]
    saved: bool = True


@dataclass
class Saved:
    """The files of a run; `loose` are the indices of parent records whose order among tasks is free."""

    session: Lines
    children: list[Lines] = field(default_factory=list)
    loose: tuple[int, int] = (0, 0)


def script_report(script: Script) -> dict[str, Any]:
    ended = [call.success for call in script.calls]
    paths = sorted({path for call in script.calls for path in call.paths if call.success is not None})
    warnings = [text for call in script.calls for text in call.warnings]
    return execution(
        inner_calls=len(ended),
        successful=ended.count(True),
        recoverable_failures=ended.count(False),
        unknown_outcomes=ended.count(None),
        warning_count=len(warnings),
        warnings=warnings[:32],
        changed_path_count=len(paths),
        changed_paths=paths[:50],
    )


def saved_script(script: Script) -> Saved:
    lines = Lines().user().usage("", 0, (1, 1, 0), final=True).script(intent=script.intent)
    for number, call in enumerate(script.calls, 1):
        lines.inner(number, call.tool)
        for text in call.warnings:
            lines.warning(number, text)
        if call.success is not None:
            lines.inner_result(number, success=call.success, paths=call.paths)
    if script.saved:
        lines.result("c", success=script.success, metadata=script_report(script))
    return Saved(lines)


def task_members(task: Task) -> dict[str, Any]:
    finished = [call for call in task.calls if call.success is not None]
    activity = [f"{call.tool}: {'success' if call.success else 'failure'}" for call in finished]
    return {
        "agent": task.agent,
        "outcome": task.outcome,
        "usage": usage_member(task.requests),
        "activity": activity[:8],
        "activity_omitted": len(activity[8:]),
        "text_limited": len(activity) > 8,
        "changed_paths": None if task.outcome == "unknown" else len({p for call in finished for p in call.paths}),
        "calls_failed": sum(1 for call in finished if not call.success),
        "calls_unknown": len(task.calls) - len(finished),
        "calls_changed": sum(1 for call in finished if call.paths),
    }


def usage_member(requests: tuple[tuple[int, int, int] | None, ...]) -> dict[str, Any] | None:
    reported = [request for request in requests if request is not None]
    if not reported:
        return None
    last = requests[-1]
    return {
        "whole_run": tokens(*(sum(column) for column in zip(*reported, strict=True))),
        "latest": None if last is None else tokens(*last),
        "latest_request_sequence": len(requests) - 1,
        "latest_final": last is not None,
    }


def saved_child(number: int, task: Task) -> Lines:
    child = Lines(f"child-{number}").task_of(number, f"Task {number}", task.agent)
    for index, call in enumerate(task.calls):
        child.call(f"k{index}", call.tool)
        if call.success is not None:
            child.result(f"k{index}", success=call.success, paths=call.paths)
    endings = {"failure": "failed", "cancelled": "cancelled"}
    if task.outcome == "success":
        child.answer()
    elif task.outcome in endings:
        child.status(endings[task.outcome])
    return child


def saved_batch(batch: Batch) -> Saved:
    declared = [{"intent": f"Task {n}", "agent": task.agent} for n, task in enumerate(batch.tasks, 1)]
    lines = Lines().user().batch(declared)
    start = len(lines.records)
    children = []
    for number, task in enumerate(batch.tasks, 1):
        lines.announce(f"child-{number}")
        lines.usage(f"b/g{number}", 0, None, final=False)
        total = (0, 0, 0)
        for sequence, request in enumerate(task.requests):
            if request is None:
                lines.usage(f"b/g{number}", sequence, total if any(total) else None, final=False)
                continue
            total = (total[0] + request[0], total[1] + request[1], total[2] + request[2])
            lines.usage(f"b/g{number}", sequence, total, final=False)
            lines.usage(f"b/g{number}", sequence, total, final=True)
        children.append(saved_child(number, task))
    loose = (start, len(lines.records))
    if batch.saved:
        reports = (task_report(n, f"Task {n + 1}", **task_members(task)) for n, task in enumerate(batch.tasks))
        lines.result("b", success=False, metadata=telemetry(*reports))
    return Saved(lines, children, loose)


paths = st.sampled_from([f"/w/{name}" for name in "abcdefgh"]).map(lambda path: (path,)) | st.just(())
texts = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=12)
calls = st.builds(
    Did,
    tool=st.sampled_from(TOOLS),
    success=st.sampled_from([True, True, False, None]),
    paths=paths,
    warnings=st.lists(texts, max_size=2).map(tuple),
)
call_lists = st.lists(calls, max_size=12).map(tuple) | st.integers(30, 40).map(lambda n: (Did("read", True),) * n)
scripts = st.builds(
    Script,
    calls=call_lists,
    success=st.booleans(),
    intent=st.none() | texts,
    saved=st.booleans(),
)
counted = st.tuples(st.integers(1, 999), st.integers(1, 99), st.integers(0, 99))
# a request after one that reported nothing makes the latest request's own numbers underivable: only the last may
requests = st.builds(
    lambda whole, last: (*whole, *last),
    st.lists(counted, max_size=3).map(tuple),
    st.sampled_from([(), (None,)]),
)
tasks = st.builds(
    Task,
    outcome=st.sampled_from(["success", "failure", "cancelled", "unknown"]),
    calls=st.lists(calls, max_size=10).map(tuple),
    requests=requests,
    agent=st.none() | texts,
)
task_lists = st.lists(tasks, min_size=1, max_size=3).map(tuple)
batches = st.builds(Batch, tasks=task_lists, saved=st.booleans())
reported_batches = st.builds(Batch, tasks=task_lists)
reported_scripts = st.builds(Script, calls=call_lists, success=st.booleans(), intent=st.none() | texts)
