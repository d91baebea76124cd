"""One bundle against all envelopes and the policy: authorized, or the reason why not (evidence.md, "Authorization")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from harness.authorize import envelope as dsse
from harness.authorize import statement as intoto
from harness.authorize.policy import Policy, Role, TrustedKey
from harness.model.errors import DecodeError
from harness.model.manifest import Manifest
from harness.model.verdict import Authorization


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One envelope, verified and read. `signers` are policy keys that signed; `unknown` counts other signatures."""

    name: str
    statement: intoto.Statement
    signers: tuple[TrustedKey, ...]
    unknown: int


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """`detail` is one readable clause; `authority` names the keys that authorize, "" otherwise."""

    status: Authorization
    detail: str
    authority: str = ""


def read_claims(
    envelopes: Mapping[str, bytes], policy: Policy
) -> tuple[tuple[Claim, ...], tuple[tuple[str, str], ...]]:
    """Verify and decode every envelope file; returns the claims and (name, reason) of files that are none.

    The bytes that are decoded are the very bytes that were verified.
    """
    claims: list[Claim] = []
    broken: list[tuple[str, str]] = []
    for name, content in sorted(envelopes.items()):
        try:
            verified = dsse.verify(dsse.decode(content, where=name), [key.key for key in policy.keys], where=name)
            statement = intoto.decode(verified.payload, payload_type=verified.payload_type, where=name)
        except DecodeError as error:
            broken.append((name, str(error)))
            continue
        known = [policy.by_fingerprint(print_) for print_ in verified.signers]
        claims.append(
            Claim(
                name=name,
                statement=statement,
                signers=tuple(key for key in known if key is not None),
                unknown=verified.unknown,
            )
        )
    return tuple(claims), tuple(broken)


_CLOSEST_FIRST = (
    Authorization.EXPIRED,
    Authorization.NOT_YET_VALID,
    Authorization.WRONG_SCOPE,
    Authorization.BELOW_THRESHOLD,
    Authorization.REVOKED,
    Authorization.SELF_AUTHORIZED,
    Authorization.WRONG_ROLE,
    Authorization.UNKNOWN_KEY,
)


def _key_refusal(key: TrustedKey, manifest: Manifest, at: str) -> Decision | None:
    """Why this signer does not count for this bundle at this time, or None."""
    if key.role is not Role.AUTHORITY:
        return Decision(status=Authorization.WRONG_ROLE, detail=f"{key.name} signed as {key.role.value}")
    if key.revoked and key.revoked <= at:
        because = f": {key.revoked_because}" if key.revoked_because else ""
        return Decision(status=Authorization.REVOKED, detail=f"the key {key.name} is revoked{because}")
    if manifest.recorder.key and manifest.recorder.key == key.fingerprint:
        return Decision(status=Authorization.SELF_AUTHORIZED, detail=f"{key.name} recorded the run itself")
    if key.valid_until and key.valid_until <= at:
        return Decision(status=Authorization.EXPIRED, detail=f"the key {key.name} was valid until {key.valid_until}")
    if key.valid_from and at < key.valid_from:
        return Decision(status=Authorization.NOT_YET_VALID, detail=f"the key {key.name} is valid from {key.valid_from}")
    return None


def _scope_refusal(predicate: intoto.Authorizes, manifest: Manifest, product: str) -> str:
    if predicate.product != product or predicate.release != manifest.release:
        return f"signed for {predicate.product} {predicate.release}"
    foreign = {item.sha256 for item in manifest.products} - set(predicate.product_sha256)
    if foreign:
        return f"signed for other binaries than {min(foreign)[:16]}…"
    beyond = set(manifest.classes) - set(predicate.classes)
    if beyond:
        return f"not signed for {', '.join(sorted(beyond))}"
    return ""


def _statement_refusal(predicate: intoto.Authorizes, manifest: Manifest, product: str, at: str) -> Decision | None:
    """Why a duly signed statement does not cover this bundle at this time, or None."""
    if scope := _scope_refusal(predicate, manifest, product):
        return Decision(status=Authorization.WRONG_SCOPE, detail=scope)
    if at < predicate.valid_from:
        return Decision(status=Authorization.NOT_YET_VALID, detail=f"valid from {predicate.valid_from}")
    if predicate.expires <= at:
        return Decision(status=Authorization.EXPIRED, detail=f"expired at {predicate.expires}")
    return None


def _judge_claim(claim: Claim, manifest: Manifest, policy: Policy, product: str, at: str) -> Decision:
    predicate = claim.statement.predicate
    refusals = {key.name: _key_refusal(key, manifest, at) for key in claim.signers}
    counting = [key for key in claim.signers if refusals[key.name] is None]
    first = next((refusal for refusal in refusals.values() if refusal is not None), None)
    if not claim.signers:
        return Decision(status=Authorization.UNKNOWN_KEY, detail=f"{claim.name}: signed by no key of the trust policy")
    if len(counting) < policy.threshold:
        if first is not None and not counting:
            return first
        detail = f"{len(counting)} of {policy.threshold} signatures count"
        return Decision(status=Authorization.BELOW_THRESHOLD, detail=detail)
    if refusal := _statement_refusal(predicate, manifest, product, at):
        return refusal
    names = ", ".join(sorted(key.name for key in counting))
    return Decision(
        status=Authorization.AUTHORIZED,
        detail=f"by {names} until {predicate.expires}: {predicate.reason}",
        authority=names,
    )


def decide(
    manifest: Manifest, manifest_sha256: str, claims: Sequence[Claim], policy: Policy, *, product: str, at: str
) -> Decision:
    """Whether the bundle with this manifest is authorized at `at` (RFC 3339 UTC).

    Claims whose subjects do not name the manifest's digest say nothing about it. Of several refusals the one nearest
    to an authorization is given.
    """
    about = [
        claim
        for claim in claims
        if any(subject.digest.get("sha256") == manifest_sha256 for subject in claim.statement.subject)
    ]
    if not about:
        return Decision(status=Authorization.UNAUTHORIZED, detail="no release authority has signed it")
    decisions = [_judge_claim(claim, manifest, policy, product, at) for claim in about]
    for decision in decisions:
        if decision.status is Authorization.AUTHORIZED:
            return decision
    return min(decisions, key=lambda decision: _CLOSEST_FIRST.index(decision.status))
