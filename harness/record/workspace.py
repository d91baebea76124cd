"""The neutral place of one run: a workspace, a home with the product's state, and copies of that state to reopen.

Paths appear in facts and on screens, so a run happens below a root that says nothing about the recording machine:
``<root>/<observation>/ws`` and ``<root>/<observation>/home``. Every reading that reopens the session gets its own copy
of the home beside it and the same workspace path, because a reopening may write to the session and takes its lease.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from harness.model.errors import HarnessError, ProductError, UsageError

DEFAULT_ROOT = Path("/tmp/acceptance")  # noqa: S108 - the one place that is neutral on every machine; ownership is checked
STATE_FOLDER = ".magi-code"
_OBSERVATION = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_FILES_LIMIT = 20_000
_FILE_BYTES_LIMIT = 64 * 1024 * 1024


class ListedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a workspace listing; `path` is relative to the workspace, `size` in bytes."""

    path: str
    size: int
    sha256: str


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """One copy of the product's state. `path` is HOME, `state` MC_HOME."""

    path: Path
    state: Path

    def session_files(self) -> tuple[Path, ...]:
        """Saved sessions of the session's own agent, by name."""
        return tuple(sorted((self.state / "sessions").glob("*.jsonl")))

    def session_file(self, session_id: str) -> Path:
        """The saved session's file. Raises ProductError for an id that is no plain name."""
        if not _SESSION.fullmatch(session_id):
            raise ProductError(f"{session_id!r} is no session id")
        return self.state / "sessions" / f"{session_id}.jsonl"

    def child_files(self) -> tuple[Path, ...]:
        """Saved sessions of delegated tasks, at any depth, by name."""
        return tuple(sorted((self.state / "sessions" / "subagents").rglob("*.jsonl")))


class Workspace:
    """The place of one observation: `ws` the workspace, `home` the home of the run itself, `temporary` for scratch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ws = folder / "ws"
        self.temporary = folder / "tmp"
        self.home = _home(folder / "home")
        self._identities: dict[Path, tuple[int, int]] = {}
        self._copies: set[str] = set()

    def create(self) -> None:
        """Makes the empty folders and remembers which ones they are."""
        self.ws.mkdir(parents=True)
        self.home.state.mkdir(parents=True)
        self.temporary.mkdir()
        for path in (self.folder, self.ws, self.home.path, self.home.state):
            status = path.stat()
            self._identities[path] = (status.st_dev, status.st_ino)

    def write_files(self, files: dict[str, str]) -> None:
        """Creates the stimulus's files. Raises UsageError for a path that leaves the workspace."""
        for name, text in files.items():
            path = self.ws / inside(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())

    def write_settings(self, home: Home, settings: dict[str, Any]) -> None:
        home.state.mkdir(parents=True, exist_ok=True)
        (home.state / "settings.json").write_bytes(msgspec.json.encode(settings, order="deterministic"))

    def exists(self, name: str) -> bool:
        """Whether a workspace path exists now."""
        return os.path.lexists(self.ws / inside(name))

    def check_untouched(self) -> None:
        """Raises HarnessError when somebody has removed or replaced the place while the run was in it.

        What is read there afterwards would be taken for what the product left.
        """
        for path, known in self._identities.items():
            try:
                status = path.stat()
            except OSError:
                status = None
            if status is None or (status.st_dev, status.st_ino) != known:
                raise HarnessError(
                    "the place of the recording was removed or replaced while it ran",
                    where=str(path),
                    hint="record again, and leave the root alone meanwhile",
                )

    def check_strays(self) -> None:
        """Raises ProductError when the run left anything beside the folders that it was given: its facts speak of a
        workspace that it did not keep to. What it wrote elsewhere on the machine nobody here can tell."""
        given = {self.ws.name, self.home.path.name, self.temporary.name, *self._copies}
        if strays := sorted({path.name for path in self.folder.iterdir()} - given):
            raise ProductError(f"the run wrote outside of its workspace: {', '.join(strays[:5])}", where=self.ws.name)

    def listing(self) -> tuple[ListedFile, ...]:
        """Every regular file of the workspace, sorted by path.

        Raises ProductError for links and devices, for folders that cannot be read, and for more or larger files than
        a run can account for.
        """

        def unreadable(error: OSError) -> None:
            raise ProductError(f"the workspace cannot be listed: {error.strerror}", where=str(self.ws)) from error

        found: list[ListedFile] = []
        for folder, folders, names in os.walk(self.ws, onerror=unreadable):
            folders.sort()
            for name in sorted(names):
                path = Path(folder, name)
                status = path.lstat()
                relative = path.relative_to(self.ws).as_posix()
                if not stat.S_ISREG(status.st_mode):
                    raise ProductError("the run left something that is no regular file", where=relative)
                if status.st_size > _FILE_BYTES_LIMIT or len(found) >= _FILES_LIMIT:
                    raise ProductError(
                        f"the run left more than {_FILES_LIMIT} files or one over {_FILE_BYTES_LIMIT} bytes",
                        where=relative,
                    )
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                found.append(ListedFile(path=relative, size=status.st_size, sha256=digest))
        return tuple(sorted(found, key=lambda file: file.path))

    def copy_home(self, name: str) -> Home:
        """A copy of the run's home for one reading, beside the home, without what a live process may have left open."""
        target = self.folder / name
        self._copies.add(name)
        shutil.copytree(self.home.path, target, symlinks=True, ignore=shutil.ignore_patterns("*.sock"))
        return _home(target)


def inside(name: str) -> str:
    """The path itself when it stays inside a workspace; raises UsageError otherwise."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise UsageError(f"{name!r} is not a path inside the workspace", hint="use relative paths without ..")
    return name


@contextlib.contextmanager
def prepared(root: Path, observation: str) -> Iterator[Workspace]:
    """An empty place for one observation, removed at the end whatever happens.

    What a killed recorder left there is removed first. Raises UsageError when the name cannot be a folder, when the
    root belongs to somebody else, or while another recording of the same name runs.
    """
    if not _OBSERVATION.fullmatch(observation):
        raise UsageError(f"{observation!r} cannot name an observation", hint="use a-z, 0-9, dots and hyphens")
    root = _own_root(root)
    lock = os.open(root / f".{observation}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"{observation} is being recorded by another process", where=str(root)) from None
        folder = root / observation
        _remove(folder)
        workspace = Workspace(folder)
        try:
            workspace.create()
            yield workspace
        finally:
            _remove(folder)
    finally:
        os.close(lock)


def _home(path: Path) -> Home:
    return Home(path=path, state=path / STATE_FOLDER)


def _own_root(root: Path) -> Path:
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    root = root.resolve()
    status = root.stat()
    if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UsageError("the folder for recordings is writable by somebody else", where=str(root), hint="pass another")
    return root


def _remove(folder: Path) -> None:
    """Removes a folder tree, also where a run took away its own write permission."""
    if not folder.exists():
        return
    folder.chmod(0o700)
    for parent, folders, _files in os.walk(folder):
        for name in folders:
            path = Path(parent, name)
            if not path.is_symlink():
                path.chmod(0o700)
    shutil.rmtree(folder)
