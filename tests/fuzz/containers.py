"""Several files in one input: a line ``--- NAME`` begins each of them. What stands before the first one is lost."""

from __future__ import annotations

import re
from collections.abc import Mapping

_HEAD = re.compile(rb"^--- ([^\n]{1,120})\n", re.MULTILINE)


def unpack(data: bytes) -> dict[str, bytes]:
    """Name to content, in order; a name that stands twice has the last content. A newline before a head is its own."""
    files: dict[str, bytes] = {}
    heads = list(_HEAD.finditer(data))
    for number, head in enumerate(heads):
        end = heads[number + 1].start() - 1 if number + 1 < len(heads) else len(data)
        files[head[1].decode("utf-8", "replace").replace("\0", "")] = data[head.end() : max(end, head.end())]
    return files


def pack(files: Mapping[str, bytes]) -> bytes:
    """The input that `unpack` reads as `files`."""
    return b"\n".join(b"--- " + name.encode() + b"\n" + content for name, content in files.items())
