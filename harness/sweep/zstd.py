"""Zstandard from the standard library where it is (Python 3.14), else from its backport of the same interface."""

from __future__ import annotations

import sys
from typing import IO, cast

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdError, ZstdFile
else:
    from backports.zstd import ZstdError, ZstdFile

__all__ = ["ZstdError", "opened", "writer"]


def opened(stream: IO[bytes]) -> ZstdFile:
    """Reads what `stream` holds, all frames of it."""
    return ZstdFile(stream)


def writer(stream: IO[bytes]) -> IO[bytes]:
    """Writes one frame into `stream` until it is closed."""
    return cast("IO[bytes]", ZstdFile(stream, mode="w"))
