"""Signatures that can count for nothing: no trust policy lies beside them, or it does not take the signing key for one.

That is no error, since a policy may come later and from somebody else. But whoever signs or judges is told once.
"""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from harness.authorize.keys import fingerprint
from harness.authorize.policy import Policy, Role, TrustedKey
from harness.cli import output, places
from harness.evidence_folder import POLICY, Trust

_FORM = f"the harness's own evidence/{POLICY} shows how"


def missing_policy(evidence: Path, trust: Trust) -> Path | None:
    """Where the policy of an evidence folder should lie that has authorizations and none; None when all is well."""
    return evidence / POLICY if trust.authorizations and not trust.policy_sha256 else None


def why_missing(policy: Path) -> str:
    """What the missing policy means, in one line."""
    return f"there is no {places.shown(policy)}, so that no signature counts"


def what_to_do(policy: Path) -> tuple[str, str]:
    """What to do about it, and what that is good for."""
    return f"write {places.shown(policy)}", f"whose signatures count; {_FORM}"


def warn_of_missing_policy(policy: Path) -> None:
    """Say it on standard error."""
    do, purpose = what_to_do(policy)
    output.warn(why_missing(policy), f"{do}: {purpose}")


def warn_of_key(key: Ed25519PublicKey, policy: Policy | None, path: Path, at: str) -> None:
    """Say on standard error that what this key signs at `at` (RFC 3339 UTC) will count for nothing, if that is so.

    `policy` is the one in `path`, beside the bundles; None when there is none.
    """
    where, called = places.shown(path), f"the key {fingerprint(key)[:16]}…"
    nothing = "so that this signature will count for nothing"
    if policy is None:
        head = ["schema = 1", "threshold = 1", ""]
        output.warn(f"there is no {where}, {nothing}", "for it to count, write into that file:", *head, *_entry(key))
    elif (known := policy.by_fingerprint(fingerprint(key))) is None:
        output.warn(f"{called} is not in {where}, {nothing}", "for it to count, add to that file:", *_entry(key))
    elif refused := _refused(known, at):
        output.warn(
            f"{called} ({known.name}) {refused}, {nothing}", f"so says {where}: sign with another key, or change it"
        )


def _refused(key: TrustedKey, at: str) -> str:
    """Why a key of the policy authorizes nothing any more, "" when it does or will."""
    if key.role is not Role.AUTHORITY:
        return f"has the role {key.role.value} and no other"
    if key.revoked and key.revoked <= at:
        return f"is revoked since {key.revoked}"
    if key.valid_until and key.valid_until <= at:
        return f"was valid until {key.valid_until}"
    return ""


def _entry(key: Ed25519PublicKey) -> list[str]:
    """The lines of a policy that make this key an authority's."""
    pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode().splitlines()
    return ["[[key]]", 'name = "who holds the key"', 'role = "authority"', 'public_key = """', *pem, '"""']
