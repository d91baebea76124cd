"""Writing a bundle: all of it or nothing, and nothing that would not verify."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from harness.bundle import layout
from harness.bundle.publish import staged
from harness.bundle.verified import Contents, verified
from harness.model.errors import EvidenceError, UsageError
from harness.model.manifest import Manifest, StoredFile
from harness.model.stimulus import canonical


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(path: Path, content: bytes) -> None:
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _pack(members: Mapping[str, bytes]) -> tuple[dict[str, StoredFile], dict[str, bytes]]:
    files: dict[str, StoredFile] = {}
    stored: dict[str, bytes] = {}
    for name, content in sorted(members.items()):
        target = layout.stored_name(name)
        if name.endswith(".gz") or name in (layout.MANIFEST, layout.CHECKSUM):
            raise EvidenceError(f"a member must not be named {name!r}", where=name, hint="members are given unpacked")
        if problem := layout.name_error(target):
            raise EvidenceError(f"member {name!r} {problem}", where=name)
        if len(content) > layout.MEMBER_BYTES:
            raise EvidenceError(
                f"{len(content)} bytes are more than the {layout.MEMBER_BYTES} that a member may have", where=name
            )
        packed = layout.compress(content) if target != name else content
        stored[target] = packed
        files[target] = StoredFile(
            size=len(content), sha256=_sha256(content), stored_size=len(packed), stored_sha256=_sha256(packed)
        )
    return files, stored


def _contents(where: str, manifest: Manifest, stored: Mapping[str, bytes]) -> Contents:
    """All files of the bundle, in the order in which they are written, the manifest last. Raises EvidenceError."""
    try:
        text = canonical(manifest) + b"\n"
    except UnicodeEncodeError as error:
        raise EvidenceError(f"the manifest cannot be written as UTF-8: {error}", where=where) from error
    contents = Contents(where=where, files={**stored, layout.CHECKSUM: layout.checksum(text), layout.MANIFEST: text})
    try:
        verified(contents)
    except EvidenceError as error:
        raise EvidenceError(f"would not verify: {error.message}", where=where, reasons=error.reasons) from error
    return contents


def write_bundle(folder: Path, manifest: Manifest, members: Mapping[str, bytes], *, replace: bool = False) -> Manifest:
    """Write `members` (name to raw bytes) and the completed manifest as `folder`; returns that manifest.

    `manifest.files` is ignored and filled in; names of `session`, `children` and `captures` are given raw and become
    stored names. Raises UsageError when the folder exists and `replace` is False, EvidenceError for unsafe members and
    for a bundle that would not verify, OSError when the disk refuses; in every case `folder` is what it was before.
    Writers in one parent folder wait for each other.
    """
    folder = folder.absolute()
    if folder.name.startswith("."):
        raise UsageError("a hidden folder cannot be a bundle", where=str(folder))
    files, stored = _pack(members)
    complete = msgspec.structs.replace(
        manifest,
        files=files,
        session=layout.stored_name(manifest.session) if manifest.session else "",
        children=tuple(layout.stored_name(name) for name in manifest.children),
        captures=tuple(
            msgspec.structs.replace(capture, file=layout.stored_name(capture.file)) for capture in manifest.captures
        ),
    )
    contents = _contents(str(folder), complete, stored)
    with staged(folder, replace=replace) as staging:
        for name, content in contents.files.items():
            target = staging / name
            target.parent.mkdir(exist_ok=True)
            _write(target, content)
    return complete
