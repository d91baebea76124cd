"""What a terminal of a given size shows after the bytes it was fed: rows of text, and cells with colours.

The emulator does the work. This wrapper adds what a reading needs: rows as text with wide glyphs counted once, a way
back from an index in that text to screen columns, answers to the questions a program may ask of its terminal, and
reading that costs only the rows that changed. Rows and columns are 1-based, as in places of findings.
"""

from __future__ import annotations

import codecs
from itertools import repeat
from operator import itemgetter
from typing import NamedTuple

from pyte.screens import Char

from harness.terminal.emulator import Emulator, Stream

_GLYPH = itemgetter(Char._fields.index("data"))


class Cell(NamedTuple):
    """One screen cell.

    `char` is the glyph with its combining marks, ``" "`` for an empty cell and ``""`` for the right half of a wide
    glyph. `fg`, `bg` are ``"default"``, a colour name of pyte (``"red"``, ``"brightblack"``) or six hex digits.
    """

    char: str
    fg: str
    bg: str
    bold: bool
    reverse: bool


class Snapshot(NamedTuple):
    """What a screen showed at one moment, for good.

    `cells` holds one tuple per row with one `pyte.screens.Char` per column: `data` is the glyph with its combining
    marks, ``""`` for the right half of a wide glyph; `DimChar` is a cell drawn dim. Colours are spelled as in `Cell`.
    `text` holds the rows as `Screen.rows` gives them.
    """

    columns: int
    height: int
    cells: tuple[tuple[Char, ...], ...]
    text: tuple[str, ...]


class Screen:
    """A terminal of `columns` by `rows` that shows what it was fed.

    Bytes that are not UTF-8 show as U+FFFD; a sequence cut between two feeds is held back until its rest arrives.
    `budget`: how many cells may be filled, moved and read beyond what is written one by one; None for any number.
    Raises ValueError for a size that is not positive, and TooMuchDrawnError wherever the budget is spent.
    """

    def __init__(self, columns: int, rows: int, budget: int | None = None) -> None:
        if columns < 1 or rows < 1:
            raise ValueError(f"a terminal cannot have {columns} columns and {rows} rows")
        self.columns = columns
        self.height = rows
        self._emulator = Emulator(columns, rows)
        self._emulator.budget = budget
        self._stream = Stream(self._emulator)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text: list[str] = [" " * columns] * rows
        self._cells: list[tuple[Char, ...]] = [(self._emulator.default_char,) * columns] * rows

    def feed(self, data: bytes | str) -> None:
        """Show the output `data` of a program. Text is taken as already decoded."""
        self._stream.feed(self._decoder.decode(data) if isinstance(data, bytes) else data)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size as a terminal emulator does for an alternate screen: what no longer fits is lost.

        Raises ValueError for a size that is not positive.
        """
        if columns < 1 or rows < 1:
            raise ValueError(f"a terminal cannot have {columns} columns and {rows} rows")
        self._emulator.spend(self.columns * self.height)
        self._emulator.resize(rows, columns)
        self.columns, self.height = columns, rows
        self._text = [""] * rows
        self._cells = [()] * rows
        self._emulator.dirty.update(range(rows))

    def rows(self) -> list[str]:
        """All rows as text, trailing blanks included.

        A wide glyph stands once, so an index into a row's text is not a screen column: see `span`.
        """
        self._read()
        return list(self._text)

    def snapshot(self) -> Snapshot:
        """All cells as they are now. Rows that did not change since the last call are shared with it."""
        self._read()
        return Snapshot(self.columns, self.height, tuple(self._cells), tuple(self._text))

    def _read(self) -> None:
        emulator = self._emulator
        for number in emulator.dirty:
            if number < self.height:
                emulator.spend(self.columns)
                line = emulator.buffer[number]
                cells = tuple(map(line.get, range(self.columns), repeat(line.default)))  # none is made for each blank
                self._cells[number] = cells
                self._text[number] = "".join(map(_GLYPH, cells))
        emulator.dirty.clear()

    def text(self) -> str:
        """All rows without trailing blanks, joined by newlines; rows that are blank to the end are left out."""
        return "\n".join(row.rstrip() for row in self.rows()).rstrip()

    def cell(self, row: int, column: int) -> Cell:
        """The cell at a 1-based place. Raises IndexError outside the screen."""
        if not (1 <= row <= self.height and 1 <= column <= self.columns):
            raise IndexError(f"row {row}, column {column} is outside {self.columns}x{self.height}")
        char = self._emulator.buffer[row - 1][column - 1]
        return Cell(char.data, char.fg, char.bg, char.bold, char.reverse)

    def span(self, row: int, start: int, end: int) -> tuple[int, int]:
        """The 1-based inclusive screen columns of ``rows()[row - 1][start:end]``.

        A wide glyph at the end includes its right half. Raises IndexError for an empty slice or one outside the row.
        """
        line = self._emulator.buffer[row - 1]
        column_of = [column for column in range(self.columns) for _ in line[column].data]
        if not 0 <= start < end <= len(column_of):
            raise IndexError(f"row {row} has no text at {start}..{end}")
        first, last = column_of[start], column_of[end - 1]
        if last + 1 < self.columns and line[last + 1].data == "":
            last += 1
        return first + 1, last + 1

    def take_replies(self) -> bytes:
        """What a real terminal would have answered to questions in the bytes fed since the last call."""
        replies = "".join(self._emulator.replies)
        self._emulator.replies.clear()
        return replies.encode()
