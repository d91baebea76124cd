"""The two surfaces that can drive a run, behind one small interface, and what each says when it is reopened."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import msgspec

from harness.model.errors import ProductError
from harness.model.stimulus import MAIN_LANE
from harness.record.local_agent_client import LocalAgentClient
from harness.record.mission_control_driver import MissionControl
from harness.record.model_server import ScriptedModel
from harness.record.saved_session import turns_ended
from harness.record.timing import Clock, Deadlines
from harness.record.workspace import Home, Workspace

_RETRY = 0.3

Tools = Sequence[Sequence[str]]
"""Names of the tools called, per turn."""


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """All that one process of the product is started with."""

    product: Path
    workspace: Workspace
    home: Home
    environment: Mapping[str, str]
    terminal: tuple[int, int]
    session: bool
    model: ScriptedModel
    deadlines: Deadlines
    clock: Clock


class Surface(Protocol):
    """One process of the product that runs turns."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def begin(self, prompt: str) -> None:
        """Starts a turn."""

    def ended(self) -> bool:
        """Whether the turn is already over."""

    def wait_until(self, condition: Callable[[], bool], seconds: float, what: str) -> None: ...

    def pause(self, seconds: float) -> None: ...

    def cancel(self) -> None: ...

    def wait_over(self) -> None: ...

    def kill(self) -> None:
        """The end of this process in the middle of its turn."""

    def finish(self, tools: Tools) -> None:
        """Reads what only this surface shows, and ends the process in order."""

    def session_id(self) -> str:
        """The id of the session, "" when none is saved."""

    def capture(self) -> bytes: ...


class LocalAgentSurface:
    """Turns run through the local agent; cards arrive as events while they run."""

    def __init__(self, setup: Setup, resumed: str) -> None:
        self._client = _client(setup)
        self._session = resumed
        self._resumed = bool(resumed)
        self._run = ""

    def __enter__(self) -> Self:
        try:
            self._client.initialize()
            if self._resumed:
                self._client.open_session(self._session)
            else:
                self._session = self._client.create_session()
        except BaseException:
            self._client.kill()
            raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._client.kill()

    def begin(self, prompt: str) -> None:
        self._run = self._client.start_turn(self._session, prompt)

    def ended(self) -> bool:
        return self._client.finished(self._run)

    def wait_until(self, condition: Callable[[], bool], seconds: float, what: str) -> None:
        self._client.wait_until(condition, seconds, what)

    def pause(self, seconds: float) -> None:
        self._client.pause(seconds)

    def cancel(self) -> None:
        self._client.cancel_turn(self._session, self._run)

    def wait_over(self) -> None:
        self._client.wait_finished(self._session, self._run)

    def kill(self) -> None:
        self._client.kill()

    def finish(self, tools: Tools) -> None:  # noqa: ARG002 - the local agent has told everything by now
        self._client.shutdown()

    def session_id(self) -> str:
        return self._session

    def capture(self) -> bytes:
        return self._client.capture()


class MissionControlSurface:
    """Turns run through Mission Control; its screens are read when the last of them is over."""

    def __init__(self, setup: Setup, resumed: str, turns_before: int = 0) -> None:
        self._setup = setup
        self._resumed = resumed
        self._turns = turns_before
        self._control: MissionControl | None = None

    def __enter__(self) -> Self:
        arguments = ["--resume", self._resumed] if self._resumed else [] if self._setup.session else ["--no-session"]
        self._control = started_mission_control(self._setup, arguments)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.control.terminal.kill()

    @property
    def control(self) -> MissionControl:
        if self._control is None:
            raise AssertionError("used outside of its context")
        return self._control

    def begin(self, prompt: str) -> None:
        self._turns += 1
        self.control.prompt(prompt, lambda: self._setup.model.asked(MAIN_LANE))

    def ended(self) -> bool:
        return self._setup.session and turns_ended(self._setup.home.session_files(), self._turns)

    def wait_until(self, condition: Callable[[], bool], seconds: float, what: str) -> None:
        self.control.terminal.wait_until(condition, seconds, what)

    def pause(self, seconds: float) -> None:
        self.control.terminal.pause(seconds)

    def cancel(self) -> None:
        self.control.cancel()

    def wait_over(self) -> None:
        self.control.wait_over(self.ended if self._setup.session else (lambda: True))

    def kill(self) -> None:
        self.control.terminal.mark("card")
        self.control.terminal.kill()

    def finish(self, tools: Tools) -> None:
        self.control.read(tools)
        self.control.quit()

    def session_id(self) -> str:
        if not self._setup.session:
            return ""
        files = self._setup.home.session_files()
        if len(files) != 1:
            raise ProductError(f"the run left {len(files)} saved sessions instead of one", where="Mission Control")
        return files[0].stem

    def capture(self) -> bytes:
        return self.control.terminal.cast()


def reopen_on_local_agent(setup: Setup, session_id: str) -> bytes:
    """The capture of a fresh local agent that opens the session and pages its history."""
    with _client(setup) as client:
        client.initialize()
        client.history(session_id, client.open_session(session_id))
        client.shutdown()
        return client.capture()


def reopen_on_mission_control(setup: Setup, session_id: str, tools: Tools) -> bytes:
    """The capture of a fresh Mission Control that resumes the session and shows every card."""
    with started_mission_control(setup, ["--resume", session_id]) as control:
        control.read(tools)
        control.quit()
        return control.terminal.cast()


def started_mission_control(setup: Setup, arguments: Sequence[str]) -> MissionControl:
    """A Mission Control that is ready for a prompt, started again while another process still holds the session."""
    deadline = time.monotonic() + setup.deadlines.lease
    while True:
        control = MissionControl(
            setup.product,
            arguments=arguments,
            folder=setup.workspace.ws,
            environment=setup.environment,
            size=setup.terminal,
            deadlines=setup.deadlines,
            clock=setup.clock,
            watch=setup.model.check,
        )
        try:
            control.wait_ready()
        except BaseException:
            control.terminal.kill()
            if control.refused_session_in_use() and time.monotonic() < deadline:
                time.sleep(_RETRY)
                continue
            raise
        return control


def _client(setup: Setup) -> LocalAgentClient:
    return LocalAgentClient(
        setup.product,
        folder=setup.workspace.ws,
        environment=setup.environment,
        deadlines=setup.deadlines,
        clock=setup.clock,
        watch=setup.model.check,
    )
