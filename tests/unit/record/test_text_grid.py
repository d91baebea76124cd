"""A grid that shows another screen than the emulator would send clicks to the wrong places."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.record.text_grid import TextGrid
from harness.terminal import Screen

COLUMNS, ROWS = 20, 6


def emulated(data: str) -> list[str]:
    screen = Screen(COLUMNS, ROWS)
    screen.feed(data)
    return ["".join([cell.data[:1] or " " for cell in row]) for row in screen.snapshot().cells]


def fed(*parts: str) -> TextGrid:
    grid = TextGrid(COLUMNS, ROWS)
    for part in parts:
        grid.feed(part)
    return grid


def test_text_stands_where_it_was_put_whatever_its_colours() -> None:
    grid = fed("\x1b[?1049h\x1b[2 q\x1b[>11u\x1b[?2026h\x1b[2;3H\x1b[1;38;2;1;2;3;48;5;7mab\x1b[0mc\x1b[?2026l")
    assert grid.rows()[1] == "  abc" + " " * 15
    assert not grid.handed_over


def test_a_wide_glyph_takes_two_columns() -> None:
    grid = fed("\x1b[1;1H漢x\x1b[2;1He\u0301y")
    assert grid.rows()[0].startswith("漢 x")
    assert grid.rows()[1].startswith("ey")


def test_a_sequence_cut_between_two_feeds_is_understood() -> None:
    assert fed("\x1b[3", ";5", "Hok").rows()[2] == "    ok" + " " * 14
    assert fed("\x1b", "[4;1Hok").rows()[3].startswith("ok")


def test_what_it_does_not_understand_goes_to_the_emulator_with_all_that_came_before() -> None:
    before, after = "\x1b[2;1Hold", "\x1b[1;1H\x1b[2Lnew\x1b[6n"
    grid = fed(before, after)
    assert grid.handed_over
    assert grid.rows() == emulated(before + after)
    assert grid.take_replies() == b"\x1b[1;4R"


def test_a_text_past_the_right_edge_wraps_as_on_a_terminal() -> None:
    data = "\x1b[1;18Habcdef"
    assert fed(data).rows() == emulated(data)


def test_rows_handed_out_do_not_change_later() -> None:
    grid = fed("one")
    rows = grid.rows()
    grid.feed("\x1b[1;1Htwo")
    assert (rows[0][:3], grid.rows()[0][:3]) == ("one", "two")


PLACES = st.tuples(st.integers(0, ROWS + 2), st.integers(0, COLUMNS + 2)).map(lambda at: f"\x1b[{at[0]};{at[1]}H")
TEXTS = st.text(st.sampled_from("abz▾✓│─ é"), min_size=1, max_size=8)
OTHERS = st.sampled_from(
    ["\x1b[m", "\x1b[1;31m", "\x1b[48;2;9;9;9m", "\x1b[J", "\x1b[2J", "\x1b[K", "\r", "\x1b[H", "\x1b[?25l", "\x1b[5G"]
)


@given(st.lists(st.one_of(PLACES, TEXTS, OTHERS), max_size=30), st.integers(1, 7))
def test_the_grid_shows_what_the_emulator_shows(pieces: list[str], size: int) -> None:
    data = "".join(pieces)
    grid = TextGrid(COLUMNS, ROWS)
    for start in range(0, len(data), size):
        grid.feed(data[start : start + size])
    assert grid.rows() == emulated(data)
