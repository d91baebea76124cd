"""Where on a screen the transcript stands, and the *Selected Activity Detail* window over it.

Frames are found by their drawn borders, never by fixed places: terminals have any size and panels may be pinned.
"""

from __future__ import annotations

from typing import NamedTuple

from harness.terminal import Snapshot

_TRANSCRIPT = "┌Transcript─"
_DETAIL = "┌ Selected Activity Detail "
_SCROLLBAR = frozenset("↑┃│↓")


class Transcript(NamedTuple):
    """The transcript's text area, 1-based inclusive. `covered`: something is drawn over its frame's right part.

    `above`, `below`: whether the scrollbar says that the transcript goes on outside of the area.
    """

    top: int
    bottom: int
    left: int
    right: int
    covered: bool
    above: bool
    below: bool


class Detail(NamedTuple):
    """The window's text area, 1-based inclusive. Rows before `body` do not scroll, the others do; `body` may be one
    past `bottom`: nothing scrolls."""

    top: int
    body: int
    bottom: int
    left: int
    right: int


def _glyphs(screen: Snapshot, row: int) -> str:
    """One character per column; the right half of a wide glyph counts as one, so that indices are columns."""
    return "".join([cell.data[:1] or "\0" for cell in screen.cells[row - 1]])


def _find(screen: Snapshot, title: str) -> tuple[int, int] | None:
    """1-based row and column where a title stands, topmost first."""
    for row, text in enumerate(screen.text, 1):
        if title in text:
            return row, _glyphs(screen, row).find(title) + 1
    return None


def _column(screen: Snapshot, column: int, first: int, last: int) -> list[str]:
    return [screen.cells[row - 1][column - 1].data for row in range(first, last + 1)]


def _bottom(screen: Snapshot, top: int, left: int) -> int:
    """Row of a frame's lower border, or one past the screen when it is not there."""
    for row in range(top + 1, screen.height + 1):
        if screen.cells[row - 1][left - 1].data == "└":
            return row
    return screen.height + 1


def find_transcript(screen: Snapshot) -> Transcript | None:
    """The transcript of a screen, or None when the screen shows none."""
    at = _find(screen, _TRANSCRIPT)
    if at is None:
        return None
    row, left = at
    border = _glyphs(screen, row)[left + len(_TRANSCRIPT) - 2 :]
    length = len(border) - len(border.lstrip("─"))
    right = left + len(_TRANSCRIPT) - 1 + length
    closed = border[length : length + 1] == "┐"
    bottom = _bottom(screen, row, left)
    bar = _column(screen, right - 1, row + 1, bottom - 1) if closed else []
    thumb = [number for number, glyph in enumerate(bar) if glyph == "┃"]
    return Transcript(
        top=row + 1,
        bottom=bottom - 1,
        left=left + 1,
        right=right - 2,
        covered=not closed or _find(screen, _DETAIL) is not None,
        above=bool(thumb) and "│" in bar[: thumb[0]],
        below=bool(thumb) and "│" in bar[thumb[-1] :],
    )


def find_detail(screen: Snapshot) -> Detail | None:
    """The window with an activity's detail, or None when it is not open."""
    at = _find(screen, _DETAIL)
    if at is None:
        return None
    row, left = at
    right = _glyphs(screen, row).find("┐", left)
    if right < 0:
        return None
    bottom = _bottom(screen, row, left) - 1
    bar = _column(screen, right - 1, row + 1, bottom)
    body = next((number for number, glyph in enumerate(bar) if glyph in _SCROLLBAR), len(bar))
    return Detail(top=row + 1, body=row + 1 + body, bottom=bottom, left=left + 2, right=right - 2)
