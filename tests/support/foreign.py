"""Folders of captures as somebody else would hand them over: those of real runs, unpacked from the test data."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path

from harness.importing import Provenance, import_captures, product

_DATA = Path(__file__).parents[1] / "data"
_LEGACY = "0.96.6-reopened-by-0.104.0"
SAMPLES = {
    "mixed-script": "0.104.0",
    "killed-script": "0.104.0",
    "cancelled-script": "0.104.0",
    "mixed-batch": "0.104.0",
    "older-script": "0.100.0",
    "legacy-script": _LEGACY,
    "legacy-batch": _LEGACY,
}
"""Name to what recorded and reopened it. All were driven by the local agent."""
_NAMES = {"older-script": "mixed-script"}
NAMES = ("local-agent.live.jsonl", "local-agent.reopen.jsonl", "mission-control.reopen.cast", "session.jsonl")
"""The files of a script's sample."""


def _unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


def files_of(sample: str) -> dict[str, bytes]:
    """Every file of a sample, by name."""
    made_by, name = SAMPLES[sample], _NAMES.get(sample, sample)
    first = made_by.partition("-")[0]
    saved = _DATA / "sessions" / f"{made_by}-{name}"
    files = {
        "local-agent.live.jsonl": _DATA / "captures" / f"{first}-{name}.live.jsonl.gz",
        "local-agent.reopen.jsonl": _DATA / "captures" / f"{first}-{name}.reopen.jsonl.gz",
        "mission-control.reopen.cast": _DATA / "casts" / f"{made_by}-{name}.cast.gz",
        "session.jsonl": saved / "session.jsonl.gz",
        **{f"children/{path.name.removesuffix('.gz')}": path for path in saved.glob("children/*.jsonl.gz")},
    }
    return {name: _unpacked(path) for name, path in files.items()}


def live_cast(name: str) -> bytes:
    """A capture of Mission Control driving a run."""
    return _unpacked(_DATA / "casts" / f"{name}.cast.gz")


def session_of(name: str) -> bytes:
    """A saved session of the test data."""
    return _unpacked(_DATA / "sessions" / name / "session.jsonl.gz")


def lay(
    folder: Path,
    sample: str = "mixed-script",
    *,
    without: Iterable[str] = (),
    more: dict[str, bytes] | None = None,
) -> Path:
    """Put a sample's files into a new folder, but for those `without`, and `more` in their stead or beside them."""
    kept = {name: content for name, content in files_of(sample).items() if name not in without}
    for name, content in (kept | (more or {})).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def two_releases(folder: Path) -> Path:
    """Evidence of 0.100.0 and 0.104.0 running the same script, and of one more run of 0.104.0 alone."""
    out = folder / "evidence"
    lay(folder / "old" / "mixed-script", "older-script")
    lay(folder / "new" / "mixed-script", "mixed-script")
    lay(folder / "new" / "killed-script", "killed-script")
    for release, name in (("0.100.0", "old"), ("0.104.0", "new")):
        assert import_captures(folder / name, Provenance(product=product(release)), out=out).exit_code == 0
    return out


def changed_records(session: bytes, change: Callable[[dict[str, object]], object]) -> bytes:
    """A session with every record changed in place."""
    lines = []
    for line in session.splitlines():
        record = json.loads(line)
        change(record)
        lines.append(json.dumps(record).encode() + b"\n")
    return b"".join(lines)


def tree(folder: Path) -> dict[str, bytes]:
    """Everything below a folder, hidden files too; empty when it is not there."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
