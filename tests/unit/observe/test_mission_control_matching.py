"""Which card on the screen is which: a shifted match would compare one card's facts with another's."""

from __future__ import annotations

import pytest

from harness.model.facts import CardKind, Column
from harness.model.values import NotComparable, Reason
from harness.observe.mission_control import ExpectedCard, observe, screens
from tests.support.mission_control import (
    CASTS,
    batch,
    card,
    cast,
    pad,
    read,
    readings,
    said,
    stored,
    title,
    transcript,
    window,
)

_CODE = CardKind.CODE_MODE


_WORDED = {"Script outcome", "Task outcome", "Completed actions remain applied", "Rollback", "Change count qualifier"}
"""Read from words that are not the value's spelling."""


def _layout(*paths: str) -> list[ExpectedCard]:
    return [ExpectedCard(path=path, kind=_CODE) for path in paths]


def _body(*calls: int) -> list[str]:
    rows: list[str] = []
    for count in calls:
        rows += [title(f"Code Mode • {count} calls"), "", f"  ✓ {count} succeeded", ""]
    return rows


def test_cards_are_matched_in_order_whatever_their_titles_say() -> None:
    layout = [*_layout("turn1/call1"), *batch("turn1/call3", 1), *_layout("turn2/call2")]
    rows = [
        *_body(5),
        pad("✓ Read turn2/call2 • Code Mode • 9 calls", 52) + "11:55:26",
        "  Code Mode",
        "",
        title("Subagents • 1/1 settled", mark=" "),
        "",
        "  [g1 ✗]",
        "",
        *_body(7),
    ]
    column = read(cast(("card", transcript(rows))), layout)
    assert column.problems == ()
    assert said(card(column, "turn1/call1"), "Total calls") == [("title", "5")]
    assert said(card(column, "turn1/call3/task1"), "Task outcome") == [("chip", "failure")]
    assert said(card(column, "turn2/call2"), "Total calls") == [("title", "7")]
    assert [facts.path for facts in column.cards] == ["turn1/call1", "turn1/call3", "turn1/call3/task1", "turn2/call2"]


def test_a_missing_card_is_a_problem_and_gets_no_facts() -> None:
    column = read(cast(("card", transcript(_body(1)))), _layout("turn1/call1", "turn2/call1"))
    (problem,) = column.problems
    assert (problem.requirement, problem.card) == ("general.surface-agreement", "turn2/call1")
    assert problem.observed == "no such card on the transcript"
    assert [facts.path for facts in column.cards] == ["turn1/call1"]


def test_a_further_card_is_a_problem_where_it_stands() -> None:
    column = read(cast(("card", transcript(_body(1, 2)))), _layout("turn1/call1"))
    (problem,) = column.problems
    assert (problem.card, problem.expected, problem.observed) == ("", "no further card", "Code Mode • 2 calls")
    assert problem.place is not None
    assert problem.place.row == 8
    assert said(card(column), "Total calls") == [("title", "1")]


def test_a_card_of_another_kind_is_a_problem_and_no_reading() -> None:
    column = read(cast(("card", transcript(_body(1)))), batch("turn1/call1", 1))
    (problem,) = column.problems
    assert (problem.expected, problem.observed) == ("a subagent_batch card", "a code_mode card")
    assert column.cards == ()


@pytest.mark.parametrize(
    ("bar", "shown"),
    [("┃┃┃│││││", ["turn1/call1", "turn1/call2"]), ("│││││┃┃┃", ["turn1/call2", "turn1/call3"])],
)
def test_a_scrolled_transcript_is_matched_from_its_end_in_view(bar: str, shown: list[str]) -> None:
    layout = _layout("turn1/call1", "turn1/call2", "turn1/call3")
    column = read(cast(("card", transcript(_body(4, 6), height=10, bar=bar))), layout)
    assert [facts.path for facts in column.cards] == shown
    assert said(card(column, shown[0]), "Total calls") == [("title", "4")]
    assert column.problems == (), "the others are out of view, not missing"


def test_a_transcript_scrolled_to_its_middle_matches_nothing() -> None:
    column = read(
        cast(("card", transcript(_body(4), height=10, bar="││┃┃┃┃││"))), _layout("turn1/call1", "turn1/call2")
    )
    assert column.cards == ()
    assert column.unavailable is None


def test_a_cut_capture_has_no_missing_cards() -> None:
    layout = _layout("turn1/call1", "turn2/call1")
    column = read(cast(("card", transcript(_body(1))), end=False), layout)
    assert not column.complete
    assert column.problems == ()
    (elapsed,) = readings(card(column), "Elapsed milliseconds")
    assert isinstance(elapsed.value, NotComparable)
    assert elapsed.value.reason is Reason.CAPTURE_CUT


def test_a_card_inside_another_is_read_from_its_own_detail_only() -> None:
    layout = [*batch("turn1/call1", 1), *_layout("turn1/call1/task1/call1", "turn1/call1/task1/call2")]
    head = ["Status: CANCELED", "Tool • code_mode • code_mode"]
    inner = window(head, ["▾ Metadata / Params", '{"metadata": {"code_mode_execution": {', '"inner_calls": 2}}}'])
    rows = [title("Subagents • 1/1 settled", mark=" "), "", "  [g1 ✓]"]
    column = read(cast(("card", transcript(rows)), ("detail:turn1/call1/task1/call1", inner)), layout)
    facts = card(column, "turn1/call1/task1/call1")
    assert column.problems == ()
    assert said(facts, "Total calls") == [("metadata", "2")]
    assert said(facts, "Script outcome") == [("line", "cancelled")]
    assert facts.place is not None
    assert (facts.place.marker, facts.place.row) == ("detail:turn1/call1/task1/call1", 2)
    assert "turn1/call1/task1/call2" not in {found.path for found in column.cards}, "nothing of it was on a screen"


def test_a_capture_that_the_manifest_calls_cut_has_no_missing_cards() -> None:
    data = cast(("card", transcript(_body(1))))
    column = observe(
        data,
        column=Column.MISSION_CONTROL_LIVE,
        file="live.cast",
        release="0.104.0",
        layout=_layout("turn1/call1", "turn2/call1"),
        complete=False,
    )
    assert column.column is Column.MISSION_CONTROL_LIVE
    assert not column.complete
    assert column.problems == ()


def test_a_capture_that_ends_before_any_card_is_unavailable() -> None:
    column = read(cast(end=False))
    assert column.cards == ()
    assert isinstance(column.unavailable, NotComparable)
    assert column.unavailable.reason is Reason.CAPTURE_CUT


def test_a_panel_over_the_transcript_is_not_read_through() -> None:
    screen = transcript(_body(1))
    covered = [row[:40] + "┌Activity Tree─┐" + row[56:] if number == 2 else row for number, row in enumerate(screen)]
    column = read(cast(("card", covered)))
    assert column.cards == ()


@pytest.mark.parametrize("name", sorted(path.name.removesuffix(".cast.gz") for path in CASTS.glob("*.cast.gz")))
def test_every_place_shows_the_value_that_it_is_cited_for(name: str) -> None:
    """The cells of a reading, looked up again, begin with the value (or spell its null, mark or words)."""
    shown = dict(screens(stored(name)))
    layout = batch("turn1/call1", 5) if "batch" in name else _layout("turn1/call1", "turn1/call2", "turn1/call3")
    checked = 0
    for facts in read(stored(name), layout).cards:
        for fact in facts.facts:
            if fact.place is None or fact.place.row is None or fact.place.columns is None:
                continue
            first, last = fact.place.columns
            cells = shown[fact.place.marker or ""].cells[fact.place.row - 1][first - 1 : last]
            text = "".join(cell.data for cell in cells)
            value = str(fact.value)
            if fact.via == "chip" and fact.label == "Task outcome":
                assert text in {"✓", "✗", "⊘", "●", "○"}
            elif value.startswith("("):
                continue
            elif fact.via in {"row", "title", "line"} and fact.label not in _WORDED:
                assert value.startswith(text), (fact.label, text)
            elif fact.via == "metadata" and value.isdigit() and not fact.label.startswith(("Tasks ", "Task activity")):
                assert text == value, (fact.label, text)
            else:
                continue
            checked += 1
    assert checked >= 2
