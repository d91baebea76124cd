"""The file that says how stable recorded runs were, and what a judgement may take from it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import jiter
import msgspec

from harness import __version__
from harness.evidence_folder import read_plain
from harness.model.errors import EvidenceError, UsageError
from harness.model.stability import STABILITY_SCHEMA, Repeated, Stability, StabilityState

FILE = "stability.json"
FILE_BYTES = 8_388_608
_TWICE = 2
_COMMAND = (
    "record the set once more into another folder, and run: uv run harness stability FOLDER, "
    "with the --evidence that is judged"
)


def encode(stability: Stability) -> bytes:
    """The file's bytes: indented JSON with a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(stability), indent=1) + b"\n"


def decode(content: bytes, *, where: str) -> Stability:
    """What the file says.

    Raises EvidenceError: no strict JSON, other members, another schema, a release twice, or fewer than two recordings.
    """
    try:
        found = msgspec.convert(jiter.from_json(content, catch_duplicate_keys=True, allow_inf_nan=False), Stability)
    except (ValueError, msgspec.ValidationError, RecursionError) as error:
        raise EvidenceError(f"is no record of stability: {error}", where=where, hint=_COMMAND) from error
    if found.schema != STABILITY_SCHEMA:
        raise EvidenceError(f"is of schema {found.schema}, not {STABILITY_SCHEMA}", where=where, hint=_COMMAND)
    names = [entry.release for entry in found.releases]
    if len(set(names)) < len(names):
        raise EvidenceError("names a release twice", where=where, hint=_COMMAND)
    for entry in found.releases:
        most = max((len(manifests) for manifests in entry.manifests.values()), default=0)
        if entry.recordings < _TWICE or most > entry.recordings:
            raise EvidenceError(f"{entry.recordings} recordings of {entry.release} cannot be", where=where)
    return found


def _read(evidence: Path) -> bytes | str:
    """The file's bytes, or why there are none that could be read."""
    path = evidence / FILE
    if path.is_symlink():
        return f"{FILE} is a link; {_COMMAND}"
    if not path.is_file():
        return f"no run was recorded a second time: whether facts vary is not known; {_COMMAND}"
    try:
        return read_plain(path, FILE_BYTES)
    except UsageError as error:
        return f"{FILE} {error.message}; {_COMMAND}"


def merged(evidence: Path, entry: Repeated) -> Stability:
    """The file's other releases with `entry`. Raises EvidenceError when there is a file that cannot be read."""
    content = _read(evidence)
    if isinstance(content, str) and os.path.lexists(evidence / FILE):
        raise EvidenceError(content, where=str(evidence / FILE), hint="move it away")
    others = decode(content, where=FILE).releases if isinstance(content, bytes) else ()
    releases = [*(item for item in others if item.release != entry.release), entry]
    return Stability(
        schema=STABILITY_SCHEMA, harness=__version__, releases=tuple(sorted(releases, key=lambda item: item.release))
    )


def read_state(
    evidence: Path, *, release: str, manifests: Mapping[str, str], varying: Mapping[str, Sequence[str]]
) -> StabilityState:
    """What a judgement of `release` may take from the file in `evidence`.

    `manifests`: hex sha256 by observation of the bundles that are judged and that a scenario stands behind; `varying`:
    by observation, the labels that its scenario declares as varying. Never raises: what is missing or cannot be read is
    a fault of the state, and says what to do.
    """
    content = _read(evidence)
    if isinstance(content, str):
        return StabilityState(fault=content)
    try:
        found = decode(content, where=FILE)
    except EvidenceError as error:
        return StabilityState(fault=f"{FILE} {error.message}; {_COMMAND}")
    entry = next((item for item in found.releases if item.release == release), None)
    if entry is None:
        return StabilityState(fault=f"no run of {release} was recorded a second time; {_COMMAND}")
    once = sorted(name for name, manifest in manifests.items() if not _known(entry.manifests.get(name, ()), manifest))
    more = f" and {len(once) - 1} more" if len(once) > 1 else ""
    fault = f"whether facts of {once[0]}{more} vary is not known for these recordings; {_COMMAND}" if once else ""
    undeclared = tuple(
        item
        for item in entry.variations
        if item.observation in manifests and item.label not in varying.get(item.observation, ())
    )
    return StabilityState(repeated=entry, fault=fault, undeclared=undeclared)


def _known(recorded: Sequence[str], manifest: str) -> bool:
    """Whether this very recording was held against another one."""
    return manifest in recorded and len(set(recorded)) > 1
