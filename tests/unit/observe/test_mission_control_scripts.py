"""Code Mode cards of real captures. Expected values were read off the captures' screens by eye."""

from __future__ import annotations

import pytest

from harness.model.values import ABSENT, NULL, State, Value, known
from harness.spec.facts import facts_of
from tests.support.mission_control import (
    SCRIPT,
    box,
    card,
    cast,
    pad,
    places,
    read,
    readings,
    reason,
    said,
    stored,
    title,
    transcript,
    wrap,
)


def test_a_hidden_row_is_not_displayed_and_every_label_is_accounted_for() -> None:
    column = read(stored("0.104.0-mixed-script"))
    facts = card(column)
    assert column.complete
    assert column.problems == ()
    assert facts.title == "Code Mode • 3 calls • 10 ms"
    assert {fact.label for fact in facts.facts} == set(facts_of(SCRIPT.kind))
    for label in ("Completed with warnings", "Warnings omitted", "Child references complete", "Warning"):
        (fact,) = readings(facts, label)
        assert isinstance(fact.value, Value)
        assert fact.value.state is State.NOT_DISPLAYED
        assert "0.104.0 prints it neither on the card nor in its detail" in fact.value.reason


def test_figures_in_block_letters_title_and_summary_are_read_with_their_cells() -> None:
    facts = card(read(stored("0.104.0-mixed-script")))
    assert said(facts, "Total calls") == [("title", "3"), ("metadata", "3")]
    assert places(facts, "Total calls") == [("card", 14, (44, 44)), ("detail", 56, (52, 52))]
    assert said(facts, "Elapsed milliseconds") == [("title", "10"), ("metadata", "10")]
    assert places(facts, "Elapsed milliseconds")[0] == ("card", 14, (54, 55))
    assert said(facts, "Script outcome") == [("summary", "success"), ("line", "success")]
    assert places(facts, "Script outcome") == [("card", 22, (10, 25)), ("detail", 22, (39, 45))]
    assert said(facts, "Successful calls") == [("summary", "2"), ("metadata", "2")]
    assert said(facts, "Failed calls") == [("summary", "1"), ("metadata", "1")]
    assert places(facts, "Failed calls") == [("card", 22, (43, 43)), ("detail", 57, (61, 61))]
    assert said(facts, "Response token estimate") == [("title", "195"), ("metadata", "195")]
    assert places(facts, "Response token estimate") == [("card", 15, (55, 57)), ("detail", 71, (72, 74))]
    assert said(facts, "Code Mode intent") == [("line", "Exercise mixed outcomes")]
    assert places(facts, "Code Mode intent") == [("card", 18, (16, 38))]
    assert facts.place is not None
    assert (facts.place.row, facts.place.columns) == (14, (6, 58))


def test_metadata_below_the_windows_edge_is_not_guessed() -> None:
    facts = card(read(stored("0.104.0-mixed-script")))
    assert said(facts, "Unknown calls") == [("metadata", "0")]
    assert said(facts, "Running calls") == [("metadata", "0")]
    assert said(facts, "Warnings") == [("metadata", "0")]
    assert said(facts, "Changed paths") == [("metadata", "1")]
    assert said(facts, "Change count qualifier") == [("metadata", "exact")]
    assert places(facts, "Change count qualifier") == [("detail", 51, (65, 69))]
    assert said(facts, "Execution persistence") == [("metadata", "recorded")]
    assert places(facts, "Execution persistence") == [("detail", 77, (60, 69))]


def test_every_printed_row_of_the_older_release_is_read() -> None:
    facts = card(read(stored("0.100.0-mixed-script"), release="0.100.0"))
    rows = {
        fact.label: fact.value
        for fact in facts.facts
        if fact.via == "row" and fact.label not in {"Warning", "Changed path"}
    }
    expected = {
        "Script outcome": "success",
        "Total calls": "3",
        "Successful calls": "2",
        "Failed calls": "1",
        "Unknown calls": "0",
        "Running calls": "0",
        "Elapsed milliseconds": "23",
        "Recoverable failures": "1",
        "Warnings": "0",
        "Changed paths": "1",
        "Response token estimate": "195",
        "Change count qualifier": "exact",
        "Completed actions remain applied": "true",
        "Rollback": "false",
        "External effects may be untracked": "true",
        "Execution persistence": "recorded",
        "Completed with warnings": "true",
        "Warnings omitted": "0",
        "Changed paths omitted": "0",
        "Child references complete": "true",
        "Child references omitted": "0",
    }
    assert rows == {label: known(text) for label, text in expected.items()}
    assert said(facts, "Changed path") == [("row", "/acceptance/mixed-script/ws/out.txt")]
    assert places(facts, "Changed path") == [("card", 42, (20, 54))]
    assert ("card", 40, (5, 5)) in places(facts, "Changed paths"), "1 tracked file changed"
    assert ("line", "195") in said(facts, "Response token estimate"), "Model response: ≈195 tokens"
    (warning,) = readings(facts, "Warning")
    assert warning.value == ABSENT, "all rows are printed, and none is a warning"


def test_a_cancelled_script_says_failed_and_what_remains() -> None:
    facts = card(read(stored("0.104.0-cancelled-script")))
    assert said(facts, "Script outcome") == [("summary", "failure"), ("line", "failure")]
    assert said(facts, "Successful calls") == [("summary", "1"), ("metadata", "1")]
    assert said(facts, "Failed calls") == [("summary", "2"), ("metadata", "2")]
    assert said(facts, "Completed actions remain applied") == [("line", "true")]
    assert said(facts, "Rollback") == [("line", "false")]
    assert places(facts, "Rollback") == [("card", 21, (42, 52))]


def test_an_interrupted_script_without_elapsed_time_has_none() -> None:
    facts = card(read(stored("0.104.0-killed-script")))
    assert facts.title == "Code Mode • 3 calls"
    assert said(facts, "Script outcome") == [("summary", "interrupted"), ("line", "interrupted")]
    assert said(facts, "Failed calls") == [("summary", "1"), ("metadata", "1")]
    assert said(facts, "Unknown calls") == [("summary", "1"), ("metadata", "1")]
    assert places(facts, "Unknown calls")[0] == ("card", 22, (40, 40))
    (elapsed,) = readings(facts, "Elapsed milliseconds")
    assert isinstance(elapsed.value, Value)
    assert elapsed.value.state is State.NOT_DISPLAYED, "a member that is not there says nothing"


def test_a_legacy_report_without_newer_members_says_nothing_of_them() -> None:
    facts = card(read(stored("0.96.6-reopened-by-0.104.0-legacy-script")))
    assert said(facts, "Total calls") == [("title", "3"), ("metadata", "3")]
    assert said(facts, "Elapsed milliseconds") == [("title", "7"), ("metadata", "7")]
    for label in ("Running calls", "Warnings", "Code Mode intent"):
        (fact,) = readings(facts, label)
        assert isinstance(fact.value, Value)
        assert fact.value.state is State.NOT_DISPLAYED, label


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ("✓ 3 succeeded", {"Script outcome": "success", "Successful calls": "3"}),
        ("⚠ Script completed · 2 succeeded", {"Script outcome": "success", "Successful calls": "2"}),
        ("⊘ Script canceled · 0 succeeded · 2 failed", {"Script outcome": "cancelled", "Failed calls": "2"}),
        ("✗ Script failed · 1 succeeded · 12 unknown outcomes", {"Script outcome": "failure", "Unknown calls": "12"}),
        ("Script outcome unavailable · 1 unknown outcome", {"Script outcome": "unknown", "Unknown calls": "1"}),
        ("2 calls completed", {"Script outcome": "running"}),
        ("Script interrupted • call counts unavailable", {"Script outcome": "interrupted", "Failed calls": "(null)"}),
        ("Call counts unavailable", {"Successful calls": "(null)", "Unknown calls": "(null)"}),
    ],
)
def test_summaries_say_what_their_words_determine(summary: str, expected: dict[str, str]) -> None:
    body = [title("Code Mode"), "", *box(["✓ read  a.txt"], name=summary)]
    facts = card(read(cast(("card", transcript(body)))))
    for label in ("Script outcome", "Successful calls", "Failed calls", "Unknown calls"):
        found = said(facts, label)
        wanted = expected.get(label)
        if wanted is not None:
            assert found == [("summary", wanted)]
        elif label == "Script outcome":
            assert found == [("row", "(not displayed)")]


def test_a_summary_forged_by_a_warning_is_a_warning() -> None:
    body = [
        title("Code Mode • 1 call • 5 ms"),
        "",
        "  ⚠ Script completed · 9 succeeded",
        "  ⚠ Completed actions remain applied; no rollback, it says",
        "  ⚠ 3 more warnings; inspect activity details",
        *box(["✓ read  a.txt"], name="⚠ Script completed · 1 succeeded"),
    ]
    facts = card(read(cast(("card", transcript(body)))))
    assert said(facts, "Successful calls") == [("summary", "1")]
    assert said(facts, "Warning") == [
        ("line", "Script completed · 9 succeeded"),
        ("line", "Completed actions remain applied; no rollback, it says"),
    ]
    assert [fact.ordinal for fact in readings(facts, "Warning")] == [0, 1]
    assert said(facts, "Rollback") == [("row", "(not displayed)")]


@pytest.mark.parametrize(
    ("figures", "label", "reason_part"),
    [("1 call • 21.1s", "Elapsed milliseconds", "shown only rounded, as 21.1s")],
)
def test_rounded_figures_are_not_readings(figures: str, label: str, reason_part: str) -> None:
    facts = card(read(cast(("card", transcript([title(f"Code Mode • {figures}")])))))
    (fact,) = readings(facts, label)
    assert reason_part in reason(fact)
    assert said(facts, "Total calls") == [("title", "1")]


def test_lower_bounds_and_unavailable_counts_are_told_apart() -> None:
    body = [
        title("Code Mode • 1 call"),
        "",
        "  Model response: token estimate unavailable",
        "  ✓ 1 succeeded",
        "  at least 50 tracked files changed",
        "    /ws/a",
        "  Elapsed milliseconds • not reported",
    ]
    facts = card(read(cast(("card", transcript(body)))))
    assert said(facts, "Changed paths") == [("line", "50")]
    assert said(facts, "Change count qualifier") == [("line", "at_least")]
    assert [fact.value for fact in readings(facts, "Response token estimate")] == [NULL]
    assert [fact.value for fact in readings(facts, "Elapsed milliseconds")] == [NULL]
    assert said(facts, "Script outcome") == [("summary", "success")]


def test_a_wrapped_row_is_put_together_and_stands_where_it_begins() -> None:
    path = "/ws/" + "d" * 100 + "/out file.txt"
    rows = wrap(f"Changed path • {path}", 58)
    body = [title("Code Mode • 1 call"), "", *(f"  {row}" for row in rows), "  Rollback • false"]
    facts = card(read(cast(("card", transcript(body)))))
    assert len(rows) == 3
    assert said(facts, "Changed path") == [("row", path)]
    assert places(facts, "Changed path") == [("card", 6, (20, 62))]
    assert said(facts, "Rollback") == [("row", "false")]


def test_a_shortened_intent_is_not_the_intent() -> None:
    body = [title("Code Mode • 1 call"), "", "  Code Mode intent • First words… [truncated]"]
    (fact,) = readings(card(read(cast(("card", transcript(body))))), "Code Mode intent")
    assert isinstance(fact.value, Value)
    assert fact.value.state is State.NOT_DISPLAYED
    assert fact.value.reason == "shown only shortened"


@pytest.mark.parametrize(("intent", "certain"), [("a" * 43 + "漢字 tail", True), ("a" * 42 + "漢字 tail", False)])
def test_a_blank_that_may_be_filler_before_a_wide_glyph_is_not_guessed(intent: str, certain: bool) -> None:
    # 52 cells, 8 of them "Intent: ": 43 letters leave one cell for a glyph of two; 42 leave room for it.
    rows = wrap(f"Intent: {intent}", 52)
    assert (rows[0].endswith(" ")) is (len(intent) == 50)
    facts = card(read(cast(("card", transcript([title("Code Mode • 1 call"), "", *box(rows)])))))
    (fact,) = readings(facts, "Code Mode intent")
    if rows[0].endswith(" "):
        assert "unreadable" in reason(fact)
        assert "wide glyph" in reason(fact)
    else:
        assert fact.value == known(intent)


def test_prose_that_looks_like_a_title_is_no_card() -> None:
    body = [
        title("Code Mode • 1 call"),
        "",
        "  ✓ 1 succeeded",
        "",
        pad("Agent", 52) + "11:55:26",
        "",
        "  Code Mode • 7 calls • 3 ms",
        "  Rollback • true",
    ]
    column = read(cast(("card", transcript(body))))
    assert column.problems == ()
    assert said(card(column), "Total calls") == [("title", "1")]
    assert said(card(column), "Rollback") == [("row", "(not displayed)")]


def test_rows_below_a_title_without_a_mark_are_read_too() -> None:
    facts = card(read(stored("0.100.0-killed-script"), release="0.100.0"))
    assert facts.title == "Code Mode • 3 calls"
    assert facts.place is not None
    assert (facts.place.row, facts.place.columns) == (9, (3, 21)), "no mark stands before it"
    assert said(facts, "Script outcome") == [
        ("row", "interrupted"),
        ("summary", "interrupted"),
        ("line", "interrupted"),
    ]
    assert said(facts, "Unknown calls") == [("row", "1"), ("summary", "1"), ("metadata", "1")]
    assert places(facts, "Unknown calls")[:2] == [("card", 19, (21, 21)), ("card", 38, (37, 37))]
    assert [fact.value for fact in readings(facts, "Elapsed milliseconds")] == [NULL]
    assert [fact.value for fact in readings(facts, "Completed with warnings")] == [NULL]
    assert [fact.value for fact in readings(facts, "Response token estimate")] == [NULL, NULL], "row and line"


def test_a_running_scripts_rows_say_that_nothing_is_known_yet() -> None:
    column = read(stored("0.100.0-killed-script-live"), release="0.100.0")
    facts = card(column)
    assert not column.complete
    assert said(facts, "Script outcome") == [("row", "running")]
    assert [fact.value for fact in readings(facts, "Total calls")] == [NULL]
    assert said(facts, "Failed calls") == [("row", "(null)"), ("summary", "(null)")], "Call counts unavailable"
    assert said(facts, "Rollback") == [("row", "false")]
    assert [fact.value for fact in readings(facts, "Changed path")] == [ABSENT]


def test_a_glyph_lost_by_the_capture_spoils_its_value_and_no_more() -> None:
    body = [
        title("Code Mode • 1 call"),
        "\ufffd   nothing",
        "  Changed paths • 1\ufffd",
        "  Changed path • /ws/\ufffd.txt",
        "  Rollback • false",
        "  Warnings • 0",
    ]
    facts = card(read(cast(("card", transcript(body)))))
    for label in ("Changed paths", "Changed path"):
        (fact,) = readings(facts, label)
        assert isinstance(fact.value, Value)
        assert fact.value.state is State.UNREADABLE
        assert "decode" in fact.value.reason
    assert said(facts, "Rollback") == [("row", "false")]
    assert said(facts, "Warnings") == [("row", "0")]
