"""The file that holds the last selfcheck, and whether it says anything about the evidence and the harness at hand."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import jiter
import msgspec

from harness.evidence_folder import read_plain
from harness.model.errors import EvidenceError, UsageError
from harness.model.selfcheck import SELFCHECK_SCHEMA, Selfcheck, SelfcheckState

FILE = "selfcheck.json"
FILE_BYTES = 8_388_608
_JUDGING = (
    *("model", "spec", "wire", "records", "project", "observe", "terminal", "compare", "judge", "authorize"),
    *("scenario", "bundle", "examine.py", "examine_all.py", "evidence_folder.py", "whole_run.py", "acceptance.py"),
)
"""What of the package judges: a change in any of it can make the harness blind."""
_COMMAND = "run: uv run harness selfcheck, with the --evidence that is judged"


_SUFFIXES = (".py", ".toml")
_ROOT = Path(__file__).resolve().parent


def judging_files() -> tuple[str, ...]:
    """Every file of the harness that judges, by its path in the package."""
    found: list[Path] = []
    for name in _JUDGING:
        place = _ROOT / name
        inside = sorted(path for path in place.rglob("*") if path.suffix in _SUFFIXES)
        found += [place] if place.is_file() else inside
    return tuple(file.relative_to(_ROOT).as_posix() for file in found)


def code_digest() -> str:
    """Hex sha256 over the names and contents of every file of the harness that judges."""
    total = hashlib.sha256()
    for name in judging_files():
        content = hashlib.sha256((_ROOT / name).read_bytes()).hexdigest()
        total.update(f"{name} {content}\n".encode())
    return total.hexdigest()


def feature_digests(folder: Path) -> dict[str, str]:
    """Hex sha256 of every scenario file, by name."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.glob("*.feature"))}


def encode(result: Selfcheck) -> bytes:
    """The file's bytes: indented JSON with a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n"


def decode(content: bytes, *, where: str) -> Selfcheck:
    """The result in a file.

    Raises EvidenceError: no strict JSON, other members, another schema, sums that do not fit.
    """
    try:
        result = msgspec.convert(jiter.from_json(content, catch_duplicate_keys=True, allow_inf_nan=False), Selfcheck)
    except (ValueError, msgspec.ValidationError, RecursionError) as error:
        raise EvidenceError(f"is no result of a selfcheck: {error}", where=where, hint=_COMMAND) from error
    if result.schema != SELFCHECK_SCHEMA:
        raise EvidenceError(f"is of schema {result.schema}, not {SELFCHECK_SCHEMA}", where=where, hint=_COMMAND)
    if problem := _sums(result):
        raise EvidenceError(f"does not add up: {problem}", where=where, hint=_COMMAND)
    return result


def _sums(result: Selfcheck) -> str:
    """What in the numbers contradicts itself, or ""."""
    survivors = len(result.survivors)
    equivalent = sum(item.mutants for row in result.classes for item in row.equivalent)
    for what, told, found in (
        ("mutants", result.mutants, sum(row.mutants for row in result.classes)),
        ("caught", result.caught, sum(row.caught for row in result.classes)),
        ("equivalent", result.equivalent, equivalent),
        ("survivors", survivors, sum(row.survivors for row in result.classes)),
        ("all mutants", result.mutants, result.caught + result.equivalent + survivors),
    ):
        if told != found:
            return f"{what}: {told} are said, {found} counted"
    for row in result.classes:
        parts = row.caught + row.survivors + sum(item.mutants for item in row.equivalent)
        if row.mutants != parts or min(row.mutants, row.caught, row.survivors) < 0:
            return f"class {row.id}: {row.mutants} mutants are said, {parts} counted"
    return ""


def read_state(evidence: Path, *, release: str, manifests: Mapping[str, str], features: Path) -> SelfcheckState:
    """What a judgement of `release` may take from the selfcheck in `evidence`.

    `manifests`: hex sha256 by observation of the bundles that are judged. Never raises: a file that is missing, that
    cannot be read or that was measured on something else proves nothing, and the state says what to do.
    """
    path = evidence / FILE
    if path.is_symlink() or not path.is_file():
        return SelfcheckState(fault=f"no selfcheck was made over this evidence; {_COMMAND}")
    try:
        result = decode(read_plain(path, FILE_BYTES), where=FILE)
    except (EvidenceError, UsageError) as error:
        return SelfcheckState(fault=f"{FILE} {error.message}; {_COMMAND}")
    return SelfcheckState(
        result=result, fault=fault_of(result, release=release, manifests=manifests, features=features)
    )


def fault_of(result: Selfcheck, *, release: str, manifests: Mapping[str, str], features: Path) -> str:
    """Why the result says nothing about this judgement, "" when it does."""
    measured = next((item for item in result.measured if item.release == release), None)
    if result.code != code_digest():
        return f"the selfcheck was made with other judging code; {_COMMAND}"
    if measured is None:
        return f"the selfcheck was not made over release {release}; {_COMMAND}"
    if measured.manifests != dict(manifests):
        return f"the selfcheck was made over other original runs of {release}; {_COMMAND}"
    if result.features != feature_digests(features):
        return f"the selfcheck was made with other scenarios; {_COMMAND}"
    if not result.caught:
        return f"the selfcheck caught nothing; {_COMMAND}"
    return ""
