"""An asciicast is decoded strictly and replayed to the screens that a reading looks at: one per marked moment.

asciicast v2: a header line, then one JSON array a line, ``[seconds, kind, text]`` with the kinds ``o`` (output), ``i``
(keys), ``m`` (marker) and ``r`` (resize, ``"COLUMNSxROWS"``). Our recorder marks every moment; for captures made by
others, which have no markers, the moments are found in the screens themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from harness.model.errors import DecodeError
from harness.observe.mission_control.panes import find_detail, find_transcript
from harness.terminal import Screen, Snapshot, TooMuchDrawnError

CAST_BYTES = 268_435_456
"""Largest cast read, 256 MiB: what the recorder stops at."""
COLUMNS_LIMIT = 1_000
ROWS_LIMIT = 2_000
CELLS_LIMIT = 16_000_000
"""Cells that any cast may fill, move and show: eight of the largest screens, whole. See `CELLS_PER_BYTE`."""
CELLS_PER_BYTE = 20
"""Further ones for each byte of the cast. Recordings of the product need half a cell a byte, and no more beside it."""
END = "end"
CARD = "card"
DETAIL = "detail"

_KINDS = frozenset("oimr")
_SIZE = re.compile(r"([1-9][0-9]{0,4})x([1-9][0-9]{0,4})")


class _Header(msgspec.Struct, frozen=True):
    """The first line; members that a reading does not need are not looked at."""

    version: int
    width: int
    height: int


class Event(NamedTuple):
    """One line: seconds since the start, kind and text."""

    at: float
    kind: str
    text: str


class Cast(msgspec.Struct, frozen=True, kw_only=True):
    """A decoded cast. `cut`: the file ends inside a line, so more had been captured than is there. `size` is the
    file's, in bytes."""

    columns: int
    rows: int
    events: tuple[Event, ...]
    cut: bool
    size: int

    @property
    def markers(self) -> tuple[str, ...]:
        return tuple(event.text for event in self.events if event.kind == "m")


class Shown(NamedTuple):
    """A screen at a moment. `marker` names the moment; for captures without markers it names what was found there."""

    marker: str
    screen: Snapshot


_decode_header = msgspec.json.Decoder(_Header).decode
_decode_event = msgspec.json.Decoder(tuple[float, str, str]).decode


def decode(cast: bytes) -> Cast:
    """The cast in `cast`. Raises DecodeError that names the 1-based line for anything the format does not allow."""
    if len(cast) > CAST_BYTES:
        raise DecodeError(f"the cast has {len(cast)} bytes, more than {CAST_BYTES}", where="line 1")
    lines = cast.split(b"\n")
    last = lines.pop()
    cut = bool(last)
    if not lines:
        raise DecodeError("the cast has no header line", where="line 1")
    try:
        header = _decode_header(lines[0])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DecodeError(f"not an asciicast header: {error}", where="line 1") from error
    if header.version != 2:
        raise DecodeError(f"asciicast version {header.version}, expected 2", path="version", where="line 1")
    _check_size(header.width, header.height, 1)
    events: list[Event] = []
    latest = 0.0
    for number, line in enumerate(lines[1:], 2):
        try:
            event = Event(*_decode_event(line))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise DecodeError(f"not an asciicast event: {error}", where=f"line {number}") from error
        if event.kind not in _KINDS:
            raise DecodeError(f"event kind {event.kind!r}, expected o, i, m or r", path="1", where=f"line {number}")
        if event.at < latest:
            raise DecodeError(f"time {event.at} is before {latest}", path="0", where=f"line {number}")
        if event.kind == "r":
            _resize(event.text, number)
        latest = event.at
        events.append(event)
    return Cast(columns=header.width, rows=header.height, events=tuple(events), cut=cut, size=len(cast))


def _check_size(columns: int, rows: int, line: int) -> None:
    if not (1 <= columns <= COLUMNS_LIMIT and 1 <= rows <= ROWS_LIMIT):
        limits = f"{COLUMNS_LIMIT}x{ROWS_LIMIT}"
        raise DecodeError(f"a terminal of {columns}x{rows} is outside 1x1 to {limits}", where=f"line {line}")


def _resize(text: str, line: int) -> tuple[int, int]:
    match = _SIZE.fullmatch(text)
    if match is None:
        raise DecodeError(f"resize to {text!r}, expected COLUMNSxROWS", path="2", where=f"line {line}")
    columns, rows = int(match[1]), int(match[2])
    _check_size(columns, rows, line)
    return columns, rows


def screens(cast: bytes) -> Iterator[tuple[str, Snapshot]]:
    """Every moment of a cast that a reading looks at, in order, with the whole screen there.

    With markers: one per marker but `end`, named by it. Without: `card`, the last screen that shows the transcript
    with nothing over it, and `detail`, the last one that shows *Selected Activity Detail*, if there are such.
    Raises DecodeError as `decode` does.
    """
    for shown in replay(decode(cast)):
        yield shown.marker, shown.screen


def replay(cast: Cast) -> Iterator[Shown]:
    """`screens` of a decoded cast. Raises DecodeError for one that draws far more than it has bytes."""
    try:
        yield from _marked(cast) if cast.markers else _unmarked(cast)
    except TooMuchDrawnError as error:
        raise DecodeError(f"the cast {error}") from error


def _screen(cast: Cast) -> Screen:
    return Screen(cast.columns, cast.rows, budget=CELLS_LIMIT + CELLS_PER_BYTE * cast.size)


def _marked(cast: Cast) -> Iterator[Shown]:
    screen = _screen(cast)
    for number, event in enumerate(cast.events, 2):
        if event.kind == "o":
            screen.feed(event.text)
        elif event.kind == "r":
            screen.resize(*_resize(event.text, number))
        elif event.kind == "m" and event.text != END:
            yield Shown(event.text, screen.snapshot())


def _unmarked(cast: Cast) -> Iterator[Shown]:
    """Moments are the screens before each key and at the end: what a person looked at before going on."""
    found: dict[str, Snapshot] = {}
    for moment in _moments(cast):
        if find_detail(moment) is not None:
            found[DETAIL] = moment
        elif (pane := find_transcript(moment)) is not None and not pane.covered:
            found[CARD] = moment
    for marker in (CARD, DETAIL):
        if marker in found:
            yield Shown(marker, found[marker])


def _moments(cast: Cast) -> Iterator[Snapshot]:
    screen = _screen(cast)
    changed = False
    for number, event in enumerate(cast.events, 2):
        if event.kind == "o":
            screen.feed(event.text)
            changed = True
        elif event.kind == "r":
            screen.resize(*_resize(event.text, number))
        elif event.kind == "i" and changed:
            yield screen.snapshot()
            changed = False
    if changed:
        yield screen.snapshot()
