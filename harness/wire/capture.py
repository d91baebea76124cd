"""The lines of a capture file: who said what, when. One JSON object a line, `at`, `direction` and `line`."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Iterator
from enum import StrEnum

import jiter
import msgspec

from harness.model.errors import DecodeError
from harness.spec import bounds

FOOTER = b"complete"
"""Text of the footer that our own recorder writes last. Foreign captures have none."""

LINE_BYTES = 64 * bounds.FRAME_BYTES
"""Longest line that is read. JSON escaping makes at most six bytes of one, and a frame over its limit is evidence too;
a line beyond this is no capture."""


class Direction(StrEnum):
    TO_PRODUCT = "to_product"
    FROM_PRODUCT = "from_product"
    FOOTER = "footer"


_MEMBERS = {"at", "direction", "line"}
_DIRECTIONS = {direction.value: direction for direction in Direction}


class Line(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One line. `number` is 1-based; `at` seconds since the epoch; `text` the frame's bytes without its newline."""

    number: int
    at: float
    direction: Direction
    text: bytes


def split(capture: bytes) -> Iterator[bytes]:
    """The lines of a capture with their newlines, one at a time."""
    return iter(io.BytesIO(capture))


class Lines:
    """Reads lines one at a time; after the last one, `footer` and `cut` say how the capture ended.

    `footer`: the last line is our recorder's footer. `cut`: the last line has no newline and is no whole line, so
    whoever wrote the capture was stopped in the middle of it; that line is then left out.
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = lines
        self.footer = False
        self.cut = False

    def __iter__(self) -> Iterator[Line]:
        """Raises DecodeError when a line, other than a cut last one, is no line of a capture."""
        for number, raw in enumerate(self._lines, start=1):
            if self.cut:
                raise DecodeError("no newline, and more lines follow", where=f"line {number - 1}")
            try:
                line = _line(raw, number)
            except DecodeError:
                if raw.endswith(b"\n"):
                    raise
                self.cut = True
                continue
            self.footer = line.text == FOOTER and line.direction is Direction.FOOTER
            yield line


def _line(raw: bytes, number: int) -> Line:
    if len(raw) > LINE_BYTES:
        raise DecodeError(f"a line of {len(raw)} bytes; captures have at most {LINE_BYTES}", where=f"line {number}")
    try:
        members = jiter.from_json(raw, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys")
    except ValueError as error:
        members = _with_surrogates(raw)
        if members is None:
            raise DecodeError(f"no line of a capture: {error}", where=f"line {number}") from None
    if isinstance(members, dict) and members.keys() == _MEMBERS:
        at, direction, text = members["at"], members["direction"], members["line"]
        known = _DIRECTIONS.get(direction) if isinstance(direction, str) else None
        seconds = _seconds(at)
        if known is not None and seconds is not None and isinstance(text, str):
            return Line(number=number, at=seconds, direction=known, text=_bytes(text))
    raise DecodeError(
        "no line of a capture: it has exactly `at` (seconds), `direction` and `line` (text)", where=f"line {number}"
    )


def _seconds(at: object) -> float | None:
    """A finite number of seconds; JSON has integers that no float can hold."""
    if type(at) not in (int, float):
        return None
    try:
        seconds = float(at)  # type: ignore[arg-type] # told by its exact type: a boolean is no number here
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) else None


def _with_surrogates(raw: bytes) -> object:
    """A recorder in Python spells bytes that are no UTF-8 as lone surrogates, which strict decoders refuse: the bad
    output of a product must not make its capture unreadable. None when the line is bad in any other way."""
    try:
        members = json.loads(raw, object_pairs_hook=lambda pairs: pairs)
    except (ValueError, RecursionError):
        return None
    if not isinstance(members, list) or not all(isinstance(pair, tuple) for pair in members):
        return None
    unique = dict(members)
    text = unique.get("line")
    return unique if len(unique) == len(members) and isinstance(text, str) and not text.isascii() else None


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")  # stays invalid, for the frame decoder to say so
