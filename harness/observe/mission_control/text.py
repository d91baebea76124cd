"""Text that knows which screen cells it was read from, and how to undo the wrapping that put it on several rows."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import NamedTuple, Self

from pyte.screens import Char, wcwidth

from harness.model.facts import Place
from harness.terminal import Snapshot


class Spot(NamedTuple):
    """One glyph's cells: the moment, the 1-based row, the 1-based first and last column, and the first cell itself."""

    marker: str
    row: int
    first: int
    last: int
    cell: Char


class Text(NamedTuple):
    """A string with one `Spot` per code point; `string` and `spots` are equally long."""

    string: str
    spots: tuple[Spot, ...]

    def cut(self, start: int, end: int | None = None) -> Self:
        return type(self)(self.string[start:end], self.spots[start:end])

    def group(self, match: re.Match[str], group: int | str = 0) -> Self:
        """The part of this text that a group of a match against `string` has matched."""
        return self.cut(match.start(group), match.end(group))

    def strip(self) -> Self:
        start = len(self.string) - len(self.string.lstrip(" "))
        return self.cut(start, len(self.string.rstrip(" ")) if start < len(self.string) else None)

    def rstrip(self) -> Self:
        return self.cut(0, len(self.string.rstrip(" ")))

    def place(self, file: str) -> Place | None:
        """Where the text's first row stands, or None when it is empty."""
        if not self.spots:
            return None
        first = self.spots[0]
        row = [spot for spot in self.spots if (spot.marker, spot.row) == (first.marker, first.row)]
        columns = (min(spot.first for spot in row), max(spot.last for spot in row))
        return Place(file=file, marker=first.marker, row=first.row, columns=columns)


EMPTY = Text("", ())

_make = tuple.__new__
"""Makes a `Spot` of its five fields at half the cost of calling it: screens have a million cells."""


def read(marker: str, screen: Snapshot, row: int, first: int, last: int) -> Text:
    """The text of a 1-based row between two 1-based inclusive columns; half of a wide glyph at an edge is left out."""
    cells = screen.cells[row - 1]
    columns = range(max(first, 1), min(last, screen.columns) + 1)
    if not columns:
        return EMPTY
    half = cells[columns.stop - 1 : columns.stop]
    part = cells[columns.start - 1 : columns.stop - 1]
    glyphs = [cell.data for cell in part]
    if "" not in glyphs and not (half and half[0].data == "") and len(plain := "".join(glyphs)) == len(part):
        # every cell is one code point, as on nearly every row
        made = zip(repeat(marker), repeat(row), columns, columns, part, strict=False)
        return Text(plain, tuple([_make(Spot, fields) for fields in made]))
    string: list[str] = []
    spots: list[Spot] = []
    for column in columns:
        cell = cells[column - 1]
        if cell.data == "":
            continue
        wide = column < screen.columns and cells[column].data == ""
        if wide and column == last:
            continue
        spot = Spot(marker, row, column, column + wide, cell)
        string.append(cell.data)
        spots += [spot] * len(cell.data)
    return Text("".join(string), tuple(spots))


def string(screen: Snapshot, row: int, first: int, last: int) -> str:
    """What `read` gives as string, at the cost of a string."""
    return "".join([cell.data for cell in screen.cells[row - 1][max(first, 1) - 1 : last]])


class Area(NamedTuple):
    """Rows and columns of a screen at a moment, 1-based inclusive."""

    marker: str
    screen: Snapshot
    top: int
    bottom: int
    left: int
    right: int

    def row(self, number: int) -> Text:
        """The text of a row of the screen between the area's edges, blanks included."""
        return read(self.marker, self.screen, number, self.left, self.right)

    def rows(self) -> list[Text]:
        return [self.row(number) for number in range(self.top, self.bottom + 1)]

    def strings(self) -> list[str]:
        return [string(self.screen, number, self.left, self.right) for number in range(self.top, self.bottom + 1)]


def concatenate(parts: Iterable[Text]) -> Text:
    parts = list(parts)
    return Text("".join(part.string for part in parts), tuple(spot for part in parts for spot in part.spots))


class Joined(NamedTuple):
    """Rows put back together. `doubt` is "" or why the text may differ from what the program wrapped."""

    text: Text
    doubt: str


WIDE_DOUBT = "a row ends with a blank before a wide glyph: it may be part of the text or only fill the row"


def ends_with_filler(row: Text, following: Text, blank: Char | None) -> bool | None:
    """Whether the last cell of a full row only fills it because the next glyph is too wide.

    True and False are certain; None is not known. `blank` is a cell known to be outside of any text, or None when the
    surface draws text and filler alike. A program that colours its text draws its blanks in the text's colours.
    """
    if not row.string.endswith(" ") or not following.string or wcwidth(following.string[0]) != 2:
        return False
    inside = [spot.cell for spot in row.spots if spot.cell.data != " "]
    if blank is None or not inside:
        return None
    text, last, filler = _style(inside[-1]), _style(row.spots[-1].cell), _style(blank)
    if text == filler:
        return None
    if last == text:
        return False
    return True if last == filler else None


def _style(cell: Char) -> tuple[object, ...]:
    return (type(cell), *cell[1:])


def unwrap(rows: Sequence[Text], blank: Char | None = None) -> Joined:
    """Text that was wrapped at a fixed width, character by character. Every row but the last is full, blanks included.

    Blanks at the end of the last row are not text.
    """
    doubt = ""
    parts: list[Text] = []
    for row, following in itertools.pairwise(rows):
        filler = ends_with_filler(row, following, blank)
        if filler is None:
            doubt = WIDE_DOUBT
        parts.append(row.cut(0, -1) if filler else row)
    parts += [row.rstrip() for row in rows[-1:]]
    return Joined(concatenate(parts), doubt)
