"""What a bundle says about itself: the manifest, whose sha256 is the subject of every authorization."""

from __future__ import annotations

import msgspec

from harness.model.facts import Column

MANIFEST_SCHEMA = 1

UNKNOWN_SHA256 = ""
"""Stands for the digest of a binary that nobody stated. It is no digest, so that no authorization can name it."""


class Product(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One binary under test: its release version and the hex sha256 of the binary file, or `UNKNOWN_SHA256` in imports
    whose binary is not known: such a run is never authorized."""

    version: str
    sha256: str


class Recorder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who made the captures and with what. `foreign`: captures made by somebody else's tools and imported. `key` is
    the fingerprint of the recorder's own key, "" when it has none: that key can never authorize the run."""

    name: str
    version: str
    foreign: bool = False
    key: str = ""


class StoredFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One member. `size`, `sha256` are of the raw content; `stored_size`, `stored_sha256` of the file as it lies
    in the bundle (gzip for members whose name ends in ``.gz``, else the same)."""

    size: int
    sha256: str
    stored_size: int
    stored_sha256: str


class Capture(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One surface's capture. `complete` False: the surface ended before the reading was finished (a killed run);
    `note` then says why."""

    column: Column
    file: str
    product: Product
    complete: bool
    note: str = ""


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One original run.

    `observation` is the bundle's id, unique within a release; `scenario` is ``<feature file name>::<scenario name>``
    or "" for imports without one. `driver` is ``local-agent`` or ``mission-control``. `release` is the version under
    test (the reopening one for legacy sessions). `workspace` is the neutral absolute path at which the run happened, ""
    for imports that do not say. `session` is the member holding the saved session ("" when the run saved none),
    `children` those of child sessions. Times are RFC 3339 UTC.
    """

    schema: int
    observation: str
    scenario: str
    classes: tuple[str, ...]
    release: str
    driver: str
    stimulus_sha256: str
    products: tuple[Product, ...]
    recorder: Recorder
    recorded_at: str
    workspace: str
    session: str
    children: tuple[str, ...]
    captures: tuple[Capture, ...]
    files: dict[str, StoredFile]
