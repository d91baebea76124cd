"""What makes a bundle whole, wherever its bytes come from: nothing is believed before its digest was checked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Protocol

import jiter
import msgspec

from harness.bundle import layout
from harness.model.errors import EvidenceError
from harness.model.manifest import MANIFEST_SCHEMA, Manifest, StoredFile
from harness.model.stimulus import Stimulus, canonical

_CHECKSUM_BYTES = 256
_REASONS_IN_MESSAGE = 5


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """A verified bundle. `stored` holds the bytes as they lie in the folder, already held against the manifest."""

    folder: str
    manifest: Manifest
    manifest_sha256: str
    stimulus: Stimulus
    stored: dict[str, bytes]

    def read(self, name: str) -> bytes:
        """Raw content of a member (unpacked). Raises KeyError when the manifest does not list it."""
        entry = self.manifest.files[name]
        if not name.endswith(".gz"):
            return self.stored[name]
        return layout.decompress(self.stored[name], entry.size, f"{self.folder}/{name}")


class Source(Protocol):
    """Files of a bundle about which nothing is known yet."""

    @property
    def where(self) -> str:
        """What errors call the bundle."""

    def names(self) -> set[str]:
        """Every file; raises EvidenceError when something else than files is there."""

    def read(self, name: str, limit: int) -> bytes:
        """The whole of one file; raises EvidenceError when it has more than `limit` bytes or cannot be read."""


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """A bundle in memory, which a writer is about to write."""

    where: str
    files: Mapping[str, bytes]

    def names(self) -> set[str]:
        return set(self.files)

    def read(self, name: str, limit: int) -> bytes:
        if len(self.files[name]) > limit:
            raise EvidenceError(f"{name} is larger than {limit} bytes", where=self.where)
        return self.files[name]


def refuse(problems: Iterable[str], where: str) -> None:
    """Raise one EvidenceError of all `problems`, if there are any."""
    reasons = tuple(problems)
    if reasons:
        shown = "; ".join(reasons[:_REASONS_IN_MESSAGE])
        more = len(reasons) - _REASONS_IN_MESSAGE
        raise EvidenceError(f"{shown}; and {more} more" if more > 0 else shown, where=where, reasons=reasons)


def _strict_json(text: bytes) -> object:
    """Raises ValueError for anything but one JSON value in UTF-8 without doubled members."""
    return jiter.from_json(text, catch_duplicate_keys=True, allow_inf_nan=False)


def decode_manifest(text: bytes, where: str) -> Manifest:
    """The manifest in `text`, which must be canonical JSON of schema 1 with no unknown or doubled members.

    Raises EvidenceError that names the field.
    """
    try:
        plain = _strict_json(text)
    except ValueError as error:
        raise EvidenceError(f"the manifest is not strict JSON: {error}", where=where) from error
    schema = plain.get("schema") if isinstance(plain, dict) else None
    if isinstance(schema, int) and schema != MANIFEST_SCHEMA:
        raise EvidenceError(
            f"the manifest is of schema {str(schema)[:20]}; this harness reads schema {MANIFEST_SCHEMA}", where=where
        )
    try:
        manifest = msgspec.convert(plain, Manifest)
    except msgspec.ValidationError as error:
        raise EvidenceError(f"the manifest is not valid: {error}", where=where) from error
    if canonical(manifest) + b"\n" != text:
        raise EvidenceError("the manifest is not in canonical form", where=where)
    return manifest


def _naming_problems(names: Iterable[str]) -> Iterable[str]:
    """Names that are unsafe, or that cannot lie beside each other on every file system."""
    taken: dict[str, str] = {}
    for name in sorted(names):
        if problem := layout.name_error(name):
            yield f"{name!r} {problem}"
        elif (other := taken.setdefault(name.lower(), name)) != name:
            yield f"{other} and {name} differ only in capitals"
        elif (folder := name.lower().partition("/")[0]) != name.lower() and folder in taken:
            yield f"{taken[folder]} is a file and the folder of {name}"


def _size_problems(files: Mapping[str, StoredFile]) -> Iterable[str]:
    for name, entry in files.items():
        if min(entry.size, entry.stored_size) < 0:
            yield f"{name} has a negative size"
        elif max(entry.size, entry.stored_size) > layout.MEMBER_BYTES:
            yield f"{name} is larger than {layout.MEMBER_BYTES} bytes"
    if max(sum(entry.size for entry in files.values()), sum(entry.stored_size for entry in files.values())) > (
        layout.BUNDLE_BYTES
    ):
        yield f"the members are larger than {layout.BUNDLE_BYTES} bytes together"


def _listing_problems(manifest: Manifest, found: set[str]) -> Iterable[str]:
    """How the manifest's listing differs from the files that are there, and from what the manifest itself refers to."""
    yield from _naming_problems(manifest.files)
    yield from _size_problems(manifest.files)
    yield from (f"{name!r} is missing" for name in sorted(manifest.files.keys() - found))
    yield from (f"{name!r} is not in the manifest" for name in sorted(found - manifest.files.keys()))
    referred = [capture.file for capture in manifest.captures]
    referred += [*manifest.children, layout.STIMULUS, *([manifest.session] if manifest.session else [])]
    yield from (
        f"the manifest names {name!r}, which it does not list" for name in referred if name not in manifest.files
    )


def _member_problem(name: str, entry: StoredFile, content: bytes) -> str | None:
    if len(content) != entry.stored_size:
        return f"{name} has {len(content)} bytes, the manifest says {entry.stored_size}"
    if hashlib.sha256(content).hexdigest() != entry.stored_sha256:
        return f"{name} does not have the digest that the manifest states"
    if name.endswith(".gz"):
        try:
            content = layout.decompress(content, entry.size, name)
        except EvidenceError as error:
            return f"{name} {error.message}"
    if len(content) != entry.size or hashlib.sha256(content).hexdigest() != entry.sha256:
        return f"the content of {name} is not what the manifest states"
    return None


def _decode_stimulus(text: bytes, where: str) -> Stimulus:
    try:
        return msgspec.convert(_strict_json(text), Stimulus)
    except (ValueError, msgspec.ValidationError) as error:
        raise EvidenceError(f"{layout.STIMULUS} is not a stimulus: {error}", where=where) from error


def verified(source: Source) -> Bundle:
    """The bundle in `source`. Raises EvidenceError with every reason found, as `read_bundle` says."""
    where = source.where
    found = source.names()
    refuse((f"{name} is missing" for name in (layout.MANIFEST, layout.CHECKSUM) if name not in found), where)
    if len(found) > layout.FILES_PER_BUNDLE:
        refuse([f"more than {layout.FILES_PER_BUNDLE} files"], where)
    text = source.read(layout.MANIFEST, layout.MANIFEST_BYTES)
    sha256 = hashlib.sha256(text).hexdigest()
    if source.read(layout.CHECKSUM, _CHECKSUM_BYTES) != layout.checksum(text):
        refuse([f"{layout.CHECKSUM} does not name the digest of {layout.MANIFEST}"], where)
    manifest = decode_manifest(text, f"{where}/{layout.MANIFEST}")
    refuse(_listing_problems(manifest, found - {layout.MANIFEST, layout.CHECKSUM}), where)

    problems: list[str] = []
    stored: dict[str, bytes] = {}
    for name, entry in manifest.files.items():
        try:
            stored[name] = source.read(name, entry.stored_size)
        except EvidenceError as error:
            problems.extend(error.reasons)
        else:
            problem = _member_problem(name, entry, stored[name])
            problems.extend([problem] if problem else [])
    if manifest.files[layout.STIMULUS].sha256 != manifest.stimulus_sha256:
        problems.append(f"{layout.STIMULUS} is not the stimulus that the manifest is bound to")
    refuse(problems, where)
    stimulus = _decode_stimulus(stored[layout.STIMULUS], where)
    return Bundle(folder=where, manifest=manifest, manifest_sha256=sha256, stimulus=stimulus, stored=stored)
