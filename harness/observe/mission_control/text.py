"""Text that knows which screen cells it was read from, and how to undo the wrapping that put it on several rows."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Self, overload

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


class _Run(NamedTuple):
    """Neighbouring cells of a row, each one glyph of one code point, from the 1-based column `first` on."""

    marker: str
    row: int
    first: int
    length: int
    cells: tuple[Char, ...]

    def at(self, index: int) -> Spot:
        column = self.first + index
        return Spot(self.marker, self.row, column, column, self.cells[index])

    def cut(self, start: int, end: int) -> _Run:
        return _Run(self.marker, self.row, self.first + start, end - start, self.cells[start:end])

    def columns(self) -> tuple[int, int]:
        return self.first, self.first + self.length - 1


class _Repeated(NamedTuple):
    """One glyph's cells, once for each of the glyph's code points."""

    marker: str
    row: int
    spot: Spot
    length: int

    def at(self, index: int) -> Spot:  # noqa: ARG002 - all alike
        return self.spot

    def cut(self, start: int, end: int) -> _Repeated:
        return self._replace(length=end - start)

    def columns(self) -> tuple[int, int]:
        return self.spot.first, self.spot.last


class Spots(Sequence[Spot]):
    """One `Spot` per code point of a text. They are made when they are asked for: screens have a million cells, and of
    nearly all texts only the ends are looked at."""

    __slots__ = ("_length", "_parts")

    def __init__(self, parts: Iterable[_Run | _Repeated] = ()) -> None:
        self._parts = tuple(parts)
        self._length = sum([part.length for part in self._parts])

    @classmethod
    def joined(cls, several: Iterable[Spots]) -> Spots:
        return cls([part for spots in several for part in spots._parts])

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Spot: ...
    @overload
    def __getitem__(self, index: slice) -> Spots: ...
    def __getitem__(self, index: int | slice) -> Spot | Spots:
        if isinstance(index, slice):
            start, end, _ = index.indices(self._length)
            return self if end - start == self._length else Spots(self._cut(start, end))
        at = range(self._length)[index]
        ((part, start, _),) = self._within(at, at + 1)
        return part.at(start)

    def _within(self, start: int, end: int) -> Iterator[tuple[_Run | _Repeated, int, int]]:
        """The parts between two indices, each with the indices inside of it."""
        for part in self._parts:
            if end <= 0:
                return
            if start < part.length:
                yield part, max(start, 0), min(end, part.length)
            start -= part.length
            end -= part.length

    def _cut(self, start: int, end: int) -> list[_Run | _Repeated]:
        return [part.cut(first, last) for part, first, last in self._within(start, end) if first < last]

    def first_row(self) -> tuple[Spot, tuple[int, int]]:
        """The first spot, and the first and last column of everything on its row."""
        first = self._parts[0].at(0)
        columns = [part.columns() for part in self._parts if (part.marker, part.row) == (first.marker, first.row)]
        return first, (min(left for left, _ in columns), max(right for _, right in columns))


class Text(NamedTuple):
    """A string with one `Spot` per code point; `string` and `spots` are equally long."""

    string: str
    spots: Spots

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
        first, columns = self.spots.first_row()
        return Place(file=file, marker=first.marker, row=first.row, columns=columns)


EMPTY = Text("", Spots())


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
        return Text(plain, Spots([_Run(marker, row, columns.start, len(part), part)]))
    string: list[str] = []
    spots: list[_Repeated] = []
    for column in columns:
        cell = cells[column - 1]
        if cell.data == "":
            continue
        wide = column < screen.columns and cells[column].data == ""
        if wide and column == last:
            continue
        spots.append(_Repeated(marker, row, Spot(marker, row, column, column + wide, cell), len(cell.data)))
        string.append(cell.data)
    return Text("".join(string), Spots(spots))


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
    return Text("".join([part.string for part in parts]), Spots.joined([part.spots for part in parts]))


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
