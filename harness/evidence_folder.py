"""An evidence folder beside its bundles: the trust policy, the authorizations and the waivers, read from disk."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec

from harness.authorize.decide import Claim, read_claims
from harness.authorize.envelope import ENVELOPE_BYTES
from harness.authorize.policy import Policy, decode_policy
from harness.bundle import Bundle, read_bundle
from harness.compare.waivers import Waiver, decode_waivers
from harness.model.errors import EvidenceError, UsageError
from harness.model.manifest import Manifest
from harness.model.verdict import Damage, UnreadAuthorization

POLICY = "trust-policy.toml"
WAIVERS = "waivers.toml"
AUTHORIZATIONS = "authorizations"
ENVELOPE_SUFFIX = ".dsse.json"
_TEXT_BYTES = 1_048_576
_ENVELOPES = 4_096


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """Everything outside the bundles that a verdict depends on. Digests are hex sha256 by file name, "" for a file
    among the authorizations that could not even be opened as a plain file of bounded size."""

    policy: Policy
    claims: tuple[Claim, ...]
    unread: tuple[UnreadAuthorization, ...]
    waivers: tuple[Waiver, ...]
    policy_sha256: str
    waivers_sha256: str
    authorizations: dict[str, str]


def read_plain(path: Path, limit: int) -> bytes:
    """A plain file's bytes. Raises UsageError when it is a link, no file, or larger than `limit`."""
    if path.is_symlink() or not path.is_file():
        raise UsageError("is no plain file", where=str(path))
    with path.open("rb") as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise UsageError(f"is larger than {limit} bytes", where=str(path))
    return content


def digest_of(path: Path) -> str:
    """Hex sha256 of a file, "" when there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _text(content: bytes, path: Path) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"is not UTF-8: {error}", where=str(path)) from error


def read_trust(evidence: Path) -> Trust:
    """Read policy, authorizations and waivers of an evidence folder.

    Without a policy nobody is trusted; without waivers nothing is waived. Raises UsageError for a policy or waivers
    that are not what they should be. An authorization that cannot be read counts for nothing and is returned as such:
    whoever adds one can take nothing away from the evidence, and whoever damages one only what it gave.
    """
    policy, policy_sha256 = Policy(threshold=1, keys=()), ""
    path = evidence / POLICY
    if path.exists():
        content = read_plain(path, _TEXT_BYTES)
        policy, policy_sha256 = (
            decode_policy(_text(content, path), where=str(path)),
            hashlib.sha256(content).hexdigest(),
        )
    waivers: tuple[Waiver, ...] = ()
    waivers_sha256 = ""
    path = evidence / WAIVERS
    if path.exists():
        content = read_plain(path, _TEXT_BYTES)
        waivers, waivers_sha256 = (
            decode_waivers(_text(content, path), where=str(path)),
            hashlib.sha256(content).hexdigest(),
        )
    envelopes, unread = _read_envelopes(evidence / AUTHORIZATIONS)
    claims, broken = read_claims(envelopes, policy)
    unread |= dict(broken)
    return Trust(
        policy=policy,
        claims=claims,
        unread=tuple(
            UnreadAuthorization(name=f"{AUTHORIZATIONS}/{name}", reason=reason)
            for name, reason in sorted(unread.items())
        ),
        waivers=waivers,
        policy_sha256=policy_sha256,
        waivers_sha256=waivers_sha256,
        authorizations={
            name: hashlib.sha256(envelopes[name]).hexdigest() if name in envelopes else ""
            for name in sorted(envelopes.keys() | unread.keys())
        },
    )


def _read_envelopes(folder: Path) -> tuple[dict[str, bytes], dict[str, str]]:
    """The bytes of every envelope file, and why the other files of the folder are none. Hidden files are not looked at.

    Raises UsageError when there are more than anybody signs.
    """
    found = sorted(path for path in folder.iterdir() if not path.name.startswith(".")) if folder.is_dir() else []
    if len(found) > _ENVELOPES:
        raise UsageError(f"has more than {_ENVELOPES} envelopes", where=str(folder))
    envelopes: dict[str, bytes] = {}
    unread: dict[str, str] = {}
    for path in found:
        if not path.name.endswith(ENVELOPE_SUFFIX):
            unread[path.name] = f"its name does not end in {ENVELOPE_SUFFIX}"
            continue
        try:
            envelopes[path.name] = read_plain(path, ENVELOPE_BYTES)
        except UsageError as error:
            unread[path.name] = error.message
        except OSError as error:
            unread[path.name] = error.strerror or "cannot be read"
    return envelopes, unread


def misplaced(folder: Path, manifest: Manifest) -> str:
    """Why a bundle does not belong where it stands, or "": its folder says another run, or another release."""
    name, above = folder.resolve().name, folder.resolve().parent.name
    if name != manifest.observation:
        return f"the folder holds the observation {manifest.observation}"
    if re.fullmatch(r"[0-9]+(\.[0-9]+)+", above) and above != manifest.release:
        return f"it stands under {above} and is of release {manifest.release}"
    return ""


def read_placed(folder: Path) -> Bundle | Damage:
    """The bundle in a folder, or every reason why there is none that verifies and belongs there."""
    try:
        bundle = read_bundle(folder)
    except EvidenceError as error:
        return Damage(bundle=folder.name, reasons=error.reasons)
    if reason := misplaced(folder, bundle.manifest):
        return Damage(bundle=folder.name, reasons=(reason,))
    return bundle
