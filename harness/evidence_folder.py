"""An evidence folder beside its bundles: the trust policy, the authorizations and the waivers, read from disk."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from harness.authorize.decide import Claim, read_claims
from harness.authorize.envelope import ENVELOPE_BYTES
from harness.authorize.policy import Policy, decode_policy
from harness.compare.waivers import Waiver, decode_waivers
from harness.model.errors import UsageError
from harness.model.verdict import Damage

POLICY = "trust-policy.toml"
WAIVERS = "waivers.toml"
AUTHORIZATIONS = "authorizations"
_TEXT_BYTES = 1_048_576
_ENVELOPES = 4_096


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """Everything outside the bundles that a verdict depends on. Digests are hex sha256 by file name."""

    policy: Policy
    claims: tuple[Claim, ...]
    broken: tuple[Damage, ...]
    waivers: tuple[Waiver, ...]
    policy_sha256: str
    waivers_sha256: str
    authorizations: dict[str, str]


def _read(path: Path, limit: int) -> bytes:
    """A plain file's bytes. Raises UsageError when it is a link, no file, or larger than `limit`."""
    if path.is_symlink() or not path.is_file():
        raise UsageError("is no plain file", where=str(path))
    with path.open("rb") as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise UsageError(f"is larger than {limit} bytes", where=str(path))
    return content


def _text(content: bytes, path: Path) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"is not UTF-8: {error}", where=str(path)) from error


def read_trust(evidence: Path) -> Trust:
    """Read policy, authorizations and waivers of an evidence folder.

    Without a policy nobody is trusted; without waivers nothing is waived. Raises UsageError for files that are there
    and are not what they should be; an envelope that cannot be read is damaged evidence and is returned as such.
    """
    policy, policy_sha256 = Policy(threshold=1, keys=()), ""
    path = evidence / POLICY
    if path.exists():
        content = _read(path, _TEXT_BYTES)
        policy, policy_sha256 = (
            decode_policy(_text(content, path), where=str(path)),
            hashlib.sha256(content).hexdigest(),
        )
    waivers: tuple[Waiver, ...] = ()
    waivers_sha256 = ""
    path = evidence / WAIVERS
    if path.exists():
        content = _read(path, _TEXT_BYTES)
        waivers, waivers_sha256 = (
            decode_waivers(_text(content, path), where=str(path)),
            hashlib.sha256(content).hexdigest(),
        )
    folder = evidence / AUTHORIZATIONS
    files = sorted(folder.glob("*.dsse.json")) if folder.is_dir() else []
    if len(files) > _ENVELOPES:
        raise UsageError(f"has more than {_ENVELOPES} envelopes", where=str(folder))
    envelopes = {file.name: _read(file, ENVELOPE_BYTES) for file in files}
    claims, broken = read_claims(envelopes, policy)
    return Trust(
        policy=policy,
        claims=claims,
        broken=tuple(Damage(bundle=f"{AUTHORIZATIONS}/{name}", reasons=(reason,)) for name, reason in broken),
        waivers=waivers,
        policy_sha256=policy_sha256,
        waivers_sha256=waivers_sha256,
        authorizations={name: hashlib.sha256(content).hexdigest() for name, content in envelopes.items()},
    )
