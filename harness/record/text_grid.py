"""The characters on a terminal and nothing else, at a small part of the cost of a whole emulation.

A recording waits for a screen hundreds of times, and a tall screen full of colours takes an emulator in Python longer
to follow than the product takes to draw. Finding things to click on needs no colours. This grid understands what
full-screen programs of this family draw with; at the first sequence that it does not understand it hands over to the
whole emulator, with everything fed so far, and stays correct at the emulator's price.
"""

from __future__ import annotations

import re

from pyte.screens import wcwidth

from harness.terminal import Screen

_COLOURS = re.compile(r"\x1b\[[0-9;:]*m")
_TOKEN = re.compile(
    r"\x1b\[(?P<prefix>[<=>?]?)(?P<parameters>[0-9;]{0,64})(?P<between> ?)(?P<final>[@-~])|[^\x00-\x1f\x7f-\x9f]+|\r"
)
_BEGUN = re.compile(r"\x1b(?:\[[0-?]*[ -/]*)?\Z")
_HELD = 4_096
"""Characters of a sequence that is not over yet which wait for more."""
_ALTERNATE_SCREEN = "1049"
_LEFT_ALONE = frozenset({("?", "h"), ("?", "l"), (">", "u"), ("<", "u"), ("=", "u"), ("", "m"), (">", "m"), ("?", "m")})


class TextGrid:
    """A terminal of `columns` by `rows`: `rows()` gives one string per row, one character per column.

    A wide glyph is followed by a blank; marks that combine with a glyph are left out.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.columns = columns
        self.height = rows
        self._lines = [[" "] * columns for _ in range(rows)]
        self._text = [" " * columns] * rows
        self._dirty: set[int] = set()
        self._x = self._y = 0
        self._held = ""
        self._narrow: set[str] = set()
        self._fed: list[str] = []
        self._screen: Screen | None = None

    @property
    def handed_over(self) -> bool:
        """Whether the whole emulator has taken over."""
        return self._screen is not None

    def feed(self, data: str) -> None:
        """Show the output `data`; a control sequence that is cut at its end waits for the next call."""
        if self._screen is not None:
            self._screen.feed(data)
            return
        self._fed.append(data)
        data = _COLOURS.sub("", self._held + data)
        begun = _BEGUN.search(data, max(len(data) - _HELD, 0))
        self._held = data[begun.start() :] if begun else ""
        if not self._draw(data[: begun.start()] if begun else data):
            self._screen = Screen(self.columns, self.height)
            self._screen.feed("".join(self._fed))
            self._fed.clear()

    def rows(self) -> list[str]:
        """The rows as they are now."""
        if self._screen is not None:
            cells = self._screen.snapshot().cells
            return ["".join([cell.data[:1] or " " for cell in row]) for row in cells]
        for number in self._dirty:
            self._text[number] = "".join(self._lines[number])
        self._dirty.clear()
        return list(self._text)

    def take_replies(self) -> bytes:
        """What a real terminal would have answered; only the whole emulator knows questions."""
        return self._screen.take_replies() if self._screen is not None else b""

    def _draw(self, data: str) -> bool:
        """Draws `data`; False at the first thing that is not understood."""
        position = 0
        match = _TOKEN.match
        while position < len(data):
            token = match(data, position)
            if token is None:
                return False
            position = token.end()
            text = token[0]
            if text[0] == "\r":
                self._x = 0
            elif text[0] != "\x1b":
                if not self._write(text):
                    return False
            elif not self._control(token["prefix"], token["parameters"], token["between"], token["final"]):
                return False
        return True

    def _write(self, text: str) -> bool:
        if not self._narrow.issuperset(text):
            widths = [wcwidth(character) for character in text]
            self._narrow.update(character for character, width in zip(text, widths, strict=True) if width == 1)
            if any(width < 0 for width in widths):
                return False
            text = "".join(
                character + " " * (width - 1) for character, width in zip(text, widths, strict=True) if width
            )
        end = self._x + len(text)
        if end > self.columns:
            return False
        self._lines[self._y][self._x : end] = text
        self._dirty.add(self._y)
        self._x = end
        return True

    def _control(self, prefix: str, parameters: str, between: str, final: str) -> bool:
        if between:
            return final == "q"
        if (prefix, final) in _LEFT_ALONE:
            if _ALTERNATE_SCREEN in parameters.split(";") and final in "hl":
                self._erase(0, 0, self.height)
                self._x = self._y = 0
            return True
        if prefix:
            return False
        numbers = [int(number or 0) for number in parameters.split(";")]
        if final in "Hf" and len(numbers) <= 2:
            row, column = numbers[0], numbers[1] if len(numbers) == 2 else 1
            self._y = min(max(row, 1), self.height) - 1
            self._x = min(max(column, 1), self.columns) - 1
        elif final == "J" and numbers[0] in (0, 2):
            self._erase(*((self._y, self._x) if numbers[0] == 0 else (0, 0)), self.height)
        elif final == "K" and numbers[0] == 0:
            self._erase(self._y, self._x, self._y + 1)
        else:
            return False
        return True

    def _erase(self, row: int, column: int, end: int) -> None:
        """Blanks from a place to the end of its row, and all rows below it before `end`; all 0-based."""
        for number in range(row, end):
            begin = column if number == row else 0
            self._lines[number][begin:] = " " * (self.columns - begin)
            self._dirty.add(number)
