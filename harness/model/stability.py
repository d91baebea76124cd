"""What several recordings of the same runs show: which facts came out alike every time, and which did not."""

from __future__ import annotations

import msgspec

STABILITY_SCHEMA = 1


class Variation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing that came out otherwise in some recording.

    `what` is ``fact``, ``card``, ``capture`` or ``finding``. `card` and `label` are "" where they do not apply;
    `detail` says which member of a card or which finding. `values`: what each recording showed, in the order of
    recordings; "" for one in which the run is not.
    """

    what: str
    observation: str
    surface: str
    card: str
    label: str
    ordinal: int
    detail: str
    values: tuple[str, ...]


class Repeated(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The recordings of one release that were held against each other.

    `manifests`: by observation, hex sha256 of the manifest in each recording that has the run, the judged evidence's
    own first. `compared` counts facts on surfaces, `not_compared` those about which one recording says nothing.
    """

    release: str
    recordings: int
    manifests: dict[str, tuple[str, ...]]
    compared: int
    not_compared: int
    variations: tuple[Variation, ...]


class Stability(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file: one entry a release, sorted by release. `harness` is the version that compared."""

    schema: int
    harness: str
    releases: tuple[Repeated, ...]


class StabilityState(msgspec.Struct, frozen=True, kw_only=True):
    """What a judgement knows of it. `repeated` None: nothing could be read. `fault` says why the runs at hand are not
    known to be stable, "" when they are known. `undeclared`: variations that no scenario declares."""

    repeated: Repeated | None = None
    fault: str = ""
    undeclared: tuple[Variation, ...] = ()

    @property
    def declared(self) -> int:
        """How many variations the scenarios declare."""
        return len(self.repeated.variations) - len(self.undeclared) if self.repeated else 0
