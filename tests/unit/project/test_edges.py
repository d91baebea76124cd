"""Paths that nobody named, children that are announced twice, and where a derived fact stands in the records.

Each test stands for a mutant of the code that nothing else noticed.
"""

from __future__ import annotations

import pytest

from harness.model.facts import CardFacts, Fact, Place
from harness.model.values import NULL, NotComparable, known
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


def said_nothing(cards: tuple[CardFacts, ...], path: str, label: str) -> tuple[str, str, str]:
    """Why a derivation says nothing of a fact, in which words, and in whose name."""
    found = fact(cards, path, label)
    assert isinstance(found.value, NotComparable)
    return found.value.reason.value, found.value.detail, found.via


SCRIPT, TASK = "turn1/call1", "turn1/call1/task1"
ONE = [{"intent": "First"}]
LONG = ["/w/" + "x" * 510]
REPORTED = Lines().user().script().result("c", metadata=execution())


@pytest.mark.parametrize(
    ("lines", "path", "label", "why"),
    [
        (Lines().user().script(), SCRIPT, "Total calls", ("not_recorded", "no result was saved")),
        (
            Lines().user().script().result("c"),
            *(SCRIPT, "Total calls", ("not_recorded", "the saved result has no execution report")),
        ),
        (
            REPORTED,
            *(SCRIPT, "Response token estimate", ("not_recorded", "the saved result holds no estimate")),
        ),
        (
            Lines().user().script().result("c", metadata=execution(warnings=None)),
            *(SCRIPT, "Warning", ("not_recorded", "the report has no warnings")),
        ),
        (
            Lines().user().script().result("c", metadata=execution(inner_calls=-1)),
            *(SCRIPT, "Total calls", ("unreadable", "inner_calls is -1")),
        ),
        (Lines().user().batch(ONE), SCRIPT, "Tasks total", ("not_recorded", "no result was saved")),
        (
            Lines().user().batch(ONE).result("b"),
            *(SCRIPT, "Tasks total", ("not_recorded", "the saved result has no valid task report")),
        ),
    ],
)
def test_where_the_report_says_nothing_it_says_why(lines: Lines, path: str, label: str, why: tuple[str, str]) -> None:
    assert said_nothing(run(lines).report.cards, path, label) == (*why, "report")


@pytest.mark.parametrize(
    ("lines", "path", "label", "why"),
    [
        (
            Lines().user().script().inner(1).inner(1),
            *(SCRIPT, "Total calls", ("not_derivable", "its nested records contradict each other", "nested")),
        ),
        (
            REPORTED,
            *(SCRIPT, "Elapsed milliseconds", ("not_derivable", "nested records hold no elapsed time", "nested")),
        ),
        (
            REPORTED,
            *(SCRIPT, "Running calls", ("not_derivable", "nested records hold no count of running calls", "nested")),
        ),
        (
            Lines().user().script().inner(1).inner_result(1, paths=LONG),
            SCRIPT,
            "Changed paths",
            ("not_derivable", "some path was shortened or left out where it was saved", "nested"),
        ),
        (
            Lines().user().script().inner(1).result("c", success=False, metadata=execution()).status("cancelled"),
            SCRIPT,
            "Script outcome",
            ("not_derivable", "the records do not say whether the script or the next request was cancelled", "call"),
        ),
        (
            Lines().user().batch(ONE).announce("gone").result("b"),
            TASK,
            "Task outcome",
            ("not_captured", "a child session of the batch is missing or names no task", "child"),
        ),
        (
            Lines().user().batch(ONE).result("b"),
            *(TASK, "Task outcome", ("not_derivable", "the task has no child session", "child")),
        ),
    ],
)
def test_where_the_records_say_nothing_they_say_why(
    lines: Lines, path: str, label: str, why: tuple[str, str, str]
) -> None:
    assert said_nothing(run(lines).nested.cards, path, label) == why


def test_a_task_that_never_began_in_a_cancelled_batch_is_unknown_by_the_batch_itself() -> None:
    lines = Lines().user().batch(ONE).result("b", success=False).status("cancelled")
    found = fact(run(lines).nested.cards, TASK, "Task outcome")
    assert (found.value, found.via) == (known("unknown"), "nested")
    assert found.place is not None
    assert found.place.line == 2


def test_a_report_that_is_no_object_is_a_problem_without_a_label() -> None:
    (problem,) = run(Lines().user().script().result("c", metadata={"code_mode_execution": "x"})).report.problems
    assert (problem.requirement, problem.label) == ("records.payload", "")
    assert (problem.expected, problem.observed) == ("an object", "'x'")
    assert problem.place is not None
    assert problem.place.pointer == "/payload/result/metadata/code_mode_execution"


def test_warnings_that_were_not_retained_are_omitted_too() -> None:
    """card-facts.md: the warning total less the rows that are displayed, and no more are than were stored."""
    lines = Lines().user().script().result("c", metadata=execution(warning_count=5, warnings=["w"]))
    cards = run(lines).report.cards
    assert fact(cards, SCRIPT, "Warnings omitted").value == known(4)
    assert fact(cards, SCRIPT, "Warning").via == "report"


def test_the_reference_card_stands_where_its_call_does() -> None:
    (card,) = run(REPORTED).reference
    assert card.place is not None
    assert (card.place.file, card.place.line) == ("session.jsonl", 2)


def test_every_call_of_an_agent_is_a_case_of_its_id() -> None:
    lines = Lines().user().call("a", "read").result("a").call("b", "read").result("b").script()
    assert run(lines).nested.cases["records.call-id"] == 3


def test_rows_of_a_script_whose_id_came_again_are_suppressed() -> None:
    """card-facts.md: duplicate parent ids suppress reconstructed facts, also those that were attached before."""
    lines = Lines().user().script().inner(1).inner_result(1, paths=["/w/a"]).warning(1).script()
    (first, _) = run(lines).nested.cards
    assert fact((first,), SCRIPT, "Warnings").value == NULL
    assert [item.label for item in first.facts if item.label in ("Warning", "Changed path")] == []


@pytest.mark.parametrize(("sequence", "outcome"), [(0, "cancelled"), (1, "failure")])
def test_a_script_of_a_task_was_cancelled_unless_the_task_had_asked_again(sequence: int, outcome: str) -> None:
    """The task had one answer. Its first request has the number 0; a snapshot of a second one is of another request."""
    child = Lines("child1").task_of(1, "First").add("provider_response_item", {}).script().inner(1)
    child.result("c", success=False, metadata=execution(inner_calls=1, unknown_outcomes=1)).status("cancelled")
    lines = Lines().user().batch(ONE).announce("child1").usage("b/g1", sequence, (1, 1, 0), final=True)
    found = fact(run(lines.result("b"), child).reference, f"{TASK}/call1", "Script outcome")
    assert found.value == known(outcome)


@pytest.mark.parametrize(
    ("label", "value", "via", "place"),
    [
        ("Task execution identity", "b/g1", "nested", Place(file="session.jsonl", line=4, pointer="/payload/id")),
        ("Task activity count", "1", "child", Place(file="child1.jsonl", line=1, offset=0)),
        ("Task changed paths", "1", "child", Place(file="child1.jsonl", line=1, offset=0)),
        ("Task facts limited", "false", "child", Place(file="child1.jsonl", line=1, offset=0)),
        (
            "Task activity",
            *("read: success", "child", Place(file="child1.jsonl", line=4, pointer="/payload/result/success")),
        ),
    ],
)
def test_a_fact_of_a_task_stands_in_the_session_that_says_it(label: str, value: str, via: str, place: Place) -> None:
    child = Lines("child1").task_of(1, "First").call("a", "read").result("a", paths=["/w/a"]).answer()
    lines = Lines().user().batch(ONE).announce("child1").usage("b/g1", 0, (1, 1, 0), final=True)
    lines.result("b", metadata=telemetry(task_report(0, "First")))
    found = fact(run(lines, child).nested.cards, TASK, label)
    assert (found.value, found.via, found.place) == (known(value), via, place)


def test_an_intent_that_nobody_gave_is_null_by_the_call() -> None:
    found = fact(run(Lines().user().script(intent=None)).nested.cards, SCRIPT, "Code Mode intent")
    assert (found.value, found.via) == (NULL, "call")


def test_a_reported_activity_stands_at_its_entry() -> None:
    report = telemetry(task_report(0, "First", activity=["read: success", "bash: failure"]))
    lines = Lines().user().batch(ONE).result("b", metadata=report)
    (card,) = [card for card in run(lines).report.cards if card.path == TASK]
    at = "/payload/result/metadata/subagent_telemetry/tasks/0/activity"
    shown = [item.place.pointer for item in card.facts if item.label == "Task activity" and item.place is not None]
    assert shown == [f"{at}/0", f"{at}/1"]


@pytest.mark.parametrize("member", ["intent", "profile", "agent", "provider", "model"])
def test_a_reported_text_over_its_bound_is_found_at_its_member(member: str) -> None:
    report = telemetry(task_report(0, "First") | {member: "x" * 241})
    (problem,) = run(Lines().user().batch(ONE).result("b", metadata=report)).report.problems
    assert (problem.requirement, problem.expected, problem.observed) == (
        "task.text-bounds",
        "at most 240 bytes",
        "241 bytes",
    )
    assert problem.place is not None
    assert problem.place.pointer == f"/payload/result/metadata/subagent_telemetry/tasks/0/{member}"


def test_what_a_report_says_instead_is_quoted_in_200_characters() -> None:
    report = telemetry(task_report(0, "First", outcome="x" * 300))
    (problem,) = run(Lines().user().batch(ONE).result("b", metadata=report)).report.problems
    assert (problem.requirement, problem.observed) == ("task.report-validation", "x" * 200)


def test_tasks_of_tasks_are_followed_eight_deep_and_the_next_is_told_where_it_begins() -> None:
    """product.md: the descriptor's children_depth is 8."""
    root = Lines().user().batch(ONE).announce("child1").result("b")
    children = [
        Lines(f"child{depth}").task_of(1, "First").batch(ONE).announce(f"child{depth + 1}").result("b")
        for depth in range(1, 10)
    ]
    last = Lines("child10").task_of(1, "First").answer()
    problems = run(root, *children, last).nested.problems
    found = [(one.requirement, one.observed, one.place) for one in problems if "nested over" in one.observed]
    place = Place(file="child9.jsonl", line=1, pointer="/payload")
    assert found == [("records.child-file", "nested over 8 deep", place)]
    shallow = run(root, *children[:7], Lines("child8").task_of(1, "First").answer())
    assert [one for one in shallow.nested.problems if "nested over" in one.observed] == []


def test_a_child_session_in_which_nobody_said_anything_has_no_end() -> None:
    child = Lines("child1").task_of(1, "First")
    child.records.pop()  # what it was asked
    lines = Lines().user().batch(ONE).announce("child1").result("b", metadata=telemetry(task_report(0, "First")))
    found = fact(run(lines, child).nested.cards, TASK, "Task outcome")
    assert (found.value, found.via) == (known("unknown"), "child")
