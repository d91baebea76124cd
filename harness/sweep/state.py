"""What a stopped sweep has found so far: rows by the digest of what they were made of, in one SQLite file.

A row is found again only for the same bytes under the same name, judged by the same harness and candidate; so going on
with a state can never show what a fresh sweep would not.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from harness import __version__
from harness.model.errors import UsageError
from harness.sweep.reopen import Candidate
from harness.sweep.rows import Row, Status
from harness.sweep.units import Unit

_COMMIT_SECONDS: Final = 2.0
"""How much work a sweep that is killed loses at most."""
_SCHEMA: Final = "CREATE TABLE IF NOT EXISTS rows (key BLOB PRIMARY KEY, row BLOB NOT NULL)"
_ROW = msgspec.msgpack.Decoder(Row)


class State:
    """Rows kept in a file. Used as a context manager; without a file it keeps nothing.

    Every use raises UsageError when the file turns out to be no state, or the disk refuses.
    """

    def __init__(self, path: Path | None, candidate: Candidate | None, *, resume: bool) -> None:
        """Opens the file at `path`, emptied unless `resume`. Raises UsageError for a file that is no state."""
        self._salt = msgspec.msgpack.encode((__version__, candidate.product if candidate else None))
        self._store: sqlite3.Connection | None = None
        self._saved = time.monotonic()
        if path is None:
            return
        if not resume:
            path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        with self._usable():
            self._store = sqlite3.connect(path)
            self._store.execute("PRAGMA journal_mode = WAL")
            self._store.execute("PRAGMA synchronous = NORMAL")
            self._store.execute(_SCHEMA)

    @contextlib.contextmanager
    def _usable(self) -> Iterator[None]:
        """Raises UsageError where the file cannot be used, or holds what no state holds."""
        try:
            yield
        except (sqlite3.Error, msgspec.DecodeError, UnicodeDecodeError) as error:
            of_the_system = isinstance(error, sqlite3.OperationalError)
            raise UsageError(
                f"the state cannot be kept: {error}" if of_the_system else f"is no state of a sweep: {error}",
                where=str(self._path),
                hint="" if of_the_system else "sweep without --resume",
            ) from error

    def __enter__(self) -> State:
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._store is not None:
            with self._usable(), contextlib.closing(self._store):
                self._store.commit()

    def _key(self, digest: str) -> bytes:
        return hashlib.sha256(self._salt + bytes.fromhex(digest)).digest()[:16]

    def known(self, unit: Unit) -> Row | None:
        """The row of this very unit, when an earlier sweep made one."""
        if self._store is None:
            return None
        with self._usable():
            found = self._store.execute("SELECT row FROM rows WHERE key = ?", (self._key(unit.digest),)).fetchone()
            return _ROW.decode(found[0]) if found else None

    def keep(self, row: Row) -> None:
        """Faults are not kept: they are worth another try."""
        if self._store is None or row.status is Status.FAULT:
            return
        with self._usable():
            self._store.execute(
                "INSERT OR IGNORE INTO rows VALUES (?, ?)", (self._key(row.digest), msgspec.msgpack.encode(row))
            )
            if time.monotonic() - self._saved > _COMMIT_SECONDS:
                self._store.commit()
                self._saved = time.monotonic()
