"""The emulator's wrapper: faults here would put findings at wrong places or let a reading see a stale row."""

from __future__ import annotations

import pytest

from harness.terminal import Cell, Screen


def test_a_wide_glyph_does_not_shift_what_stands_right_of_it() -> None:
    screen = Screen(12, 2)
    screen.feed("a漢b".encode())
    row = screen.rows()[0]
    assert row == "a漢b        "
    assert screen.span(1, 1, 2) == (2, 3)
    assert screen.span(1, 2, 3) == (4, 4)
    assert screen.span(1, 0, 3) == (1, 4)
    assert screen.cell(1, 3).char == ""


def test_a_combining_mark_belongs_to_the_glyph_before_it() -> None:
    screen = Screen(6, 1)
    screen.feed("xq\u0323z")
    row = screen.rows()[0]
    assert len(row) == 7, "one cell holds two code points"
    assert screen.span(1, row.index("z"), row.index("z") + 1) == (3, 3)


@pytest.mark.parametrize(("start", "end"), [(2, 2), (3, 2), (-1, 1), (0, 7)])
def test_a_span_that_is_not_text_of_the_row_is_refused(start: int, end: int) -> None:
    screen = Screen(6, 1)
    with pytest.raises(IndexError, match="no text"):
        screen.span(1, start, end)


def test_a_sequence_cut_between_feeds_shows_once_whole() -> None:
    screen = Screen(4, 1)
    data = "✓".encode()
    screen.feed(data[:1])
    assert screen.rows() == ["    "]
    screen.feed(data[1:] + b"\x1b[3")
    screen.feed(b"1mR")
    assert screen.rows() == ["✓R  "]
    assert screen.cell(1, 2).fg == "red"


def test_a_row_is_read_again_after_it_changed() -> None:
    screen = Screen(5, 2)
    screen.feed(b"one\r\ntwo")
    assert screen.rows() == ["one  ", "two  "]
    screen.feed(b"\x1b[1;1H\x1b[2Knew")
    assert screen.rows() == ["new  ", "two  "]


def test_a_returned_row_list_is_the_callers_own() -> None:
    screen = Screen(3, 1)
    screen.rows()[0] = "???"
    assert screen.rows() == ["   "]


def test_the_alternate_screen_starts_empty_and_gives_the_first_one_back() -> None:
    screen = Screen(6, 2)
    screen.feed(b"shell\x1b[?1049h")
    assert screen.text() == ""
    screen.feed(b"\x1b[2;1Happ")
    assert screen.rows() == ["      ", "app   "]
    screen.feed(b"\x1b[?1049l$")
    assert screen.rows() == ["shell$", "      "]


def test_key_encoding_requests_are_not_taken_for_colours() -> None:
    screen = Screen(4, 1)
    screen.feed(b"\x1b[?4m\x1b[>11u\x1b[2 qok")
    assert screen.rows() == ["ok  "]
    assert screen.cell(1, 1) == Cell(char="o", fg="default", bg="default", bold=False, reverse=False)


def test_cells_tell_colours_and_emphasis() -> None:
    screen = Screen(4, 1)
    screen.feed(b"\x1b[1;7;38;2;255;0;16;48;2;0;1;2mX\x1b[0m.")
    assert screen.cell(1, 1) == Cell(char="X", fg="ff0010", bg="000102", bold=True, reverse=True)
    assert screen.cell(1, 2) == Cell(char=".", fg="default", bg="default", bold=False, reverse=False)


def test_questions_to_the_terminal_are_answered_once() -> None:
    screen = Screen(10, 5)
    screen.feed(b"ab\x1b[6n")
    assert screen.take_replies() == b"\x1b[1;3R"
    assert screen.take_replies() == b""


def test_bytes_that_are_not_text_show_as_replacements() -> None:
    screen = Screen(4, 1)
    screen.feed(b"a\xffb")
    assert screen.rows() == ["a\ufffdb "]


def test_places_outside_the_screen_are_refused() -> None:
    screen = Screen(4, 1)
    for row, column in ((0, 1), (2, 1), (1, 0), (1, 5)):
        with pytest.raises(IndexError):
            screen.cell(row, column)
    with pytest.raises(ValueError, match="cannot have"):
        Screen(0, 5)
