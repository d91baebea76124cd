"""Faults of the emulation beneath the screen: each would make a reading show what the program never printed."""

from __future__ import annotations

import pytest

from harness.terminal import Screen
from harness.terminal.emulator import DimChar


def shown(data: str, columns: int = 12, rows: int = 1) -> list[str]:
    screen = Screen(columns, rows)
    screen.feed(data)
    return screen.rows()


def test_a_decomposed_letter_stays_decomposed() -> None:
    row = shown("e\u0301x")[0]
    assert row.startswith("e\u0301x")
    assert "\u00e9" not in row


def test_text_after_a_zero_width_character_is_not_lost() -> None:
    assert shown("ab\u200bcd")[0].rstrip() == "ab\u200bcd"


def test_an_emoji_sequence_is_one_wide_glyph() -> None:
    screen = Screen(12, 1)
    family = "\U0001f469\u200d\U0001f680"
    screen.feed(f"{family}\x1b[1;3Hx\U0001f44d\U0001f3fd\x1b[1;6Hy")
    assert screen.rows()[0].rstrip() == f"{family}x\U0001f44d\U0001f3fdy"
    assert screen.cell(1, 2).char == ""
    assert screen.cell(1, 5).char == ""
    assert screen.cell(1, 6).char == "y"


def test_emoji_presentation_makes_a_glyph_two_cells_wide() -> None:
    screen = Screen(6, 1)
    screen.feed("\u2764\ufe0f\x1b[1;3Hx")
    assert screen.rows()[0] == "\u2764\ufe0fx   "
    assert screen.cell(1, 2).char == ""


@pytest.mark.parametrize(("column", "expected"), [(1, "x b "), (2, " xb ")])
def test_half_of_a_wide_glyph_never_stays(column: int, expected: str) -> None:
    assert shown(f"漢b\x1b[1;{column}Hx", columns=4)[0] == expected


def test_a_wide_glyph_that_does_not_fit_goes_to_the_next_row() -> None:
    assert shown("abc漢", columns=4, rows=2) == ["abc ", "漢  "]


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b[>1u",
        "\x1b[<1u",
        "\x1b[=1;1u",
        "\x1b[?1u",
        "\x1b[>4;2m",
        "\x1b[?4m",
        "\x1b[2 q",
        "\x1b[!p",
        "\x1b[58;2;31;41;7m",
    ],
)
def test_sequences_that_draw_nothing_draw_nothing(sequence: str) -> None:
    screen = Screen(6, 2)
    screen.feed(f"\x1b7\x1b[2;3H{sequence}ok")
    assert screen.rows() == ["      ", "  ok  "]
    cell = screen.snapshot().cells[1][2]
    assert (cell.fg, cell.bg, cell.underscore, cell.reverse) == ("default", "default", False, False)


def test_colours_in_colon_form_are_read() -> None:
    screen = Screen(4, 1)
    screen.feed("\x1b[38:2::255:0:16ma\x1b[48:5:196mb\x1b[0;4:3mc\x1b[4:0md")
    cells = screen.snapshot().cells[0]
    assert [cell.data for cell in cells] == ["a", "b", "c", "d"]
    assert cells[0].fg == "ff0010"
    assert cells[1].bg == "ff0000"


def test_dim_is_kept_until_it_is_reset() -> None:
    screen = Screen(8, 1)
    screen.feed("\x1b[2;31ma\x1b[1mb\x1b[22mc\x1b[2;38;2;0;0;2md\x1b[0me\x1b[38;2;2;2;2mf")
    cells = screen.snapshot().cells[0]
    assert [isinstance(cell, DimChar) for cell in cells[:6]] == [True, True, False, True, False, False]
    assert cells[0].fg == "red"
    assert cells[3].fg == "000002"
    assert cells[5].fg == "020202"


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_sequence_cut_anywhere_shows_the_same(cut: int) -> None:
    data = "\x1b[>1u\x1b[1;3HX"
    screen = Screen(4, 1)
    screen.feed(data[:cut])
    screen.feed(data[cut:])
    assert screen.rows() == ["  X "]


@pytest.mark.parametrize(
    "sequence", ["\x1b[1;2;3A", "\x1b[?3h", "\x1b[?6h\x1b[5d", "\x1b[9999L", "\x9b1;2;3A", "\x1b[38;5m"]
)
def test_odd_sequences_neither_fail_nor_change_the_size(sequence: str) -> None:
    screen = Screen(5, 3)
    screen.feed(f"{sequence}\x1b[?6l\x1b[3;1Hend")
    assert screen.rows()[2] == "end  "
    assert [len(row) for row in screen.rows()] == [5, 5, 5]


def test_a_snapshot_does_not_change_when_the_screen_does() -> None:
    screen = Screen(3, 2)
    screen.feed("a\r\nb")
    before = screen.snapshot()
    screen.feed("\x1b[1;1HX")
    after = screen.snapshot()
    assert before.cells[0][0].data == "a"
    assert after.cells[0][0].data == "X"
    assert after.cells[1] is before.cells[1], "unchanged rows are shared"


def test_a_resized_screen_has_the_new_size_and_keeps_what_fits() -> None:
    screen = Screen(6, 2)
    screen.feed("\x1b[1;1Habcdef\x1b[2;1Hxy")
    screen.resize(4, 3)
    screen.feed("\x1b[3;1Hnew")
    assert screen.rows() == ["abcd", "xy  ", "new "]
    snapshot = screen.snapshot()
    assert (snapshot.columns, snapshot.height, [len(row) for row in snapshot.cells]) == (4, 3, [4, 4, 4])
    with pytest.raises(ValueError, match="cannot have"):
        screen.resize(0, 3)


def test_a_sequence_without_an_end_does_not_wait_for_ever() -> None:
    """Held back whole, it would be read again with every further piece of output."""
    screen = Screen(20, 3)
    screen.feed("\x1b[")
    for _ in range(100):
        screen.feed("1" * 99)
    screen.feed("mshown")
    assert "shown" in screen.rows()[0]
