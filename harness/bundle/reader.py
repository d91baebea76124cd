"""Reading a bundle: every byte is covered, and nothing is believed before its digest was checked."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

import jiter
import msgspec

from harness.bundle import layout
from harness.model.errors import EvidenceError
from harness.model.manifest import MANIFEST_SCHEMA, Manifest, StoredFile
from harness.model.stimulus import Stimulus, canonical


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


def _refuse(problems: list[str], folder: Path) -> None:
    if problems:
        raise EvidenceError(
            "; ".join(problems[:5]),
            where=str(folder),
            hint="restore the bundle or record it again",
            reasons=tuple(problems),
        )


def _list_files(folder: Path, problems: list[str]) -> dict[str, Path]:
    """Relative name to path of every regular file, at most one folder deep; anything else is a problem."""
    found: dict[str, Path] = {}
    pending = [folder]
    while pending:
        current = pending.pop()
        for path in sorted(current.iterdir()):
            name = path.relative_to(folder).as_posix()
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode) and current is folder:
                pending.append(path)
            elif stat.S_ISREG(mode):
                found[name] = path
            else:
                problems.append(f"{name!r} is neither a plain file nor a first-level folder")
            if len(found) > layout.FILES_PER_BUNDLE:
                problems.append(f"more than {layout.FILES_PER_BUNDLE} files")
                return found
    return found


def _read_bounded(path: Path, limit: int, name: str, problems: list[str]) -> bytes:
    with path.open("rb") as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        problems.append(f"{name} is larger than {limit} bytes")
        return b""
    return content


def decode_manifest(text: bytes, where: str) -> Manifest:
    """The manifest in `text`, which must be canonical JSON of schema 1 with no unknown or doubled members.

    Raises EvidenceError that names the field.
    """
    try:
        plain = jiter.from_json(text, catch_duplicate_keys=True)
    except ValueError as error:
        raise EvidenceError(f"the manifest is not strict JSON: {error}", where=where) from error
    if isinstance(plain, dict) and plain.get("schema") != MANIFEST_SCHEMA:
        raise EvidenceError(
            f"the manifest is of schema {plain.get('schema')!r}; this harness reads schema {MANIFEST_SCHEMA}",
            where=where,
        )
    try:
        manifest = msgspec.convert(plain, Manifest)
    except (msgspec.ValidationError, ValueError) as error:
        raise EvidenceError(f"the manifest is not valid: {error}", where=where) from error
    if canonical(manifest) + b"\n" != text:
        raise EvidenceError("the manifest is not in canonical form", where=where)
    return manifest


def _check_member(name: str, entry: StoredFile, content: bytes, where: str) -> list[str]:
    if len(content) != entry.stored_size:
        return [f"{name} has {len(content)} bytes, the manifest says {entry.stored_size}"]
    if hashlib.sha256(content).hexdigest() != entry.stored_sha256:
        return [f"{name} does not have the digest that the manifest states"]
    if entry.size > layout.MEMBER_BYTES:
        return [f"{name} unpacks to more than {layout.MEMBER_BYTES} bytes"]
    if name.endswith(".gz"):
        try:
            content = layout.decompress(content, entry.size, where)
        except EvidenceError as error:
            return [f"{name} {error.message}"]
    if len(content) != entry.size or hashlib.sha256(content).hexdigest() != entry.sha256:
        return [f"the content of {name} is not what the manifest states"]
    return []


def _referenced(manifest: Manifest) -> list[str]:
    names = [capture.file for capture in manifest.captures]
    names.extend(manifest.children)
    if manifest.session:
        names.append(manifest.session)
    return names


def read_bundle(folder: Path) -> Bundle:
    """Verify and read the bundle in `folder`.

    Raises EvidenceError with every reason found: missing, extra, renamed, linked, cut, grown or changed members, a
    manifest that is unreadable, of another schema or not the one its checksum names, a stimulus that is not the one
    that the manifest is bound to.
    """
    problems: list[str] = []
    if folder.is_symlink() or not folder.is_dir():
        _refuse(["is not a folder" if folder.exists() else "is not there"], folder)
    found = _list_files(folder, problems)
    problems.extend(f"{name} is missing" for name in (layout.MANIFEST, layout.CHECKSUM) if name not in found)
    _refuse(problems, folder)
    text = _read_bounded(found.pop(layout.MANIFEST), layout.MANIFEST_BYTES, layout.MANIFEST, problems)
    checksum = _read_bounded(found.pop(layout.CHECKSUM), 256, layout.CHECKSUM, problems)
    sha256 = hashlib.sha256(text).hexdigest()
    if checksum != f"{sha256}  {layout.MANIFEST}\n".encode():
        problems.append(f"{layout.CHECKSUM} does not name the digest of {layout.MANIFEST}")
    _refuse(problems, folder)
    manifest = decode_manifest(text, str(folder / layout.MANIFEST))

    problems.extend(f"{name!r} {problem}" for name in manifest.files if (problem := layout.name_error(name)))
    problems.extend(f"{name} is missing" for name in sorted(manifest.files.keys() - found.keys()))
    problems.extend(f"{name} is not in the manifest" for name in sorted(found.keys() - manifest.files.keys()))
    problems.extend(
        f"the manifest names {name}, which it does not list"
        for name in [*_referenced(manifest), layout.STIMULUS]
        if name not in manifest.files
    )
    if sum(entry.size for entry in manifest.files.values()) > layout.BUNDLE_BYTES:
        problems.append(f"the members unpack to more than {layout.BUNDLE_BYTES} bytes")
    _refuse(problems, folder)

    stored: dict[str, bytes] = {}
    for name, entry in manifest.files.items():
        content = _read_bounded(found[name], layout.MEMBER_BYTES, name, problems)
        problems.extend(_check_member(name, entry, content, f"{folder}/{name}"))
        stored[name] = content
    if manifest.files[layout.STIMULUS].sha256 != manifest.stimulus_sha256:
        problems.append(f"{layout.STIMULUS} is not the stimulus that the manifest is bound to")
    _refuse(problems, folder)
    try:
        stimulus = msgspec.json.decode(stored[layout.STIMULUS], type=Stimulus)
    except (msgspec.DecodeError, ValueError) as error:
        raise EvidenceError(f"{layout.STIMULUS} is not a stimulus: {error}", where=str(folder)) from error
    return Bundle(folder=str(folder), manifest=manifest, manifest_sha256=sha256, stimulus=stimulus, stored=stored)
