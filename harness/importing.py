"""Bundles of captures that somebody else made: what `harness import` does for each folder of them.

Nobody here saw those runs. The bundle says so (`Recorder.foreign`), has no scenario and no stimulus to be held against,
serves no observation class, and names a binary only by what whoever imports it knows of that: a run whose binary is not
known can be judged, and never be authorized.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from harness import __version__
from harness.bundle import layout, write_bundle
from harness.bundle.secrets import machine_names
from harness.foreign import ForeignRun, read
from harness.foreign_folders import Refused, driver_of, find, refused
from harness.model.errors import EvidenceError, HarnessError, UsageError
from harness.model.facts import Column
from harness.model.manifest import MANIFEST_SCHEMA, UNKNOWN_SHA256, Capture, Manifest, Product, Recorder
from harness.model.stimulus import Stimulus, canonical, digest
from harness.publishable import not_publishable
from harness.scenario.compile import DRIVERS
from harness.sweep.names import MARKER, is_synthetic

RECORDER = "import"
FOREIGN_STIMULUS = Stimulus()
"""What an imported run was given, as far as anybody states it: nothing. No scenario can have this stimulus, because
none is without a turn, so that an imported run can never be passed off as one of a scenario."""
SUFFIX = "imported"
"""Ends the observation's id, which no id of a recorded run does: an import never takes the place of a recording."""

_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
_NAME_LENGTH = 64

Progress = Callable[[str], None]


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """What whoever imports says of all captures, because no file does.

    `product` read the captures (all of them, unless `recorded_by` is given); `recorded_by` is the older release that
    drove the runs and made the live captures, None when `product` did. `release` is the one under test, "" for
    `product`'s. `driver` stands where no capture tells which surface drove, "" for nothing said.
    """

    product: Product
    recorded_by: Product | None = None
    release: str = ""
    driver: str = ""


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """One bundle that was written, and what a person should know about it."""

    folder: str
    bundle: str
    manifest: Manifest
    notes: tuple[str, ...]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of every folder, each in the order of their names."""

    imported: tuple[Imported, ...]
    refused: tuple[Refused, ...]
    notes: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """0 when every folder became a bundle, else the worst of the reasons why one did not."""
        return max((item.exit_code for item in self.refused), default=0)


def product(version: str, sha256: str = "") -> Product:
    """A product by what the command line says of it. Raises UsageError for what is no version or no digest."""
    if not _VERSION.fullmatch(version):
        raise UsageError(f"{version!r} is no release", hint="write it like 0.104.0")
    if sha256 and not _SHA256.fullmatch(sha256):
        raise UsageError(f"{sha256!r} is no sha256", hint="write the 64 hexadecimal digits that sha256sum prints")
    return Product(version=version, sha256=sha256 or UNKNOWN_SHA256)


def import_captures(
    captures: Path,
    provenance: Provenance,
    *,
    out: Path,
    replace: bool = False,
    progress: Progress = lambda _: None,
) -> Outcome:
    """Make a bundle in `out` of every folder of captures in `captures`, those that can be.

    A folder that cannot is a value of the outcome and leaves nothing behind. Raises UsageError when `captures` is no
    folder or the provenance contradicts itself.
    """
    _check(provenance)
    captures = captures.resolve()
    found = find(captures)
    notes, no_bundle = list(found.notes), list(found.refused)
    imported: list[Imported] = []
    clashing = _clashing(found.folders)
    for folder in found.folders:
        progress(folder.name)
        try:
            if folder in clashing:
                raise UsageError(
                    f"would be the observation {_slug(folder)}, and so would {clashing[folder]}",
                    hint="import them into different evidence folders, or give them different names",
                )
            imported.append(_import(folder, provenance, out=out, replace=replace))
        except HarnessError as error:
            no_bundle.append(refused(folder, error))
        except OSError as error:
            no_bundle.append(refused(folder, UsageError(f"{error.filename or out}: {error.strerror}")))
    no_bundle.sort(key=lambda item: item.folder)
    return Outcome(imported=tuple(imported), refused=tuple(no_bundle), notes=tuple(notes))


def _check(provenance: Provenance) -> None:
    versions = [item.version for item in (provenance.product, provenance.recorded_by) if item is not None]
    if provenance.release and provenance.release not in versions:
        raise UsageError(f"no capture is of {provenance.release}, the release under test", hint=f"of {versions}")
    if provenance.driver and provenance.driver not in DRIVERS:
        raise UsageError(f"{provenance.driver!r} is no driver", hint=f"use {' or '.join(DRIVERS)}")


def _slug(folder: Path) -> str:
    return _NOT_IN_NAMES.sub("-", folder.name.lower()).strip("-")[:_NAME_LENGTH].strip("-")


def _clashing(folders: Sequence[Path]) -> dict[Path, Path]:
    """Folders that would give observations of one name, each with another one that would."""
    by_name: dict[tuple[str, str], list[Path]] = {}
    for folder in folders:
        by_name.setdefault((_slug(folder), driver_of({path.name for path in folder.iterdir()})), []).append(folder)
    return {
        folder: next(other for other in group if other != folder)
        for group in by_name.values()
        if len(group) > 1
        for folder in group
    }


def _import(folder: Path, provenance: Provenance, *, out: Path, replace: bool) -> Imported:
    if not _slug(folder):
        raise UsageError("the folder's name has no letter or digit to name the observation by", hint="rename it")
    if is_synthetic(folder.name) or (folder / MARKER).exists():
        raise EvidenceError("is synthetic, and can never be an original run", where=str(folder))
    run = read(folder)
    manifest, notes = _manifest(folder, run, provenance)
    members = {layout.STIMULUS: canonical(FOREIGN_STIMULUS), **run.members}
    if found := not_publishable(members.items(), names=machine_names()):
        raise EvidenceError(f"holds what must not be published: {found[0]}", reasons=found)
    target = out / manifest.release / manifest.observation
    if target.exists() and not replace:
        raise UsageError(f"{target} is already there", hint="use --replace to import it anew")
    written = write_bundle(target, manifest, members, replace=replace)
    return Imported(folder=str(folder), bundle=str(target), manifest=written, notes=(*run.notes, *notes))


def _manifest(folder: Path, run: ForeignRun, provenance: Provenance) -> tuple[Manifest, tuple[str, ...]]:
    """The manifest, still without its files, and further notes. Raises UsageError where a statement is missing."""
    captures = tuple(
        Capture(
            column=item.column,
            file=item.file,
            product=_made_by(item.column, provenance),
            complete=item.complete,
            note=item.note,
        )
        for item in run.captures
    )
    release = provenance.release or provenance.product.version
    if all(capture.product.version != release for capture in captures):
        raise UsageError(f"no capture is of {release}, the release under test", hint="see --release and --recorded-by")
    driver, notes = _driver(run, provenance)
    recording = provenance.recorded_by or provenance.product
    products = tuple(dict.fromkeys((recording, *(capture.product for capture in captures))))
    if run.legacy and recording.version == release:
        notes.append("no record of the session has an event id: say with --recorded-by when an older release saved it")
    if any(item.sha256 == UNKNOWN_SHA256 for item in products):
        notes.append("the binary is not known: the run can be judged, but not be authorized")
    manifest = Manifest(
        schema=MANIFEST_SCHEMA,
        observation=f"{_slug(folder)}.{driver}.{SUFFIX}",
        scenario="",
        classes=(),
        release=release,
        driver=driver,
        stimulus_sha256=digest(FOREIGN_STIMULUS),
        products=products,
        recorder=Recorder(name=RECORDER, version=__version__, foreign=True),
        recorded_at=run.recorded_at,
        workspace=run.workspace,
        session=run.session,
        children=run.children,
        captures=captures,
        files={},
    )
    return manifest, tuple(notes)


def _made_by(column: Column, provenance: Provenance) -> Product:
    live = column in (Column.LOCAL_AGENT_LIVE, Column.MISSION_CONTROL_LIVE)
    return provenance.recorded_by if live and provenance.recorded_by is not None else provenance.product


def _driver(run: ForeignRun, provenance: Provenance) -> tuple[str, list[str]]:
    """The surface that drove the run: by its live capture, or else by what was said. Raises UsageError."""
    if not run.driver and not provenance.driver:
        lives = sum(1 for item in run.captures if item.column in (Column.LOCAL_AGENT_LIVE, Column.MISSION_CONTROL_LIVE))
        what = "both surfaces have a live capture" if lives else "no live capture is there"
        raise UsageError(
            f"{what}, which would tell the surface that drove the run", hint=f"say with --driver {' or '.join(DRIVERS)}"
        )
    if run.driver and provenance.driver not in ("", run.driver):
        return run.driver, [f"driven by {run.driver}, as its live capture says, not by {provenance.driver}"]
    return run.driver or provenance.driver, []
