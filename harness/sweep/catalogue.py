"""An index of all members on disk: sorted, searchable by name, and of no weight in memory however large an archive is.

SQLite keeps it in a private temporary file that is gone when the catalogue is closed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

import msgspec

from harness.sweep.members import Member
from harness.sweep.names import MARKER, Role, named

_ROWS: Final = 2_000
_SCHEMA: Final = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE members (
    archive INTEGER, name BLOB, role INTEGER, base BLOB, stem BLOB, at INTEGER, size INTEGER, obstacle TEXT,
    PRIMARY KEY (archive, name)
) WITHOUT ROWID;
CREATE TABLE used (archive INTEGER, name BLOB, PRIMARY KEY (archive, name)) WITHOUT ROWID;
CREATE TABLE made (archive INTEGER PRIMARY KEY);
"""
_SELECT: Final = "SELECT archive, name, role, base, stem, at, size, obstacle FROM members"


class Item(msgspec.Struct, frozen=True, array_like=True):
    """One member of the catalogue. `archive` is its archive's number; the rest as in `Member` and `Named`."""

    archive: int
    name: bytes
    role: Role
    base: bytes
    stem: bytes
    at: int
    size: int
    obstacle: str


class Catalogue:
    """Filled once by `add`, then read in order of archives and names."""

    def __init__(self) -> None:
        self._store = sqlite3.connect("")
        self._store.executescript(_SCHEMA)

    def close(self) -> None:
        self._store.close()

    def add(self, archive: int, members: Iterable[Member]) -> None:
        """Takes the members of one archive; of two with one name the last counts, as it does for archivers."""
        rows = (row for member in members if (row := self._row(archive, member)))
        with self._store:
            while batch := list(islice(rows, _ROWS)):
                self._store.executemany("INSERT OR REPLACE INTO members VALUES (?, ?, ?, ?, ?, ?, ?, ?)", batch)

    def _row(self, archive: int, member: Member) -> tuple[object, ...] | None:
        if member.name.rpartition(b"/")[2] == MARKER.encode():
            self._store.execute("INSERT OR IGNORE INTO made VALUES (?)", (archive,))
            return None
        what = named(member.name)
        if member.obstacle and (what is None or what.role is not Role.CHILD):
            return (archive, member.name, Role.OBSTACLE, b"", b"", 0, 0, member.obstacle)
        if what is None:
            return None
        return (archive, member.name, what.role, what.base, what.stem, member.at, member.size, member.obstacle)

    def ready(self) -> None:
        """To be called once, between adding and looking."""
        self._store.execute("CREATE INDEX children ON members (archive, base, stem)")

    def synthetic(self, archive: int) -> bool:
        """Whether the archive says that it was made."""
        return self._store.execute("SELECT 1 FROM made WHERE archive = ?", (archive,)).fetchone() is not None

    def count(self) -> int:
        """How many sessions and obstacles there are."""
        row = self._store.execute("SELECT count(*) FROM members WHERE role != ?", (Role.CHILD,)).fetchone()
        return int(row[0])

    def heads(self) -> Iterator[Item]:
        """Every session and obstacle, in order of archives, then of the bytes of their names."""
        for row in self._store.execute(f"{_SELECT} WHERE role != ? ORDER BY archive, name", (Role.CHILD,)):
            yield msgspec.convert(row, Item)

    def children(self, session: Item, stem: bytes) -> list[Item]:
        """The files of one child session of `session`, by name: none, one, or two of more."""
        found = self._store.execute(
            # Left to itself SQLite walks the whole archive in the order of names.
            f"{_SELECT} INDEXED BY children WHERE archive = ? AND base = ? AND stem = ? AND role = ? "
            "ORDER BY name LIMIT 2",
            (session.archive, session.base, stem, Role.CHILD),
        )
        items = [msgspec.convert(row, Item) for row in found]
        self._store.executemany(
            "INSERT OR IGNORE INTO used VALUES (?, ?)", [(item.archive, item.name) for item in items]
        )
        return items

    def orphans(self) -> int:
        """How many child sessions no session has led to so far."""
        row = self._store.execute(
            "SELECT (SELECT count(*) FROM members WHERE role = ?) - (SELECT count(*) FROM used)", (Role.CHILD,)
        ).fetchone()
        return int(row[0])
