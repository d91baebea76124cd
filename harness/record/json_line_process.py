"""A process that is spoken to in JSON lines over its pipes, with every line both ways kept as it was.

Its output is read on a thread of its own at all times: a product that cannot get rid of its output gives up after two
seconds, and the time of a line is the time at which it came.
"""

from __future__ import annotations

import contextlib
import json
import selectors
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import msgspec

from harness.model.errors import HarnessError, ProductError
from harness.record import processes
from harness.record.timing import Clock

FOOTER = "complete"
_LINE_LIMIT = 1024 * 1024
"""Bytes of one line. Sixteen times the protocol's own limit, so that a breach of that limit is still evidence."""
_TOTAL_LIMIT = 512 * 1024 * 1024
_READ = 65_536
_WAIT = 0.2
_ENDS_WITHIN = 10.0
POLL = 0.02
_LINES_SHOWN = 3
_SHOWN_BYTES = 300

Frame = dict[str, Any]
Watch = Callable[[], None]
"""Called while waiting; raises when waiting on has become pointless."""


class JsonLineProcess:
    """A child whose lines are JSON objects with a member ``protocol`` of the given value.

    Every method that waits raises ProductError when the child is silent past the deadline, dies, floods, or writes
    what is no such line.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        protocol: str,
        folder: Path,
        environment: Mapping[str, str],
        clock: Clock,
        watch: Watch,
    ) -> None:
        self._protocol = protocol
        self._clock = clock
        self._watch = watch
        self._capture: list[bytes] = []
        self._frames: list[Frame] = []
        self._read = 0
        self._nonsense = ""
        self._ended = self._cut = False
        self._errors = bytearray()
        self._changed = threading.Condition()
        self._process = processes.start(argv, folder=folder, environment=environment)
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        if stdin is None or stdout is None or stderr is None:
            raise HarnessError("a child was started without pipes")
        self._pipes = (stdin, stdout, stderr)
        self._readers = (
            threading.Thread(target=self._read_frames, args=(stdout,), daemon=True),
            threading.Thread(target=self._read_errors, args=(stderr,), daemon=True),
        )
        for reader in self._readers:
            reader.start()

    def send(self, request: Frame, what: str) -> int:
        """Sends one request; returns the position after the frames that came before it."""
        line = json.dumps(request, ensure_ascii=False)
        with self._changed:
            position = len(self._frames)
            self._capture.append(_captured(self._clock(), "to_product", line))
        try:
            self._pipes[0].write(line.encode() + b"\n")
        except OSError:
            self._wait_end(_ENDS_WITHIN)
            raise self.error(f"the process does not take {what}") from None
        return position

    def frame(self, position: int, deadline: float, what: str) -> Frame:
        """The frame at a position, waited for until the deadline (of `time.monotonic`)."""
        while True:
            with self._changed:
                if position >= len(self._frames):
                    self._changed.wait(POLL)
                if position < len(self._frames):
                    return self._frames[position]
            self._check(what)
            if time.monotonic() > deadline:
                raise self.error(f"waited for {what} in vain")

    def frames(self) -> list[Frame]:
        """All frames so far."""
        with self._changed:
            return list(self._frames)

    def wait_until(self, condition: Callable[[], bool], seconds: float, what: str) -> None:
        """Waits for something outside of the process while it lives and speaks sense."""
        deadline = time.monotonic() + seconds
        while not condition():
            self._check(what)
            if time.monotonic() > deadline:
                raise self.error(f"waited {seconds:g} s for {what} in vain")
            time.sleep(POLL)

    def end(self, seconds: float) -> None:
        """Closes the child's input, waits for its end and writes the footer: the capture is whole."""
        with contextlib.suppress(OSError):
            self._pipes[0].close()
        if not self._wait_end(seconds):
            raise self.error("the process goes on after it was asked to stop")
        if self._nonsense or self._cut:
            raise self.error(self._nonsense or "the process ended in the middle of a line")
        with self._changed:
            self._capture.append(_captured(self._clock(), "footer", FOOTER))

    def kill(self) -> None:
        """SIGKILL, and the end of all reading. What was written before is kept."""
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        for reader in self._readers:
            reader.join(_ENDS_WITHIN)
        for pipe in self._pipes:
            with contextlib.suppress(OSError):
                pipe.close()

    def capture(self) -> bytes:
        """All lines so far, one JSON object each: `at`, `direction`, `line`."""
        with self._changed:
            return b"".join(self._capture)

    def error(self, message: str) -> ProductError:
        """A ProductError that shows the last lines, the exit status and the end of standard error."""
        with self._changed:
            lines = [json.loads(line)["line"][:_SHOWN_BYTES] for line in self._capture[-_LINES_SHOWN:]]
            errors = bytes(self._errors[-_SHOWN_BYTES:]).decode("utf-8", "replace").strip()
        status = self._process.poll()
        parts = [message]
        if status is not None:
            parts.append(f"exit status {status}")
        parts.append("last lines: " + (" | ".join(lines) or "none"))
        if errors:
            parts.append(f"standard error: {errors}")
        return ProductError("; ".join(parts), where="local agent")

    def _check(self, what: str) -> None:
        self._watch()
        if self._nonsense:
            raise self.error(self._nonsense)
        with self._changed:
            ended = self._ended
        if ended:
            self._wait_end(_ENDS_WITHIN)
            where = " in the middle of a line" if self._cut else ""
            raise self.error(f"the process ended{where} while {what} was awaited")

    def _wait_end(self, seconds: float) -> bool:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        for reader in self._readers:
            reader.join(seconds)
        return True

    def _read_frames(self, pipe: IO[bytes]) -> None:
        pending = b""
        with contextlib.suppress(OSError, ValueError):
            for data in self._chunks(pipe):
                self._read += len(data)
                *lines, pending = (pending + data).split(b"\n")
                at = self._clock()
                with self._changed:
                    for line in lines:
                        self._take(line, at)
                    if len(pending) > _LINE_LIMIT or self._read > _TOTAL_LIMIT:
                        self._nonsense = self._nonsense or "the process floods its output"
                    self._changed.notify_all()
                    if self._nonsense:
                        break
        with self._changed:
            self._ended = True
            self._cut = bool(pending)
            self._changed.notify_all()

    def _chunks(self, pipe: IO[bytes]) -> Iterator[bytes]:
        """What comes through a pipe until it is closed, or is empty and the child has ended: a process that the child
        left behind may hold the pipe open for as long as it likes."""
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while True:
                ended = self._process.poll() is not None
                if selector.select(0 if ended else _WAIT):
                    if not (data := pipe.read(_READ)):
                        return
                    yield data
                elif ended:
                    return

    def _take(self, line: bytes, at: float) -> None:
        if self._nonsense:
            return
        try:
            text = line.decode()
            frame = msgspec.json.decode(line)
        except (UnicodeDecodeError, msgspec.DecodeError, RecursionError):
            self._nonsense = f"a line is no JSON text: {line[:_SHOWN_BYTES]!r}"
            return
        if not isinstance(frame, dict) or frame.get("protocol") != self._protocol:
            self._nonsense = f"a line is no {self._protocol} frame: {text[:_SHOWN_BYTES]}"
            return
        self._capture.append(_captured(at, "from_product", text))
        self._frames.append(frame)

    def _read_errors(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            for data in self._chunks(pipe):
                with self._changed:
                    self._errors += data
                    del self._errors[:-_READ]


def _captured(at: float, direction: str, line: str) -> bytes:
    return json.dumps({"at": round(at, 6), "direction": direction, "line": line}, ensure_ascii=False).encode() + b"\n"
