"""One original run: a stimulus on the real product, on both surfaces, as raw captures in memory.

The run is driven by one surface; then the saved session is reopened on both, each time by a fresh process on its own
copy of the state. Either everything that the stimulus asks for is captured and every process is gone, or an error
says what the product did and nothing is handed back.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from harness.model.errors import HarnessError, ProductError, UsageError
from harness.model.facts import Column
from harness.model.manifest import Capture, Product
from harness.model.stimulus import Stimulus, canonical, digest
from harness.record import launch, workspace
from harness.record.model_server import ScriptedModel
from harness.record.processes import cleaned_up, kill_all
from harness.record.products import identify
from harness.record.surfaces import (
    LocalAgentSurface,
    MissionControlSurface,
    Setup,
    Surface,
    reopen_on_local_agent,
    reopen_on_mission_control,
)
from harness.record.timing import Clock, Deadlines
from harness.record.turns import LiveRun, run_turns
from harness.record.workspace import Home, Workspace

LOCAL_AGENT = "local-agent"
MISSION_CONTROL = "mission-control"
DRIVERS = (LOCAL_AGENT, MISSION_CONTROL)
SESSION = "session.jsonl"

Progress = Callable[[str], None]
"""Gets one short line for each step that begins."""


class RecordedRun(msgspec.Struct, frozen=True, kw_only=True):
    """One original run, ready to be written as a bundle; the names are those of `harness.model.manifest.Manifest`.

    `members` maps member names to raw bytes; `session`, `children` and the captures' files are among them. A surface
    that was killed and started again has several captures of the same column, in order.
    """

    observation: str
    scenario: str
    classes: tuple[str, ...]
    release: str
    driver: str
    stimulus_sha256: str
    products: tuple[Product, ...]
    recorded_at: str
    workspace: str
    session: str
    children: tuple[str, ...]
    captures: tuple[Capture, ...]
    members: dict[str, bytes]


def record(
    stimulus: Stimulus,
    *,
    observation: str,
    scenario: str,
    classes: tuple[str, ...],
    release: str,
    driver: str,
    product: Path,
    reopener: Path | None = None,
    root: Path = workspace.DEFAULT_ROOT,
    clock: Clock = time.time,
    deadlines: Deadlines | None = None,
    progress: Progress = lambda _line: None,
    watch: Callable[[bytes], None] = lambda _body: None,
) -> RecordedRun:
    """Records one run. `reopener` reads the saved session when it is another product than the recording one. `watch`
    gets the body of every request to the model, on the thread that answers it.

    Raises ProductError when the product cannot be driven through the stimulus (silent, dead, speaking nonsense, never
    ready, keeping its lease), UsageError for a stimulus or place that cannot be used. A failed turn is no error.
    """
    if driver not in DRIVERS:
        raise UsageError(f"{driver!r} is no surface that can drive a run", hint=f"use {' or '.join(DRIVERS)}")
    if driver == LOCAL_AGENT and not stimulus.session:
        raise UsageError("the local agent always saves its session", hint=f"drive this scenario with {MISSION_CONTROL}")
    if not stimulus.turns:
        raise UsageError("a stimulus without a turn has nothing to record")
    deadlines = deadlines or Deadlines()
    recorded_at = datetime.fromtimestamp(clock(), UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    recording = identify(product)
    reopening = recording if reopener is None else identify(reopener)
    releases = {recording.version, reopening.version}
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(workspace.prepared(root, observation))
        stack.enter_context(cleaned_up(place.folder))
        model = stack.enter_context(ScriptedModel(stimulus, watch))
        place.write_files(stimulus.files)
        place.write_settings(place.home, launch.settings(stimulus, model_url=model.url, releases=sorted(releases)))
        before = place.listing()

        def setup(program: Path, home: Home) -> Setup:
            return Setup(
                product=program,
                workspace=place,
                home=home,
                environment=launch.environment(stimulus, place, home),
                terminal=stimulus.terminal,
                session=stimulus.session,
                model=model,
                deadlines=deadlines,
                clock=clock,
            )

        progress(f"running {len(stimulus.turns)} turns on {driver}")
        live = _run(stimulus, driver, setup(product, place.home))
        kill_all(place.folder)
        place.check_untouched()
        place.check_strays()
        members = {
            "stimulus.json": canonical(stimulus),
            "workspace.before.json": canonical(before),
            "workspace.after.json": canonical(place.listing()),
        }
        captures = _live_captures(live, driver, recording, members)
        session, children = _saved(place.home, live, members)
        if session:
            for column, capture in _reopened(reopener or product, live, place, setup, progress):
                members[_member(column)] = capture
                captures.append(Capture(column=column, file=_member(column), product=reopening, complete=True))
            members["workspace.reopened.json"] = canonical(place.listing())
        place.check_untouched()
        place.check_strays()
        model.check()
        members["model.jsonl"] = model.log()
        _refuse_leaks(members)
        return RecordedRun(
            observation=observation,
            scenario=scenario,
            classes=classes,
            release=release,
            driver=driver,
            stimulus_sha256=digest(stimulus),
            products=tuple(dict.fromkeys((recording, reopening))),
            recorded_at=recorded_at,
            workspace=str(place.ws),
            session=session,
            children=children,
            captures=tuple(captures),
            members=members,
        )


def _run(stimulus: Stimulus, driver: str, setup: Setup) -> LiveRun:
    def open_surface(session_id: str, turns_before: int) -> Surface:
        if driver == LOCAL_AGENT:
            return LocalAgentSurface(setup, session_id)
        return MissionControlSurface(setup, session_id, turns_before)

    return run_turns(
        stimulus,
        open_surface=open_surface,
        workspace=setup.workspace,
        model=setup.model,
        deadlines=setup.deadlines,
    )


def _live_captures(live: LiveRun, driver: str, product: Product, members: dict[str, bytes]) -> list[Capture]:
    column = Column.LOCAL_AGENT_LIVE if driver == LOCAL_AGENT else Column.MISSION_CONTROL_LIVE
    captures = []
    for number, part in enumerate(live.parts, start=1):
        name = _member(column, number)
        members[name] = part.content
        captures.append(Capture(column=column, file=name, product=product, complete=part.complete, note=part.note))
    return captures


def _saved(home: Home, live: LiveRun, members: dict[str, bytes]) -> tuple[str, tuple[str, ...]]:
    """Takes the saved session and its children into the members; their names, "" when nothing was saved.

    Only a run that was killed may have saved nothing. Raises ProductError when a finished one did not.
    """
    if not live.session_id:
        return "", ()
    if not home.session_file(live.session_id).is_file():
        if live.parts[-1].complete:
            raise ProductError("the run is over but its session is not saved", where=live.session_id)
        return "", ()
    members[SESSION] = home.session_file(live.session_id).read_bytes()
    children = []
    for file in home.child_files():
        name = f"children/{file.name}"
        if name in members:
            raise ProductError("two child sessions have one name", where=name)
        members[name] = file.read_bytes()
        children.append(name)
    return SESSION, tuple(children)


def _reopened(
    product: Path, live: LiveRun, place: Workspace, setup: Callable[[Path, Home], Setup], progress: Progress
) -> list[tuple[Column, bytes]]:
    found = []
    for column in (Column.LOCAL_AGENT_REOPEN, Column.MISSION_CONTROL_REOPEN):
        progress(f"reading {column}")
        process = setup(product, place.copy_home(column.value))
        found.append(
            (
                column,
                reopen_on_local_agent(process, live.session_id)
                if column is Column.LOCAL_AGENT_REOPEN
                else reopen_on_mission_control(process, live.session_id, live.tools),
            )
        )
    return found


def _member(column: Column, number: int = 1) -> str:
    surface, _, moment = column.value.rpartition("-")
    part = f".{number}" if number > 1 else ""
    return f"{surface}.{moment}{part}.{'jsonl' if surface == LOCAL_AGENT else 'cast'}"


def _refuse_leaks(members: dict[str, bytes]) -> None:
    """Raises HarnessError when evidence names the home folder of the person who records."""
    home = f"{Path.home()}/".encode()
    named = re.compile(rb"(?<![A-Za-z0-9._-])" + re.escape(home))  # and no folder elsewhere that ends in its name
    for name, content in members.items():
        if len(home) > 2 and named.search(content):
            raise HarnessError("a capture names the home folder of the recording user", where=name)
