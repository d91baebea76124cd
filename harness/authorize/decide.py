"""One bundle against all envelopes and the policy: authorized, or the reason why not (evidence.md, "Authorization")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from harness.authorize import envelope as dsse
from harness.authorize import statement as intoto
from harness.authorize.policy import Policy, Role, TrustedKey
from harness.authorize.times import time_error
from harness.model.errors import DecodeError, UsageError
from harness.model.manifest import UNKNOWN_SHA256, Manifest
from harness.model.verdict import Authorization


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One statement, verified and read. `signers` are policy keys that signed; `unknown` counts other signatures.

    Envelopes with the very same payload are one claim, as DSSE has several signatures mean the same as several
    envelopes with one each; `name` then names all of them.
    """

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
    """Verify and decode every envelope file; returns the claims and (name, reason) of files that are none. These count
    for nothing, and the reason does not repeat the name.

    The bytes that are decoded are the very bytes that were verified.
    """
    claims: dict[bytes, Claim] = {}
    broken: list[tuple[str, str]] = []
    for name, content in sorted(envelopes.items()):
        try:
            verified = dsse.verify(dsse.decode(content, where=name), [key.key for key in policy.keys], where=name)
            statement = intoto.decode(verified.payload, payload_type=verified.payload_type, where=name)
        except DecodeError as error:
            broken.append((name, str(error).removeprefix(name).lstrip(":, ")))
            continue
        signers = {print_: key for print_ in verified.signers if (key := policy.by_fingerprint(print_)) is not None}
        claim = Claim(name=name, statement=statement, signers=tuple(signers.values()), unknown=verified.unknown)
        earlier = claims.get(verified.payload)
        claims[verified.payload] = claim if earlier is None else _together(earlier, claim)
    return tuple(claims.values()), tuple(broken)


def _together(first: Claim, second: Claim) -> Claim:
    signers = {key.fingerprint: key for key in (*first.signers, *second.signers)}
    return Claim(
        name=f"{first.name}, {second.name}",
        statement=first.statement,
        signers=tuple(signers.values()),
        unknown=first.unknown + second.unknown,
    )


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


def _closest(decisions: Iterable[Decision]) -> list[Decision]:
    return sorted(decisions, key=lambda decision: _CLOSEST_FIRST.index(decision.status))


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
    binaries = {item.sha256 for item in (*manifest.products, *(capture.product for capture in manifest.captures))}
    if not binaries or UNKNOWN_SHA256 in binaries:
        return "the run does not say which binary it is of"
    if foreign := binaries - set(predicate.product_sha256):
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
    if not claim.signers:
        return Decision(status=Authorization.UNKNOWN_KEY, detail=f"{claim.name}: signed by no key of the trust policy")
    judged = [(key, _key_refusal(key, manifest, at)) for key in claim.signers]
    counting = [key for key, refusal in judged if refusal is None]
    if len(counting) < policy.threshold:
        refusals = _closest(refusal for _, refusal in judged if refusal is not None)
        reasons = [refusal.detail for refusal in refusals]
        if claim.unknown:
            reasons.append(f"{claim.unknown} by no key of the trust policy")
        if not counting:
            return Decision(status=refusals[0].status, detail="; ".join(reasons))
        detail = f"{len(counting)} of {policy.threshold} signatures count"
        return Decision(status=Authorization.BELOW_THRESHOLD, detail="; ".join([detail, *reasons]))
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
    to an authorization is given. Raises UsageError when `at` is no such time.
    """
    if problem := time_error(at):
        raise UsageError(problem, where="at")
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
    return _closest(decisions)[0]
