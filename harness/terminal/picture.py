"""A screen as an inline SVG picture, with places outlined: what a person looks at when a finding points at a screen.

Whatever stood on the screen is evidence, possibly hostile: every glyph is escaped, drawn left to right in its own
cells, and characters that XML cannot hold are replaced. Rows that hold nothing but frames are folded; the row numbers
at the left are the screen's own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import groupby
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from pyte.screens import Char

from harness.terminal.emulator import DimChar
from harness.terminal.screen import Snapshot

FOREGROUND = "d8d8d8"
BACKGROUND = "101418"
OUTLINE = "ff3b6b"
_CELL_WIDTH = 8
_CELL_HEIGHT = 17
_BASELINE = 13
_GUTTER = 5
"""Columns for row numbers: screens have four digits at most, and a blank."""
_FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
_FRAMES = " │┃▌↑↓─"
_HEX = re.compile(r"[0-9a-f]{6}")
_PALETTE = {
    "black": "000000",
    "red": "cd3131",
    "green": "0dbc79",
    "brown": "e5e510",
    "blue": "2472c8",
    "magenta": "bc3fbc",
    "cyan": "11a8cd",
    "white": "e5e5e5",
    "brightblack": "666666",
    "brightred": "f14c4c",
    "brightgreen": "23d18b",
    "brightbrown": "f5f543",
    "brightyellow": "f5f543",
    "brightblue": "3b8eea",
    "brightmagenta": "d670d6",
    "bfightmagenta": "d670d6",  # so spelled by the emulator's library
    "brightcyan": "29b8db",
    "brightwhite": "ffffff",
}
"""The sixteen named colours, in the values that common terminals give them."""
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Run(NamedTuple):
    """Neighbouring cells drawn alike. `column` is the 1-based first one, `width` their number; colours are six hex
    digits, or None for the terminal's own; `reverse` is not yet applied to them."""

    text: str
    column: int
    width: int
    fg: str | None
    bg: str | None
    bold: bool
    dim: bool
    italic: bool
    underline: bool
    strike: bool
    reverse: bool


class Mark(NamedTuple):
    """A place to outline: the element's id, the 1-based row and the 1-based inclusive first and last column."""

    id: str
    row: int
    first: int
    last: int


def snapshot_cells(screen: Snapshot) -> tuple[tuple[Run, ...], ...]:
    """Every row of a screen as runs from left to right."""
    return tuple(_runs(row) for row in screen.cells)


def svg(screen: Snapshot, marks: Sequence[Mark] = (), *, title: str = "", context: int | None = None) -> str:
    """The picture as an `<svg>` element without declaration, to be put into HTML.

    `title` is its text for readers that cannot see it. `context` limits it to so many rows around the marks. Raises
    ValueError for a mark outside of the screen.
    """
    for mark in marks:
        if not (1 <= mark.row <= screen.height and 1 <= mark.first <= mark.last <= screen.columns):
            raise ValueError(f"{mark} is outside of a screen of {screen.columns}x{screen.height}")
    rows = _kept(screen, {mark.row for mark in marks}, context)
    width = (_GUTTER + screen.columns) * _CELL_WIDTH
    height = max(len(rows), 1) * _CELL_HEIGHT
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family={quoteattr(_FONT)} font-size="13" direction="ltr">'
    )
    parts = [
        opening,
        f"<title>{_text(title or 'a screen')}</title>",
        f'<rect width="{width}" height="{height}" fill="#{BACKGROUND}"/>',
    ]
    lines = {row: index for index, row in enumerate(rows) if row is not None}
    for index, row in enumerate(rows):
        top = index * _CELL_HEIGHT
        if row is None:
            parts.append(_glyphs(_Place(0, top, 1), "⋮", FOREGROUND, ' fill-opacity="0.5"'))
            continue
        number = str(row)
        parts.append(_glyphs(_Place(0, top, len(number)), number, FOREGROUND, ' fill-opacity="0.5"'))
        parts += [drawn for run in _runs(screen.cells[row - 1]) for drawn in _drawn(run, top)]
    for mark in marks:
        left, top = (_GUTTER + mark.first - 1) * _CELL_WIDTH, lines[mark.row] * _CELL_HEIGHT
        wide = (mark.last - mark.first + 1) * _CELL_WIDTH
        parts.append(
            f'<rect id={quoteattr(_clean(mark.id))} class="mark" x="{left - 1}" y="{top}" width="{wide + 2}" '
            f'height="{_CELL_HEIGHT}" rx="2" fill="none" stroke="#{OUTLINE}" stroke-width="2"/>'
        )
    return "".join([*parts, "</svg>"])


class _Place(NamedTuple):
    column: int
    top: int
    width: int


def _runs(cells: tuple[Char, ...]) -> tuple[Run, ...]:
    runs: list[Run] = []
    column = 1
    for (style, dim), group in groupby(cells, key=_style):
        members = list(group)
        fg, bg, bold, italic, underline, strike, reverse, _blink = style
        runs.append(
            Run(
                text="".join([cell.data for cell in members]),
                column=column,
                width=len(members),
                fg=_colour(fg),
                bg=_colour(bg),
                bold=bold,
                dim=dim,
                italic=italic,
                underline=underline,
                strike=strike,
                reverse=reverse,
            )
        )
        column += len(members)
    return tuple(runs)


def _style(cell: Char) -> tuple[tuple[str, str, bool, bool, bool, bool, bool, bool], bool]:
    return cell[1:], isinstance(cell, DimChar)


def _colour(name: str) -> str | None:
    if _HEX.fullmatch(name):
        return name
    return _PALETTE.get(name)


def _kept(screen: Snapshot, marked: Collection[int], context: int | None) -> list[int | None]:
    """The rows to draw; None stands for rows that are folded."""
    kept: list[int | None] = []
    for row in range(1, screen.height + 1):
        near = context is None or any(abs(row - mark) <= context for mark in marked)
        if row in marked or (near and screen.text[row - 1].strip(_FRAMES)):
            kept.append(row)
        elif not kept or kept[-1] is not None:
            kept.append(None)
    return kept


def _drawn(run: Run, top: int) -> list[str]:
    fg, bg = run.fg or FOREGROUND, run.bg or BACKGROUND
    if run.reverse:
        fg, bg = bg, fg
    place = _Place(_GUTTER + run.column - 1, top, run.width)
    drawn: list[str] = []
    if bg != BACKGROUND:
        drawn.append(
            f'<rect x="{place.column * _CELL_WIDTH}" y="{top}" width="{run.width * _CELL_WIDTH}" '
            f'height="{_CELL_HEIGHT}" fill="#{bg}"/>'
        )
    if run.text.strip(" "):
        lines = [name for name, on in (("underline", run.underline), ("line-through", run.strike)) if on]
        look = "".join(
            [
                ' font-weight="bold"' if run.bold else "",
                ' font-style="italic"' if run.italic else "",
                ' fill-opacity="0.65"' if run.dim else "",
                f' text-decoration="{" ".join(lines)}"' if lines else "",
            ]
        )
        drawn.append(_glyphs(place, run.text, fg, look))
    return drawn


def _glyphs(place: _Place, text: str, colour: str, look: str) -> str:
    """Text stretched over exactly its cells, so that no font can shift what stands right of it."""
    return (
        f'<text x="{place.column * _CELL_WIDTH}" y="{place.top + _BASELINE}" '
        f'textLength="{place.width * _CELL_WIDTH}" lengthAdjust="spacingAndGlyphs" fill="#{colour}" '
        f'style="white-space:pre;unicode-bidi:bidi-override"{look}>{_text(text)}</text>'
    )


def _text(text: str) -> str:
    return escape(_clean(text))


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
