"""Decoding of casts and the moments in them: bytes that are no cast must be refused where they stop being one."""

from __future__ import annotations

import json

import pytest

from harness.model.errors import DecodeError
from harness.observe.mission_control import screens
from harness.observe.mission_control.cast import COLUMNS_LIMIT, ROWS_LIMIT, decode
from tests.support.mission_control import cast, read, stored, title, transcript, window

_HEADER = b'{"version": 2, "width": 20, "height": 3}\n'


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b"", "line 1"),
        (b"{}\n", "line 1"),
        (b'{"version": 3, "width": 20, "height": 3}\n', "line 1"),
        (b'{"version": 2, "width": "20", "height": 3}\n', "line 1"),
        (b'{"version": 2, "width": 0, "height": 3}\n', "line 1"),
        (f'{{"version": 2, "width": {COLUMNS_LIMIT + 1}, "height": 3}}\n'.encode(), "line 1"),
        (f'{{"version": 2, "width": 20, "height": {ROWS_LIMIT + 1}}}\n'.encode(), "line 1"),
        (_HEADER + b'[0.1, "o", "x"]\n[0.2, "o"]\n', "line 3"),
        (_HEADER + b'[0.1, "o", "x", 1]\n', "line 2"),
        (_HEADER + b'["0.1", "o", "x"]\n', "line 2"),
        (_HEADER + b'[0.1, "z", "x"]\n', "line 2"),
        (_HEADER + b'[0.2, "o", "x"]\n[0.1, "o", "x"]\n', "line 3"),
        (_HEADER + b'[-0.1, "o", "x"]\n', "line 2"),
        (_HEADER + b'[0.1, "o", "\xff"]\n', "line 2"),
        (_HEADER + b'[0.1, "o", "x"]\n\n', "line 3"),
        (_HEADER + b'[0.1, "r", "80"]\n', "line 2"),
        (_HEADER + b'[0.1, "r", "99999x10"]\n', "line 2"),
        (_HEADER + b"[" * 5000 + b"\n", "line 2"),
    ],
)
def test_bytes_that_are_no_cast_are_refused_with_their_line(data: bytes, where: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(data)
    assert where in str(caught.value)
    assert caught.value.exit_code == 4
    with pytest.raises(DecodeError):
        read(data)


def test_a_line_cut_off_is_a_cut_capture_not_an_error() -> None:
    whole = cast(("card", transcript([title("Code Mode • 1 call")])))
    column = read(whole[:-3])
    assert decode(whole[:-3]).cut
    assert not column.complete
    assert not decode(whole).cut
    assert read(whole).complete


def test_each_marker_shows_the_screen_of_its_moment() -> None:
    data = cast(("card", ["one"]), ("detail:turn1/call1", ["two"]), ("tree", ["three"]))
    shown = [(marker, screen.text[0].strip()) for marker, screen in screens(data)]
    assert shown == [("card", "one"), ("detail:turn1/call1", "two"), ("tree", "three")], "but for the end"


def test_output_after_a_marker_does_not_change_its_screen() -> None:
    lines = [
        {"version": 2, "width": 20, "height": 3},
        [0.1, "o", "before"],
        [0.2, "m", "card"],
        [0.3, "o", "\x1b[2Jafter"],
        [0.4, "m", "end"],
    ]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    ((marker, screen),) = list(screens(data))
    assert (marker, screen.text[0]) == ("card", "before" + " " * 14)


def test_a_resized_terminal_is_read_at_its_new_size() -> None:
    lines = [
        {"version": 2, "width": 20, "height": 3},
        [0.1, "o", "before"],
        [0.2, "r", "30x5"],
        [0.3, "o", "\x1b[2J\x1b[5;25Hafter"],
        [0.4, "m", "card"],
    ]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    ((_, screen),) = list(screens(data))
    assert (screen.columns, screen.height) == (30, 5)
    assert screen.text[4].endswith("after ")


def test_moments_of_a_capture_without_markers_are_found_on_its_screens() -> None:
    shown = dict(screens(stored("0.104.0-mixed-batch")))
    assert list(shown) == ["card", "detail"]
    assert "Activity Tree" not in "".join(shown["card"].text), "the tree covers the transcript later on"
    assert "[View Subagent ↗]" in shown["card"].text[46]
    assert "▾ Metadata / Params" in shown["detail"].text[30]


def test_a_capture_without_markers_that_shows_no_card_is_unavailable() -> None:
    lines = [{"version": 2, "width": 20, "height": 3}, [0.1, "o", "hello"]]
    column = read("".join(json.dumps(line) + "\n" for line in lines).encode())
    assert column.unavailable is not None
    assert column.cards == ()


def test_a_later_first_page_begins_the_window_anew() -> None:
    head = ["Status: SUCCESS", "Tool • code_mode • code_mode"]
    old = window(head, ["▾ Metadata / Params", '{"metadata": {"code_mode_execution": {', '"inner_calls": 1}}}'])
    new = window(head, ["▾ Metadata / Params", '{"metadata": {"code_mode_execution": {', '"inner_calls": 2}}}'])
    column = read(cast(("detail:turn1/call1", old), ("detail:turn1/call1", new)))
    (facts,) = column.cards
    assert [str(fact.value) for fact in facts.facts if fact.label == "Total calls"] == ["2"]
