"""A small bundle to damage: one local-agent run with every kind of member, some two kilobytes as stored."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from harness.bundle import write_bundle
from harness.bundle.layout import CHECKSUM, MANIFEST
from harness.model.facts import Column
from harness.model.manifest import Capture, Manifest, Product, Recorder
from harness.model.stimulus import Stimulus, Turn, canonical, digest

STIMULUS = Stimulus(files={"notes.txt": "one\n"}, turns=(Turn(prompt="Read the notes"),))
PRODUCT = Product(version="0.104.0", sha256=hashlib.sha256(b"binary").hexdigest())
MEMBERS: dict[str, bytes] = {
    "stimulus.json": canonical(STIMULUS),
    "local-agent.live.jsonl": b'{"at":1,"line":"{}"}\n' * 3,
    "session.jsonl": b'{"type":"session"}\n{"type":"message"}\n',
    "children/c1.jsonl": b'{"type":"session","parent":"s"}\n',
    "workspace.before.json": b'[{"path":"notes.txt","size":4,"sha256":"'
    b'2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806"}]',
}
STORED = {
    "manifest.json",
    "manifest.json.sha256",
    "stimulus.json",
    "local-agent.live.jsonl.gz",
    "session.jsonl.gz",
    "children/c1.jsonl.gz",
    "workspace.before.json",
}
"""Every file of the written bundle."""


def manifest(**changes: object) -> Manifest:
    """The manifest of the small bundle, still without its files."""
    plain = Manifest(
        schema=1,
        observation="reads-notes.local-agent",
        scenario="notes.feature::Reads notes",
        classes=("mixed-outcomes",),
        release="0.104.0",
        driver="local-agent",
        stimulus_sha256=digest(STIMULUS),
        products=(PRODUCT,),
        recorder=Recorder(name="harness", version="0.1.0"),
        recorded_at="2026-11-30T12:00:00Z",
        workspace="/srv/run",
        session="session.jsonl",
        children=("children/c1.jsonl",),
        captures=(
            Capture(column=Column.LOCAL_AGENT_LIVE, file="local-agent.live.jsonl", product=PRODUCT, complete=True),
        ),
        files={},
    )
    return msgspec.structs.replace(plain, **changes)


def write(
    folder: Path, members: Mapping[str, bytes] = MEMBERS, *, replace: bool = False, **changes: object
) -> Manifest:
    """Write the small bundle, with other members or some members of its manifest changed."""
    return write_bundle(folder, manifest(**changes), members, replace=replace)


def files(folder: Path) -> dict[str, bytes]:
    """Relative name to bytes of every file below `folder`, hidden ones too."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def lay(folder: Path, content: dict[str, bytes]) -> Path:
    """Put exactly these files into `folder`, as an attacker would who need not use the writer."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, data in content.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def seal(content: dict[str, bytes], manifest_text: bytes) -> dict[str, bytes]:
    """The same files under another manifest whose checksum fits: what is left to catch is the manifest itself."""
    checksum = f"{hashlib.sha256(manifest_text).hexdigest()}  {MANIFEST}\n".encode()
    return {**content, MANIFEST: manifest_text, CHECKSUM: checksum}


def resealed(content: dict[str, bytes], change: Callable[[dict[str, Any]], object]) -> dict[str, bytes]:
    """The same files with the manifest's JSON changed in place, its order kept, under a checksum that fits."""
    plain: dict[str, Any] = msgspec.json.decode(content[MANIFEST])
    change(plain)
    return seal(content, msgspec.json.encode(plain) + b"\n")
