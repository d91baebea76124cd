"""One local-agent process: the few requests that drive a run and page a saved history.

The client knows just enough of the protocol to drive it. It decides nothing about what it sees: a turn that fails is
an observation; only a process that is silent, dies or speaks nonsense is an error.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

from harness.record.json_line_process import Frame, JsonLineProcess, Watch
from harness.record.timing import Clock, Deadlines

PROTOCOL = "magi-code.local-agent"
PROTOCOL_VERSION = 1
CAPABILITIES = (
    "status",
    "shutdown",
    "session.create",
    "session.open",
    "session.list",
    "history.page",
    "turn.start",
    "turn.cancel",
    "approval.answer",
    "tool.cards",
)
_IN_USE = "session_busy"
_RETRY = 0.2
_PAGES_LIMIT = 10_000


class LocalAgentClient:
    """A running ``serve --stdio``; use as a context manager, the process is gone afterwards.

    Every method raises ProductError when the process is silent past a deadline, dies, or writes what is no frame.
    """

    def __init__(
        self,
        product: Path,
        *,
        folder: Path,
        environment: Mapping[str, str],
        deadlines: Deadlines,
        clock: Clock,
        watch: Watch = lambda: None,
    ) -> None:
        self._deadlines = deadlines
        self._requests = 0
        self._process = JsonLineProcess(
            [str(product), "serve", "--stdio"],
            protocol=PROTOCOL,
            folder=folder,
            environment=environment,
            clock=clock,
            watch=watch,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.kill()

    def initialize(self) -> None:
        """Asks for the capabilities of a client that displays cards."""
        self._answer("initialize", {"required_capabilities": list(CAPABILITIES)}, self._deadlines.ready)

    def create_session(self) -> str:
        """A new session's id."""
        return self._text(self._answer("session.create", {}), "session_id")

    def open_session(self, session_id: str) -> str:
        """Opens exactly this session, waiting for another process's lease to go; returns its revision."""
        deadline = time.monotonic() + self._deadlines.lease
        while True:
            reply = self._request("session.open", {"session_id": session_id}, self._deadlines.answer)
            if "error" not in reply:
                return self._text(reply, "revision")
            if _code(reply) != _IN_USE or time.monotonic() > deadline:
                raise self._process.error(f"session.open was refused with {_code(reply)!r}")
            time.sleep(_RETRY)

    def start_turn(self, session_id: str, prompt: str) -> str:
        """The id of the run that the prompt began."""
        return self._text(self._answer("turn.start", {"session_id": session_id, "prompt": prompt}), "run_id")

    def cancel_turn(self, session_id: str, run_id: str) -> None:
        """Asks for cancellation. A refusal because the run is already over is an observation, no error."""
        self._request("turn.cancel", {"session_id": session_id, "run_id": run_id}, self._deadlines.answer)

    def wait_finished(self, session_id: str, run_id: str) -> Frame:
        """The run's ``run.finished`` data, allowing everything that the run asks permission for meanwhile."""
        deadline = time.monotonic() + self._deadlines.turn
        position = 0
        while True:
            frame = self._process.frame(position, deadline, f"run.finished of run {run_id}")
            position += 1
            data = frame.get("data")
            if not isinstance(data, dict) or data.get("run_id") != run_id:
                continue
            if frame.get("event") == "run.finished":
                return data
            if frame.get("event") == "approval.requested":
                self._send(
                    "approval.answer",
                    {"session_id": session_id, "run_id": run_id, "approval_id": data.get("approval_id"), "allow": True},
                )

    def finished(self, run_id: str) -> bool:
        """Whether the run's end has been announced."""
        return any(
            frame.get("event") == "run.finished"
            and isinstance(frame.get("data"), dict)
            and frame["data"].get("run_id") == run_id
            for frame in reversed(self._process.frames())
        )

    def history(self, session_id: str, revision: str) -> int:
        """Pages the whole saved history; returns the number of pages.

        The first page is then asked for once more: a page that is repeated must be as it was.
        """

        def ask(cursor: object) -> object:
            result = self._answer("history.page", {"session_id": session_id, "revision": revision, "cursor": cursor})[
                "result"
            ]
            return result.get("next_cursor") if isinstance(result, dict) else None

        cursor: object = None
        for page in range(1, _PAGES_LIMIT):
            cursor = ask(cursor)
            if cursor is None:
                ask(None)
                return page
        raise self._process.error(f"the history has more than {_PAGES_LIMIT} pages")

    def shutdown(self) -> None:
        """Asks the process to stop and waits for its end; the capture then ends with its footer."""
        self._answer("shutdown", {}, self._deadlines.close)
        self._process.end(self._deadlines.close)

    def kill(self) -> None:
        """SIGKILL. What was written before is kept."""
        self._process.kill()

    def wait_until(self, condition: Callable[[], bool], seconds: float, what: str) -> None:
        """Waits for something outside of the process while it lives and speaks sense."""
        self._process.wait_until(condition, seconds, what)

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def capture(self) -> bytes:
        """All lines so far, one JSON object each: `at`, `direction`, `line`."""
        return self._process.capture()

    def _answer(self, method: str, params: Frame, seconds: float | None = None) -> Frame:
        frame = self._request(method, params, self._deadlines.answer if seconds is None else seconds)
        if "error" in frame:
            raise self._process.error(f"{method} was refused with {_code(frame)!r}")
        return frame

    def _request(self, method: str, params: Frame, seconds: float) -> Frame:
        identity, position = self._send(method, params)
        deadline = time.monotonic() + seconds
        while True:
            frame = self._process.frame(position, deadline, f"an answer to {method}")
            position += 1
            if frame.get("type") == "response" and frame.get("id") == identity:
                return frame

    def _send(self, method: str, params: Frame) -> tuple[str, int]:
        self._requests += 1
        identity = f"r{self._requests}"
        request = {
            "protocol": PROTOCOL,
            "version": PROTOCOL_VERSION,
            "id": identity,
            "method": method,
            "params": params,
        }
        return identity, self._process.send(request, method)

    def _text(self, frame: Frame, member: str) -> str:
        result = frame.get("result")
        value = result.get(member) if isinstance(result, dict) else None
        if not isinstance(value, str) or not value:
            raise self._process.error(f"an answer has no {member}")
        return value


def _code(frame: Frame) -> str:
    error = frame.get("error")
    return str(error.get("code")) if isinstance(error, dict) else str(error)
