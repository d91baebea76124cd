"""What a release authority is shown before it signs, and what it is kept from signing: one bundle, verified again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harness.bundle import Bundle, read_bundle
from harness.cli import output, places
from harness.model.errors import EvidenceError, UsageError
from harness.model.manifest import UNKNOWN_SHA256
from harness.model.verdict import Finding

if TYPE_CHECKING:
    from harness.scenario.compile import Scenario


class Reviewed(msgspec.Struct, frozen=True, kw_only=True):
    """One bundle that may be signed, with what disagrees in it."""

    bundle: Bundle
    findings: tuple[Finding, ...]


def review(
    folder: Path, scenarios: Mapping[str, Scenario], *, signer: str, binaries: Collection[str] | None
) -> Reviewed:
    """Verify the bundle in `folder` for whoever holds the key with the fingerprint `signer`.

    `binaries`: hex sha256 that alone may be signed for; None for any that is known. Raises EvidenceError for a bundle
    that does not verify, is stale or holds what must not be published, UsageError for one that `signer` may not sign.
    """
    from harness.acceptance import is_stale  # noqa: PLC0415 # these bring all stages
    from harness.examine import examine  # noqa: PLC0415
    from harness.publishable import not_publishable_in  # noqa: PLC0415

    bundle = read_bundle(folder)
    manifest = bundle.manifest
    scenario = scenarios.get(manifest.scenario)
    if is_stale(manifest, scenario):
        raise EvidenceError(
            "is stale: its scenario changed after the recording", where=str(folder), hint="record it anew"
        )
    if found := not_publishable_in(bundle):
        raise EvidenceError(f"holds what must not be published: {found[0]}", where=str(folder), reasons=found)
    if manifest.recorder.key == signer:
        raise UsageError("was recorded with this very key; somebody else has to authorize it", where=str(folder))
    own = {product.sha256 for product in manifest.products}
    if UNKNOWN_SHA256 in own:
        raise UsageError(
            "does not say which binary it is of",
            where=str(folder),
            hint="import its captures anew, with --product-sha256 and, for an older release, --recorded-by-sha256",
        )
    if binaries is not None and not own <= set(binaries):
        raise UsageError(f"is of the binary {min(own - set(binaries))}", where=str(folder))
    return Reviewed(bundle=bundle, findings=examine(bundle, scenario).compared.findings)


def show(reviewed: Reviewed, *, asked: bool) -> None:
    """What is about to be signed: as much as there is, or one line when quiet, since a signature stands for what was
    seen. Nothing where nobody is `asked` and nobody looks."""
    manifest = reviewed.bundle.manifest
    quiet = output.loudness() is output.Loudness.QUIET
    late = manifest.recorded_at > places.parse_time(None)
    coming = "which is still to come by this machine's clock: is the clock right?"
    if quiet:
        if late:
            output.warn(f"{_name(reviewed)} was recorded {manifest.recorded_at}", coming)
        if asked:
            output.say(f"{brief(reviewed)}, manifest sha256 {reviewed.bundle.manifest_sha256}")
        return
    output.say(_name(reviewed))
    output.say(f"  scenario  {manifest.scenario or '(imported, none)'}")
    output.say(f"  classes   {', '.join(manifest.classes)}")
    for product in manifest.products:
        output.say(f"  product   {product.version} sha256 {product.sha256}")
    by = f"{manifest.recorder.name} {manifest.recorder.version}{', a foreign recorder' * manifest.recorder.foreign}"
    output.say(f"  recorded  {manifest.recorded_at} by {by}")
    if late:
        output.say(f"            {coming}")
    output.say(f"  manifest  sha256 {reviewed.bundle.manifest_sha256}")
    output.say(f"  findings  {len(reviewed.findings)}")
    for found in reviewed.findings:
        output.detail(f"    {found.id} {found.requirement}: expected {found.expected}, observed {found.observed}")


def brief(reviewed: Reviewed) -> str:
    """The run, and how much disagrees in it."""
    from harness.model.words import plural  # noqa: PLC0415

    return f"{_name(reviewed)} with {plural(len(reviewed.findings), 'finding')}"


def _name(reviewed: Reviewed) -> str:
    return f"{reviewed.bundle.manifest.release}/{reviewed.bundle.manifest.observation}"


def described(reviewed: Reviewed) -> dict[str, object]:
    """The same as a JSON object."""
    manifest = reviewed.bundle.manifest
    return {
        "bundle": _name(reviewed),
        "scenario": manifest.scenario,
        "classes": manifest.classes,
        "products": manifest.products,
        "recorded_at": manifest.recorded_at,
        "recorder": manifest.recorder,
        "manifest_sha256": reviewed.bundle.manifest_sha256,
        "findings": [found.id for found in reviewed.findings],
    }
