"""Code Mode facts: each expected value is worked out by hand from the records and card-facts.md."""

from __future__ import annotations

from typing import Any

import pytest

from harness.model.facts import CardKind
from tests.support.sessions import Lines, card, execution, facts, projected, run, vias

PATH = "turn1/call1"
SAFETY = {
    "Completed actions remain applied": "true",
    "Rollback": "false",
    "External effects may be untracked": "true",
    "Execution persistence": "recorded",
}


def nothing(*labels: str, reason: str = "not_recorded") -> dict[str, str]:
    return dict.fromkeys(labels, f"?{reason}")


def script(lines: Lines) -> dict[str, str | None]:
    return facts(run(lines).reference, PATH)


def test_a_successful_script_with_a_failed_call_as_0_104_0_saved_it() -> None:
    projection = projected("0.104.0-mixed-script")
    changed = "/acceptance/mixed-script/ws/out.txt"
    expected = {
        **SAFETY,
        "Script outcome": "success",
        "Code Mode intent": "Exercise mixed outcomes",
        "Total calls": "3",
        "Successful calls": "2",
        "Failed calls": "1",
        "Unknown calls": "0",
        "Running calls": "0",
        "Elapsed milliseconds": "10",
        "Recoverable failures": "1",
        "Warnings": "0",
        "Changed paths": "1",
        "Response token estimate": "?not_recorded",
        "Change count qualifier": "exact",
        "Completed with warnings": "true",
        "Warnings omitted": "0",
        "Changed paths omitted": "0",
        "Child references complete": "true",
        "Child references omitted": "0",
        "Changed path#0": changed,
    }
    assert facts(projection.reference, PATH) == expected
    assert facts(projection.report, PATH) == expected
    assert facts(projection.nested, PATH) == expected | nothing(
        "Running calls", "Elapsed milliseconds", reason="not_derivable"
    )
    assert card(projection.reference, PATH).children == tuple(f"{PATH}/call{n}" for n in (1, 2, 3))
    assert card(projection.reference, PATH).kind is CardKind.CODE_MODE
    assert projection.problems == ()


def test_every_reported_fact_names_the_member_it_was_read_from() -> None:
    facts_ = card(projected("0.104.0-mixed-script").report, PATH).facts
    places = {fact.label: fact.place for fact in facts_ if fact.place is not None}
    base = "/payload/result/metadata/code_mode_execution"
    assert (places["Total calls"].line, places["Total calls"].pointer) == (13, f"{base}/inner_calls")
    assert (places["Changed path"].line, places["Changed path"].pointer) == (13, f"{base}/changed_paths/0")
    assert (places["Code Mode intent"].line, places["Code Mode intent"].pointer) == (6, "/payload/arguments")


def test_a_turn_cancelled_while_the_script_ran_leaves_it_cancelled_although_the_result_says_no_success() -> None:
    projection = projected("0.104.0-cancelled-script")
    found = facts(projection.reference, PATH)
    assert found["Script outcome"] == "cancelled"
    assert (found["Total calls"], found["Successful calls"], found["Failed calls"]) == ("3", "1", "2")
    assert (found["Unknown calls"], found["Running calls"], found["Elapsed milliseconds"]) == ("0", "0", "738")
    assert found["Changed paths"] == "1"
    assert found["Changed path#0"] == "/acceptance/cancelled-script/ws/one.txt"
    assert found["Completed with warnings"] is None
    place = next(f for f in card(projection.reference, PATH).facts if f.label == "Script outcome").place
    assert place is not None
    assert (place.line, place.pointer) == (14, "/payload/status")
    assert facts(projection.nested, PATH)["Script outcome"] == "cancelled"


def test_an_interrupted_script_is_rebuilt_from_nested_records_and_invents_no_measurement() -> None:
    projection = projected("0.104.0-killed-script")
    assert facts(projection.reference, PATH) == {
        **SAFETY,
        "Script outcome": "interrupted",
        "Code Mode intent": "Killed midway",
        "Total calls": "3",
        "Successful calls": "1",
        "Failed calls": "1",
        "Unknown calls": "1",
        "Running calls": None,
        "Elapsed milliseconds": None,
        "Recoverable failures": "1",
        "Warnings": "0",
        "Changed paths": "1",
        "Response token estimate": None,
        "Change count qualifier": "exact",
        "Completed with warnings": None,
        "Warnings omitted": "0",
        "Changed paths omitted": "0",
        "Child references complete": "true",
        "Child references omitted": "0",
        "Changed path#0": "/acceptance/killed-script/ws/one.txt",
    }
    report = facts(projection.report, PATH)
    assert report["Total calls"] == report["Script outcome"] == report["Changed path#2"] == "?not_recorded"
    assert report["Rollback"] == "false"
    source = vias(projection.reference, PATH)
    assert (source["Total calls"], source["Running calls"], source["Rollback"]) == ("nested", "rule", "rule")
    assert source["Code Mode intent"] == "call"


def test_a_legacy_report_without_newer_counts_leaves_them_null_and_not_zero() -> None:
    projection = projected("0.96.6-reopened-by-0.104.0-legacy-script")
    found = facts(projection.reference, PATH)
    assert found == SAFETY | {
        "Script outcome": "success",
        "Code Mode intent": None,
        "Total calls": "3",
        "Successful calls": "2",
        "Failed calls": "1",
        "Unknown calls": "0",
        "Running calls": None,
        "Elapsed milliseconds": "7",
        "Recoverable failures": "1",
        "Warnings": None,
        "Changed paths": "1",
        "Response token estimate": "?not_recorded",
        "Change count qualifier": "exact",
        "Completed with warnings": "true",
        "Warnings omitted": None,
        "Changed paths omitted": "0",
        "Child references complete": "true",
        "Child references omitted": "0",
        "Changed path#0": "/acceptance/legacy-script/ws/out.txt",
    }
    assert facts(projection.nested, PATH)["Warnings"] == "?not_recorded"


def test_a_script_that_failed_by_itself_stays_failed_when_the_turn_is_cancelled_later() -> None:
    assert facts(projected("0.104.0-cancelled-between").reference, PATH)["Script outcome"] == "failure"
    child = facts(projected("0.104.0-cancelled-child").reference, f"{PATH}/task1/call1")
    assert child["Script outcome"] == "failure"


@pytest.mark.parametrize(
    ("after", "outcome"),
    [
        (lambda lines: lines, "failure"),
        (lambda lines: lines.status("failed"), "failure"),
        (lambda lines: lines.status("cancelled"), "cancelled"),
        (lambda lines: lines.usage("", 1, None, final=False).status("cancelled"), "failure"),
        (lambda lines: lines.call("next", "read").status("cancelled"), "failure"),
        (lambda lines: lines.add("provider_response_item", {}).status("cancelled"), "failure"),
        (lambda lines: lines.usage("c/g1", 1, None, final=False).status("cancelled"), "cancelled"),
        (lambda lines: lines.user().status("cancelled"), "failure"),
    ],
)
def test_failure_becomes_cancellation_only_when_nothing_was_asked_in_between(after: Any, outcome: str) -> None:
    lines = Lines().user().usage("", 0, (1, 1, 0), final=True).script().inner(1)
    lines.result("c", success=False, metadata=execution(inner_calls=1, unknown_outcomes=1))
    assert script(after(lines))["Script outcome"] == outcome


def test_success_is_success_in_a_cancelled_turn() -> None:
    lines = Lines().user().usage("", 0, None, final=False).script().result("c", metadata=execution())
    assert script(lines.status("cancelled"))["Script outcome"] == "success"


def test_without_any_usage_nobody_can_tell_a_cancelled_script_from_a_cancelled_request() -> None:
    lines = Lines().user().script().result("c", success=False, metadata=execution()).status("cancelled")
    assert script(lines)["Script outcome"] == "?not_derivable"


def test_the_outcome_of_calls_is_not_the_outcome_of_the_script() -> None:
    all_failed = Lines().user().script().inner(1).inner_result(1, success=False)
    counts = execution(inner_calls=1, recoverable_failures=1)
    assert script(all_failed.result("c", metadata=counts))["Script outcome"] == "success"
    all_well = Lines().user().script().inner(1).inner_result(1)
    counts = execution(inner_calls=1, successful=1)
    assert script(all_well.result("c", success=False, metadata=counts))["Script outcome"] == "failure"


@pytest.mark.parametrize(
    ("success", "failed", "unknown", "warnings", "expected"),
    [
        (True, 0, 0, 0, "false"),
        (True, 1, 0, 0, "true"),
        (True, 0, 1, 0, "true"),
        (True, 0, 0, 1, "true"),
        (True, 0, 0, None, None),
        (True, None, 0, 0, None),
        (True, 1, None, None, "true"),
        (True, None, None, 2, "true"),
        (False, 0, 0, 0, None),
        (False, 1, 1, 1, None),
    ],
)
def test_completed_with_warnings(
    success: bool, failed: int | None, unknown: int | None, warnings: int | None, expected: str | None
) -> None:
    report = execution(recoverable_failures=failed, unknown_outcomes=unknown, warning_count=warnings)
    lines = Lines().user().script().result("c", success=success, metadata=report)
    assert facts(run(lines).report, PATH)["Completed with warnings"] == expected


def test_a_result_without_a_report_and_without_nested_records_leaves_every_count_null() -> None:
    found = run(Lines().user().script().result("c", success=False))
    reference = facts(found.reference, PATH)
    assert reference["Script outcome"] == "failure"
    for label in ("Total calls", "Failed calls", "Running calls", "Elapsed milliseconds", "Warnings", "Changed paths"):
        assert reference[label] is None, label
    assert reference["Change count qualifier"] is None
    assert reference["Child references complete"] is reference["Child references omitted"] is None
    assert "Changed path#0" not in reference
    assert facts(found.report, PATH)["Total calls"] == "?not_recorded"


def test_no_nested_record_of_a_reported_script_is_a_known_zero_but_of_an_interrupted_one_is_null() -> None:
    reported = run(Lines().user().script().result("c", metadata=execution()))
    assert facts(reported.nested, PATH)["Total calls"] == "0"
    assert facts(reported.nested, PATH)["Warnings"] == "0"
    interrupted = run(Lines().user().script())
    assert facts(interrupted.nested, PATH)["Total calls"] is None
    assert facts(interrupted.reference, PATH)["Script outcome"] == "interrupted"


def test_parents_that_share_an_id_suppress_what_nested_records_would_say() -> None:
    projection = run(Lines().user().script().script().inner(1).inner_result(1, paths=["/w/a"]))
    for path in (PATH, "turn1/call2"):
        found = facts(projection.reference, path)
        assert found["Total calls"] is found["Changed paths"] is found["Warnings"] is None
        assert found["Change count qualifier"] is None
        assert found["Rollback"] == "false"
        assert "Changed path#0" not in found
    rules = [problem.requirement for problem in projection.problems]
    assert rules == ["records.call-id", "records.nested-parent", "records.nested-parent"]


def test_a_shared_id_does_not_make_a_saved_report_disagree_with_itself() -> None:
    lines = Lines().user().script().inner(1).inner_result(1)
    lines.result("c", metadata=execution(inner_calls=1, successful=1)).script().result("c", metadata=execution())
    projection = run(lines)
    assert facts(projection.report, PATH)["Total calls"] == "1"
    assert facts(projection.nested, PATH)["Total calls"] == "?not_derivable"
    assert facts(projection.reference, PATH)["Total calls"] == "1"


def test_nested_records_that_contradict_each_other_say_nothing() -> None:
    projection = run(Lines().user().script().inner(1).inner_result(1).inner_result(1, success=False))
    assert facts(projection.nested, PATH)["Successful calls"] == "?not_derivable"
    assert facts(projection.reference, PATH)["Total calls"] == "?not_derivable"
    assert [problem.requirement for problem in projection.problems] == ["records.nested-once"]


def test_an_interrupted_script_keeps_its_facts_when_another_turn_follows() -> None:
    lines = Lines().user().script().inner(1).inner_result(1, paths=["/w/a"]).inner(2)
    before = facts(run(lines).reference, PATH)
    after = facts(run(lines.user("again").answer()).reference, PATH)
    assert before == after
    assert (after["Script outcome"], after["Successful calls"], after["Unknown calls"]) == ("interrupted", "1", "1")


@pytest.mark.parametrize(
    ("calls", "complete", "omitted"), [(31, "true", "0"), (32, "true", "0"), (33, "false", "1"), (60, "false", "28")]
)
def test_child_references_of_an_unreduced_card_stop_at_32(calls: int, complete: str, omitted: str) -> None:
    lines = Lines().user().script()
    for number in range(1, calls + 1):
        lines.inner(number).inner_result(number)
    projection = run(lines.result("c", metadata=execution(inner_calls=calls, successful=calls)))
    for column in (projection.report, projection.nested):
        found = facts(column, PATH)
        assert (found["Child references complete"], found["Child references omitted"]) == (complete, omitted)
    assert (card(projection.reference, PATH).children is None) == (calls > 32)


def test_a_total_that_its_parts_do_not_add_up_to_makes_child_references_null() -> None:
    lines = Lines().user().script().result("c", metadata=execution(inner_calls=5, successful=4))
    found = script(lines)
    assert found["Total calls"] == "5"
    assert found["Child references complete"] is found["Child references omitted"] is None


def test_warnings_are_all_counted_and_two_are_shown() -> None:
    lines = Lines().user().script().inner(1).inner_result(1)
    for number in range(40):
        lines.warning(1, f"warning {number}")
    stored = [f"warning {number}" for number in range(32)]
    lines.result("c", metadata=execution(inner_calls=1, successful=1, warning_count=40, warnings=stored))
    projection = run(lines)
    for column in (projection.report, projection.nested):
        found = facts(column, PATH)
        assert (found["Warnings"], found["Warnings omitted"]) == ("40", "38")
        assert [found[f"Warning#{row}"] for row in (0, 1)] == ["warning 0", "warning 1"]
        assert "Warning#2" not in found
        assert found["Completed with warnings"] == "true"
    assert projection.problems == ()


def test_more_stored_warnings_than_allowed_are_a_problem_of_the_report() -> None:
    stored = ["w"] * 33
    lines = Lines().user().script().result("c", metadata=execution(warning_count=33, warnings=stored))
    (problem,) = run(lines).report.problems
    assert (problem.requirement, problem.card) == ("code-mode.warning-storage", PATH)
    assert problem.observed == "33 entries"


def test_a_stored_warning_over_512_bytes_is_a_problem_even_where_it_has_fewer_characters() -> None:
    lines = Lines().user().script().result("c", metadata=execution(warning_count=2, warnings=["ü" * 256, "ü" * 257]))
    (problem,) = run(lines).report.problems
    assert problem.requirement == "code-mode.warning-storage"
    assert problem.observed == "514 bytes"
    assert problem.place is not None
    assert problem.place.pointer == "/payload/result/metadata/code_mode_execution/warnings/1"


def test_more_stored_paths_than_a_report_may_have_are_a_problem_of_the_report() -> None:
    """card-facts.md, Code Mode: the execution report retains at most 50 paths."""
    stored = [f"/w/{number}" for number in range(51)]
    lines = Lines().user().script().result("c", metadata=execution(changed_path_count=51, changed_paths=stored))
    (problem,) = run(lines).report.problems
    assert (problem.requirement, problem.card) == ("code-mode.path-bounds", PATH)
    assert (problem.expected, problem.observed) == ("at most 50 entries", "51 entries")
    assert problem.place is not None
    assert problem.place.pointer == "/payload/result/metadata/code_mode_execution/changed_paths"
    whole = execution(changed_path_count=50, changed_paths=stored[:50])
    assert run(Lines().user().script().result("c", metadata=whole)).report.problems == ()


def write(paths: list[str]) -> Lines:
    lines = Lines().user().script()
    for number, path in enumerate(paths, 1):
        lines.inner(number).inner_result(number, paths=[path])
    return lines


def test_a_path_changed_twice_counts_once_and_three_paths_are_shown() -> None:
    found = script(write(["/w/a", "/w/b", "/w/a", "/w/c", "/w/d"]))
    assert (found["Changed paths"], found["Changed paths omitted"]) == ("4", "1")
    assert [found[f"Changed path#{row}"] for row in range(3)] == ["/w/a", "/w/b", "/w/c"]
    assert "Changed path#3" not in found
    assert found["Change count qualifier"] == "exact"


def test_nested_records_do_not_choose_an_order_that_the_rules_do_not_give() -> None:
    found = script(write(["/w/b", "/w/a"]))
    assert found["Changed paths"] == "2"
    assert [found[f"Changed path#{row}"] for row in range(2)] == ["?not_derivable"] * 2
    assert "Changed path#2" not in found


def test_tracking_stops_at_a_thousand_paths() -> None:
    exact = script(write([f"/w/{number:04}" for number in range(1000)]))
    assert (exact["Changed paths"], exact["Change count qualifier"]) == ("1000", "exact")
    over = script(write([f"/w/{number:04}" for number in range(1001)]))
    assert (over["Changed paths"], over["Change count qualifier"]) == ("1000", "at_least")
    assert over["Changed paths omitted"] == "997"


def test_a_path_over_512_bytes_makes_the_count_a_lower_bound() -> None:
    fits = script(write(["/" + "ü" * 255]))
    assert (fits["Change count qualifier"], fits["Changed paths"]) == ("exact", "1")
    over = script(write(["/" + "ü" * 256]))
    assert (over["Change count qualifier"], over["Changed paths"]) == ("at_least", "?not_derivable")


def test_a_result_that_counts_more_paths_than_it_names_makes_the_count_a_lower_bound() -> None:
    lines = write(["/w/a"])
    lines.records[-1]["payload"]["execution_effects"]["changed_path_count"] = 3
    found = script(lines)
    assert (found["Change count qualifier"], found["Changed paths"]) == ("at_least", "?not_derivable")


def test_the_report_says_at_least_when_tracking_was_incomplete() -> None:
    for incomplete, qualifier in ((True, "at_least"), (False, "exact"), (None, None)):
        report = execution(changed_path_count=9, changed_paths=["/a"], changed_paths_incomplete=incomplete)
        found = script(Lines().user().script().result("c", metadata=report))
        assert found["Change count qualifier"] == qualifier
        assert (found["Changed paths"], found["Changed paths omitted"]) == ("9", "8")


def test_a_saved_token_estimate_is_the_fact_and_a_missing_one_is_never_made_up() -> None:
    saved = execution() | {"code_mode_response_token_estimate": 195}
    assert script(Lines().user().script().result("c", metadata=saved))["Response token estimate"] == "195"
    assert script(Lines().user().script())["Response token estimate"] is None


def test_a_report_member_of_a_wrong_type_is_unreadable_and_a_problem_and_the_rest_still_counts() -> None:
    lines = Lines().user().script().result("c", metadata=execution(inner_calls="3", elapsed_ms=True, successful=2))
    projection = run(lines)
    found = facts(projection.report, PATH)
    assert found["Total calls"] == found["Elapsed milliseconds"] == "?unreadable"
    assert found["Successful calls"] == "2"
    assert [problem.requirement for problem in projection.report.problems] == ["records.payload"] * 2


def test_a_terminal_report_with_running_calls_breaks_its_rule_and_the_fact_stays_zero() -> None:
    projection = run(Lines().user().script().result("c", metadata=execution(running_calls=2)))
    assert facts(projection.reference, PATH)["Running calls"] == "0"
    (problem,) = projection.report.problems
    assert (problem.requirement, problem.observed) == ("code-mode.running-calls", "2")


@pytest.mark.parametrize(
    ("intent", "expected"),
    [
        ("Plain", "Plain"),
        (None, None),
        ("ü" * 512, "ü" * 512),
        ("ü" * 513, "?not_derivable"),
        ("with\nnewline", "?not_derivable"),
    ],
)
def test_an_intent_is_compared_only_in_a_form_that_the_rules_give(intent: str | None, expected: str | None) -> None:
    assert script(Lines().user().script(intent=intent))["Code Mode intent"] == expected


def test_a_stored_path_with_control_characters_has_no_displayed_form_in_the_rules() -> None:
    report = execution(changed_path_count=2, changed_paths=["/w/a\tb", "/w/c"])
    found = script(Lines().user().script().result("c", metadata=report))
    assert (found["Changed path#0"], found["Changed path#1"]) == ("?not_derivable", "/w/c")
