"""Pictures of screens: evidence may hold anything, and an outline must lie on the cells that a finding names."""

from __future__ import annotations

import xml.etree.ElementTree as ET  # its usual name

import pytest

from harness.terminal import Screen
from harness.terminal.picture import Mark, snapshot_cells, svg

_SVG = "{http://www.w3.org/2000/svg}"


def _picture(data: str, *marks: Mark, columns: int = 20, rows: int = 6, context: int | None = None) -> ET.Element:
    screen = Screen(columns, rows)
    screen.feed(data)
    return ET.fromstring(svg(screen.snapshot(), marks, title="a <screen>", context=context))  # noqa: S314  # our own


def _texts(picture: ET.Element) -> list[str]:
    return [node.text or "" for node in picture.iter(f"{_SVG}text")]


def test_markup_on_the_screen_stays_text() -> None:
    picture = _picture("<script>alert(1)</script>", columns=30)
    assert "<script>alert(1)</script>" in "".join(_texts(picture))
    assert not list(picture.iter(f"{_SVG}script"))
    assert picture.findtext(f"{_SVG}title") == "a <screen>"


def test_characters_that_xml_cannot_hold_are_replaced() -> None:
    picture = _picture("a\ufffeb\U0001f642", Mark(id='x"><b\x00', row=1, first=1, last=1))
    assert "a\ufffdb\U0001f642" in "".join(_texts(picture))
    (mark,) = [node for node in picture.iter(f"{_SVG}rect") if node.get("class") == "mark"]
    assert mark.get("id") == 'x"><b\ufffd'


def test_every_run_is_as_wide_as_its_cells_and_runs_left_to_right() -> None:
    picture = _picture("漢字\u05d0\u05d1\u202ex\x1b[31mred")
    nodes = {node.text: node for node in picture.iter(f"{_SVG}text")}
    red = nodes["red"]
    assert red.get("x") == str((5 + 7) * 8), "five columns of row numbers, then 2+2+1+1+1 cells"
    assert red.get("textLength") == str(3 * 8)
    assert "bidi-override" in (red.get("style") or "")
    assert red.get("fill") == "#cd3131"


def test_a_mark_lies_on_its_cells() -> None:
    picture = _picture("\x1b[4;7Hvalue", Mark(id="finding-1", row=4, first=7, last=11))
    (mark,) = [node for node in picture.iter(f"{_SVG}rect") if node.get("class") == "mark"]
    (text,) = [node for node in picture.iter(f"{_SVG}text") if (node.text or "").strip() == "value"]
    assert mark.get("id") == "finding-1"
    assert int(mark.get("x") or 0) == (5 + 6) * 8 - 1
    assert int(mark.get("width") or 0) == 5 * 8 + 2
    assert int(mark.get("y") or 0) <= int(text.get("y") or 0) <= int(mark.get("y") or 0) + 17


def test_rows_of_frames_only_are_folded_but_keep_their_numbers() -> None:
    picture = _picture("top\x1b[2;1H│    ┃│\x1b[5;1Hend\x1b[6;1H│", Mark(id="m", row=6, first=1, last=1))
    texts = [text.strip() for text in _texts(picture)]
    assert texts == ["1", "top", "⋮", "5", "end", "6", "│"], "a marked row is never folded"


def test_context_leaves_out_rows_far_from_the_marks() -> None:
    data = "".join(f"\x1b[{row};1Hrow {row}" for row in range(1, 7))
    texts = [text.strip() for text in _texts(_picture(data, Mark(id="m", row=3, first=1, last=1), context=1))]
    assert texts == ["⋮", "2", "row 2", "3", "row 3", "4", "row 4", "⋮"]


@pytest.mark.parametrize("mark", [Mark("m", 0, 1, 1), Mark("m", 7, 1, 1), Mark("m", 1, 3, 2), Mark("m", 1, 1, 21)])
def test_a_mark_outside_of_the_screen_is_refused(mark: Mark) -> None:
    with pytest.raises(ValueError, match="outside"):
        _picture("x", mark)


def test_runs_tell_colours_of_every_kind_and_emphasis() -> None:
    screen = Screen(12, 1)
    screen.feed("\x1b[1;2;3;4;9;31mA\x1b[0;7;38;5;196;48;2;1;2;3mB\x1b[0;95mC\x1b[0m.")
    runs = snapshot_cells(screen.snapshot())[0]
    a, b, c, rest = runs
    assert (a.text, a.column, a.width, a.fg, a.bg) == ("A", 1, 1, "cd3131", None)
    assert (a.bold, a.dim, a.italic, a.underline, a.strike, a.reverse) == (True, True, True, True, True, False)
    assert (b.fg, b.bg, b.reverse, b.dim) == ("ff0000", "010203", True, False)
    assert c.fg == "d670d6"
    assert (rest.text.rstrip(), rest.column, rest.width) == (".", 4, 9)


def test_reverse_swaps_colours_in_the_picture() -> None:
    picture = _picture("\x1b[7;38;2;255;0;0;48;2;0;0;255mX")
    (text,) = [node for node in picture.iter(f"{_SVG}text") if node.text == "X"]
    fills = [node.get("fill") for node in picture.iter(f"{_SVG}rect")]
    assert text.get("fill") == "#0000ff"
    assert "#ff0000" in fills
