"""Paths that nobody named, children that are announced twice, and where a derived fact stands in the records.

Each test stands for a mutant of the code that nothing else noticed.
"""

from __future__ import annotations

from harness.model.facts import CardFacts, Fact
from harness.project.paths import Paths, paths_of
from harness.records import read_session, turns_of
from tests.support.sessions import Lines, execution, run, task_report, telemetry, tokens

USAGE = {"whole_run": tokens(100, 20, 10), "latest": None, "latest_request_sequence": 0, "latest_final": True}


def paths(lines: Lines) -> Paths:
    """The paths of the calls inside of the script of a session."""
    (turn,) = turns_of(read_session(lines.bytes(), file="f")).turns
    return paths_of(turn.calls[0].inner)


def fact(cards: tuple[CardFacts, ...], path: str, label: str) -> Fact:
    (card,) = [card for card in cards if card.path == path]
    return next(fact for fact in card.facts if fact.label == label)


def test_the_paths_of_calls_after_one_that_never_ended_count() -> None:
    lines = Lines().user().script().inner(1).inner(2).inner_result(2, paths=["b"])
    assert paths(lines) == Paths(distinct=("b",), limited=False)


def test_a_result_that_does_not_name_all_of_its_paths_leaves_the_others_unknown() -> None:
    lines = Lines().user().script().inner(1).inner_result(1, paths=["a"])
    lines.records[-1]["payload"]["execution_effects"]["changed_path_count"] = 2
    lines.inner(2).inner_result(2, paths=["b"])
    assert paths(lines) == Paths(distinct=None, limited=True)


def test_every_usage_in_a_report_is_a_case_of_its_round_trip() -> None:
    report = telemetry(task_report(0, "First", usage=USAGE), task_report(1, "Second", usage=USAGE))
    lines = Lines().user().batch([{"intent": "First"}, {"intent": "Second"}]).result("b", metadata=report)
    assert run(lines).report.cases["task.usage-round-trip"] == 2
    without = telemetry(task_report(0, "First", usage=USAGE), task_report(1, "Second"), task_report(2, "Third"))
    tasks = [{"intent": "First"}, {"intent": "Second"}, {"intent": "Third"}]
    assert run(Lines().user().batch(tasks).result("b", metadata=without)).report.cases["task.usage-round-trip"] == 1


def test_a_line_of_an_unknown_kind_is_no_case_of_a_payload() -> None:
    lines = Lines().user().add("never_heard_of", {}).answer()
    cases = run(lines).nested.cases
    assert (cases["records.line-json"], cases["records.payload"]) == (3, 2)


def test_a_child_that_is_announced_twice_and_not_saved_is_missed_once() -> None:
    lines = Lines().user().batch([{"intent": "First"}]).announce("gone").announce("gone").result("b")
    missing = [problem for problem in run(lines).problems if problem.requirement == "records.child-file"]
    assert [problem.observed for problem in missing] == ["'gone' was announced but is not saved"]
    assert missing[0].label == ""


def test_a_figure_of_a_report_stands_where_the_report_does() -> None:
    lines = Lines().user().script().result("c", metadata={**execution(), "code_mode_response_token_estimate": 7})
    place = fact(run(lines).report.cards, "turn1/call1", "Response token estimate").place
    assert place is not None
    assert place.line == 3
    assert (place.pointer or "").startswith("/payload/result/metadata")


def test_a_usage_figure_stands_where_its_usage_does() -> None:
    report = telemetry(task_report(0, "First", usage=USAGE))
    lines = Lines().user().batch([{"intent": "First"}]).result("b", metadata=report)
    place = fact(run(lines).report.cards, "turn1/call1/task1", "Usage output tokens").place
    assert place is not None
    assert place.line == 3
    assert (place.pointer or "").startswith("/payload/result/metadata/subagent_telemetry/tasks/0")


def test_a_legacy_release_that_counted_no_warnings_says_nothing_in_its_own_name() -> None:
    lines = Lines(legacy=True).user().script().result("c")
    warnings = fact(run(lines).nested.cards, "turn1/call1", "Warnings")
    assert warnings.via == "nested"
    reported = fact(run(lines).report.cards, "turn1/call1", "Warnings")
    assert getattr(reported.value, "detail", "") == "the saved result has no execution report"


def test_usage_from_snapshots_stands_at_the_last_of_them() -> None:
    child = Lines("child1").task_of(1, "First").answer()
    lines = Lines().user().batch([{"intent": "First"}]).announce("child1")
    lines.usage("b/g1", 0, (5, 2, 1), final=True).usage("b/g1", 1, (7, 2, 1), final=True).result("b")
    place = fact(run(lines, child).nested.cards, "turn1/call1/task1", "Usage output tokens").place
    assert place is not None
    assert (place.line, place.pointer) == (5, "/payload/usage")
