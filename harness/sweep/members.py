"""What every kind of archive offers: its members once, in any order, and each of them read whole and bounded."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from types import TracebackType
from typing import Protocol, Self

import msgspec

from harness.sweep import zstd
from harness.sweep.rules import STORED_BYTES

READ_ERRORS = (OSError, EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError)
"""What reading or unpacking damaged or forbidden data raises."""


class Unreadable(Exception):  # noqa: N818 # the observation that a member cannot be read, not a fault of the program
    """Why a member cannot be read, in a few words that name no path of this machine."""


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One file of an archive. `name` is its path there, slash-separated, as stored; `at` and `size` are for the
    archive's own use. `obstacle` says why it, or what lies behind it, cannot be read; "" for an ordinary file."""

    name: bytes
    at: int = 0
    size: int = 0
    obstacle: str = ""


class Archive(Protocol):
    """A place that holds sessions. Never writes, never makes a path of a member's name except below a folder."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def members(self) -> Iterator[Member]:
        """Every file that may be of use, and every obstacle; where two have one name, the last one counts."""

    def stored(self, name: bytes, at: int, size: int) -> bytes:
        """The bytes of a member as they are stored, at most `STORED_BYTES` + 1. Raises Unreadable."""


def reason(error: BaseException) -> str:
    """A few words for an error of the system or of a decoder."""
    text = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def content(archive: Archive, name: bytes, at: int, size: int) -> bytes:
    """The bytes of a session file, unpacked by its suffix. Raises Unreadable, also when it is over the limit."""
    data = archive.stored(name, at, size)
    if len(data) > STORED_BYTES:
        raise Unreadable(f"over the limit of {STORED_BYTES} bytes")
    try:
        if name.endswith(b".gz"):
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
                data = bounded(stream)
        elif name.endswith(b".zst"):
            with zstd.opened(io.BytesIO(data)) as stream:
                data = bounded(stream)
    except READ_ERRORS as error:
        raise Unreadable(reason(error)) from error
    if len(data) > STORED_BYTES:
        raise Unreadable(f"over the limit of {STORED_BYTES} bytes when unpacked")
    return data


def bounded(stream: Readable) -> bytes:
    """All bytes of a stream, or one more than the limit."""
    parts = []
    left = STORED_BYTES + 1
    while left and (part := stream.read(min(left, 1 << 20))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
