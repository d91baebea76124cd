"""pyte, with what a real terminal does and pyte does not: the emulation beneath `Screen`.

pyte has no alternate screen, takes key-encoding sequences (``CSI > 1 u``) for cursor movements, refuses parameters
that a method does not expect, stops drawing at a zero-width character that is no combining mark, rewrites combined
characters to their composed form, and forgets the dim attribute. A reading must show the program's own characters, so
each of these is put right here. The cross-check against tmux in the tests holds the result.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

import pyte
from pyte.modes import DECAWM, DECOM, IRM
from pyte.screens import Char, Cursor, wcwidth

_ALTERNATE_SCREEN_MODES = frozenset({47, 1047, 1049})
_COLUMN_MODE = 3
"""DECCOLM would change the number of columns under the reader's feet; modern terminals ignore it by default."""
_JOINER = "\u200d"
_EMOJI_PRESENTATION = "\ufe0f"
_SKIN_TONES = ("\U0001f3fb", "\U0001f3ff")

_TOKEN = re.compile(
    # What screens are drawn from: where to (CUP), with which pens (SGR), what text; each may be missing, also all.
    r"(?:\x1b\[([0-9]{1,4};[0-9]{1,4})H)?((?:\x1b\[[0-9:;]*+m)*+)([^\x00-\x1f\x7f-\x9f]*+)"
    # Any other control sequence, and what is none.
    r"|\x1b\[([<=>?]?)([0-9:;]*+)([ -/]*+)([@-~])|([\x00-\x1f\x7f-\x9f])"
)
_DRAWN, _CONTROL = 3, 7
"""The last group of the first two kinds of token."""
_CSI_BEGUN = re.compile(r"\x1b(?:\[[0-?]*[ -/]*)?\Z")
_LARGEST_PARAMETER = 9999
_HELD = 4_096
"""Characters of a sequence that is not over yet which wait for more: no program's sequence is as long, and each piece
of output would read all of it again."""
_DIGITS = 4
"""Of the largest parameter."""
_ALL_PARAMETERS = frozenset({"set_mode", "reset_mode"})
_TWO_PARAMETERS = frozenset({"cursor_position", "set_margins"})
_PRIVATE = frozenset({"set_mode", "reset_mode", "erase_in_display", "erase_in_line", "report_device_attributes"})
_COLOUR_SELECTORS = frozenset({38, 48, 58})


_CACHED = 4_096
"""Most entries of each cache."""
_PLACES = 65_536
"""Most places of a screen that are remembered: more than large screens have."""
_LONGEST_PENS = 64
"""Characters of SGR sequences in a row that are worth remembering."""
_NARROW: set[str] = set()
"""Characters known to take one cell and to join nothing, from which runs of text are put down at once."""


class DimChar(Char):
    """A cell drawn with SGR 2; every other cell is a plain `Char`."""

    __slots__ = ()


class TooMuchDrawnError(Exception):
    """Output that costs far more to follow than it has bytes: no program draws so for anybody to see."""


class _Glyphs(dict[str, Char]):
    """Cells by character, all drawn with one pen; `after` holds what is drawn with after further SGR sequences."""

    def __init__(self, pen: Char) -> None:
        super().__init__()
        self.pen = pen
        self.after: dict[str, _Glyphs] = {}

    def __missing__(self, char: str) -> Char:
        glyph = self[char] = self.pen._replace(data=char)
        return glyph


class _Places(dict[str, tuple[int, int]]):
    """Row and column, from 0 and on the screen, by the parameters of CUP as a program spells them."""

    def __init__(self, lines: int, columns: int) -> None:
        super().__init__()
        self._last = lines - 1, columns - 1

    def __missing__(self, spelled: str) -> tuple[int, int]:
        if len(self) >= _PLACES:
            self.clear()
        line, column = map(int, spelled.split(";"))
        place = self[spelled] = (min((line or 1) - 1, self._last[0]), min((column or 1) - 1, self._last[1]))
        return place


class Emulator(pyte.Screen):
    """The cells of a terminal. `replies` collects what it would answer to questions of the program."""

    def __init__(self, columns: int, lines: int) -> None:
        self.replies: list[str] = []
        self._primary: tuple[Any, Any] | None = None
        self._glyphs: dict[tuple[type[Char], Char], _Glyphs] = {}
        self._known_pens = 0
        self._places = _Places(lines, columns)
        self._any_wide = False
        """Whether a wide glyph was ever drawn, whose half may have to be blanked with what is drawn over the other."""
        self.budget: int | None = None
        self._spent = 0
        super().__init__(columns, lines)

    def spend(self, cells: int) -> None:
        """Counts work that is not paid for by output of its own size: a few bytes can move or fill a whole screen.

        Raises TooMuchDrawnError beyond the `budget`, if there is one.
        """
        self._spent += cells
        if self.budget is not None and self._spent > self.budget:
            raise TooMuchDrawnError(f"fills and moves more than {self.budget} cells")

    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        if kwargs.get("private"):
            modes = tuple(mode for mode in modes if mode != _COLUMN_MODE)
        super().set_mode(*modes, **kwargs)
        if kwargs.get("private") and _ALTERNATE_SCREEN_MODES.intersection(modes) and self._primary is None:
            self._primary = (self.buffer.copy(), self.cursor)
            self.buffer.clear()
            self.cursor = Cursor(0, 0)
            self.dirty.update(range(self.lines))

    def reset_mode(self, *modes: int, **kwargs: Any) -> None:
        if kwargs.get("private"):
            modes = tuple(mode for mode in modes if mode != _COLUMN_MODE)
        super().reset_mode(*modes, **kwargs)
        if kwargs.get("private") and _ALTERNATE_SCREEN_MODES.intersection(modes) and self._primary is not None:
            saved, self.cursor = self._primary
            self.buffer.clear()
            self.buffer.update(saved)
            self._primary = None
            self.dirty.update(range(self.lines))

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        super().resize(lines, columns)
        self._places = _Places(self.lines, self.columns)

    def show(self, tokens: Iterator[re.Match[str]]) -> re.Match[str] | None:
        """Draws pieces of output up to a token of another kind, which is returned; None when there is none.

        Programs draw a character or two at each of very many places, so everything is at hand here.
        """
        cursor, buffer, dirty = self.cursor, self.buffer, self.dirty
        columns = self.columns
        places = self._places if self.margins is None and DECOM not in self.mode else None
        glyphs = self._drawn()
        y, x = cursor.y, cursor.x
        for token in tokens:
            if token.lastindex != _DRAWN:
                cursor.y, cursor.x = y, x
                return token
            place, pens, text = token.group(1, 2, 3)
            if place is not None:
                if places is not None:
                    y, x = places[place]
                else:
                    cursor.y, cursor.x = y, x
                    self.cursor_position(*_numbers(place))
                    y, x = cursor.y, cursor.x
            if pens:
                known = glyphs.after.get(pens)
                glyphs = self._select_pens(glyphs, pens) if known is None else known
                cursor.attrs = glyphs.pen
            if not text:
                continue
            end = x + len(text)
            if end > columns or self._any_wide or IRM in self.mode or not _NARROW.issuperset(text):
                cursor.y, cursor.x = y, x
                self.draw(text)
                y, x = cursor.y, cursor.x
                continue
            if end == x + 1:
                buffer[y][x] = glyphs[text]
            else:
                buffer[y].update(zip(range(x, end), map(glyphs.__getitem__, text), strict=True))
            x = end
            dirty.add(y)
        cursor.y, cursor.x = y, x
        return None

    def _select_pens(self, glyphs: _Glyphs, pens: str) -> _Glyphs:
        """What is drawn with after the SGR sequences `pens`; programs repeat few of them very often."""
        for sequence in pens.split("m")[:-1]:
            self.select_graphic_rendition(*_numbers(sequence[2:]))
        selected = self._drawn()
        if len(pens) <= _LONGEST_PENS:
            self._known_pens += 1
            if self._known_pens > _CACHED:
                self._glyphs.clear()
                self._known_pens = 0
            else:
                glyphs.after[pens] = selected
        return selected

    def select_graphic_rendition(self, *attrs: int, **_kwargs: Any) -> None:
        """SGR; dim is kept in the cell's class, underline colours are left out."""
        dim = isinstance(self.cursor.attrs, DimChar)
        kept: list[int] = []
        at = 0
        while at < len(attrs):
            attr = attrs[at]
            length = 1
            if attr in _COLOUR_SELECTORS:
                length = {5: 3, 2: 5}.get(attrs[at + 1] if at + 1 < len(attrs) else 0, 1)
            elif attr in (0, 22):
                dim = False
            elif attr == 2:
                dim = True
            if attr != 58:
                kept += attrs[at : at + length]
            at += length
        if kept or not attrs:
            super().select_graphic_rendition(*kept)
        pen = self.cursor.attrs
        if isinstance(pen, DimChar) != dim:
            self.cursor.attrs = DimChar(*pen) if dim else Char(*pen)

    def cursor_to_line(self, line: int | None = None) -> None:
        """VPA. Under origin mode lines count from the top margin, which is the first line unless one is set."""
        top, bottom = self.margins or (0, self.lines - 1)
        origin = DECOM in self.mode
        self.cursor.y = min((line or 1) - 1 + (top if origin else 0), bottom if origin else self.lines - 1)

    def cursor_position(self, line: int | None = None, column: int | None = None) -> None:
        """CUP, which stands before every piece of text that a program draws."""
        if self.margins is not None or DECOM in self.mode:
            super().cursor_position(line, column)
            return
        cursor = self.cursor
        cursor.y = min((line or 1) - 1, self.lines - 1)
        cursor.x = min((column or 1) - 1, self.columns - 1)

    def erase_in_display(self, how: int = 0, *args: Any, **kwargs: Any) -> None:
        if 0 <= how <= 3:
            self.spend(self.lines + sum(map(len, self.buffer.values())))
            super().erase_in_display(how, *args, **kwargs)

    def index(self) -> None:
        self.spend(self.lines if self.cursor.y == (self.margins or (0, self.lines - 1))[1] else 0)
        super().index()

    def reverse_index(self) -> None:
        self.spend(self.lines if self.cursor.y == (self.margins or (0, self.lines - 1))[0] else 0)
        super().reverse_index()

    def insert_lines(self, count: int | None = None) -> None:
        self.spend(self.lines)
        super().insert_lines(count)

    def delete_lines(self, count: int | None = None) -> None:
        self.spend(self.lines)
        super().delete_lines(count)

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        if 0 <= how <= 2:
            super().erase_in_line(how, private)

    def alignment_display(self) -> None:
        """DECALN: the screen full of E, drawn plainly."""
        self.dirty.update(range(self.lines))
        row = dict.fromkeys(range(self.columns), self.default_char._replace(data="E"))
        for number in range(self.lines):
            self.buffer[number].update(row)
        self.spend(self.columns * self.lines)

    def report_device_status(self, mode: int = 0, **_kwargs: Any) -> None:
        """DSR. Under origin mode lines count from the top margin, which is the first line unless one is set."""
        if mode == 6 and self.margins is None and DECOM in self.mode:
            self.write_process_input(f"\x1b[{self.cursor.y + 1};{self.cursor.x + 1}R")
        else:
            super().report_device_status(mode)

    def write_process_input(self, data: str) -> None:
        self.replies.append(data)

    def _drawn(self) -> _Glyphs:
        """Cells drawn with the pen that is now in hand."""
        pen = self.cursor.attrs
        key = (type(pen), pen)
        glyphs = self._glyphs.get(key)
        if glyphs is None:
            if len(self._glyphs) >= _CACHED:
                self._glyphs.clear()
            glyphs = self._glyphs[key] = _Glyphs(pen)
        self.cursor.attrs = glyphs.pen
        return glyphs

    def draw(self, data: str) -> None:
        """Put `data` at the cursor, each grapheme into its cell exactly as the program wrote it."""
        cursor = self.cursor
        glyphs = self._drawn()
        wrap = DECAWM in self.mode
        insert = IRM in self.mode
        self.dirty.add(cursor.y)
        line = self.buffer[cursor.y]
        joining = False
        for char in data:
            width = wcwidth(char)
            if joining or width == 0 or _SKIN_TONES[0] <= char <= _SKIN_TONES[1]:
                joining = self._combine(line, char)
                continue
            if width < 0:
                continue
            if cursor.x + width > self.columns:
                if wrap:
                    self.carriage_return()
                    self.linefeed()
                    self.dirty.add(cursor.y)
                    line = self.buffer[cursor.y]
                else:
                    cursor.x = max(0, self.columns - width)
            x = cursor.x
            if insert:
                self.insert_characters(width)
            glyph = glyphs[char]
            if width == 1 and len(_NARROW) < _CACHED:
                _NARROW.add(char)
            # Half of a wide glyph cannot stay: whichever half is overwritten, the other becomes blank.
            if line[x].data == "" and x:
                line[x - 1] = line[x - 1]._replace(data=" ")
            after = x + width
            if after < self.columns and line[after].data == "":
                line[after] = line[after]._replace(data=" ")
            line[x] = glyph
            if width == 2 and x + 1 < self.columns:
                self._any_wide = True
                line[x + 1] = glyph._replace(data="")
            cursor.x = after

    def _combine(self, line: Any, char: str) -> bool:
        """Add a zero-width `char` to the cell before the cursor; whether the next character joins that cell too."""
        at = self.cursor.x - 1
        if at > 0 and line[at].data == "":
            at -= 1
        if at < 0:
            return False
        before = line[at].data
        line[at] = line[at]._replace(data=before + char)
        if char == _EMOJI_PRESENTATION and self.cursor.x == at + 1 < self.columns and before[0] >= "\u2190":
            self._any_wide = True
            line[at + 1] = line[at]._replace(data="")
            self.cursor.x += 1
        return char == _JOINER


class Stream(pyte.Stream):
    """pyte's parser, with control sequences read by their grammar (ECMA-48, 5.4) instead of character by character."""

    _held = ""

    def feed(self, data: str) -> None:
        """Show `data`; the beginning of a control sequence at its end waits for the next call."""
        data = (self._held + data).replace("\x9b", "\x1b[")
        self._held = ""
        show = self.listener.show  # type: ignore[union-attr]  # attached by the constructor, and an Emulator
        offset, end = 0, len(data)
        while offset < end:
            while offset < end and not self._taking_plain_text:
                self._take(data[offset])
                offset += 1
            tokens = _TOKEN.finditer(data, offset)
            while (token := show(tokens)) is not None:
                if token.lastindex == _CONTROL:
                    if not token[6]:
                        self._control(token[4], token[5], token[7])
                    continue
                offset = token.start()
                if end - offset <= _HELD and _CSI_BEGUN.match(data, offset):
                    self._held = data[offset:]
                    return
                self._take(data[offset])
                offset += 1
                break
            else:
                return

    def _take(self, char: str) -> None:
        """One character for pyte's own parser."""
        try:
            self._taking_plain_text = self._send_to_parser(char)
        except (TypeError, AssertionError, IndexError, ValueError):
            self._taking_plain_text = True  # pyte has thrown its parser state away: the sequence is not one

    def _control(self, prefix: str, parameters: str, final: str) -> None:
        name = self.csi.get(final)
        if name is None or prefix in {"<", "=", ">"} or (prefix and name not in _PRIVATE):
            return
        numbers = _numbers(parameters)
        if name not in _ALL_PARAMETERS:
            numbers = numbers[: 2 if name in _TWO_PARAMETERS else 1]
        method = getattr(self.listener, name)
        if prefix:
            method(*numbers, private=True)
        else:
            method(*numbers)


@functools.lru_cache(maxsize=_CACHED)
def _numbers(parameters: str) -> tuple[int, ...]:
    """The parameters of a sequence; SGR's colon form (ISO 8613-6) in the semicolon form that pyte knows."""
    if ":" not in parameters:
        return tuple([_number(number) for number in parameters.split(";")])
    numbers: list[int] = []
    for parameter in parameters.split(";"):
        parts = [_number(part) for part in parameter.split(":") if part]
        if len(parts) < 2 or parts[0] not in _COLOUR_SELECTORS:
            numbers += parts[:1] if parts[:2] != [4, 0] else [24]
        elif parts[1] == 2 and len(parts) >= 5:
            numbers += [parts[0], 2, *parts[-3:]]
        elif parts[1] == 5 and len(parts) >= 3:
            numbers += [parts[0], 5, parts[2]]
    return tuple(numbers)


def _number(digits: str) -> int:
    """A parameter's value, at most `_LARGEST_PARAMETER`; Python reads no more than some thousands of digits."""
    return (
        int(digits or 0)
        if len(digits) <= _DIGITS
        else min(int(digits.lstrip("0")[: _DIGITS + 1] or 0), _LARGEST_PARAMETER)
    )
