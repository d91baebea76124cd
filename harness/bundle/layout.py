"""The shape of a bundle folder: member names, what is compressed, and the limits that keep reading one safe.

manifest.json           canonical JSON, covers every other member
manifest.json.sha256    its digest in the format of sha256sum(1), so that damage shows without any signature
stimulus.json           the canonical stimulus
*.jsonl.gz, *.cast.gz   captures, session files and logs, gzip without a time stamp
*.json                  workspace listings
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib

from harness.model.errors import EvidenceError

MANIFEST = "manifest.json"
CHECKSUM = "manifest.json.sha256"
STIMULUS = "stimulus.json"
COMPRESSED_SUFFIXES = (".jsonl", ".cast")

FILES_PER_BUNDLE = 512
MANIFEST_BYTES = 1_048_576
MEMBER_BYTES = 67_108_864
"""Raw bytes of one member: the product's own read limit for a session."""
BUNDLE_BYTES = 268_435_456
"""Of all members together, raw and as stored alike."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}(/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?")


def stored_name(name: str) -> str:
    """The member's name in the folder: `name`, with ``.gz`` when its kind is compressed."""
    return f"{name}.gz" if name.endswith(COMPRESSED_SUFFIXES) else name


def name_error(name: str) -> str | None:
    """Why `name` is not a safe member name, or None. At most one folder deep, no links to parents, plain ASCII."""
    return None if _NAME.fullmatch(name) else "is not a plain relative name of at most one folder"


def checksum(manifest: bytes) -> bytes:
    """What the checksum file of a manifest's bytes holds."""
    return f"{hashlib.sha256(manifest).hexdigest()}  {MANIFEST}\n".encode()


def compress(content: bytes) -> bytes:
    """Gzip bytes that depend on the content alone (no time stamp, no file name)."""
    return gzip.compress(content, compresslevel=9, mtime=0)


def decompress(stored: bytes, size: int, where: str) -> bytes:
    """The raw content of a gzip member, never more than one byte beyond the declared `size` (0 or more) in memory.

    Raises EvidenceError when the stream is not gzip, is cut, is followed by other bytes or is larger than declared.
    """
    decoder = zlib.decompressobj(wbits=31)
    try:
        content = decoder.decompress(stored, size + 1)
    except zlib.error as error:
        raise EvidenceError(f"is not a readable gzip stream: {error}", where=where) from error
    if len(content) > size:
        raise EvidenceError(f"unpacks to more than the declared {size} bytes", where=where)
    if not decoder.eof:
        raise EvidenceError("the gzip stream is cut short", where=where)
    if decoder.unused_data:
        raise EvidenceError(f"{len(decoder.unused_data)} bytes follow the gzip stream", where=where)
    return content
