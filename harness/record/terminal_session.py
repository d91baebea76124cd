"""One program on a terminal of its own: what it writes is kept as an asciicast, shown by an emulator, and waited for.

The recording holds exactly what went over the terminal: output, keys, and markers at the moments that a reading will
look at. asciicast v2: a header line, then ``[seconds, "o"|"i"|"m", text]``.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import selectors
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

from ptyprocess.ptyprocess import PtyProcess

from harness.model.errors import ProductError
from harness.record.text_grid import TextGrid
from harness.record.timing import Clock

END_MARKER = "end"
TERM = "xterm-256color"
_OUTPUT_LIMIT = 256 * 1024 * 1024
_ROWS_SHOWN = 12
_POLL = 0.02
_FRAME_BEGIN = "\x1b[?2026h"
_FRAME_END = "\x1b[?2026l"
_FRAME_MARK_LENGTH = len(_FRAME_END)
_READS_AT_ONCE = 64
"""Reads before the screen is looked at again, so that a flood cannot keep a deadline from being noticed."""

Grid = list[str]
"""One string per screen row, one character per column."""


class TerminalSession:
    """A running program on a pty of `size` (columns, rows); use as a context manager, the program is gone afterwards.

    Every waiting method raises ProductError when the program ends, floods, or keeps its terminal from showing what is
    waited for until the deadline.
    """

    def __init__(
        self,
        argv: list[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        size: tuple[int, int],
        clock: Clock,
        watch: Callable[[], None] = lambda: None,
    ) -> None:
        columns, rows = size
        self._grid = TextGrid(columns, rows)
        self._watch = watch
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self._started = time.monotonic()
        self._output = 0
        self._tail = ""
        self._in_frame = False
        header = {
            "version": 2,
            "width": columns,
            "height": rows,
            "timestamp": int(clock()),
            "env": {"TERM": TERM},
        }
        self._cast = [json.dumps(header).encode() + b"\n"]
        try:
            self._pty = PtyProcess.spawn(  # type: ignore[no-untyped-call]  # ptyprocess publishes no types
                argv, cwd=str(folder), env=dict(environment), dimensions=(rows, columns)
            )
        except OSError as error:
            raise ProductError(f"the product does not start: {error.strerror}", where=Path(argv[0]).name) from error
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._pty.fd, selectors.EVENT_READ)
        self._at_end = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.kill()

    def pump(self, seconds: float) -> bool:
        """Takes what the program writes, waiting at most `seconds` for a first byte; whether anything came."""
        if self._at_end:
            return False
        taken = False
        for _ in range(_READS_AT_ONCE):
            if not self._selector.select(0 if taken else seconds):
                break
            try:
                data = os.read(self._pty.fd, 262_144)
            except OSError:  # Linux says EIO when the last process has closed its side
                data = b""
            if not data:
                self._at_end = True
                break
            self._take(data)
            taken = True
            if self._output > _OUTPUT_LIMIT:
                raise self.error("the program floods its terminal")
        return taken

    def wait_for(self, condition: Callable[[Grid], bool], seconds: float, what: str) -> None:
        """Waits until a whole frame of the screen shows what is waited for."""
        deadline = time.monotonic() + seconds
        changed = True
        while not (changed and not self._in_frame and condition(self.grid())):
            self._watch()
            changed = self.pump(_POLL) or not self._output
            if self._at_end and not changed:
                raise self.error(f"the program ended while {what} was awaited")
            if time.monotonic() > deadline:
                raise self.error(f"waited {seconds:g} s for {what} in vain")

    def wait_until(self, condition: Callable[[], bool], seconds: float, what: str) -> None:
        """Waits for something outside of the program while it lives."""
        deadline = time.monotonic() + seconds
        while not condition():
            self._watch()
            self.pump(_POLL)
            if self._at_end:
                raise self.error(f"the program ended while {what} was awaited")
            if time.monotonic() > deadline:
                raise self.error(f"waited {seconds:g} s for {what} in vain")

    def pause(self, seconds: float) -> None:
        """Lets the program go on for a while."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self._at_end:
            self.pump(min(left, _POLL))

    def settle(self, quiet: float, seconds: float) -> Grid:
        """Waits until the screen has been the same for `quiet` seconds, or until the deadline; returns it."""
        deadline = time.monotonic() + seconds
        grid, since = self.grid(), time.monotonic()
        while (now := time.monotonic()) - since < quiet and now < deadline and not self._at_end:
            taken = self.pump(min(_POLL, quiet))
            if self._in_frame:
                since = time.monotonic()
            elif taken and (latest := self.grid()) != grid:
                grid, since = latest, time.monotonic()
        return self.grid()

    def wait_change(self, before: Grid, seconds: float) -> bool:
        """Waits until a whole frame shows something else than `before`; False when nothing changed in time."""
        deadline = time.monotonic() + seconds
        while self._in_frame or self.grid() == before:
            if time.monotonic() > deadline or self._at_end:
                return False
            self.pump(_POLL)
        return True

    def grid(self) -> Grid:
        """The screen now."""
        return self._grid.rows()

    def press(self, keys: str) -> None:
        """Sends keys as a terminal does, and records them."""
        self._event("i", keys)
        with contextlib.suppress(OSError):
            os.write(self._pty.fd, keys.encode())

    def click(self, row: int, column: int) -> None:
        """A click of the left button on a 1-based place, as SGR mouse reports."""
        self.press(f"\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m")

    def mark(self, name: str) -> None:
        self._event("m", name)

    @property
    def ended(self) -> bool:
        """Whether the program has closed its terminal."""
        return self._at_end

    def wait_end(self, seconds: float) -> bool:
        """Takes output until the program has ended; False when it goes on past the deadline."""
        deadline = time.monotonic() + seconds
        while not self._at_end or self._pty.isalive():
            if time.monotonic() > deadline:
                return False
            if not self.pump(_POLL) and self._at_end:
                time.sleep(_POLL)
        return True

    def kill(self) -> None:
        """SIGKILL. What was written before is kept."""
        if self._pty.closed:
            return
        with contextlib.suppress(ProductError):
            self.pump(0)
        with contextlib.suppress(OSError):
            self._pty.kill(signal.SIGKILL)
        with contextlib.suppress(Exception):
            self._pty.wait()
        self._at_end = True
        self._selector.close()
        self._pty.close(force=True)

    def cast(self) -> bytes:
        """The asciicast so far."""
        return b"".join(self._cast)

    def error(self, message: str) -> ProductError:
        """A ProductError that shows the last rows of the screen that hold anything."""
        rows = [row.strip() for row in self.grid()]
        shown = [row for row in rows if any(character.isalnum() for character in row)][-_ROWS_SHOWN:]
        text = "\n  ".join(shown) or "(nothing)"
        return ProductError(f"{message}; its screen shows:\n  {text}", where="Mission Control")

    def _take(self, data: bytes) -> None:
        self._output += len(data)
        try:
            text = self._decoder.decode(data)
        except UnicodeDecodeError:
            raise self.error("the program writes bytes that are no UTF-8") from None
        if not text:
            return
        self._event("o", text)
        self._grid.feed(text)
        self._follow_frames(text)
        if answer := self._grid.take_replies():
            self.press(answer.decode())

    def _follow_frames(self, text: str) -> None:
        """Whether the program is in the middle of drawing a frame (synchronized updates, private mode 2026)."""
        self._tail = (self._tail + text)[-len(text) - _FRAME_MARK_LENGTH :]
        begin, end = self._tail.rfind(_FRAME_BEGIN), self._tail.rfind(_FRAME_END)
        if begin != end:
            self._in_frame = begin > end

    def _event(self, kind: str, text: str) -> None:
        at = round(time.monotonic() - self._started, 6)
        self._cast.append(json.dumps([at, kind, text], ensure_ascii=False).encode() + b"\n")
