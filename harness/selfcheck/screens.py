"""Screens that are drawn differently: real terminal bytes, put in just before the moment that is looked at.

A mutant of a screen is output that the product did not write. It is put into the capture at the marked moment, the
screen is kept, and what was there is drawn again, so that one replay of a capture serves all its mutants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec
from pyte.screens import Char

from harness.model.errors import HarnessError
from harness.observe.mission_control.cards import Card
from harness.observe.mission_control.cast import END, Cast, Event, Shown, decode, replay
from harness.observe.mission_control.column import Sight
from harness.observe.mission_control.detail import Detail, Page
from harness.observe.mission_control.panes import Transcript
from harness.observe.mission_control.text import Area, Text
from harness.terminal import Snapshot
from harness.terminal.emulator import DimChar

_SAVE, _RESTORE = "\x1b7", "\x1b8"
_NAMES = ("black", "red", "green", "brown", "blue", "magenta", "cyan", "white")
_ROOM = 1_000_000
"""Bytes of a capture for which each drawing counts: what is drawn on purpose shall never be too much."""


class Screens:
    """A capture's moments as they were recorded. `complete`, `markers` as `observe` finds them in the bytes."""

    def __init__(self, cast: bytes, *, complete: bool) -> None:
        self._cast = decode(cast)
        self.markers = bool(self._cast.markers)
        self.complete = complete and not self._cast.cut and (not self.markers or END in self._cast.markers)
        self.shown: tuple[Shown, ...] = tuple(replay(self._cast))

    def index(self, marker: str) -> int | None:
        """Which moment the marker names; None when no moment or several do."""
        found = [index for index, shown in enumerate(self.shown) if shown.marker == marker]
        return found[0] if len(found) == 1 else None

    def drawn(self, drawings: Sequence[tuple[int, Drawing]]) -> Iterator[tuple[Shown, ...]]:
        """For each drawing, given with its moment and in order of moments, the screens that the capture then shows.

        Raises HarnessError when a screen is not afterwards what it was before: no mutant may leave a trace.
        """
        at_moment: dict[int, list[Drawing]] = {}
        for moment, drawing in drawings:
            at_moment.setdefault(moment, []).append(drawing)
        replayed = replay(self._with_drawings(at_moment))
        for moment in range(len(self.shown)):
            before = next(replayed)
            for _ in at_moment.get(moment, ()):
                changed, after = next(replayed), next(replayed)
                if after.screen != before.screen:
                    raise HarnessError("a drawing left a trace on the screen", where=before.marker)
                yield (*self.shown[:moment], changed, *self.shown[moment + 1 :])

    def _with_drawings(self, at_moment: Mapping[int, Sequence[Drawing]]) -> Cast:
        """The capture, with markers, in which each drawing is put in, marked, undone, and marked once more."""
        events: list[Event] = []
        moment = -1
        for event in self._cast.events:
            events.append(event)
            if event.kind != "m" or event.text == END:
                continue
            moment += 1
            for drawing in at_moment.get(moment, ()):
                drawn, undone = (event._replace(kind="o", text=text) for text in (drawing.output, drawing.undo))
                events += [drawn, event, undone, event]
        room = _ROOM * sum(map(len, at_moment.values()))
        return msgspec.structs.replace(self._cast, events=tuple(events), size=self._cast.size + room)


class Drawing(NamedTuple):
    """Terminal output that changes a screen, and the output that undoes it, made when they are asked for."""

    make: Callable[[], str]
    unmake: Callable[[], str]

    @property
    def output(self) -> str:
        return _SAVE + self.make() + _RESTORE

    @property
    def undo(self) -> str:
        return _SAVE + self.unmake() + _RESTORE


def _select(cell: Char) -> str:
    """The SGR sequence that draws like this cell."""
    codes = ["0"]
    flags = ((cell.bold, "1"), (isinstance(cell, DimChar), "2"), (cell.italics, "3"), (cell.underscore, "4"))
    codes += [code for on, code in (*flags, (cell.blink, "5"), (cell.reverse, "7"), (cell.strikethrough, "9")) if on]
    for colour, base, wide in ((cell.fg, 30, 38), (cell.bg, 40, 48)):
        if colour == "default":
            continue
        if colour in _NAMES:
            codes.append(str(base + _NAMES.index(colour)))
        elif colour.startswith("bright") and colour[6:] in _NAMES:
            codes.append(str(base + 60 + _NAMES.index(colour[6:])))
        else:
            red, green, blue = (int(colour[at : at + 2], 16) for at in (0, 2, 4))
            codes.append(f"{wide};2;{red};{green};{blue}")
    return f"\x1b[{';'.join(codes)}m"


def cells_at(row: int, column: int, cells: Sequence[Char]) -> str:
    """Output that draws cells from a place on; right halves of wide glyphs are drawn with their left ones."""
    parts = [f"\x1b[{row};{column}H"]
    pen = ""
    for cell in cells:
        if not cell.data:
            continue
        wanted = _select(cell)
        if wanted != pen:
            parts.append(wanted)
            pen = wanted
        parts.append(cell.data)
    return "".join(parts)


def redraw(screen: Snapshot, row: int, column: int, cells: Sequence[Char]) -> Drawing:
    """A drawing of `cells` from a place on, over as many cells as they are."""
    before = screen.cells[row - 1][column - 1 : column - 1 + len(cells)]
    return Drawing(partial(cells_at, row, column, cells), partial(cells_at, row, column, before))


def scrolled_away(screen: Snapshot, row: int, bottom: int) -> Drawing:
    """A drawing that removes a row: those below it, down to `bottom`, move up by one."""
    region, whole = f"\x1b[{row};{bottom}r\x1b[{row};1H", "\x1b[r"
    removed = screen.cells[row - 1]
    return Drawing(lambda: f"{region}\x1b[1M{whole}", lambda: f"{region}\x1b[1L{whole}{cells_at(row, 1, removed)}")


class _KeptArea(Area):
    """An area that reads a row of cells only once: screens share the rows in which they do not differ."""

    __slots__ = ()

    def row(self, number: int) -> Text:
        cells = self.screen.cells[number - 1]
        key = (self.marker, number, self.left, self.right, id(cells))
        known = _rows.get(key)
        if known is None or known[0] is not cells:
            if len(_rows) >= _ROWS_KEPT:
                _rows.clear()
            known = _rows[key] = (cells, super().row(number))
        return known[1]


_rows: dict[tuple[str, int, int, int, int], tuple[tuple[Char, ...], Text]] = {}
_ROWS_KEPT = 4_096


class Seen(Sight):
    """A sight that looks at the screens that it was told to keep only once."""

    def __init__(self) -> None:
        self._kept: dict[int, Snapshot] = {}
        self._cards: dict[int, tuple[Transcript, list[Card]] | None] = {}
        self._pages: dict[int, Page | None] = {}
        self._details: dict[tuple[int, ...], Detail] = {}

    def keep(self, shown: Sequence[Shown]) -> None:
        """Remember what is seen on these screens; they live as long as this, so that their ids name them."""
        self._kept.update({id(item.screen): item.screen for item in shown})

    def cards(self, shown: Shown) -> tuple[Transcript, list[Card]] | None:
        key = id(shown.screen)
        if key not in self._kept:
            return super().cards(shown)
        if key not in self._cards:
            self._cards[key] = super().cards(shown)
        return self._cards[key]

    def page(self, shown: Shown) -> Page | None:
        key = id(shown.screen)
        if key not in self._kept:
            return self._page(shown)
        if key not in self._pages:
            self._pages[key] = self._page(shown)
        return self._pages[key]

    def _page(self, shown: Shown) -> Page | None:
        page = super().page(shown)
        return page._replace(scrolled=_KeptArea(*page.scrolled)) if page is not None else None

    def detail(self, pages: Sequence[Page]) -> Detail:
        known = {id(page) for page in self._pages.values()}
        key = tuple(id(page) for page in pages)
        if not known.issuperset(key):
            return super().detail(pages)
        if key not in self._details:
            self._details[key] = super().detail(pages)
        return self._details[key]
