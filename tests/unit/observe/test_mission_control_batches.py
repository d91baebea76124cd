"""Batch cards and their tasks. Expected values were read off the captures' screens by eye."""

from __future__ import annotations

import pytest

from harness.model.facts import CardKind
from harness.model.values import ABSENT, NULL, NotComparable, Reason, State, Value, known
from harness.observe.mission_control import ExpectedCard
from tests.support.mission_control import (
    batch,
    box,
    card,
    cast,
    places,
    read,
    readings,
    reason,
    said,
    split,
    stored,
    title,
    transcript,
    window,
)

_LAYOUT = batch("turn1/call1", 4)


def test_chips_panel_and_metadata_of_a_task_are_separate_readings() -> None:
    column = read(stored("0.104.0-mixed-batch"), _LAYOUT)
    first = card(column, "turn1/call1/task1")
    assert column.problems == ()
    assert said(first, "Task outcome") == [("chip", "success"), ("chip", "success"), ("metadata", "success")]
    assert said(first, "Task intent") == [("line", "TASK-A read things"), ("metadata", "TASK-A read things")]
    assert places(first, "Task intent")[0] == ("card", 25, (16, 33))
    assert said(first, "Task provider") == [("line", "scripted"), ("metadata", "scripted")]
    assert places(first, "Task provider")[0] == ("card", 23, (13, 20))
    assert places(first, "Task model")[0] == ("card", 23, (22, 29))
    assert said(first, "Usage effective input tokens") == [("line", "206"), ("metadata", "206")]
    assert places(first, "Usage effective input tokens")[0] == ("card", 28, (12, 14))
    assert said(first, "Usage output tokens") == [("line", "46"), ("metadata", "46")]
    assert said(first, "Task execution identity") == [("metadata", "call_0_0/g1")]
    assert places(first, "Task execution identity") == [("detail", 59, (54, 66))]
    assert said(first, "Task activity count") == [("metadata", "2")], "two entries shown, none omitted"


def test_a_failed_task_without_usage_has_null_usage() -> None:
    second = card(read(stored("0.104.0-mixed-batch"), _LAYOUT), "turn1/call1/task2")
    assert said(second, "Task outcome") == [("chip", "failure"), ("metadata", "failure")]
    assert places(second, "Task outcome")[0] == ("card", 21, (17, 17))
    for label in ("Usage effective input tokens", "Usage latest final", "Usage cache known"):
        (fact,) = readings(second, label)
        assert fact.value == NULL
        assert fact.place is not None
        assert (fact.place.row, fact.place.columns) == (96, (50, 53))


def test_what_the_windows_edge_cuts_off_is_cut_not_absent() -> None:
    column = read(stored("0.104.0-mixed-batch"), _LAYOUT)
    third = card(column, "turn1/call1/task3")
    assert said(third, "Task agent") == [("metadata", "writer")]
    assert places(third, "Task agent") == [("detail", 103, (50, 57))]
    for facts, label in ((third, "Task failed calls"), (card(column, "turn1/call1/task4"), "Task intent")):
        (fact,) = readings(facts, label)
        assert isinstance(fact.value, NotComparable)
        assert fact.value.reason is Reason.CAPTURE_CUT
    (done,) = readings(card(column), "Tasks done")
    assert isinstance(done.value, NotComparable), "counting the tasks in view would undercount"


def test_a_chip_with_a_name_does_not_shift_the_chips_after_it() -> None:
    column = read(stored("0.104.0-mixed-batch"), _LAYOUT)
    assert places(card(column, "turn1/call1/task3"), "Task outcome")[0] == ("card", 21, (31, 31))
    assert said(card(column, "turn1/call1/task4"), "Task outcome")[0] == ("chip", "success")


def test_a_titles_progress_is_no_count_where_no_report_is_shown() -> None:
    facts = card(read(stored("0.96.6-reopened-by-0.104.0-legacy-batch"), _LAYOUT))
    assert facts.title == "Subagents • 4/4 settled • FAIL1"
    for label in ("Tasks total", "Tasks failed", "Tasks done"):
        (fact,) = readings(facts, label)
        assert isinstance(fact.value, Value)
        assert fact.value.state is State.NOT_DISPLAYED, label


def test_a_batch_killed_in_a_live_capture_is_cut_not_silent() -> None:
    column = read(stored("0.104.0-killed-batch-live"), batch("turn1/call1", 5))
    assert not column.complete
    assert said(card(column, "turn1/call1/task1"), "Task outcome")[0] == ("chip", "success")
    assert said(card(column, "turn1/call1/task2"), "Task outcome") == [("chip", "running")]
    (done,) = readings(card(column), "Tasks done")
    assert isinstance(done.value, NotComparable)
    assert done.value.reason is Reason.CAPTURE_CUT
    assert [facts.path for facts in column.cards] == [
        "turn1/call1",
        "turn1/call1/task1",
        "turn1/call1/task2",
        "turn1/call1/task3",
    ], "tasks that were never on the screen are not made up"
    assert column.problems == ()


def test_long_texts_in_any_script_come_out_whole() -> None:
    layout = [ExpectedCard(path="turn1/call1", kind=CardKind.CODE_MODE), *batch("turn1/call2", 1)]
    column = read(stored("0.104.0-wide"), layout)
    task = card(column, "turn1/call2/task1")
    assert column.problems == ()
    assert said(card(column), "Code Mode intent") == [("line", "漢字 intent 🙂")]
    assert ("metadata", "漢字 ✓ 🙂 " * 15) in said(task, "Task intent"), "240 bytes, the last one a blank"
    assert ("metadata", "é" * 120) in said(task, "Task agent")
    assert said(task, "Task activity") == [("line", "read: success")] * 8
    assert [fact.ordinal for fact in readings(task, "Task activity")] == list(range(8))
    assert said(task, "Task activity count") == [("metadata", "12"), ("row", "12")]
    assert said(task, "Task activity omitted") == [("row", "4")]
    assert said(task, "Task persistence") == [("row", "recorded")]
    assert said(task, "Usage provenance") == [("row", "normalized_provider_usage")]


def _batch_screen(*lines: str, chips: str = "[g1 ✓] [g2 ✗]") -> list[str]:
    return transcript([title("Subagents • 2/2 settled", mark=" "), "", f"  {chips}", "", *lines])


def test_chips_that_stand_in_the_order_of_the_start_belong_to_the_tasks_that_they_name() -> None:
    """Live, the third task may start first: its chip then stands first, under its own number."""
    panel = ("", "  ✓ g3 · scripted/scripted", *box(["Intent: TASK-C writes"]))
    column = read(cast(("card", _batch_screen(*panel, chips="[g3 writer ✓] [g1 ✓] [g4 ✓] [g2 ✗]"))), _LAYOUT)
    outcomes = [said(card(column, f"turn1/call1/task{number}"), "Task outcome") for number in (1, 2, 3, 4)]
    assert outcomes == [[("chip", "success")], [("chip", "failure")], [("chip", "success")] * 2, [("chip", "success")]]
    third = card(column, "turn1/call1/task3")
    assert said(third, "Task agent") == [("chip", "writer")]
    assert said(third, "Task intent") == [("line", "TASK-C writes")]


@pytest.mark.parametrize("chips", ["[first ✓] [second ✗]", "[g1 ✓] [g1 ✗]", "[g2 ✓] [second ✗]"])
def test_chips_whose_ids_do_not_count_the_tasks_are_taken_in_the_order_of_the_declaration(chips: str) -> None:
    column = read(cast(("card", _batch_screen(chips=chips))), batch("turn1/call1", 2))
    outcomes = [said(card(column, f"turn1/call1/task{number}"), "Task outcome") for number in (1, 2)]
    assert outcomes == [[("chip", "success")], [("chip", "failure")]]


def test_the_agent_is_read_from_a_chip_only_where_it_cannot_be_the_profile() -> None:
    panel = [
        "  ✓ g1 · local/small",
        *box(["Intent: one"]),
        *box(["agent • done"], name="Tks 12k(in)| —(out) • Cache —"),
    ]
    layout = batch("turn1/call1", 2)
    facts = card(read(cast(("card", _batch_screen(*panel, chips="[g1 writer ✓] [g2 ○]"))), layout), "turn1/call1/task1")
    assert said(facts, "Task agent") == [("chip", "writer")]
    assert said(facts, "Task profile") == [("row", "(not displayed)")]
    (tokens,) = readings(facts, "Usage effective input tokens")
    assert reason(tokens).startswith("shown only rounded, as 12k")
    assert [fact.value for fact in readings(facts, "Usage output tokens")] == [NULL]

    panel[0] = "  ✓ g1 · careful · local/small(high)"
    column = read(cast(("card", _batch_screen(*panel, chips="[g1 careful ✓] [g2 ○]"))), layout)
    facts = card(column, "turn1/call1/task1")
    assert said(facts, "Task agent") == [("row", "(not displayed)")]
    assert said(facts, "Task profile") == [("line", "careful")]
    assert said(facts, "Task model") == [("line", "small")], "without the reasoning effort"
    (outcome,) = readings(card(column, "turn1/call1/task2"), "Task outcome")
    assert "names no outcome" in reason(outcome)


def test_the_panel_of_another_task_is_a_problem_and_no_reading() -> None:
    layout = batch("turn1/call1", 2)
    screen = _batch_screen("  ✓ g1 · local/small", *box(["Intent: one"]))
    column = read(cast(("card", screen), ("task:turn1/call1/task2", screen)), layout)
    (problem,) = column.problems
    assert (problem.card, problem.expected, problem.observed) == (
        "turn1/call1/task2",
        "the panel of task 2",
        "the panel of task 1",
    )
    assert said(card(column, "turn1/call1/task2"), "Task intent") == [("row", "(not displayed)")]


_TASK_HEAD = [
    "status: ⊘ CANCELED",
    "id: call_1/g1",
    "type: subagent task",
    "label: g1 • depth 1",
    "Task execution identity: call_1/g1",
    "Task intent: many words of an",
    "intent on two rows",
    "Task profile: unavailable",
    "Task outcome: cancelled",
    "Task activity count: 3",
    "Task activity omitted: 1",
    "Usage latest final: true",
]


def _task_detail(head: list[str]) -> list[str]:
    return window(head, ["bash: failure", "read: success", "Sanitized output preview", "ls: success"])


def test_a_tasks_rows_are_read_and_its_activity_as_far_as_it_is_displayed() -> None:
    layout = batch("turn1/call1", 1)
    facts = card(read(cast(("detail:turn1/call1/task1", _task_detail(_TASK_HEAD))), layout), "turn1/call1/task1")
    assert said(facts, "Task execution identity") == [("row", "call_1/g1")]
    assert said(facts, "Task outcome") == [("line", "cancelled"), ("row", "cancelled")]
    assert [fact.value for fact in readings(facts, "Task profile")] == [NULL]
    assert said(facts, "Task activity") == [("line", "bash: failure"), ("line", "read: success")]
    (intent,) = readings(facts, "Task intent")
    assert isinstance(intent.value, NotComparable)
    assert "between words" in intent.value.detail
    assert [fact.value for fact in readings(facts, "Task model")] == [ABSENT], "all rows are there, this one is not"


def test_a_row_forged_inside_a_wrapped_text_makes_both_unreadable() -> None:
    head = [*_TASK_HEAD[:6], "Task outcome: success", *_TASK_HEAD[7:]]
    layout = batch("turn1/call1", 1)
    facts = card(read(cast(("detail:turn1/call1/task1", _task_detail(head))), layout), "turn1/call1/task1")
    rows = [fact for fact in readings(facts, "Task outcome") if fact.via == "row"]
    assert len(rows) == 2
    assert all(isinstance(row.value, Value) and row.value.state is State.UNREADABLE for row in rows)


def test_a_tasks_window_too_small_for_its_rows_is_cut() -> None:
    layout = batch("turn1/call1", 1)
    facts = card(read(cast(("detail:turn1/call1/task1", window(_TASK_HEAD[:8], []))), layout), "turn1/call1/task1")
    (fact,) = readings(facts, "Task persistence")
    assert fact.value != ABSENT
    assert "cuts its detail off" in reason(fact)


@pytest.mark.parametrize(
    ("outcomes", "counts"),
    [
        (["success", "failure", "cancelled", None], {"done": "1", "failed": "1", "cancelled": "1", "unknown": "1"}),
        (["unknown", "running", None], {"done": "0", "running": "1", "unknown": "2"}),
    ],
)
def test_a_batchs_counts_are_counted_over_the_displayed_tasks(
    outcomes: list[str | None], counts: dict[str, str]
) -> None:
    spelled = ["null" if outcome is None else f'"{outcome}"' for outcome in outcomes]
    body = [
        "▾ Metadata / Params",
        '{"metadata": {',
        ' "subagent_telemetry": {"tasks": [',
        *[f'  {{"outcome": {text}}}{"," if number < len(spelled) else ""}' for number, text in enumerate(spelled, 1)],
        " ]}}}",
        "─" * 40,
    ]
    screen = window(["Status: FAILED", "Tool • subagents • subagents · 4 tasks"], body)
    facts = card(read(cast(("detail:turn1/call1", screen)), batch("turn1/call1", len(outcomes))))
    assert said(facts, "Tasks total") == [("metadata", str(len(outcomes)))]
    for name, count in counts.items():
        assert [fact.value for fact in readings(facts, f"Tasks {name}")] == [known(count)], name


def test_an_outcome_of_no_known_kind_is_unreadable() -> None:
    body = ["▾ Metadata / Params", '{"metadata": {"subagent_telemetry": {', '"tasks": [{"outcome": "fine"}]}}}']
    screen = window(["Status: FAILED", "Tool • subagents • subagents · 1 task"], body)
    facts = card(read(cast(("detail:turn1/call1", screen)), batch("turn1/call1", 1)))
    assert said(facts, "Tasks total") == [("metadata", "1")]
    (done,) = readings(facts, "Tasks done")
    assert isinstance(done.value, Value)
    assert done.value.state is State.UNREADABLE
    assert "fine" in done.value.reason


@pytest.mark.parametrize("count", ["9" * 6000, "\u00b2", "-1", "1e3"])
def test_counts_that_no_screen_can_hold_do_no_harm(count: str) -> None:
    head = [row.replace("count: 3", f"count: {count[:15]}") for row in _TASK_HEAD]
    tasks = f'{{"metadata": {{"subagent_telemetry": {{"tasks": [{{"activity": [], "activity_omitted": {count}}}]}}}}}}'
    body = ["▾ Metadata / Params", *split(tasks, 40)]
    screen = window(["Status: FAILED", "Tool • subagents • subagents · 1 task"], body)
    column = read(
        cast(("detail:turn1/call1", screen), ("detail:turn1/call1/task1", _task_detail(head)), rows=200),
        batch("turn1/call1", 1),
    )
    facts = card(column, "turn1/call1/task1")
    assert said(facts, "Task activity count") == [("row", count[:15])]
    spelled = [fact.value for fact in readings(facts, "Task activity")]
    assert spelled == [known("bash: failure"), known("read: success")], "rows that are spelled as entries are"
