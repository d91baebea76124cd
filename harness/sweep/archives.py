"""Folders, tars and zips as archives. Links are never followed, and no member's name becomes a path outside.

A compressed tar is one stream in which nothing can be found again: it is unpacked, as the one tar that it is, into a
temporary file without a name. Plain tars, zips and folders are read where they lie.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import shutil
import stat
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, Protocol, Self

from harness.model.errors import UsageError
from harness.sweep import zstd
from harness.sweep.members import READ_ERRORS, Archive, Member, Unreadable, bounded, reason
from harness.sweep.names import MARKER, SUFFIXES
from harness.sweep.rules import STORED_BYTES

SPARE_BYTES: Final = 1 << 30
"""Free disk that unpacking a compressed tar leaves alone."""
_CHUNK: Final = 1 << 20
_BLOCK: Final = tarfile.BLOCKSIZE


class FolderArchive:
    """A folder, walked without following links, so that no cycle and nothing outside of it is ever met."""

    def __init__(self, path: Path) -> None:
        self._root = os.fsencode(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass

    def members(self) -> Iterator[Member]:
        waiting = [b""]
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(os.path.join(self._root, folder)) as entries:  # noqa: PTH118 # bytes: any name
                    for entry in entries:
                        name = folder + b"/" + entry.name if folder else entry.name
                        if entry.is_symlink():
                            if useful(name) or _leads_to_folder(entry):
                                yield Member(name=name, obstacle="a link")
                        elif entry.is_dir(follow_symlinks=False):
                            waiting.append(name)
                        elif useful(name):
                            yield Member(name=name)
            except OSError as error:
                yield Member(name=folder, obstacle=reason(error))

    def stored(self, name: bytes, at: int, size: int) -> bytes:  # noqa: ARG002 # its name is its place
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(os.path.join(self._root, name), flags)  # noqa: PTH118 # bytes: any name
            with os.fdopen(descriptor, "rb", buffering=0) as stream:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise Unreadable("no regular file")
                return bounded(stream)
        except OSError as error:
            raise Unreadable(reason(error)) from error


class TarArchive:
    """A tar that can be read anywhere. Its own table of members is dropped as it is read: it would hold all of them."""

    def __init__(self, stream: IO[bytes], *, ended: str = "") -> None:
        """`ended`: why the tar is known to end early."""
        self._stream = stream
        self._ended = ended

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stream.close()

    def members(self) -> Iterator[Member]:
        self._stream.seek(0)
        try:
            with tarfile.open(
                fileobj=self._stream, mode="r:", encoding="utf-8", errors="surrogateescape", format=tarfile.PAX_FORMAT
            ) as tar:
                while (entry := tar.next()) is not None:
                    tar.members.clear()  # type: ignore[attr-defined] # public, but its stubs leave it out
                    yield from self._member(entry)
                fault = self._ended or self._end(tar.offset)
        except (tarfile.TarError, *READ_ERRORS, ValueError) as error:
            fault = self._ended or reason(error)
        if fault:
            yield Member(name=b"", obstacle=fault)

    @staticmethod
    def _member(entry: tarfile.TarInfo) -> Iterator[Member]:
        name = entry.name.encode("utf-8", "surrogateescape")
        if not useful(name):
            return
        if entry.issym() or entry.islnk():
            yield Member(name=name, obstacle="a link")
        elif not entry.isreg() or entry.issparse():
            yield Member(name=name, obstacle="no regular file")
        else:
            yield Member(name=name, at=entry.offset_data, size=entry.size)

    def _end(self, offset: int) -> str:
        """What is wrong with the end of the tar at `offset`; tarfile takes any nonsense for an end."""
        self._stream.seek(offset)
        block = self._stream.read(_BLOCK)
        if not block:
            return "no end mark: it was cut short"
        return "" if not any(block) else f"no member begins at byte {offset}"

    def stored(self, name: bytes, at: int, size: int) -> bytes:  # noqa: ARG002 # its offset is its place
        try:
            self._stream.seek(at)
            data = self._stream.read(min(size, STORED_BYTES + 1))
        except OSError as error:
            raise Unreadable(reason(error)) from error
        if len(data) < min(size, STORED_BYTES + 1):
            raise Unreadable("the archive ends in the middle of it")
        return data


class ZipArchive:
    """A zip. The standard library reads its table of members into memory: some 0.7 KiB for each of them."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, UnicodeDecodeError, *READ_ERRORS) as error:
            raise UsageError(f"is no zip that can be read: {reason(error)}", where=str(path)) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._zip.close()

    def members(self) -> Iterator[Member]:
        for entry in self._zip.infolist():
            name = entry.filename.encode("utf-8", "surrogateescape")
            if name.endswith(b"/") or not useful(name):
                continue
            if stat.S_ISLNK(entry.external_attr >> 16):
                yield Member(name=name, obstacle="a link")
            elif entry.flag_bits & 1:
                yield Member(name=name, obstacle="encrypted")
            else:
                yield Member(name=name, size=entry.file_size)

    def stored(self, name: bytes, at: int, size: int) -> bytes:  # noqa: ARG002 # its name is its place
        try:
            with self._zip.open(name.decode("utf-8", "surrogateescape")) as stream:
                return bounded(stream)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, *READ_ERRORS) as error:
            raise Unreadable(reason(error)) from error


def _leads_to_folder(link: os.DirEntry[bytes]) -> bool:
    """Whether sessions may lie behind a link; one that leads in circles leads nowhere."""
    try:
        return link.is_dir()
    except OSError:
        return False


def useful(name: bytes) -> bool:
    """Whether a member can matter, by its name."""
    return name.endswith(SUFFIXES) or name.rpartition(b"/")[2] == MARKER.encode()


_COMPRESSED: Final = {
    b"\x1f\x8b": lambda stream: gzip.GzipFile(fileobj=stream),
    b"\x28\xb5\x2f\xfd": zstd.opened,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
"""First bytes of a compressed file to what reads it."""


def opened(path: Path) -> Archive:
    """The archive at `path`, told by its content.

    Raises UsageError when there is none, or not enough disk to unpack a compressed tar.
    """
    if path.is_dir():
        return FolderArchive(path)
    try:
        if not path.is_file():
            raise UsageError("there is no such folder or archive", where=str(path))
        stream = path.open("rb")
    except OSError as error:
        raise UsageError(f"cannot be opened: {error.strerror}", where=str(path)) from error
    head = stream.read(_BLOCK)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        stream.close()
        return ZipArchive(path)
    stream.seek(0)
    with contextlib.ExitStack() as closing:
        closing.enter_context(stream)
        for magic, reader in _COMPRESSED.items():
            if head.startswith(magic):
                spool, ended = _unpacked(reader(stream), path)  # type: ignore[operator] # readers of several types
                return TarArchive(spool, ended=ended)
        if head[257:262] != b"ustar" and not tarfile.is_tarfile(path):
            raise UsageError("is neither a folder nor a tar or zip", where=str(path), hint="name a sessions folder")
        closing.pop_all()
    return TarArchive(stream)


class _Packed(Protocol):
    def read1(self, size: int, /) -> bytes:
        """What comes next, also when what follows it is damaged."""


def _unpacked(packed: _Packed, path: Path) -> tuple[IO[bytes], str]:
    """The unpacked stream in a file without a name, and why it ends early, "" when it is whole."""
    spool = tempfile.TemporaryFile(prefix="harness-sweep-")  # noqa: SIM115 # closed by the archive
    try:
        for number, chunk in enumerate(iter(lambda: packed.read1(_CHUNK), b"")):
            if number % 64 == 0 and shutil.disk_usage(tempfile.gettempdir()).free < SPARE_BYTES:
                spool.close()
                raise UsageError(
                    f"needs more disk than {tempfile.gettempdir()} has to be unpacked",
                    where=str(path),
                    hint="unpack it to a plain tar, or let TMPDIR name a folder with more room",
                )
            spool.write(chunk)
    except READ_ERRORS as error:
        return spool, f"its compressed data ends early or is damaged: {reason(error)}"
    return spool, ""
