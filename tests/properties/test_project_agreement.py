"""The two derivations of a consistent run never disagree, and one lie in the host's report is always visible."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harness.model.facts import ColumnFacts
from harness.model.values import Value
from tests.support import runs
from tests.support.sessions import facts, run

PATH = "turn1/call1"


def readings(column: ColumnFacts) -> dict[tuple[str, str, int], Value]:
    return {
        (card.path, fact.label, fact.ordinal): fact.value
        for card in column.cards
        for fact in card.facts
        if isinstance(fact.value, Value)
    }


def differing(saved: runs.Saved) -> set[tuple[str, str]]:
    projection = run(saved.session, *saved.children)
    report, nested = readings(projection.report), readings(projection.nested)
    return {key[:2] for key in report.keys() & nested.keys() if report[key] != nested[key]}


@settings(deadline=None, max_examples=25)
@given(runs.scripts)
def test_report_and_nested_records_of_a_script_agree(script: runs.Script) -> None:
    saved = runs.saved_script(script)
    assert differing(saved) == set()
    projection = run(saved.session)
    assert projection.problems == ()
    nested = facts(projection.nested, PATH)
    if script.saved:
        for label in ("Total calls", "Successful calls", "Failed calls", "Unknown calls", "Warnings", "Changed paths"):
            assert nested[label] == facts(projection.report, PATH)[label] is not None
    elif script.calls:
        assert nested["Total calls"] == str(len(script.calls))


@settings(deadline=None, max_examples=25)
@given(runs.batches)
def test_report_and_child_sessions_of_a_batch_agree(batch: runs.Batch) -> None:
    saved = runs.saved_batch(batch)
    assert differing(saved) == set()
    projection = run(saved.session, *saved.children)
    assert projection.problems == ()
    if batch.saved:
        for number, task in enumerate(batch.tasks, 1):
            found = facts(projection.nested, f"{PATH}/task{number}")
            assert found["Task outcome"] == task.outcome
            assert found["Usage provenance"] == ("normalized_provider_usage" if any(task.requests) else None)


SCRIPT_LIES = {
    "inner_calls": "Total calls",
    "successful": "Successful calls",
    "recoverable_failures": "Failed calls",
    "unknown_outcomes": "Unknown calls",
    "warning_count": "Warnings",
    "changed_path_count": "Changed paths",
}


@settings(deadline=None, max_examples=25)
@given(runs.reported_scripts, st.sampled_from(sorted(SCRIPT_LIES)), st.integers(1, 3))
def test_a_wrong_count_in_an_execution_report_is_visible(script: runs.Script, member: str, by: int) -> None:
    saved = runs.saved_script(script)
    report = saved.session.records[-1]["payload"]["result"]["metadata"]["code_mode_execution"]
    report[member] += by
    assert (PATH, SCRIPT_LIES[member]) in differing(saved)


TASK_LIES: dict[str, tuple[str, Any]] = {
    "calls_failed": ("Task failed calls", 77),
    "calls_unknown": ("Task unknown calls", 77),
    "calls_changed": ("Task calls with effects", 77),
    "changed_paths": ("Task changed paths", 77),
    "agent": ("Task agent", "somebody else"),
    "scoped_id": ("Task execution identity", "b/g9"),
}


@settings(deadline=None, max_examples=25)
@given(runs.reported_batches, st.sampled_from(sorted(TASK_LIES)), st.data())
def test_a_wrong_member_in_a_task_report_is_visible(batch: runs.Batch, member: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(batch.tasks) - 1))
    saved = runs.saved_batch(batch)
    telemetry = saved.session.records[-1]["payload"]["result"]["metadata"]["subagent_telemetry"]
    label, lie = TASK_LIES[member]
    telemetry["tasks"][index][member] = lie
    assert (f"{PATH}/task{index + 1}", label) in differing(saved)


@settings(deadline=None, max_examples=25)
@given(runs.reported_batches, st.sampled_from(["success", "failure", "cancelled", "unknown"]), st.data())
def test_a_wrong_outcome_is_visible_on_the_task_and_in_the_batch(
    batch: runs.Batch, word: str, data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(batch.tasks) - 1))
    assume(batch.tasks[index].outcome != word)
    saved = runs.saved_batch(batch)
    telemetry = saved.session.records[-1]["payload"]["result"]["metadata"]["subagent_telemetry"]
    telemetry["tasks"][index]["outcome"] = word
    found = differing(saved)
    assert (f"{PATH}/task{index + 1}", "Task outcome") in found
    labels = {"success": "done", "failure": "failed", "cancelled": "cancelled", "unknown": "unknown"}
    assert (PATH, f"Tasks {labels[word]}") in found


@settings(deadline=None, max_examples=25)
@given(
    runs.reported_batches,
    st.sampled_from(["effective_input", "output", "cache_read"]),
    st.sampled_from(["whole_run", "latest"]),
)
def test_wrong_tokens_are_visible(batch: runs.Batch, member: str, which: str) -> None:
    saved = runs.saved_batch(batch)
    tasks = saved.session.records[-1]["payload"]["result"]["metadata"]["subagent_telemetry"]["tasks"]
    index = next((n for n, task in enumerate(tasks) if task["usage"] and task["usage"][which]), None)
    assume(index is not None)
    assert index is not None
    tasks[index]["usage"][which][member] += 1
    label = {"effective_input": "effective input", "output": "output", "cache_read": "cache read"}[member]
    shown = f"Usage {'latest ' if which == 'latest' else ''}{label} tokens"
    assert (f"{PATH}/task{index + 1}", shown) in differing(saved)


def test_the_made_runs_are_json_as_the_product_writes_it() -> None:
    saved = runs.saved_batch(runs.Batch((runs.Task("success", requests=((1, 2, 3),)),)))
    assert all(json.loads(line)["event_type"] for line in saved.session.lines())
