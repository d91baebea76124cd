"""Archives of any size, made from real recordings by varying ids, times and order: for trying speed, memory and size.

They are no evidence and can never become any: the archive says so in a member of its own, and every session and child
session carries it in its name and in the id that each of its records repeats. The same recordings, number and seed
make the same bytes.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import io
import os
import random
import re
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Final

import msgspec

from harness.model.errors import UsageError
from harness.sweep import zstd
from harness.sweep.archives import opened
from harness.sweep.catalogue import Catalogue
from harness.sweep.names import MARKER, SYNTHETIC
from harness.sweep.units import Unit, announced, units

_UUID: Final = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME: Final = re.compile(rb'(?<="timestamp":")[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}')
_VARIED: Final = re.compile(_UUID.pattern + b"|" + _TIME.pattern)
_ANNOUNCEMENT: Final = b'"event_type":"subagent_session"'
_UUID_LENGTH: Final = 36
_YEARS_SECONDS: Final = 3 * 365 * 86_400
"""How far apart the oldest and the newest session are: years of use."""
_SUFFIXES: Final = (".tar", ".gz", ".zst", ".zip")
_KINDS: Final = ".tar, .tar.gz, .tar.zst or .zip, or in nothing of that kind for a folder"
_OTHER_ARCHIVES: Final = (".tgz", ".tbz2", ".txz", ".tzst", ".xz", ".bz2", ".7z", ".rar")
_THERE: Final = "is already there"
_PACKED: Final = (".tar.gz", ".tar.zst", ".zip")
_FIRST_DAY: Final = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)

Progress = Callable[[int], None]
Members = Iterator[tuple[str, bytes]]


class _Slot(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a session's bytes that is filled anew each time: an id, or a time in seconds after the first one.
    `order` counts the announcements of child sessions in a row, whose order varies; None for any other id."""

    id: bytes = b""
    seconds: int = 0
    order: int | None = None


class _Template(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded session file, cut at everything that varies."""

    id: bytes
    parts: tuple[bytes | _Slot, ...]


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """A real session and its children, ready to be varied. `digest` is that of its unit."""

    session: _Template
    children: tuple[_Template, ...]
    digest: str


def recordings(sources: Sequence[Path]) -> tuple[Recording, ...]:
    """The recordings in folders or archives, in order of their names.

    Raises UsageError when there is none, or one is synthetic itself.
    """
    found: list[Recording] = []
    for path in sources:
        with opened(path) as archive, contextlib.closing(Catalogue()) as catalogue:
            catalogue.add(0, archive.members())
            catalogue.ready()
            found.extend(_recording(unit) for unit in units([(path.name, archive)], catalogue) if unit.content)
    if not found:
        raise UsageError("there is no session to vary", where=", ".join(map(str, sources)))
    return tuple(found)


def _recording(unit: Unit) -> Recording:
    if unit.synthetic:
        raise UsageError("is synthetic itself; only real recordings are varied", where=f"{unit.archive}/{unit.session}")
    root = unit.content or b""
    start = _seconds(match[0]) if (match := _TIME.search(root)) else 0
    return Recording(
        session=_template(root, start),
        children=tuple(_template(content, start) for _, content in sorted(unit.children.items())),
        digest=unit.digest,
    )


def _seconds(time: bytes) -> int:
    moment = datetime.datetime.strptime(time.decode(), "%Y-%m-%dT%H:%M:%S").replace(tzinfo=datetime.UTC)
    return int((moment - _FIRST_DAY).total_seconds())


def _template(content: bytes, start: int) -> _Template:
    children = {identity.encode() for identity in announced(content)}
    parts: list[bytes | _Slot] = []
    order = 0
    for line in content.splitlines(keepends=True):
        announces = _ANNOUNCEMENT in line
        at = 0
        for match in _VARIED.finditer(line):
            text = match[0]
            parts.append(line[at : match.start()])
            at = match.end()
            if len(text) != _UUID_LENGTH:
                parts.append(_Slot(seconds=_seconds(text) - start))
            elif announces and text in children:
                parts.append(_Slot(id=text, order=order))
                announces = False  # what else the line says of that session stays with it
            else:
                parts.append(_Slot(id=text))
        parts.append(line[at:])
        order += _ANNOUNCEMENT not in line
    own = _own_id(content)
    return _Template(id=own, parts=tuple(part for part in parts if part))


class _Head(msgspec.Struct):
    session_id: str


def _own_id(content: bytes) -> bytes:
    return msgspec.json.decode(content.partition(b"\n")[0], type=_Head).session_id.encode()


class _Variation:
    """One made session: its ids, its day, and the order of what happened at the same time."""

    def __init__(self, recording: Recording, number: int, seed: int) -> None:
        self._recording = recording
        self._chance = random.Random(f"{seed} {number}")  # noqa: S311 # the same seed makes the same archive
        self._salt = f"{seed} {number} ".encode()
        self._sessions = {recording.session.id, *(child.id for child in recording.children)}
        self._day = _FIRST_DAY + datetime.timedelta(seconds=self._chance.randrange(_YEARS_SECONDS))
        self._orders: dict[int, list[bytes]] = {}
        self._times: dict[int, bytes] = {}

    def members(self) -> list[tuple[str, bytes]]:
        """The session's file and its children's, the children before or after it."""
        own = self._recording.session
        session = (f"sessions/{self._id(own.id).decode()}.jsonl", self._filled(own))
        children = [
            (f"sessions/subagents/{self._id(child.id).decode()}.jsonl", self._filled(child))
            for child in self._recording.children
        ]
        self._chance.shuffle(children)
        return [*children, session] if self._chance.random() < 0.5 else [session, *children]

    def _filled(self, template: _Template) -> bytes:
        self._orders = _shuffled(template, self._chance)
        return b"".join(part if isinstance(part, bytes) else self._value(part) for part in template.parts)

    def _value(self, slot: _Slot) -> bytes:
        if not slot.id:
            return self._time(slot.seconds)
        if slot.order is not None:
            return self._id(self._orders[slot.order].pop())
        return self._id(slot.id)

    def _id(self, old: bytes) -> bytes:
        new = hashlib.blake2b(self._salt + old, digest_size=16).hexdigest().encode()
        uuid = b"-".join((new[:8], new[8:12], new[12:16], new[16:20], new[20:]))
        return SYNTHETIC.encode() + uuid if old in self._sessions else uuid

    def _time(self, seconds: int) -> bytes:
        if seconds not in self._times:
            moment = self._day + datetime.timedelta(seconds=seconds)
            self._times[seconds] = moment.strftime("%Y-%m-%dT%H:%M:%S").encode()
        return self._times[seconds]


def _shuffled(template: _Template, chance: random.Random) -> dict[int, list[bytes]]:
    """Ids of child sessions that are announced one right after another, each such group in an order of its own."""
    groups: dict[int, list[bytes]] = {}
    for part in template.parts:
        if isinstance(part, _Slot) and part.order is not None:
            groups.setdefault(part.order, []).append(part.id)
    for group in groups.values():
        chance.shuffle(group)
    return groups


def members(sources: Sequence[Recording], *, sessions: int, seed: int) -> Members:
    """The members of a synthetic archive, the marker first. Holds one session at a time."""
    digests = "\n".join(recording.digest for recording in sources)
    text = f"Made by varying real recordings; no evidence of anything.\nsessions {sessions}\nseed {seed}\n{digests}\n"
    yield MARKER, text.encode()
    for number in range(sessions):
        yield from _Variation(sources[number % len(sources)], number, seed).members()


def write(out: Path, sources: Sequence[Recording], *, sessions: int, seed: int, progress: Progress) -> None:
    """Writes a new archive: ``.tar``, ``.tar.gz``, ``.tar.zst``, ``.zip``, or else a folder. Nothing is there before it
    is whole; it is made in a folder beside it whose name begins with ``.partial-``, which only a killed run leaves.

    Raises UsageError for another kind of archive, when something is there already, also when it came there meanwhile,
    and when it would not fit on the disk.
    """
    if out.name.lower().endswith(_OTHER_ARCHIVES) or (out.suffix.lower() in _SUFFIXES and out.suffix not in _SUFFIXES):
        raise UsageError("is not a kind of archive that is made", where=str(out), hint=f"end it in {_KINDS}")
    if os.path.lexists(out):
        raise UsageError(_THERE, where=str(out))
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise UsageError("its folder is a file", where=str(out)) from error
    _check_room(out, sources, sessions)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=out.parent) as place:
        made = Path(place) / out.name
        with _writer(made) as add:
            done = 0
            for name, content in members(sources, sessions=sessions, seed=seed):
                add(name, content)
                done += name.startswith("sessions/") and "/subagents/" not in name
                progress(done)
        _publish(made, out)


def _publish(made: Path, out: Path) -> None:
    """Raises UsageError when something else has taken the name."""
    try:
        if made.is_dir():
            out.mkdir(mode=0o700)  # taken now; a folder may replace an empty one
            made.rename(out)
        else:
            _named(made, out)
    except FileExistsError as error:
        raise UsageError(_THERE, where=str(out)) from error


def _named(made: Path, out: Path) -> None:
    """Give a file its name. Raises FileExistsError; where there are no links, something may come there in between."""
    try:
        os.link(made, out)
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(out):
            raise FileExistsError from None
        made.rename(out)


def unpacked_bytes(sources: Sequence[Recording], sessions: int) -> int:
    """About how large so many sessions are."""
    each = [
        sum(
            len(part) if isinstance(part, bytes) else _UUID_LENGTH
            for file in (one.session, *one.children)
            for part in file.parts
        )
        for one in sources
    ]
    rounds, rest = divmod(sessions, len(each))
    return rounds * sum(each) + sum(each[:rest])


def _check_room(out: Path, sources: Sequence[Recording], sessions: int) -> None:
    if out.name.endswith(_PACKED):
        return  # nobody knows how small it becomes
    size, free = unpacked_bytes(sources, sessions), shutil.disk_usage(out.parent).free
    if size > free:
        raise UsageError(
            f"{sessions} such sessions take some {size / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB are free",
            where=str(out),
            hint="name smaller recordings with --from, or an archive that is packed",
        )


@contextlib.contextmanager
def _writer(out: Path) -> Iterator[Callable[[str, bytes], None]]:
    if out.name.endswith(".zip"):
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
            yield packed.writestr
    elif out.name.endswith((".tar", ".tar.gz", ".tar.zst")):
        with contextlib.ExitStack() as closing:
            stream: IO[bytes] = closing.enter_context(out.open("wb"))
            if out.name.endswith(".zst"):
                stream = closing.enter_context(zstd.writer(stream))
            mode = "w|gz" if out.name.endswith(".gz") else "w|"
            tar = closing.enter_context(tarfile.open(fileobj=stream, mode=mode, format=tarfile.PAX_FORMAT))  # type: ignore[call-overload] # the mode is one of two

            def add(name: str, content: bytes) -> None:
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
                tar.members.clear()

            yield add
    else:
        for folder in (out, out / "sessions", out / "sessions" / "subagents"):
            folder.mkdir(mode=0o700)
        yield lambda name, content: _save(out / name, content)


def _save(path: Path, content: bytes) -> None:
    path.write_bytes(content)
