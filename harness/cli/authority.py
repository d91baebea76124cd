"""`harness authorize` and `harness authority new`: the release authority's own acts."""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import output, places
from harness.model.errors import EvidenceError, UsageError
from harness.model.manifest import UNKNOWN_SHA256

if TYPE_CHECKING:
    from harness.bundle import Bundle

_DAYS = 180
_RFC3339 = "%Y-%m-%dT%H:%M:%SZ"

authority_app = typer.Typer(
    help="Keys of a release authority.", no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]}
)


@authority_app.command("new")
def new_command(
    folder: Annotated[Path, typer.Argument(help="Where the two files are made; never inside a repository.")],
) -> int:
    """Make a key pair: release-authority.pem (mode 600) and release-authority.pub.pem.

    The private key is encrypted when HARNESS_KEY_PASSPHRASE is set. Nothing is ever overwritten.

    Example: harness authority new ~/keys
    """
    from harness.authorize.keys import fingerprint, new_key_pair, read_public_key  # noqa: PLC0415

    private_path, public_path = folder / "release-authority.pem", folder / "release-authority.pub.pem"
    for path in (private_path, public_path):
        if path.exists():
            raise UsageError("is already there, and a key is never overwritten", where=str(path))
    passphrase = places.passphrase()
    private, public = new_key_pair(passphrase)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(private_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(private)
    places.write_file(public_path, public)
    output.say(f"private key  {private_path}  {'encrypted' if passphrase else 'NOT encrypted'}, keep it offline")
    output.say(f"public key   {public_path}")
    output.say(f"fingerprint  {fingerprint(read_public_key(public, where=str(public_path)))}")
    output.say("Put the public key into trust-policy.toml of the evidence folder, with the role authority.")
    return 0


def authorize_command(
    bundles: Annotated[list[Path], typer.Argument(help="Bundle folders that were reviewed.")],
    key: Annotated[Path, typer.Option(help="The authority's private key (PEM, Ed25519).")],
    reason: Annotated[str, typer.Option(help="Why these runs may count.")],
    valid_from: Annotated[str | None, typer.Option(help="RFC 3339. Default: now.")] = None,
    expires: Annotated[str | None, typer.Option(help=f"RFC 3339. Default: {_DAYS} days after valid-from.")] = None,
    product_sha256: Annotated[
        list[str] | None, typer.Option(help="Refuse bundles of any other binary. Default: the binaries shown.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the envelopes. Default: authorizations/ of the evidence.")
    ] = None,
    each: Annotated[bool, typer.Option(help="One statement for each bundle instead of one for all.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before signing.")] = False,
) -> int:
    """Sign original runs that a release authority has reviewed.

    Shows what is about to be signed. Refuses bundles that do not verify, are stale, or hold secrets.

    Example: harness authorize evidence/0.104.0/* --key ~/keys/release-authority.pem --reason "reviewed on 30 November"
    """
    from harness.acceptance import PRODUCT_NAME, is_stale, load_scenarios  # noqa: PLC0415
    from harness.authorize import envelope, keys, statement  # noqa: PLC0415
    from harness.bundle import read_bundle  # noqa: PLC0415
    from harness.bundle.secrets import secrets_in  # noqa: PLC0415
    from harness.examine import examine  # noqa: PLC0415

    start = places.parse_time(valid_from)
    end = (
        places.parse_time(expires)
        if expires
        else (datetime.strptime(start, _RFC3339).replace(tzinfo=UTC) + timedelta(days=_DAYS)).strftime(_RFC3339)
    )
    if end <= start:
        raise UsageError(f"would expire at {end}, before it is valid from {start}")
    if not reason.strip():
        raise UsageError("a reason is needed", hint='write --reason "what was reviewed"')
    private = keys.read_private_key(places.key_file(key), places.passphrase(), where=str(key))
    print_ = keys.fingerprint(private.public_key())
    scenarios = {scenario.id: scenario for scenario in load_scenarios(places.default_folder("features"))}
    reviewed: list[Bundle] = []
    for folder in bundles:
        bundle = read_bundle(folder)
        manifest = bundle.manifest
        scenario = scenarios.get(manifest.scenario)
        if is_stale(manifest, scenario):
            raise EvidenceError("is stale: its scenario changed after the recording", where=str(folder))
        if found := secrets_in(bundle):
            raise EvidenceError(f"holds what must not be published: {found[0]}", where=str(folder), reasons=found)
        if manifest.recorder.key == print_:
            raise UsageError("was recorded with this very key; somebody else has to authorize it", where=str(folder))
        binaries = {product.sha256 for product in manifest.products}
        if UNKNOWN_SHA256 in binaries:
            raise UsageError(
                "does not say which binary it is of",
                where=str(folder),
                hint="import its captures anew, with --product-sha256 and, for an older release, --recorded-by-sha256",
            )
        if product_sha256 and not binaries <= set(product_sha256):
            raise UsageError(f"is of the binary {min(binaries - set(product_sha256))}", where=str(folder))
        findings = examine(bundle, scenario).compared.findings
        output.say(f"{manifest.release}/{manifest.observation}")
        output.say(f"  scenario  {manifest.scenario or '(imported, none)'}")
        output.say(f"  classes   {', '.join(manifest.classes)}")
        for product in manifest.products:
            output.say(f"  product   {product.version} sha256 {product.sha256}")
        output.say(f"  manifest  sha256 {bundle.manifest_sha256}")
        output.say(f"  findings  {len(findings)}")
        reviewed.append(bundle)
    output.say(f"Valid from {start} until {end}. Reason: {reason}")
    if not yes and not typer.confirm(f"Sign {len(reviewed)} original runs with the key {print_[:16]}…?"):
        output.say("Nothing was signed.")
        return 0
    target = out or bundles[0].resolve().parent.parent / "authorizations"
    groups = [[bundle] for bundle in reviewed] if each else _by_release(reviewed)
    for group in groups:
        payload = statement.encode(
            tuple(
                statement.Subject(
                    name=f"{bundle.manifest.release}/{bundle.manifest.observation}/manifest.json",
                    digest={"sha256": bundle.manifest_sha256},
                )
                for bundle in group
            ),
            statement.Authorizes(
                product=PRODUCT_NAME,
                release=group[0].manifest.release,
                product_sha256=tuple(
                    sorted({product.sha256 for bundle in group for product in bundle.manifest.products})
                ),
                classes=tuple(sorted({name for bundle in group for name in bundle.manifest.classes})),
                valid_from=start,
                expires=end,
                reason=reason,
            ),
        )
        name = f"{group[0].manifest.release}-{hashlib.sha256(payload).hexdigest()[:12]}-{print_[:8]}.dsse.json"
        places.write_file(target / name, envelope.sign(payload, [private]))
        output.say(f"signed {len(group)} original runs: {target / name}")
    return 0


def _by_release(bundles: list[Bundle]) -> list[list[Bundle]]:
    groups: dict[str, list[Bundle]] = {}
    for bundle in bundles:
        groups.setdefault(bundle.manifest.release, []).append(bundle)
    return list(groups.values())
