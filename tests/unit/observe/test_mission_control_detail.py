"""The detail window: wrapped, scrolled, cut or damaged metadata must be read as printed or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.model.facts import CardFacts, CardKind
from harness.model.values import NULL, NotComparable, Reason, State, Value, known
from harness.observe.mission_control import ExpectedCard
from tests.support.mission_control import (
    batch,
    card,
    cast,
    places,
    read,
    readings,
    reason,
    said,
    split,
    stored,
    window,
)

_HEAD = ["Status: SUCCESS", "Tool • code_mode • code_mode"]
_EXECUTION: dict[str, Any] = {
    "changed_path_count": 7,
    "changed_paths_incomplete": True,
    "elapsed_ms": 12345,
    "inner_calls": 3,
    "recoverable_failures": 1,
    "running_calls": None,
    "successful": 2,
    "unknown_outcomes": 0,
    "warning_count": 40,
    "warnings": ["same warning"] * 6,
}


def _body(metadata: object, params: object = None, width: int = 40) -> list[str]:
    text = json.dumps({"metadata": metadata, "params": params}, indent=2, ensure_ascii=False)
    rows = [row for line in text.split("\n") for row in split(line, width)]
    return ["─" * width, "▾ Metadata / Params", *rows, "─" * width, "Sanitized Output:", "{}"]


def _script(execution: object = None, **rest: object) -> list[str]:
    return _body({"code_mode_execution": _EXECUTION if execution is None else execution, **rest})


def _read(*bodies: list[str]) -> CardFacts:
    moments = [
        ("detail:turn1/call1" + (f":{number}" if number > 1 else ""), window(_HEAD, body))
        for number, body in enumerate(bodies, 1)
    ]
    return card(read(cast(*moments)))


def test_members_are_read_as_they_are_spelled() -> None:
    facts = _read(_script(code_mode_response_token_estimate=1919, telemetry_persistence=None))
    assert said(facts, "Elapsed milliseconds") == [("metadata", "12345")]
    assert said(facts, "Change count qualifier") == [("metadata", "at_least")]
    assert [fact.value for fact in readings(facts, "Running calls")] == [NULL]
    assert [fact.value for fact in readings(facts, "Execution persistence")] == [NULL]
    assert said(facts, "Response token estimate") == [("metadata", "1919")]
    assert said(facts, "Warning") == [("row", "(not displayed)")], "retained warnings are not displayed rows"


@pytest.mark.parametrize(
    ("value", "label", "member"),
    [({"a": 1}, "Total calls", "inner_calls"), ("yes", "Change count qualifier", "changed_paths_incomplete")],
)
def test_a_member_of_another_type_is_unreadable(value: object, label: str, member: str) -> None:
    facts = _read(_script({**_EXECUTION, member: value}))
    (fact,) = readings(facts, label)
    assert isinstance(fact.value, Value)
    assert fact.value.state is State.UNREADABLE
    assert member in fact.value.reason
    assert fact.place is not None


def test_a_member_that_stands_twice_is_unreadable() -> None:
    body = ["▾ Metadata / Params", '{"metadata": {"code_mode_execution": {', '"inner_calls": 3,', '"inner_calls": 4}}}']
    facts = _read(body)
    (fact,) = readings(facts, "Total calls")
    assert isinstance(fact.value, Value)
    assert fact.value.state is State.UNREADABLE
    assert "twice" in fact.value.reason


@pytest.mark.parametrize("overlap", [0, 5, 11])
def test_pages_join_where_their_rows_overlap(overlap: int) -> None:
    whole = _script(telemetry_persistence="recorded")
    cut = 14
    pages = [whole[:cut], whole[cut - overlap :]]
    facts = _read(*pages)
    assert said(facts, "Total calls") == [("metadata", "3")]
    assert said(facts, "Execution persistence") == [("metadata", "recorded")]
    assert places(facts, "Execution persistence")[0][0] == "detail:turn1/call1:2"
    assert places(facts, "Changed paths")[0][0] == "detail:turn1/call1"


def test_pages_that_may_join_in_two_ways_are_not_joined() -> None:
    whole = _script(telemetry_persistence="recorded")
    first = next(index for index, row in enumerate(whole) if "same warning" in row)
    # One row in common may be the same row, or the next of six equal ones.
    facts = _read(whole[: first + 2], whole[first + 1 :])
    assert said(facts, "Total calls") == [("metadata", "3")], "what the first page shows is sure"
    (fact,) = readings(facts, "Execution persistence")
    assert isinstance(fact.value, NotComparable)
    assert fact.value.reason is Reason.CAPTURE_CUT


def test_a_gap_between_pages_is_not_bridged() -> None:
    whole = _script(telemetry_persistence="recorded")
    pages = [whole[:8], whole[16:]]
    moments = [
        ("detail:turn1/call1", window(_HEAD, pages[0])),
        ("detail:turn1/call1:3", window(_HEAD, pages[1])),
    ]
    column = read(cast(*moments))
    (problem,) = column.problems
    assert (problem.card, problem.expected, problem.observed) == (
        "turn1/call1",
        "page 2 of the detail",
        "page 3",
    )
    assert said(card(column), "Elapsed milliseconds") == [("metadata", "12345")]
    (fact,) = readings(card(column), "Execution persistence")
    assert isinstance(fact.value, NotComparable)
    assert fact.value.reason is Reason.CAPTURE_CUT


def test_a_real_window_of_four_pages_is_read_whole() -> None:
    layout = [ExpectedCard(path=f"turn1/call{number}", kind=CardKind.CODE_MODE) for number in (1, 2, 3)]
    column = read(stored("0.104.0-small-terminal"), layout)
    assert column.problems == ()
    for number, elapsed in ((1, "199"), (2, "117"), (3, "153")):
        facts = card(column, f"turn1/call{number}")
        assert ("metadata", elapsed) in said(facts, "Elapsed milliseconds")
        assert ("metadata", "200") in said(facts, "Response token estimate")
        assert said(facts, "Warnings") == [("metadata", "0")]
        assert said(facts, "Execution persistence") == [("metadata", "recorded")]
    assert card(column, "turn1/call3").title == "Code Mode • 3 calls • 153 ms", "the window shows only the last card"
    assert card(column, "turn1/call1").title is None


def test_a_cut_number_is_not_read_as_a_shorter_one() -> None:
    whole = _script()
    at = next(index for index, row in enumerate(whole) if "elapsed_ms" in row)
    row = '      "elapsed_ms": '
    facts = _read([*whole[:at], row + "1" * (40 - len(row))])
    (fact,) = readings(facts, "Elapsed milliseconds")
    assert isinstance(fact.value, NotComparable)
    assert fact.value.reason is Reason.CAPTURE_CUT
    assert said(facts, "Change count qualifier") == [("metadata", "at_least")]


def test_garbled_metadata_makes_its_facts_unreadable_and_no_others() -> None:
    whole = _script()
    at = next(index for index, row in enumerate(whole) if "inner_calls" in row)
    facts = _read([*whole[:at], "   §§§ 3,", *whole[at + 1 :]])
    (fact,) = readings(facts, "Total calls")
    assert isinstance(fact.value, Value)
    assert fact.value.state is State.UNREADABLE
    assert "not readable as JSON" in fact.value.reason
    assert said(facts, "Script outcome") == [("line", "success")]


def test_closed_metadata_says_that_it_was_not_opened() -> None:
    facts = _read(["─" * 40, "▸ Metadata / Params", "─" * 40, "Sanitized Output:"])
    (fact,) = readings(facts, "Total calls")
    assert "was not opened" in reason(fact)


def test_the_detail_of_another_card_is_a_problem_and_no_reading() -> None:
    screen = window(["Status: FAILED", "Tool • subagents • subagents · 2 tasks"], _body({}))
    column = read(cast(("detail:turn1/call1", screen)))
    (problem,) = column.problems
    assert (problem.card, problem.observed) == ("turn1/call1", "the detail of a subagent_batch card")
    assert column.cards == ()


def test_a_marker_without_its_window_is_a_problem() -> None:
    column = read(cast(("detail:turn1/call1", ["nothing here"]), ("card", ["nothing here"])))
    assert [problem.observed for problem in column.problems] == []
    assert column.unavailable is not None
    column = read(cast(("detail:turn1/call1", window(_HEAD, _script())), ("detail:turn1/call1:2", ["gone"])))
    assert [problem.observed for problem in column.problems] == ["no such window on the screen"]


_INTENT = "日本語のテキスト、全角文字、" * 3 + "x 全角 y"


@pytest.mark.parametrize("coloured", [True, False])
@pytest.mark.parametrize("indent", range(4))
def test_filler_before_a_wide_glyph_is_told_by_colour_or_not_at_all(indent: int, coloured: bool) -> None:
    intent = "a" * indent + _INTENT
    body = _body({"subagent_telemetry": {"schema_version": 1, "tasks": [{"intent": intent}]}})
    screen = window(["Status: SUCCESS", "Tool • subagents • subagents · 1 task"], body)
    if not coloured:
        screen = [row.replace("\x1b[32m", "").replace("\x1b[39m", "") for row in screen]
    column = read(cast(("detail:turn1/call1", screen)), batch("turn1/call1", 1))
    (fact,) = readings(card(column, "turn1/call1/task1"), "Task intent")
    if coloured:
        assert fact.value == known(intent)
    elif isinstance(fact.value, NotComparable):
        assert "wide glyph" in fact.value.detail
    else:
        assert fact.value == known(intent)


def test_escapes_cut_by_the_windows_edge_stay_escapes() -> None:
    for length in range(24, 34):
        intent = "b" * length + '\\"}],"outcome":"failure' + "\\" * 3 + "é\u2028x"
        body = _body({"subagent_telemetry": {"tasks": [{"intent": intent, "outcome": "success"}]}})
        screen = window(["Status: SUCCESS", "Tool • subagents • subagents · 1 task"], body)
        facts = card(read(cast(("detail:turn1/call1", screen)), batch("turn1/call1", 1)), "turn1/call1/task1")
        assert [fact.value for fact in readings(facts, "Task intent")] == [known(intent)], length
        assert said(facts, "Task outcome") == [("metadata", "success")], length


def test_cache_counts_without_cache_accounting_are_null() -> None:
    usage = {
        "latest": None,
        "latest_final": False,
        "latest_request_sequence": 4,
        "whole_run": {"cache_known": False, "cache_read": 0, "effective_input": 5, "output": 6},
    }
    body = _body({"subagent_telemetry": {"tasks": [{"usage": usage, "activity": [], "activity_omitted": None}]}})
    screen = window(["Status: SUCCESS", "Tool • subagents • subagents · 1 task"], body)
    facts = card(read(cast(("detail:turn1/call1", screen)), batch("turn1/call1", 1)), "turn1/call1/task1")
    assert [fact.value for fact in readings(facts, "Usage cache read tokens")] == [NULL]
    assert [fact.value for fact in readings(facts, "Usage latest output tokens")] == [NULL]
    assert said(facts, "Usage cache known") == [("metadata", "false")]
    assert said(facts, "Usage effective input tokens") == [("metadata", "5")]
    assert [fact.value for fact in readings(facts, "Task activity count")] == [NULL]


@pytest.mark.parametrize("usage", [7, "none", True, []])
def test_a_value_where_the_report_has_an_object_is_unreadable_and_no_silence(usage: object) -> None:
    body = _body({"subagent_telemetry": {"tasks": [{"usage": usage, "outcome": "success"}]}})
    screen = window(["Status: SUCCESS", "Tool • subagents • subagents · 1 task"], body)
    facts = card(read(cast(("detail:turn1/call1", screen)), batch("turn1/call1", 1)), "turn1/call1/task1")
    for label in ("Usage output tokens", "Usage latest final", "Usage cache known"):
        (fact,) = readings(facts, label)
        assert isinstance(fact.value, Value)
        assert fact.value.state is State.UNREADABLE
        assert "where an object belongs" in fact.value.reason
    assert said(facts, "Task outcome") == [("metadata", "success")]
