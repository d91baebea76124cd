"""One folder of captures made by others: read whole, and refused when it cannot be that of one run.

Nobody says of such captures how they were made, so everything that a bundle must know is taken from the files
themselves: which surface drove, where and when the run happened, and whether each capture goes to its end. Two files
of two runs in one folder would make a bundle that disagrees with itself; what tells the run's session is held together
before anything is believed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import jiter
import msgspec

from harness.bundle import layout
from harness.bundle.folder import OpenFolder
from harness.foreign_folders import CAPTURES, CHILDREN, SESSION, driver_of, listed
from harness.model.errors import DecodeError, EvidenceError, UsageError
from harness.model.facts import Column
from harness.observe.mission_control.cast import END, decode
from harness.records.decode import read_session
from harness.records.payloads import AssistantOutput, TurnStatus, UserInput
from harness.records.session import Session
from harness.wire.capture import Line
from harness.wire.frames import Frame, Request
from harness.wire.reading import Reading, read_capture


class ForeignCapture(msgspec.Struct, frozen=True, kw_only=True):
    """One surface's capture. `note` says why it is not `complete`, or what keeps that from being known."""

    column: Column
    file: str
    complete: bool
    note: str = ""


class ForeignRun(msgspec.Struct, frozen=True, kw_only=True):
    """One folder of captures, read. `members` maps file names to their bytes.

    `driver` is "" when no live capture, or one of each surface, is there. `session` and `workspace` are "" when no
    session was saved with the captures; `legacy` when one was, by a release that wrote no event ids. `recorded_at` is
    RFC 3339 UTC. `notes` are things that a person should know.
    """

    members: dict[str, bytes]
    captures: tuple[ForeignCapture, ...]
    session: str
    children: tuple[str, ...]
    legacy: bool
    driver: str
    workspace: str
    recorded_at: str
    notes: tuple[str, ...]


def read(folder: Path) -> ForeignRun:
    """The captures in one folder.

    Raises UsageError for files that are none of the layout's and a folder without a capture, EvidenceError for links,
    files that are too large and captures of several sessions, DecodeError for a file that is not what its name says.
    """
    members, notes = _members(folder)
    if not any(name in members for name in CAPTURES):
        raise UsageError(
            "holds no capture of a surface", where=str(folder), hint="`harness project` reads a saved session alone"
        )
    empty = sorted(name for name, content in members.items() if not content)
    if empty:
        raise EvidenceError(f"{listed(empty)} is empty", where=str(folder))
    session = read_session(members[SESSION], file=SESSION) if SESSION in members else None
    children = tuple(name for name in sorted(members) if name.startswith(f"{CHILDREN}/"))
    _check_children(members, children)
    readings = {
        name: _read_frames(name, members[name]) for name in CAPTURES if name in members and name.endswith(".jsonl")
    }
    _check_session(readings, session)
    captures = tuple(
        _capture(name, column, members[name], readings.get(name), session)
        for name, column in CAPTURES.items()
        if name in members
    )
    return ForeignRun(
        members=members,
        captures=captures,
        session=SESSION if session else "",
        children=children,
        legacy=session is not None and session.legacy,
        driver=driver_of(members),
        workspace=_workspace(members[SESSION]) if session else "",
        recorded_at=_recorded_at(members, session),
        notes=(
            *notes,
            *(() if session else ("no saved session: the surfaces can only be held against each other",)),
            *(f"{item.file}: {item.note}" for item in captures if item.note),
        ),
    )


def _members(folder: Path) -> tuple[dict[str, bytes], list[str]]:
    """Every file of the layout, never more than a bundle may hold; and notes on files that are none and do no harm."""
    with OpenFolder(folder) as opened:
        names = sorted(opened.names())
        passed = [name for name in names if "/" not in name and (name.startswith(".") or name.endswith(".txt"))]
        wanted = [name for name in names if name not in passed]
        unknown = [name for name in wanted if not _belongs(name)]
        if unknown:
            raise UsageError(
                f"{listed(unknown)} is no file of this layout",
                where=str(folder),
                hint=f"the names are {', '.join((*CAPTURES, SESSION))} and {CHILDREN}/ID.jsonl, unpacked",
            )
        members: dict[str, bytes] = {}
        left = layout.BUNDLE_BYTES
        for name in wanted:
            members[name] = opened.read(name, min(layout.MEMBER_BYTES, left))
            left -= len(members[name])
    return members, [f"renderings or hidden files, not imported: {listed(passed)}"] if passed else []


def _belongs(name: str) -> bool:
    if name in CAPTURES or name == SESSION:
        return True
    folder, _, file = name.partition("/")
    return folder == CHILDREN and file.endswith(".jsonl") and layout.name_error(layout.stored_name(name)) is None


# The local agent


class _Watched:
    """What a reading of frames does not keep: how many turns were asked for."""

    def __init__(self) -> None:
        self.turns = 0

    def take(self, _: Line, frame: Request | Frame | None) -> None:
        if isinstance(frame, Request) and frame.method == "turn.start":
            self.turns += 1


class _Frames(msgspec.Struct, frozen=True, kw_only=True):
    reading: Reading
    turns: int

    @property
    def sessions(self) -> set[str]:
        runs, histories = self.reading.runs, self.reading.histories
        return {run.session_id for run in runs} | {history.session_id for history in histories}

    def live_gap(self) -> str:
        """Why the capture does not go to the end of its runs, or ""."""
        refused = sum(1 for one in self.reading.refusals if one.method == "turn.start")
        if self.reading.cut:
            return "the capture ends in the middle of a line"
        if any(run.finished is None for run in self.reading.runs):
            return "the capture ends before its last run is finished"
        if len(self.reading.runs) + refused < self.turns:
            return "the capture ends before an answer to turn.start"
        return "" if self.turns else "the capture holds no turn.start"

    def reopen_gap(self) -> str:
        """Why the capture does not go to the end of the history, or ""."""
        if self.reading.histories and self.reading.histories[-1].read:
            return ""
        return "the capture ends before the last page" if self.reading.histories else "the capture holds no history"


def _read_frames(name: str, content: bytes) -> _Frames:
    watched = _Watched()
    try:
        reading = read_capture(content, watched.take)
    except DecodeError as error:
        raise DecodeError(error.message, where=f"{name}, {error.where}" if error.where else name) from error
    return _Frames(reading=reading, turns=watched.turns)


# What belongs together


def _check_session(readings: Mapping[str, _Frames], session: Session | None) -> None:
    """All captures and the saved session are of one session, as far as they say of which."""
    said = {name: frames.sessions for name, frames in readings.items()}
    if session is not None:
        said[SESSION] = {session.session_id}
    first: tuple[str, str] | None = None
    for name, identities in said.items():
        for identity in sorted(identities):
            first = first or (name, identity)
            if identity != first[1]:
                raise EvidenceError(f"{name} is of the session {identity}, {first[0]} of {first[1]}", where=name)


def _check_children(members: Mapping[str, bytes], children: tuple[str, ...]) -> None:
    """Each child's file is named by the session that it holds: the projection finds it by that name."""
    for name in children:
        identity = read_session(members[name], file=name).session_id
        if name != f"{CHILDREN}/{identity}.jsonl":
            raise EvidenceError(f"{name} holds the session {identity}", where=name)


def _capture(
    name: str, column: Column, content: bytes, frames: _Frames | None, session: Session | None
) -> ForeignCapture:
    if frames is not None:
        gap = frames.live_gap() if column is Column.LOCAL_AGENT_LIVE else frames.reopen_gap()
        return ForeignCapture(column=column, file=name, complete=not gap, note=gap)
    try:
        cast = decode(content)
    except DecodeError as error:
        raise DecodeError(error.message, where=f"{name}, {error.where}" if error.where else name) from error
    if cast.cut:
        gap = "the capture ends in the middle of a line"
    elif cast.markers and END not in cast.markers:
        gap = "the capture has moments marked, and its end is not among them"
    elif column is Column.MISSION_CONTROL_LIVE and session is not None and _killed(session):
        gap = "a turn of the saved session has no end: the product was killed"
    else:
        gap = ""
    return ForeignCapture(column=column, file=name, complete=not gap, note=gap)


def _killed(session: Session) -> bool:
    """Whether a turn of the session has no end: no process that ran it can show what came after."""
    ended = True
    for record in session.records:
        if isinstance(record.payload, UserInput):
            if not ended:
                return True
            ended = False
        elif isinstance(record.payload, AssistantOutput | TurnStatus):
            ended = True
    return not ended


# Where and when


def _json_lines(content: bytes) -> Iterator[dict[str, object]]:
    """The lines that are JSON objects."""
    for line in content.split(b"\n"):
        try:
            value: object = jiter.from_json(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def _workspace(session: bytes) -> str:
    """The folder in which the run happened: the first that a record names. Raises EvidenceError when none can be."""
    for record in _json_lines(session):
        cwd = record.get("cwd")
        if isinstance(cwd, str):
            if not cwd.startswith("/") or ".." in PurePosixPath(cwd).parts or not cwd.isprintable():
                raise EvidenceError(f"the session's cwd {cwd!r} is no absolute path", where=SESSION)
            return cwd
    raise EvidenceError("no record names a cwd, so that the run's workspace is not known", where=SESSION)


def _recorded_at(members: Mapping[str, bytes], session: Session | None) -> str:
    """When the run was recorded, by the first clock that anything in the folder tells, live captures first.

    Raises EvidenceError when nothing does.
    """
    for name in CAPTURES:
        first = next(_json_lines(members[name]), {}) if name in members else {}
        seconds = first.get("at" if name.endswith(".jsonl") else "timestamp")
        if isinstance(seconds, int | float) and (text := _rfc3339(seconds)):
            return text
    if session is not None and session.records:
        try:
            moment = datetime.fromisoformat(session.records[0].timestamp)
        except ValueError:
            pass
        else:
            return _utc(moment)
    raise EvidenceError("nothing says when it was recorded", hint="an asciicast header may have a timestamp")


def _rfc3339(seconds: float) -> str:
    try:
        return _utc(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, OSError, ValueError):
        return ""


def _utc(moment: datetime) -> str:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
