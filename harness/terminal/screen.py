"""What a terminal of a given size shows after the bytes it was fed: rows of text, and cells with colours.

pyte does the emulation. This wrapper adds what a reading needs: rows as text with wide glyphs counted once, a way
back from an index in that text to screen columns, an alternate screen, answers to the questions a program may ask of
its terminal, and reading that costs only the rows that changed. Rows and columns are 1-based, as in places of findings.
"""

from __future__ import annotations

import codecs
from typing import Any, NamedTuple

import pyte

_ALTERNATE_SCREEN_MODES = frozenset({47, 1047, 1049})


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


class _Emulator(pyte.Screen):
    """pyte's screen, with an alternate screen and without its two failures on sequences it does not know."""

    def __init__(self, columns: int, lines: int) -> None:
        self.replies: list[str] = []
        self._primary: tuple[Any, Any] | None = None
        super().__init__(columns, lines)

    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        super().set_mode(*modes, **kwargs)
        if kwargs.get("private") and _ALTERNATE_SCREEN_MODES.intersection(modes) and self._primary is None:
            self._primary = (self.buffer.copy(), self.cursor)
            self.buffer.clear()
            self.cursor = pyte.screens.Cursor(0, 0)
            self.dirty.update(range(self.lines))

    def reset_mode(self, *modes: int, **kwargs: Any) -> None:
        super().reset_mode(*modes, **kwargs)
        if kwargs.get("private") and _ALTERNATE_SCREEN_MODES.intersection(modes) and self._primary is not None:
            saved, self.cursor = self._primary
            self.buffer.clear()
            self.buffer.update(saved)
            self._primary = None
            self.dirty.update(range(self.lines))

    def select_graphic_rendition(self, *attrs: int, **kwargs: Any) -> None:
        # CSI ? … m sets key encodings, not colours; pyte passes it on with an argument that it then refuses.
        if not kwargs.get("private"):
            super().select_graphic_rendition(*attrs)

    def write_process_input(self, data: str) -> None:
        self.replies.append(data)


class Screen:
    """A terminal of `columns` by `rows` that shows what it was fed.

    Bytes that are not UTF-8 show as U+FFFD; a sequence cut between two feeds is held back until its rest arrives.
    Raises ValueError for a size that is not positive.
    """

    def __init__(self, columns: int, rows: int) -> None:
        if columns < 1 or rows < 1:
            raise ValueError(f"a terminal cannot have {columns} columns and {rows} rows")
        self.columns = columns
        self.height = rows
        self._emulator = _Emulator(columns, rows)
        self._stream = pyte.Stream(self._emulator)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text: list[str] = [" " * columns] * rows

    def feed(self, data: bytes | str) -> None:
        """Show the output `data` of a program. Text is taken as already decoded."""
        self._stream.feed(self._decoder.decode(data) if isinstance(data, bytes) else data)

    def rows(self) -> list[str]:
        """All rows as text, trailing blanks included.

        A wide glyph stands once, so an index into a row's text is not a screen column: see `span`.
        """
        emulator = self._emulator
        for number in emulator.dirty:
            if number < self.height:
                line = emulator.buffer[number]
                self._text[number] = "".join([line[column].data for column in range(self.columns)])
        emulator.dirty.clear()
        return list(self._text)

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
