"""Child sessions: which task they belong to, and what they say of it when the report is not trusted."""

from __future__ import annotations

from typing import Any

import pytest

from harness.model.errors import DecodeError
from harness.project import Projection, project
from tests.support.sessions import Lines, facts, projected, run, task_report, telemetry

PATH = "turn1/call1"
TASK = f"{PATH}/task1"


def parent(*intents: str, result: bool = True, announced: tuple[str, ...] = ("k1",), **task: Any) -> Lines:
    lines = Lines().user().batch([{"intent": intent} | task for intent in intents])
    for child in announced:
        lines.announce(child)
    if result:
        lines.result("b", metadata=telemetry(*(task_report(n, intent) for n, intent in enumerate(intents))))
    return lines


def child(number: int = 1, intent: str = "T", id_: str = "k1") -> Lines:
    return Lines(id_).task_of(number, intent)


def rules(projection: Projection) -> list[str]:
    return [problem.requirement for problem in projection.problems]


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (lambda lines: lines.answer(""), "success"),
        (lambda lines: lines.status("failed"), "failure"),
        (lambda lines: lines.status("cancelled"), "cancelled"),
        (lambda lines: lines.status("canceled"), "cancelled"),
        (lambda lines: lines.status("incomplete"), "unknown"),
        (lambda lines: lines, "unknown"),
        (lambda lines: lines.answer().call("a", "read"), "unknown"),
        (lambda lines: lines.answer().user("once more").status("failed"), "failure"),
        (lambda lines: lines.answer().user("once more"), "unknown"),
        (lambda lines: lines.answer().user("by the way", origin="steering"), "success"),
        (lambda lines: lines.status("incomplete").answer(), "success"),
    ],
)
def test_a_task_ends_as_its_sessions_last_turn_does(end: Any, outcome: str) -> None:
    found = run(parent("T"), end(child()))
    assert facts(found.nested, TASK)["Task outcome"] == outcome
    labels = {"success": "Tasks done", "failure": "Tasks failed", "cancelled": "Tasks cancelled"}
    assert facts(found.nested, PATH)[labels.get(outcome, "Tasks unknown")] == "1"


def test_changed_paths_are_null_without_an_end_and_distinct_with_one() -> None:
    work = child().call("a", "write").result("a", paths=["/w/a", "/w/b"]).call("c", "write").result("c", paths=["/w/a"])
    unended = facts(run(parent("T"), work).nested, TASK)
    assert unended["Task changed paths"] is None
    ended = facts(run(parent("T"), work.answer()).nested, TASK)
    assert (ended["Task changed paths"], ended["Task calls with effects"]) == ("2", "2")


def test_direct_calls_are_counted_over_all_turns_and_deeper_ones_are_not() -> None:
    work = child().script("s").inner(1, "read", "s").inner_result(1, success=False, parent="s").result("s")
    work.call("a", "read").result("a", success=False).user("more").call("a", "bash").status("cancelled")
    found = facts(run(parent("T"), work).nested, TASK)
    assert (found["Task failed calls"], found["Task unknown calls"]) == ("1", "1")
    assert found["Task activity count"] == "?not_derivable"
    assert found["Task facts limited"] == "?not_derivable"


def test_calls_of_a_task_are_numbered_over_its_whole_session() -> None:
    work = child().call("a", "read").result("a").user("more").script("s").result("s").answer()
    assert [c.path for c in run(parent("T"), work).reference] == [PATH, TASK, f"{TASK}/call2"]


def test_activities_stand_in_the_order_of_results() -> None:
    work = child().call("a", "read").call("b", "grep").result("b", success=False).result("a").answer()
    found = facts(run(parent("T"), work).nested, TASK)
    assert (found["Task activity#0"], found["Task activity#1"]) == ("grep: failure", "read: success")
    assert "Task activity#2" not in found


def test_children_are_matched_by_the_number_they_were_given_and_not_by_the_order_of_their_records() -> None:
    lines = parent("same", "same", "other", announced=("k3", "k2", "k1"))
    kids = (
        child(1, "same", "k1").status("failed"),
        child(2, "same", "k2").answer(),
        child(3, "other", "k3").status("cancelled"),
    )
    found = run(lines, *kids)
    outcomes = [facts(found.nested, f"{PATH}/task{n}")["Task outcome"] for n in (1, 2, 3)]
    assert outcomes == ["failure", "success", "cancelled"]
    assert rules(found) == []


def test_a_child_without_a_number_is_matched_by_an_intent_that_only_one_task_has() -> None:
    def unnumbered(id_: str, intent: str) -> Lines:
        lines = child(1, intent, id_)
        lines.records[1]["payload"]["text"] = "work on it"
        return lines.answer()

    found = run(parent("A", "B", announced=("k1",)), unnumbered("k1", "B"))
    assert facts(found.nested, f"{PATH}/task2")["Task outcome"] == "success"
    assert rules(found) == []
    twice = run(parent("A", "A", announced=("k1",)), unnumbered("k1", "A"))
    assert facts(twice.nested, f"{PATH}/task1")["Task outcome"] == "?not_captured"
    assert rules(twice) == ["records.child-task"]


@pytest.mark.parametrize(
    "stranger", [child(2, "T").answer(), child(1, "Another intent").answer(), Lines("k1").user("hello").answer()]
)
def test_a_child_that_names_no_declared_task_belongs_to_none(stranger: Lines) -> None:
    found = run(parent("T"), stranger)
    assert rules(found) == ["records.child-task"]
    assert facts(found.nested, TASK)["Task outcome"] == "?not_captured"
    assert facts(found.reference, TASK)["Task outcome"] == "success"


def test_two_children_of_one_task_belong_to_neither() -> None:
    lines = parent("T", announced=("k1", "k2"))
    found = run(lines, child(1, "T", "k1").answer(), child(1, "T", "k2").status("failed"))
    assert rules(found) == ["records.child-task"] * 2
    assert facts(found.nested, TASK)["Task outcome"] == "?not_captured"


def test_an_announced_child_that_is_not_saved_is_a_problem_and_no_evidence_of_anything() -> None:
    found = run(parent("T"))
    assert rules(found) == ["records.child-file"]
    nested = facts(found.nested, TASK)
    assert nested["Task outcome"] == nested["Task failed calls"] == "?not_captured"
    assert facts(found.nested, PATH)["Tasks done"] == "?not_captured"


def test_a_saved_child_that_nobody_announced_is_a_problem_and_is_not_used() -> None:
    found = run(parent("T", announced=()), child().answer())
    assert rules(found) == ["records.child-file"]
    assert facts(found.nested, TASK)["Task outcome"] == "?not_derivable"


def test_a_child_announced_outside_of_its_batch_is_not_used() -> None:
    found = run(parent("T", announced=()).announce("k1"), child().answer())
    assert rules(found) == ["records.child-file"]


def test_an_unreadable_child_or_one_of_another_session_counts_as_missing() -> None:
    session = parent("T").bytes()
    broken = project(session, {"k1": b"\xff\n"}, file="s", child_files={"k1": "children/k1.jsonl"})
    assert rules(broken) == ["records.child-file", "records.child-file"]
    assert broken.problems[0].place is not None
    assert broken.problems[0].place.file == "children/k1.jsonl"
    other = project(session, {"k1": child(id_="k9").answer().bytes()}, file="s")
    assert rules(other) == ["records.child-file", "records.child-file"]
    assert "k9" in other.problems[0].observed


def test_an_unreadable_session_is_refused() -> None:
    with pytest.raises(DecodeError, match=r"session\.jsonl"):
        project(b"", {}, file="session.jsonl")


def test_a_damaged_or_rewritten_child_is_not_counted() -> None:
    compacted = Lines("k1").add("compaction", {}).task_of(1, "T").call("a", "read").result("a").answer()
    assert facts(run(parent("T"), compacted).nested, TASK)["Task failed calls"] == "?not_derivable"
    damaged = child().call("a", "read").answer()
    damaged.records[2]["payload"] = {}
    found = run(parent("T"), damaged)
    assert rules(found) == ["records.payload"]
    assert facts(found.nested, TASK)["Task failed calls"] == "?not_derivable"


def test_a_task_that_never_began_is_unknown_only_in_a_cancelled_batch_that_could_have_begun_it() -> None:
    def outcome(lines: Lines) -> str | None:
        return facts(run(lines).nested, TASK)["Task outcome"]

    assert outcome(parent("T", announced=()).status("cancelled")) == "unknown"
    assert outcome(parent("T", announced=())) == "?not_derivable"
    assert outcome(parent("T", announced=(), identity="p").status("cancelled")) == "?not_derivable"
    assert outcome(parent("T", announced=(), cwd="/elsewhere").status("cancelled")) == "?not_derivable"


def test_selection_comes_from_the_call_and_a_profile_makes_no_agent() -> None:
    found = facts(run(parent("T", announced=(), identity="frontend", result=False)).reference, TASK)
    assert (found["Task profile"], found["Task agent"]) == ("frontend", None)


def test_the_context_of_a_task_is_in_no_fact() -> None:
    lines = parent("T", context="secret context")
    found = run(lines, child().answer())
    assert "secret" not in repr((found.report, found.nested, found.reference))


def snapshots(*records: tuple[int, tuple[int, int, int] | None, bool, bool], result: bool = True) -> dict[str, Any]:
    lines = Lines().user().batch([{"intent": "T"}]).announce("k1")
    for sequence, counted, final, cached in records:
        lines.usage("b/g1", sequence, counted, final=final, cached=cached)
    if result:
        lines.result("b", metadata=telemetry(task_report(0, "T")))
    return facts(run(lines, child().answer()).nested, TASK)


def latest(found: dict[str, Any]) -> tuple[str | None, ...]:
    return tuple(found[f"Usage latest {what} tokens"] for what in ("effective input", "output", "cache read"))


def test_the_latest_request_is_what_it_added() -> None:
    first, second = (0, (100, 20, 10), True, True), (1, (250, 45, 30), True, True)
    found = snapshots((0, None, False, True), first, (1, (100, 20, 10), False, True), second)
    assert (found["Usage effective input tokens"], found["Usage cache read tokens"]) == ("250", "30")
    assert latest(found) == ("150", "25", "20")
    assert (found["Usage latest request sequence"], found["Usage latest final"]) == ("1", "true")


def test_a_first_request_is_its_own_latest() -> None:
    assert latest(snapshots((0, (100, 20, 0), True, True))) == ("100", "20", "0")
    uncached = snapshots((0, (100, 20, 0), True, False))
    assert latest(uncached) == ("100", "20", None)
    assert (uncached["Usage cache read tokens"], uncached["Usage cache known"]) == (None, "false")


def test_a_request_that_reported_nothing_has_null_tokens_and_the_whole_stays() -> None:
    found = snapshots((0, (100, 20, 10), True, True), (1, (100, 20, 10), False, True))
    assert latest(found) == (None, None, None)
    assert (found["Usage effective input tokens"], found["Usage latest final"]) == ("100", "false")
    assert found["Usage latest request sequence"] == "1"


def test_lost_cache_accounting_is_null_for_the_request_that_lost_it_and_open_afterwards() -> None:
    lost = snapshots((0, (100, 20, 10), True, True), (1, (150, 25, 10), True, False))
    assert latest(lost) == ("50", "5", None)
    after = snapshots((0, (50, 5, 0), True, False), (1, (151, 26, 10), True, False))
    assert latest(after) == ("101", "21", "?not_derivable")


def test_a_gap_in_the_snapshots_leaves_the_latest_request_open_and_the_whole_known() -> None:
    found = snapshots((0, (100, 20, 10), True, True), (2, (300, 60, 30), True, True))
    assert latest(found) == ("?not_derivable",) * 3
    assert found["Usage output tokens"] == "60"
    unfinished = snapshots((0, (100, 20, 10), False, True), (1, (300, 60, 30), True, True))
    assert latest(unfinished) == ("?not_derivable",) * 3
    shrunk = snapshots((0, (100, 20, 10), True, True), (1, (90, 60, 30), True, True))
    assert latest(shrunk) == ("?not_derivable", "40", "20")


def test_only_the_placeholder_is_no_usage() -> None:
    nothing = snapshots((0, None, False, True))
    assert nothing["Usage provenance"] is nothing["Usage latest final"] is nothing["Usage cache known"] is None
    assert snapshots()["Usage provenance"] is None
    said_zero = snapshots((0, (0, 0, 0), True, True))
    assert (said_zero["Usage provenance"], said_zero["Usage output tokens"]) == ("normalized_provider_usage", "0")


def test_usage_without_a_saved_result_is_not_promoted() -> None:
    assert snapshots((0, (100, 20, 10), True, True), result=False)["Usage provenance"] is None


def test_both_derivations_agree_on_every_usage_variant_that_a_real_run_made() -> None:
    projection = projected("0.104.0-usage-variants")
    without_cache = facts(projection.nested, f"{PATH}/task2")
    assert without_cache["Usage latest cache read tokens"] == "?not_derivable"
    for number in range(1, 5):
        report, nested = (facts(column, f"{PATH}/task{number}") for column in (projection.report, projection.nested))
        for label, value in report.items():
            if label.startswith("Usage") and not str(nested[label]).startswith("?"):
                assert nested[label] == value, (number, label)
    assert facts(projection.nested, f"{PATH}/task1")["Usage provenance"] is None
    assert facts(projection.nested, f"{PATH}/task3")["Usage latest output tokens"] is None


def test_two_batches_of_a_turn_keep_their_own_children() -> None:
    lines = Lines().user().batch([{"intent": "A"}], "b1").batch([{"intent": "B"}], "b2")
    lines.announce("k2").announce("k1")
    for call, intent in (("b1", "A"), ("b2", "B")):
        lines.result(call, metadata=telemetry(task_report(0, intent, call=call)))
    found = run(lines, child(1, "A", "k1").answer(), child(1, "B", "k2").status("failed"))
    assert rules(found) == []
    assert facts(found.nested, "turn1/call1/task1")["Task outcome"] == "success"
    assert facts(found.nested, "turn1/call2/task1")["Task outcome"] == "failure"


def test_a_child_that_announces_its_own_ancestor_ends_there() -> None:
    loop = child().batch([{"intent": "T"}], "b").announce("root-session").announce("k1").result("b").answer()
    found = run(parent("T"), loop)
    assert [c.path for c in found.reference] == [PATH, TASK, f"{TASK}/call1", f"{TASK}/call1/task1"]
