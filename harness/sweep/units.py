"""One unit of work a session: all bytes that its judgement needs, gathered through the catalogue."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from harness.model.facts import Problem
from harness.sweep.catalogue import Catalogue, Item
from harness.sweep.members import Archive, Unreadable, content
from harness.sweep.names import Role, is_synthetic, shown
from harness.sweep.rules import RUN_BYTES, RUN_CHILDREN, broken

_ANNOUNCEMENT: Final = b'"subagent_session"'


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """One session as it lies in an archive.

    `archive` is the archive's name, `session` the member's path there. `content` is None when the session cannot be
    read; `problems` then say why. `children` and `child_files` are by session id. `digest` is the hex sha256 over
    names and bytes of all of it.
    """

    archive: str
    session: str
    content: bytes | None
    children: dict[str, bytes]
    child_files: dict[str, str]
    problems: tuple[Problem, ...]
    synthetic: bool
    digest: str

    @property
    def size(self) -> int:
        """Bytes of the session and its children."""
        return len(self.content or b"") + sum(map(len, self.children.values()))


class _Announced(msgspec.Struct):
    session_id: str


class _Event(msgspec.Struct):
    event_type: str
    payload: msgspec.Raw


_EVENT = msgspec.json.Decoder(_Event)
_PAYLOAD = msgspec.json.Decoder(_Announced)


def announced(data: bytes) -> Iterator[str]:
    """Ids of the child sessions that a session file announces, in file order.

    Only finds files; what an announcement means is for the projection to say. Lines that cannot be read announce none.
    """
    at = data.find(_ANNOUNCEMENT)
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        try:
            event = _EVENT.decode(data[start:end])
            if event.event_type == "subagent_session":
                yield _PAYLOAD.decode(event.payload).session_id
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
        at = data.find(_ANNOUNCEMENT, end)


class _Gathering:
    """One session and the children that it leads to, read one after another within bounds."""

    def __init__(self, archive: Archive, catalogue: Catalogue, session: Item) -> None:
        self.archive = archive
        self.catalogue = catalogue
        self.session = session
        self.children: dict[str, bytes] = {}
        self.files: dict[str, str] = {}
        self.problems: list[Problem] = []

    def gather(self, data: bytes) -> None:
        asked: set[str] = set()
        waiting = deque([data])
        left = RUN_BYTES - len(data)
        while waiting:
            for identity in announced(waiting.popleft()):
                if identity in asked:
                    continue
                asked.add(identity)
                if len(asked) > RUN_CHILDREN:
                    self.report("sweep.run-size", f"over {RUN_CHILDREN} child sessions are announced")
                    return
                child = self.child(identity)
                if child is None:
                    continue
                left -= len(child)
                if left < 0:
                    del self.children[identity], self.files[identity]
                    self.report("sweep.run-size", f"over {RUN_BYTES} bytes with its child sessions")
                    return
                waiting.append(child)

    def child(self, identity: str) -> bytes | None:
        found = self.catalogue.children(self.session, identity.encode("utf-8", "surrogatepass"))
        if not found:
            return None
        name = shown(found[0].name)
        if len(found) > 1:
            self.report("sweep.child-once", f"{shown(found[1].name)} is it, too", name)
        try:
            data = _content(self.archive, found[0])
        except Unreadable as error:
            self.report("sweep.child-readable", str(error), name)
            return None
        self.children[identity], self.files[identity] = data, name
        return data

    def report(self, rule: str, observed: str, file: str = "") -> None:
        self.problems.append(broken(rule, observed, file=file or shown(self.session.name)))


def _content(archive: Archive, item: Item) -> bytes:
    if item.obstacle:
        raise Unreadable(item.obstacle)
    return content(archive, item.name, item.at, item.size)


def _obstacle_rule(item: Item) -> str:
    if item.obstacle == "a link":
        return "sweep.no-links"
    return "sweep.session-readable" if item.name.endswith((b".jsonl", b".gz", b".zst")) else "sweep.archive-whole"


def unit(archive: Archive, catalogue: Catalogue, item: Item, *, name: str) -> Unit:
    """The unit of one head of the catalogue. `name` is the archive's."""
    gathering = _Gathering(archive, catalogue, item)
    data: bytes | None = None
    if item.role is Role.OBSTACLE:
        gathering.report(_obstacle_rule(item), item.obstacle)
    else:
        try:
            data = _content(archive, item)
        except Unreadable as error:
            gathering.report("sweep.session-readable", str(error))
        else:
            gathering.gather(data)
    session = shown(item.name)
    return Unit(
        archive=name,
        session=session,
        content=data,
        children=gathering.children,
        child_files=gathering.files,
        problems=tuple(gathering.problems),
        synthetic=catalogue.synthetic(item.archive) or is_synthetic(session),
        digest=_digest(name, session, data, gathering),
    )


def _digest(archive: str, session: str, data: bytes | None, gathering: _Gathering) -> str:
    """Covers everything that a unit's row can depend on; lengths keep two different units from running together."""
    whole = hashlib.sha256()
    problems = msgspec.json.encode(gathering.problems)
    parts = [archive.encode(), session.encode(), b"" if data is None else b"1", data or b"", problems]
    for identity, child in sorted(gathering.children.items()):
        parts += [identity.encode("utf-8", "surrogatepass"), gathering.files[identity].encode(), child]
    for part in parts:
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.hexdigest()


def units(archives: Sequence[tuple[str, Archive]], catalogue: Catalogue, only: str = "") -> Iterator[Unit]:
    """All units in order. `only`: those whose archive and session, joined by a slash, contain it."""
    for item in catalogue.heads():
        name, archive = archives[item.archive]
        if not only or only in f"{name}/{shown(item.name)}":
            yield unit(archive, catalogue, item, name=name)
