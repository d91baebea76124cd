"""How often saved records gave a case of a rule: a report that nobody wrote must not count as a valid one."""

from __future__ import annotations

from typing import Any

import pytest

from harness.spec import bounds
from tests.support.sessions import Lines, execution, run, task_report, telemetry, tokens

TASKS = [{"intent": "First"}, {"intent": "Second", "context": " Keep it to yourself. "}]


def _child(number: int, calls: int = 0) -> Lines:
    lines = Lines(f"child{number}").task_of(number, TASKS[number - 1]["intent"])
    for call in range(calls):
        lines.call(f"x{call}", "read").result(f"x{call}")
    return lines.answer()


def _batch(metadata: dict[str, Any] | None, *, legacy: bool = False) -> Lines:
    lines = Lines(legacy=legacy).user().batch(TASKS).announce("child1").announce("child2")
    return lines.result("b", metadata=metadata)


def _report(**members: Any) -> dict[str, Any]:
    return telemetry(task_report(0, "First", **members), task_report(1, "Second"))


def test_a_session_without_a_script_or_batch_gives_no_case_of_a_report() -> None:
    projection = run(Lines().user().call("c", "read").result("c").answer())
    assert projection.report.cases == {}
    assert projection.nested.cases["records.line-json"] == 4
    assert projection.nested.cases["records.turn"] == 2
    assert "records.nested-parent" not in projection.nested.cases
    assert "records.child-file" not in projection.nested.cases


def test_the_lists_of_a_script_are_cases_of_their_bounds_only_as_far_as_they_hold_something() -> None:
    report = execution(warnings=["one", "two"], warning_count=2, changed_paths=["a"], changed_path_count=1)
    projection = run(Lines().user().script().result("c", metadata=report))
    assert projection.report.cases == {"code-mode.warning-storage": 2, "code-mode.path-bounds": 1}
    assert run(Lines().user().script().result("c", metadata=execution())).report.cases == {}
    assert run(Lines().user().script()).report.cases == {}


def test_a_telemetry_report_is_a_case_of_each_of_its_clauses() -> None:
    usage = {"whole_run": tokens(100, 20, 10), "latest": None, "latest_request_sequence": 0, "latest_final": True}
    projection = run(_batch(_report(activity=["read: success"], usage=usage)), _child(1), _child(2))
    assert projection.problems == ()
    assert projection.report.cases == {
        "batch.telemetry-stored": 1,
        "task.report-bounds": 1,
        "task.report-validation": 1,
        "task.usage-round-trip": 1,
        "task.activity-bound": 1,
        "task.text-bounds": 1 + 2 * 3,  # the activity; of each task its intent, provider and model
    }
    assert projection.nested.cases["records.child-file"] == projection.nested.cases["records.child-task"] == 2


def test_a_report_that_is_refused_was_tried_all_the_same() -> None:
    projection = run(_batch(telemetry(task_report(0, "First"))), _child(1), _child(2))
    assert [problem.requirement for problem in projection.problems] == ["task.report-validation"]
    assert projection.report.cases["task.report-validation"] == 1


@pytest.mark.parametrize("report", [None, 7, [], {"tasks": 7}, {"tasks": [7]}])
def test_a_report_of_any_shape_is_counted_without_a_fault(report: Any) -> None:
    projection = run(_batch({"subagent_telemetry": report}), _child(1), _child(2))
    assert projection.report.cases["task.report-bounds"] == 1
    assert projection.report.cases.get("task.text-bounds", 0) == 0


def test_a_result_without_telemetry_is_told_unless_a_release_wrote_it_that_knew_none() -> None:
    projection = run(_batch({}), _child(1), _child(2))
    (problem,) = [item for item in projection.problems if item.requirement == "batch.telemetry-stored"]
    assert (problem.card, problem.observed) == ("turn1/call1", "a saved result without one")
    assert problem.place is not None
    assert (problem.place.line, problem.place.pointer) == (5, "/payload/result/metadata")
    assert "batch.telemetry-stored" not in projection.report.cases
    legacy = run(_batch({}, legacy=True), _child(1), _child(2))
    assert [item for item in legacy.problems if item.requirement == "batch.telemetry-stored"] == []


@pytest.mark.parametrize(
    "lines",
    [Lines().user().batch(TASKS).announce("child1").announce("child2"), Lines().user().batch(TASKS).result("b")],
    ids=["no result", "no task ran"],
)
def test_a_batch_that_has_no_result_or_ran_no_task_needs_no_telemetry(lines: Lines) -> None:
    children = (_child(1), _child(2)) if len(lines.records) == 4 else ()
    assert [item for item in run(lines, *children).problems if item.requirement == "batch.telemetry-stored"] == []


def test_only_a_batch_with_more_direct_calls_than_are_tracked_is_beyond_the_cap() -> None:
    for calls, beyond in ((bounds.DIRECT_CALLS_TRACKED_PER_BATCH - 1, 0), (bounds.DIRECT_CALLS_TRACKED_PER_BATCH, 1)):
        projection = run(_batch(_report()), _child(1, calls), _child(2, 1))
        assert projection.report.cases.get("task.direct-call-cap", 0) == beyond


def test_the_context_of_a_task_is_kept_apart_from_its_facts() -> None:
    projection = run(_batch(_report()), _child(1), _child(2))
    assert projection.contexts == {"turn1/call1/task2": "Keep it to yourself."}
    shown = [str(fact.value) for card in projection.reference for fact in card.facts]
    assert not any("Keep it" in text for text in shown)


def test_nested_records_are_cases_of_their_own_rules() -> None:
    projection = run(Lines().user().script().inner(1).warning(1).inner_result(1).result("c"))
    assert projection.nested.cases["records.nested-parent"] == projection.nested.cases["records.nested-once"] == 3
    assert projection.nested.cases["records.event-id"] == 6
    legacy = run(Lines(legacy=True).user().script().result("c"))
    assert "records.event-id" not in legacy.nested.cases
