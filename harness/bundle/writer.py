"""Writing a bundle: all of it or nothing. A recorder killed at any instant leaves no folder that verifies.

The folder is built under a hidden name beside its final place, its manifest last, and then renamed. Readers ignore
hidden names. A replaced bundle is set aside first and put back by the next writer if the replacement never arrived.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from harness.bundle import layout
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


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _store(members: Mapping[str, bytes]) -> tuple[dict[str, StoredFile], dict[str, bytes]]:
    files: dict[str, StoredFile] = {}
    stored: dict[str, bytes] = {}
    for name, content in sorted(members.items()):
        target = layout.stored_name(name)
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


def write_bundle(folder: Path, manifest: Manifest, members: Mapping[str, bytes], *, replace: bool = False) -> Manifest:
    """Write `members` (name to raw bytes) and the completed manifest as `folder`; returns that manifest.

    `manifest.files` is ignored and filled in; names of `session`, `children` and `captures` are given raw and become
    stored names. Raises UsageError when the folder exists and `replace` is False, EvidenceError for unsafe members,
    OSError when the disk refuses; in every case nothing half-written stays behind.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = folder.parent / f".{folder.name}.partial"
    aside = folder.parent / f".{folder.name}.replaced"
    if aside.exists() and not folder.exists():
        aside.rename(folder)
    if folder.exists() and not replace:
        raise UsageError("a bundle is already there", where=str(folder), hint="use --replace to record it anew")
    files, stored = _store(members)
    complete = msgspec.structs.replace(
        manifest,
        files=files,
        session=layout.stored_name(manifest.session) if manifest.session else "",
        children=tuple(layout.stored_name(name) for name in manifest.children),
        captures=tuple(
            msgspec.structs.replace(capture, file=layout.stored_name(capture.file)) for capture in manifest.captures
        ),
    )
    text = canonical(complete) + b"\n"
    shutil.rmtree(staging, ignore_errors=True)
    try:
        staging.mkdir()
        for name, content in stored.items():
            target = staging / name
            target.parent.mkdir(exist_ok=True)
            _write(target, content)
        _write(staging / layout.CHECKSUM, f"{_sha256(text)}  {layout.MANIFEST}\n".encode())
        _write(staging / layout.MANIFEST, text)
        _sync_folder(staging)
        if folder.exists():
            shutil.rmtree(aside, ignore_errors=True)
            folder.rename(aside)
        staging.rename(folder)
        _sync_folder(folder.parent)
    except BaseException:
        if aside.exists() and not folder.exists():
            aside.rename(folder)
        shutil.rmtree(staging, ignore_errors=True)
        raise
    shutil.rmtree(aside, ignore_errors=True)
    return complete
