"""The files of one folder, read through descriptors: no link is followed, no device opened, nothing read unbounded."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from harness.bundle import layout
from harness.bundle.verified import refuse
from harness.model.errors import EvidenceError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Not blocking: what was a file when it was listed may be a FIFO when it is opened."""

_ENTRIES = 2 * layout.FILES_PER_BUNDLE
"""Files and folders that are looked at before giving up."""


class OpenFolder:
    """A folder held open: what is read comes from this very folder, even when another takes its name meanwhile.

    Raises EvidenceError when there is none.
    """

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        try:
            self._descriptor = os.open(path, _FOLDER)
        except FileNotFoundError as error:
            raise EvidenceError("is not there", where=self.where) from error
        except (OSError, ValueError) as error:
            reason = "is not a folder" if path.is_symlink() or not path.is_dir() else f"cannot be read: {error}"
            raise EvidenceError(reason, where=self.where) from error

    def __enter__(self) -> OpenFolder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._descriptor)

    def is_at(self, path: Path) -> bool:
        """Whether the open folder still has the name `path`."""
        try:
            return os.path.samestat(path.lstat(), os.fstat(self._descriptor))
        except OSError:
            return False

    def names(self) -> set[str]:
        """Relative names of all files, at most one folder deep.

        Raises EvidenceError that names every link, device, pipe, empty folder and second-level folder.
        """
        problems: list[str] = []
        found: set[str] = set()
        try:
            for name in self._walk(problems):
                found.add(name)
        except OSError as error:
            problems.append(f"cannot be read: {error.strerror}")
        refuse(problems, self.where)
        return found

    def _walk(self, problems: list[str]) -> Iterator[str]:
        seen = 0
        folders: list[str] = []
        for entry in _entries(self._descriptor):
            seen += 1
            if seen > _ENTRIES:
                break
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            elif entry.is_file(follow_symlinks=False):
                yield entry.name
            else:
                problems.append(f"{entry.name!r} is neither a plain file nor a folder")
        for folder in folders:
            before = seen
            with _opened(folder, _FOLDER, self._descriptor) as descriptor:
                for entry in _entries(descriptor):
                    seen += 1
                    if seen > _ENTRIES:
                        break
                    name = f"{folder}/{entry.name}"
                    if entry.is_file(follow_symlinks=False):
                        yield name
                    else:
                        problems.append(f"{name!r} is not a plain file")
            if seen == before:
                problems.append(f"the folder {folder!r} is empty")
        if seen > _ENTRIES:
            problems.append(f"more than {_ENTRIES} files and folders")

    def read(self, name: str, limit: int) -> bytes:
        """The whole of one file. Raises EvidenceError: longer than `limit` bytes, no plain file, unreadable."""
        folder, _, file = name.rpartition("/")
        try:
            with (
                _opened(folder or ".", _FOLDER, self._descriptor) as parent,
                _opened(file, _FILE, parent) as descriptor,
            ):
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise EvidenceError(f"{name} is not a plain file", where=self.where)
                with open(descriptor, "rb", closefd=False) as stream:  # a descriptor has no path
                    content = stream.read(limit + 1)
        except OSError as error:
            raise EvidenceError(f"{name} cannot be read: {error.strerror}", where=self.where) from error
        if len(content) > limit:
            raise EvidenceError(f"{name} is larger than {limit} bytes", where=self.where)
        return content


def _entries(descriptor: int) -> Iterator[os.DirEntry[str]]:
    with os.scandir(descriptor) as entries:
        yield from entries


@contextmanager
def _opened(name: str, flags: int, parent: int) -> Iterator[int]:
    descriptor = os.open(name, flags, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
