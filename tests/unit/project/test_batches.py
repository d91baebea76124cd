"""Batch and task facts from real sessions and made ones: expected values by hand from records and card-facts.md."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.sessions import Lines, card, facts, projected, run, task_report, telemetry, tokens, vias

PATH = "turn1/call1"
COUNTS = ("Tasks total", "Tasks done", "Tasks failed", "Tasks running", "Tasks unknown", "Tasks cancelled")
REFERENCES = ("Child references complete", "Child references omitted")
USAGE = (
    "Usage provenance",
    "Usage effective input tokens",
    "Usage output tokens",
    "Usage cache read tokens",
    "Usage latest request sequence",
    "Usage latest effective input tokens",
    "Usage latest output tokens",
    "Usage latest cache read tokens",
    "Usage cache known",
    "Usage latest final",
)
TELEMETRY = (
    "Task execution identity",
    "Task provider",
    "Task model",
    "Task facts limited",
    "Task failed calls",
    "Task unknown calls",
    "Task calls with effects",
    "Task activity count",
    "Task activity omitted",
)


def counts(found: dict[str, str | None]) -> tuple[str | None, ...]:
    return tuple(found[label] for label in COUNTS)


def test_a_finished_batch_of_four_with_one_failure() -> None:
    projection = projected("0.104.0-mixed-batch")
    for column in (projection.report, projection.nested, projection.reference):
        assert counts(facts(column, PATH)) == ("4", "3", "1", "0", "0", "0")
        assert [facts(column, PATH)[label] for label in REFERENCES] == ["true", "0"]
    assert [c.path for c in projection.reference] == [PATH, *(f"{PATH}/task{n}" for n in (1, 2, 3, 4))]
    assert card(projection.reference, PATH).children == tuple(f"{PATH}/task{n}" for n in (1, 2, 3, 4))
    assert projection.problems == ()


def test_the_task_that_read_two_files_one_of_them_missing() -> None:
    projection = projected("0.104.0-mixed-batch")
    expected = {
        "Task execution identity": "call_0_0/g1",
        "Task intent": "TASK-A read things",
        "Task profile": None,
        "Task agent": None,
        "Task provider": "scripted",
        "Task model": "scripted",
        "Task outcome": "success",
        "Task persistence": "recorded",
        "Task facts limited": "false",
        "Task changed paths": "0",
        "Task failed calls": "1",
        "Task unknown calls": "0",
        "Task calls with effects": "0",
        "Task activity count": "2",
        "Task activity omitted": "0",
        "Usage provenance": "normalized_provider_usage",
        "Usage effective input tokens": "206",
        "Usage output tokens": "46",
        "Usage cache read tokens": "20",
        "Usage latest request sequence": "1",
        "Usage latest effective input tokens": "105",
        "Usage latest output tokens": "25",
        "Usage latest cache read tokens": "10",
        "Usage cache known": "true",
        "Usage latest final": "true",
        "Task activity#0": "read: success",
        "Task activity#1": "read: failure",
    }
    path = f"{PATH}/task1"
    assert facts(projection.report, path) == expected
    assert facts(projection.reference, path) == expected
    assert facts(projection.nested, path) == expected | {
        "Task provider": "?not_derivable",
        "Task model": "?not_derivable",
    }
    source = vias(projection.nested, path)
    assert (source["Task intent"], source["Task outcome"], source["Usage output tokens"]) == ("call", "child", "nested")


def test_a_task_whose_provider_refused_has_failed_and_has_no_usage() -> None:
    projection = projected("0.104.0-mixed-batch")
    for column in (projection.report, projection.nested):
        found = facts(column, f"{PATH}/task2")
        assert (found["Task outcome"], found["Task changed paths"]) == ("failure", "0")
        assert [found[label] for label in USAGE] == [None] * 10


def test_a_task_that_wrote_counts_its_path_and_its_effect() -> None:
    projection = projected("0.104.0-mixed-batch")
    for column in (projection.report, projection.nested):
        found = facts(column, f"{PATH}/task3")
        assert (found["Task agent"], found["Task profile"]) == ("writer", None)
        assert (found["Task changed paths"], found["Task calls with effects"]) == ("1", "1")
        assert found["Usage effective input tokens"] == "210"
        assert found["Usage latest effective input tokens"] == "106"


def test_a_cancelled_batch_with_done_cancelled_and_unstarted_tasks() -> None:
    projection = projected("0.104.0-cancelled-batch")
    for column in (projection.report, projection.nested):
        assert counts(facts(column, PATH)) == ("5", "1", "0", "0", "2", "2")
        outcomes = [facts(column, f"{PATH}/task{n}")["Task outcome"] for n in range(1, 6)]
        assert outcomes == ["success", "cancelled", "cancelled", "unknown", "unknown"]
        assert facts(column, f"{PATH}/task3")["Task changed paths"] == "1"
        assert facts(column, f"{PATH}/task4")["Task changed paths"] is None
        assert [facts(column, f"{PATH}/task4")[label] for label in USAGE] == [None] * 10


def test_an_interrupted_batch_promotes_nothing_that_no_result_followed() -> None:
    projection = projected("0.104.0-killed-batch")
    found = facts(projection.reference, PATH)
    assert counts(found) == (None,) * 6
    assert [found[label] for label in REFERENCES] == [None, None]
    for number, intent in enumerate("ABCDE", 1):
        task = facts(projection.reference, f"{PATH}/task{number}")
        assert task["Task intent"] == f"T-{intent}"
        assert task["Task persistence"] == "not_recorded"
        for label in ("Task outcome", "Task changed paths", *TELEMETRY, *USAGE):
            assert task[label] is None, (number, label)
        assert "Task activity#0" not in task
        report = facts(projection.report, f"{PATH}/task{number}")
        assert report["Task outcome"] == report["Task activity#7"] == "?not_recorded"
    assert projection.problems == ()


def test_a_legacy_batch_keeps_what_was_recorded_elsewhere_and_no_telemetry() -> None:
    projection = projected("0.96.6-reopened-by-0.104.0-legacy-batch")
    assert counts(facts(projection.reference, PATH)) == (None,) * 6
    outcomes = ["success", "failure", "success", "success"]
    totals: list[tuple[str | None, ...]] = [("208", "48", "20", "1"), (None,) * 4, ("101", "21", "10", "0")]
    for number, outcome in enumerate(outcomes, 1):
        task = facts(projection.reference, f"{PATH}/task{number}")
        assert task["Task outcome"] == outcome
        assert task["Task changed paths"] == "0"
        assert task["Task persistence"] == "not_recorded"
        assert [task[label] for label in TELEMETRY] == [None] * len(TELEMETRY)
        if number <= 3:
            labels = ("Usage effective input tokens", "Usage output tokens", "Usage cache read tokens")
            found = tuple(task[label] for label in (*labels, "Usage latest request sequence"))
            assert found == totals[number - 1]
    assert facts(projection.reference, f"{PATH}/task3")["Task agent"] == "writer"
    assert vias(projection.reference, f"{PATH}/task1")["Task outcome"] == "child"


def test_an_overflowing_task_is_limited_and_shows_eight_activities() -> None:
    projection = projected("0.104.0-overflowing-task")
    path = f"{PATH}/task1"
    found = facts(projection.reference, path)
    assert (found["Task facts limited"], found["Task activity count"], found["Task activity omitted"]) == (
        "true",
        "12",
        "4",
    )
    assert [found[f"Task activity#{row}"] for row in range(8)] == ["write: success"] * 8
    assert "Task activity#8" not in found
    assert len((found["Task intent"] or "").encode()) <= 240
    assert len((found["Task agent"] or "").encode()) == 240
    assert found["Task changed paths"] == found["Task calls with effects"] == "12"
    nested = facts(projection.nested, path)
    assert nested["Task intent"] == nested["Task agent"] == "?not_derivable"
    assert (nested["Task facts limited"], nested["Task activity count"], nested["Task activity omitted"]) == (
        "true",
        "12",
        "4",
    )
    assert [nested[f"Task activity#{row}"] for row in range(8)] == ["?not_derivable"] * 8


def test_tasks_with_one_intent_are_told_apart_by_their_number() -> None:
    projection = projected("0.104.0-same-intents")
    assert projection.problems == ()
    for number, total in ((1, "102"), (2, "101"), (3, "100")):
        for column in (projection.report, projection.nested):
            found = facts(column, f"{PATH}/task{number}")
            assert found["Usage effective input tokens"] == total
            assert found["Task outcome"] == "success"
    assert facts(projection.nested, f"{PATH}/task3")["Task intent"] == "?not_derivable"


def test_a_task_of_a_task_is_found_by_its_chain_of_identities() -> None:
    projection = projected("0.104.0-task-of-task")
    deep = f"{PATH}/task1/call1/task1"
    assert [c.path for c in projection.reference] == [PATH, f"{PATH}/task1", f"{PATH}/task1/call1", deep]
    for column in (projection.report, projection.nested):
        found = facts(column, deep)
        assert found["Task execution identity"] == "call_0_0_0/g1/call_792_0_0/g1"
        assert (found["Task changed paths"], found["Task calls with effects"]) == ("1", "1")
        outer = facts(column, f"{PATH}/task1")
        assert (outer["Task calls with effects"], outer["Task activity count"]) == ("0", "1")
    assert facts(projection.nested, f"{PATH}/task1")["Task changed paths"] == "?not_derivable"
    assert projection.problems == ()


def test_a_batch_that_a_script_began_stands_below_its_inner_call() -> None:
    projection = projected("0.104.0-batch-in-script")
    assert [c.path for c in projection.reference] == [
        PATH,
        f"{PATH}/call1",
        f"{PATH}/call1/task1",
        f"{PATH}/call1/task2",
    ]
    for column in (projection.report, projection.nested):
        assert counts(facts(column, f"{PATH}/call1")) == ("2", "2", "0", "0", "0", "0")
        assert facts(column, f"{PATH}/call1/task2")["Task execution identity"] == "call_0_0_0:inner:1/g2"


def batch(*reports: dict[str, Any], tasks: list[Any] | None = None, **source: Any) -> Lines:
    declared = tasks if tasks is not None else [{"intent": report["intent"]} for report in reports]
    metadata = telemetry(*reports)
    metadata["subagent_telemetry"].update(source)
    return Lines().user().batch(declared).result("b", metadata=metadata)


def one(**members: Any) -> dict[str, Any]:
    return task_report(0, "Only task", **members)


def without(member: str) -> dict[str, Any]:
    report = one()
    del report[member]
    return report


def usage(**members: Any) -> dict[str, Any]:
    whole = {"whole_run": tokens(5, 1, 0), "latest": tokens(5, 1, 0), "latest_request_sequence": 0}
    return whole | {"latest_final": True} | members


def bare_tokens(missing: str) -> dict[str, Any]:
    found = tokens(5, 1, 0)
    del found[missing]
    return found


TWO = (task_report(0, "First"), task_report(1, "Second"))


@pytest.mark.parametrize(
    ("lines", "requirement", "member"),
    [
        (batch(one(), schema_version=2), "task.report-bounds", "/schema_version"),
        (batch(one(), schema_version=None), "task.report-validation", ""),
        (
            batch(*(task_report(n, f"T{n}") for n in range(11)), tasks=[{"intent": f"T{n}"} for n in range(10)]),
            "task.report-bounds",
            "/tasks",
        ),
        (batch(one(), padding="x" * 65_536), "task.report-bounds", ""),
        (batch(TWO[0], task_report(2, "Second")), "task.report-validation", "/tasks"),
        (batch(TWO[0], task_report(0, "Second", scoped_id="b/g2")), "task.report-validation", "/tasks"),
        (batch(TWO[0], task_report(1, "Second", scoped_id="b/g1")), "task.report-validation", "/tasks/1/scoped_id"),
        (batch(one(scoped_id="other/g1")), "task.report-validation", "/tasks/0/scoped_id"),
        (batch(one(scoped_id="b/g1/x/g1")), "task.report-validation", "/tasks/0/scoped_id"),
        (batch(one(scoped_id="b/")), "task.report-validation", "/tasks/0/scoped_id"),
        (batch(one(agent="ü" * 121)), "task.text-bounds", "/tasks/0/agent"),
        (batch(one(provider="p" * 241)), "task.text-bounds", "/tasks/0/provider"),
        (batch(one(activity=["a" * 241])), "task.text-bounds", "/tasks/0/activity/0"),
        (batch(one(activity=["read: success"] * 9)), "task.activity-bound", "/tasks/0/activity"),
        (batch(one(outcome="exploded")), "task.report-validation", "/tasks/0/outcome"),
        (batch(one(), tasks=[{"intent": "Only task"}, {"intent": "More"}]), "task.report-validation", "/tasks"),
        (batch(one(), tasks=[{"intent": "Another task"}]), "task.report-validation", "/tasks/0/intent"),
        (batch(without("model")), "task.report-validation", ""),
        (batch(without("usage")), "task.report-validation", ""),
        (batch(one(calls_failed="1")), "task.report-validation", ""),
        (batch(one(text_limited=None)), "task.report-validation", ""),
        (batch(one(changed_paths=-1)), "task.report-validation", ""),
        (batch(one(usage=usage(whole_run=bare_tokens("cache_known")))), "task.usage-round-trip", ""),
        (batch(one(usage=usage(latest=bare_tokens("output")))), "task.usage-round-trip", ""),
        (batch(one(usage={"whole_run": tokens(1, 1, 0)})), "task.usage-round-trip", ""),
        (batch(one(usage=7)), "task.usage-round-trip", ""),
    ],
)
def test_a_report_that_breaks_a_clause_counts_as_none_and_the_clause_is_named(
    lines: Lines, requirement: str, member: str
) -> None:
    projection = run(lines)
    (problem,) = projection.report.problems
    assert (problem.requirement, problem.card) == (requirement, PATH)
    assert problem.place is not None
    assert problem.place.pointer == f"/payload/result/metadata/subagent_telemetry{member}"
    assert problem.expected
    assert problem.observed
    assert set(facts(projection.report, PATH).values()) == {"?not_recorded"}
    assert set(facts(projection.reference, PATH).values()) == {None}
    task = facts(projection.reference, f"{PATH}/task1")
    assert task["Task persistence"] == "not_recorded"
    assert task["Task facts limited"] is task["Task failed calls"] is None


def test_reports_at_their_bounds_are_valid() -> None:
    ten = [task_report(n, f"T{n}", activity=["a" * 240] * 8, agent="ü" * 120) for n in range(10)]
    projection = run(batch(*ten))
    assert projection.report.problems == ()
    assert facts(projection.report, PATH)["Tasks total"] == "10"
    assert facts(projection.report, f"{PATH}/task10")["Task agent"] == "ü" * 120


def test_the_order_in_which_a_report_lists_its_tasks_does_not_matter() -> None:
    projection = run(batch(TWO[1], TWO[0], tasks=[{"intent": "First"}, {"intent": "Second"}]))
    assert projection.report.problems == ()
    assert facts(projection.report, f"{PATH}/task1")["Task execution identity"] == "b/g1"
    assert facts(projection.report, f"{PATH}/task2")["Task intent"] == "Second"


def test_the_five_counts_partition_the_tasks_and_none_runs_in_a_final_report() -> None:
    words = ["success", "failure", "cancelled", "unknown", "running", None]
    projection = run(batch(*(task_report(n, f"T{n}", outcome=word) for n, word in enumerate(words))))
    assert counts(facts(projection.report, PATH)) == ("6", "1", "1", "0", "3", "1")
    (problem,) = projection.report.problems
    assert (problem.requirement, problem.label) == ("batch.terminal-unfinished", "Tasks running")
    assert facts(projection.report, f"{PATH}/task5")["Task outcome"] == "unknown"
    assert facts(projection.report, f"{PATH}/task6")["Task outcome"] is None


def test_a_failed_result_does_not_override_what_telemetry_says() -> None:
    lines = Lines().user().batch([{"intent": "Only task"}])
    lines.result("b", success=False, metadata=telemetry(one(outcome="unknown")))
    assert counts(facts(run(lines).reference, PATH)) == ("1", "0", "0", "0", "1", "0")


def test_explicit_nulls_of_a_report_stay_null() -> None:
    nulls = ("provider", "model", "outcome", "changed_paths", "calls_failed", "calls_unknown", "calls_changed")
    found = facts(run(batch(one(activity_omitted=None, **dict.fromkeys(nulls)))).reference, f"{PATH}/task1")
    for label in (
        "Task provider",
        "Task model",
        "Task outcome",
        "Task changed paths",
        "Task failed calls",
        "Task unknown calls",
        "Task calls with effects",
        "Task activity count",
        "Task activity omitted",
        *USAGE,
    ):
        assert found[label] is None, label
    assert found["Task persistence"] == "recorded"


@pytest.mark.parametrize(
    "tasks", [[], [{"intent": "  "}], [{"intent": 7}], ["x"], [{"intent": "T"}] * 11, [{"intent": "T", "agent": 1}]]
)
def test_tasks_that_are_not_valid_have_no_cards(tasks: list[Any]) -> None:
    projection = run(Lines().user().batch(tasks).result("b", success=False))
    assert [c.path for c in projection.reference] == [PATH]
    assert set(facts(projection.reference, PATH).values()) == {None}
    assert card(projection.reference, PATH).children == ()


def busy_child(number: int, calls: int) -> Lines:
    child = Lines(f"child-{number}").task_of(number, f"T{number}")
    for call in range(calls):
        child.call(f"k{call}", "read").result(f"k{call}", success=call % 2 == 0)
    return child.answer()


def test_beyond_4096_direct_calls_of_a_batch_the_counters_concerned_are_null() -> None:
    def projection(first: int, second: int) -> Any:
        lines = Lines().user().batch([{"intent": "T1"}, {"intent": "T2"}]).announce("child-1").announce("child-2")
        reports = [task_report(0, "T1"), task_report(1, "T2")]
        lines.result("b", metadata=telemetry(*reports))
        return run(lines, busy_child(1, first), busy_child(2, second)).nested

    at_the_cap = projection(4096, 0)
    assert facts(at_the_cap, f"{PATH}/task1")["Task failed calls"] == "2048"
    beyond = projection(4097, 0)
    for label in ("Task failed calls", "Task unknown calls", "Task calls with effects", "Task activity count"):
        assert facts(beyond, f"{PATH}/task1")[label] is None
        assert facts(beyond, f"{PATH}/task2")[label] == "0"
    shared = projection(4000, 97)
    assert facts(shared, f"{PATH}/task2")["Task failed calls"] == "?not_derivable"


def test_a_report_without_usage_has_no_usage_and_one_with_it_has_all_of_it() -> None:
    found = facts(run(batch(one(usage=usage()))).report, f"{PATH}/task1")
    expected = ["normalized_provider_usage", "5", "1", "0", "0", "5", "1", "0", "true", "true"]
    assert [found[label] for label in USAGE] == expected


def test_cache_tokens_without_cache_accounting_are_null_and_not_zero() -> None:
    uncached = usage(whole_run=tokens(5, 1, 0, cached=False), latest=tokens(5, 1, 0, cached=False))
    found = facts(run(batch(one(usage=uncached))).report, f"{PATH}/task1")
    assert found["Usage cache read tokens"] is found["Usage latest cache read tokens"] is None
    assert found["Usage cache known"] == "false"
    assert found["Usage latest effective input tokens"] == "5"


def test_a_latest_request_that_reported_nothing_is_null() -> None:
    found = facts(run(batch(one(usage=usage(latest=None, latest_final=False)))).report, f"{PATH}/task1")
    assert found["Usage latest effective input tokens"] is found["Usage latest output tokens"] is None
    assert (found["Usage latest final"], found["Usage effective input tokens"]) == ("false", "5")
