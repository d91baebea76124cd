"""One saved session laid before a candidate: a copy of the state, a fresh local agent, its capture.

The product refuses a session whose records name another working folder than the one it runs in, and that folder is
mostly not on this machine. So the copy's records name the copy's own empty workspace instead; nothing else of them is
changed, byte for byte. It also refuses a sessions folder that others may read. No model is asked anything.
"""

from __future__ import annotations

import functools
import os
import re
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from harness.model.errors import ProductError
from harness.model.manifest import Product
from harness.model.stimulus import Stimulus
from harness.record import launch
from harness.record.local_agent_client import LocalAgentClient
from harness.record.processes import cleaned_up
from harness.record.products import identify
from harness.record.timing import Deadlines
from harness.record.workspace import Home, Workspace

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_FOLDERS: Final = ("cwd", "session_path")
"""Members of every record that name the working folder."""
_NO_MODEL: Final = "http://127.0.0.1:9/v1"
"""The discard port: reopening asks no model, and if it did, nobody would answer."""
_LINE = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """The program that reopens sessions; `path` must lead to the same file on every machine that works."""

    path: str
    product: Product
    deadlines: Deadlines = Deadlines()


def candidate(path: Path) -> Candidate:
    """The candidate at `path`. Raises UsageError when nothing is there, ProductError when it tells no version."""
    return Candidate(path=str(path), product=identify(path))


def can_be_file(session_id: str) -> bool:
    """Whether an id is a plain name, so that its session can be laid into a sessions folder."""
    return _ID.fullmatch(session_id) is not None


def moved(data: bytes, folder: str) -> bytes:
    """A session file whose records name `folder` as their working folder. Lines that are no JSON object stay as they
    are, and so does everything else of a record."""
    spelled = msgspec.Raw(msgspec.json.encode(folder))
    lines = data.split(b"\n")
    for number, line in enumerate(lines):
        try:
            members = _LINE.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        named = [name for name in _FOLDERS if name in members and bytes(members[name]).strip() != b"null"]
        if named:
            lines[number] = msgspec.json.encode({**members, **dict.fromkeys(named, spelled)})
    return b"\n".join(lines)


def reopened(session_id: str, session: bytes, children: Mapping[str, bytes], candidate: Candidate) -> bytes:
    """The capture of a fresh local agent that opens the session and pages its history.

    Raises ProductError for a candidate that refuses, dies, is silent or speaks nonsense.
    """
    with tempfile.TemporaryDirectory(prefix="harness-sweep-") as folder:
        place = Workspace(Path(folder).resolve())
        _lay(place, session_id, session, children, candidate.product.version)
        with (
            cleaned_up(place.folder),
            LocalAgentClient(
                Path(candidate.path),
                folder=place.ws,
                environment=launch.environment(Stimulus(), place, place.home),
                deadlines=candidate.deadlines,
                clock=time.time,
            ) as client,
        ):
            client.initialize()
            client.history(session_id, client.open_session(session_id))
            client.shutdown()
            return client.capture()


def _lay(place: Workspace, session_id: str, session: bytes, children: Mapping[str, bytes], release: str) -> None:
    place.ws.mkdir()
    place.temporary.mkdir()
    place.home.path.mkdir()
    place.home.state.mkdir()
    place.write_settings(place.home, launch.settings(Stimulus(), model_url=_NO_MODEL, releases=[release]))
    folder = str(place.ws)
    _private(place.home.session_file(session_id), moved(session, folder))
    for identity, child in children.items():
        if can_be_file(identity):
            _private(_child_file(place.home, identity), moved(child, folder))


def _child_file(home: Home, identity: str) -> Path:
    return home.state / "sessions" / "subagents" / f"{identity}.jsonl"


def _private(path: Path, content: bytes) -> None:
    for folder in reversed(path.parents[:2]):
        folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)


@functools.cache
def same_here(candidate: Candidate) -> None:
    """Raises ProductError when this machine has another program at the candidate's place."""
    if identify(Path(candidate.path)) != candidate.product:
        raise ProductError("another program than the candidate's lies there", where=Path(candidate.path).name)
