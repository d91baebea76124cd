"""How often the saved records of a run gave a case of the rules that are held against records and reports.

A report that breaks no clause says something only where there is a report. ``batch.telemetry-stored`` is held here:
a batch whose tasks ran must have its telemetry in its saved result, unless a release wrote it that knew of none.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from harness.model.facts import Problem
from harness.project.child import direct_calls
from harness.project.execution import EXECUTION
from harness.project.nodes import BatchNode, Node, ScriptNode
from harness.project.telemetry import POINTER, TELEMETRY
from harness.project.tree import TreeBuilder
from harness.records import Session
from harness.records.payloads import (
    NestedCall,
    NestedResult,
    NestedWarning,
    Other,
    SubagentSession,
    ToolCall,
    ToolResult,
)
from harness.spec import bounds

_OF_REPORTS = ("task.report-bounds", "task.report-validation")
_OF_LINES = (
    *("records.line-size", "records.line-utf8", "records.line-json", "records.line-duplicate-key"),
    *("records.envelope", "records.session-id"),
)
_TEXTS = ("intent", "profile", "agent", "provider", "model")


def _metadata(node: Node) -> dict[str, Any]:
    ending = node.call.ending
    return (ending.value.result.metadata or {}) if ending is not None else {}


def _members(report: object, name: str) -> list[Any]:
    """The entries of a list in a report, [] when it has none; a report may be of any shape here."""
    value = report.get(name) if isinstance(report, dict) else None
    return value if isinstance(value, list) else []


def _of_script(node: ScriptNode) -> Counter[str]:
    report = _metadata(node).get(EXECUTION)
    return Counter(
        {
            "code-mode.warning-storage": len(_members(report, "warnings")),
            "code-mode.path-bounds": len(_members(report, "changed_paths")),
        }
    )


def _of_batch(node: BatchNode) -> Counter[str]:
    metadata = _metadata(node)
    counts: Counter[str] = Counter()
    if sum(direct_calls(node)) > bounds.DIRECT_CALLS_TRACKED_PER_BATCH:
        counts["task.direct-call-cap"] += 1
    if TELEMETRY not in metadata:
        return counts
    counts.update({"batch.telemetry-stored": 1, **dict.fromkeys(_OF_REPORTS, 1)})
    for task in _members(metadata[TELEMETRY], "tasks"):
        if isinstance(task, dict):
            activity = _members(task, "activity")
            counts["task.usage-round-trip"] += task.get("usage") is not None
            counts["task.activity-bound"] += bool(activity)
            counts["task.text-bounds"] += len(activity) + sum(isinstance(task.get(name), str) for name in _TEXTS)
    return counts


def report_cases(tree: TreeBuilder) -> dict[str, int]:
    """By rule: reports, and the entries, tasks and texts in them, that were held against its bounds and clauses."""
    counts: Counter[str] = Counter()
    for node in tree.nodes:
        counts += _of_script(node) if isinstance(node, ScriptNode) else _of_batch(node)
    return dict(counts)


def missing_reports(tree: TreeBuilder) -> list[Problem]:
    """Batches whose tasks ran and whose saved result has no telemetry, of releases that know telemetry."""
    return [
        Problem(
            requirement="batch.telemetry-stored",
            card=node.path,
            label="",
            expected="the telemetry report in the saved result",
            observed="a saved result without one",
            place=node.scope.place(node.call.ending.record, POINTER.rpartition("/")[0]),
        )
        for node in tree.nodes
        if isinstance(node, BatchNode)
        and node.call.ending is not None
        and TELEMETRY not in _metadata(node)
        and not node.scope.session.legacy
        and any(task.child is not None for task in node.tasks)
    ]


def _of_session(session: Session) -> Counter[str]:
    of = Counter(type(record.payload) for record in session.records)
    results, nested = of[ToolResult], of[NestedCall] + of[NestedResult] + of[NestedWarning]
    counts: Counter[str] = Counter(dict.fromkeys(_OF_LINES, len(session.records)))
    counts.update(
        {
            "records.line-cut": 1,
            "records.payload": len(session.records) - of[Other],
            "records.event-id": sum(record.event_id is not None for record in session.records),
            "records.turn": of[ToolCall] + results,
            "records.call-id": of[ToolCall],
            "records.result-call": results,
            "records.result-once": results,
            "records.nested-parent": nested,
            "records.nested-once": nested,
            "records.child-file": of[SubagentSession],
        }
    )
    return counts


def record_cases(tree: TreeBuilder) -> dict[str, int]:
    """By rule of the records: lines, calls, results and child sessions that were held against it."""
    counts: Counter[str] = Counter()
    for session in tree.sessions:
        counts += _of_session(session)
    nodes = (node for node in tree.nodes if isinstance(node, BatchNode))
    counts["records.child-task"] += sum(task.child is not None for node in nodes for task in node.tasks)
    return {rule: count for rule, count in counts.items() if count}
