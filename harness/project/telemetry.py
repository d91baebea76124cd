"""The host's owned report of a batch: validated clause by clause before anything is projected from it.

A report that breaks a clause counts as no report, and a problem names the clause (card-facts.md, "Tasks", the
paragraph on the owned report).
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from harness.model.facts import CardKind, Problem
from harness.project.nodes import BatchNode
from harness.project.stated import over
from harness.records.payloads import Count
from harness.spec import bounds
from harness.spec.facts import fact

TELEMETRY: Final = "subagent_telemetry"
POINTER: Final = f"/payload/result/metadata/{TELEMETRY}"
OUTCOMES: Final = fact(CardKind.TASK, "Task outcome").members


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Normalized tokens; all four members must be written out. `cache_read` is meaningless unless `cache_known`."""

    effective_input: Count
    output: Count
    cache_read: Count
    cache_known: bool


class TaskUsage(msgspec.Struct, frozen=True, kw_only=True):
    """A task's usage. `latest` None: its latest request reported nothing."""

    whole_run: Tokens
    latest: Tokens | None
    latest_request_sequence: Count
    latest_final: bool


class TaskReport(msgspec.Struct, frozen=True, kw_only=True):
    """One task as the report has it; None in a member is the report's explicit null. Nothing here has a default, so
    that a member that is not written out is refused."""

    index: Count
    scoped_id: str
    intent: str
    profile: str | None
    agent: str | None
    provider: str | None
    model: str | None
    outcome: str | None
    usage: TaskUsage | None
    activity: tuple[str, ...]
    activity_omitted: Count | None
    text_limited: bool
    changed_paths: Count | None
    calls_failed: Count | None
    calls_unknown: Count | None
    calls_changed: Count | None


class Telemetry(msgspec.Struct, frozen=True, kw_only=True):
    schema_version: Annotated[int, msgspec.Meta(ge=0)]
    tasks: tuple[TaskReport, ...]


class _Refused(Exception):  # noqa: N818 # not an error of ours: the clause that a report breaks
    def __init__(self, requirement: str, expected: str, observed: str, member: str = "") -> None:
        super().__init__(observed)
        self.requirement = requirement
        self.expected = expected
        self.observed = observed
        self.member = member


def read_telemetry(batch: BatchNode) -> tuple[Telemetry | None, tuple[Problem, ...]]:
    """The valid report of a batch, its tasks by index, or None; and the clause that an invalid one breaks."""
    ending = batch.call.ending
    metadata = (ending.value.result.metadata if ending else None) or {}
    if ending is None or TELEMETRY not in metadata:
        return None, ()
    try:
        return _validated(metadata[TELEMETRY], batch), ()
    except _Refused as refused:
        place = batch.scope.place(ending.record, f"{POINTER}{refused.member}")
        problem = Problem(
            requirement=refused.requirement,
            card=batch.path,
            label="",
            expected=refused.expected,
            observed=refused.observed[:200],
            place=place,
        )
        return None, (problem,)


def _validated(source: Any, batch: BatchNode) -> Telemetry:
    report = _typed(source)
    if report.schema_version != bounds.REPORT_SCHEMA_VERSION:
        raise _Refused("task.report-bounds", "schema version 1", str(report.schema_version), "/schema_version")
    if len(report.tasks) > bounds.TASKS_PER_REPORT:
        raise _Refused("task.report-bounds", "at most 10 tasks", f"{len(report.tasks)} tasks", "/tasks")
    size = len(msgspec.json.encode(source))
    if size > bounds.REPORT_BYTES:
        raise _Refused("task.report-bounds", "at most 65536 serialized bytes", f"{size} bytes")
    _check_identities(report, batch)
    for number, task in enumerate(report.tasks):
        _check_task(task, f"/tasks/{number}")
    ordered = tuple(sorted(report.tasks, key=lambda task: task.index))
    _check_original(ordered, batch)
    return Telemetry(schema_version=report.schema_version, tasks=ordered)


def _typed(source: Any) -> Telemetry:
    """``task.report-validation``, ``task.usage-round-trip``: every member is written out, nulls too, in its type."""
    try:
        return msgspec.convert(source, Telemetry)
    except msgspec.ValidationError as error:
        usage = ".usage." in str(error) or str(error).endswith(".usage`")
        requirement = "task.usage-round-trip" if usage else "task.report-validation"
        raise _Refused(requirement, "every member written out, in its type", str(error)) from None


def _check_identities(report: Telemetry, batch: BatchNode) -> None:
    """``task.report-validation``: indices count the tasks from 0, identities are unique and scoped to the call."""
    indices = sorted(task.index for task in report.tasks)
    if indices != list(range(len(report.tasks))):
        raise _Refused("task.report-validation", f"indices 0 to {len(report.tasks) - 1}", str(indices), "/tasks")
    prefix = f"{batch.scope.chain}{batch.call.id}/"
    seen: set[str] = set()
    for number, task in enumerate(report.tasks):
        member = f"/tasks/{number}/scoped_id"
        rest = task.scoped_id.removeprefix(prefix)
        if rest == task.scoped_id or not rest or "/" in rest:
            raise _Refused("task.report-validation", f"an identity scoped to {prefix}", task.scoped_id, member)
        if task.scoped_id in seen:
            raise _Refused("task.report-validation", "unique scoped identities", task.scoped_id, member)
        seen.add(task.scoped_id)


def _check_task(task: TaskReport, member: str) -> None:
    """``task.text-bounds``, ``task.activity-bound``, ``task.report-validation``: bounded texts and outcome words."""
    texts = {"intent": task.intent, "profile": task.profile, "agent": task.agent}
    texts |= {"provider": task.provider, "model": task.model}
    texts |= {f"activity/{number}": text for number, text in enumerate(task.activity)}
    for name, text in texts.items():
        if text is not None and over(text, bounds.TASK_TEXT_BYTES):
            observed = f"{len(text.encode())} bytes"
            raise _Refused("task.text-bounds", f"at most {bounds.TASK_TEXT_BYTES} bytes", observed, f"{member}/{name}")
    if len(task.activity) > bounds.TASK_ACTIVITY_ENTRIES:
        observed = f"{len(task.activity)} entries"
        raise _Refused("task.activity-bound", "at most 8 activities", observed, f"{member}/activity")
    if task.outcome is not None and task.outcome not in OUTCOMES:
        raise _Refused("task.report-validation", "an outcome word or null", task.outcome, f"{member}/outcome")


def _check_original(tasks: tuple[TaskReport, ...], batch: BatchNode) -> None:
    """``task.report-validation``: as many tasks as the call declares, with the intents that it declares.

    An intent that had to be shortened or sanitized is only held to its bound: the rules do not say what it becomes.
    """
    if len(tasks) != len(batch.tasks):
        raise _Refused("task.report-validation", f"{len(batch.tasks)} tasks as declared", f"{len(tasks)}", "/tasks")
    for task, node in zip(tasks, batch.tasks, strict=True):
        declared = node.declared.intent
        exact = declared.isprintable() and not over(declared, bounds.TASK_TEXT_BYTES)
        if exact and task.intent != declared:
            expected = f"the declared intent {declared!r}"
            raise _Refused("task.report-validation", expected, task.intent, f"/tasks/{node.index}/intent")
