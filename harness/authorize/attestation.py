"""The verdict as a statement of its own: in-toto, with the digest of every input, and a SLSA summary for accepted.

Source: in-toto Statement v1; SLSA Verification Summary Attestation v1 (slsa.dev/spec/v1.0/verification_summary).
"""

from __future__ import annotations

import jiter
import msgspec

from harness.authorize.statement import PAYLOAD_TYPE, Subject
from harness.model.errors import DecodeError
from harness.model.stimulus import canonical
from harness.model.verdict import Acceptance, Verdict

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
VERDICT = "urn:card-acceptance-harness:verdict:v1"
SUMMARY = "https://slsa.dev/verification_summary/v1"
VERIFIER = "urn:card-acceptance-harness"
VERIFIED_LEVEL = "CARD_FACTS_ACCEPTED"


class Inputs(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Hex sha256 of everything that the verdict was made of, by name. `policy`, `waivers`, `selfcheck` and
    `stability` are "" when absent."""

    manifests: dict[str, str]
    authorizations: dict[str, str]
    features: dict[str, str]
    policy: str
    waivers: str
    selfcheck: str = ""
    stability: str = ""


class Judged(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The predicate. `verdict_sha256` is of ``verdict.json``; `at` the time as of which was judged."""

    verdict: Verdict
    product: str
    release: str
    at: str
    harness: str
    reasons: tuple[str, ...]
    verdict_sha256: str
    inputs: Inputs


class VerdictStatement(msgspec.Struct, frozen=True, kw_only=True):
    """A statement of the verdict predicate; its subjects are the product's binaries."""

    subject: tuple[Subject, ...]
    predicate: Judged
    predicate_type: str = msgspec.field(name="predicateType")
    type_: str = msgspec.field(name="_type")


def _subjects(acceptance: Acceptance) -> tuple[Subject, ...]:
    release = acceptance.release
    return tuple(
        Subject(name=f"{release.name} {release.version}", digest={"sha256": digest}) for digest in release.sha256
    )


def verdict_statement(acceptance: Acceptance, inputs: Inputs, verdict_sha256: str) -> bytes:
    """Canonical JSON of the statement that this verdict was given on these inputs."""
    predicate = Judged(
        verdict=acceptance.verdict,
        product=acceptance.release.name,
        release=acceptance.release.version,
        at=acceptance.at,
        harness=acceptance.harness,
        reasons=acceptance.reasons,
        verdict_sha256=verdict_sha256,
        inputs=inputs,
    )
    return canonical(
        VerdictStatement(
            subject=_subjects(acceptance), predicate=predicate, predicate_type=VERDICT, type_=STATEMENT_TYPE
        )
    )


def summary_statement(acceptance: Acceptance, inputs: Inputs) -> bytes:
    """Canonical JSON of the SLSA verification summary of an accepted release. Raises ValueError for other verdicts."""
    if acceptance.verdict is not Verdict.ACCEPTED:
        raise ValueError(f"a release that is {acceptance.verdict} has no verification summary")
    return canonical(
        {
            "_type": STATEMENT_TYPE,
            "subject": _subjects(acceptance),
            "predicateType": SUMMARY,
            "predicate": {
                "verifier": {"id": VERIFIER, "version": {"harness": acceptance.harness}},
                "timeVerified": acceptance.at,
                "resourceUri": f"pkg:cargo/{acceptance.release.name}@{acceptance.release.version}",
                "policy": {"uri": "evidence/trust-policy.toml", "digest": {"sha256": inputs.policy}},
                "inputAttestations": [
                    {"uri": name, "digest": {"sha256": digest}}
                    for name, digest in sorted(inputs.authorizations.items())
                ],
                "verificationResult": "PASSED",
                "verifiedLevels": [VERIFIED_LEVEL],
                "slsaVersion": "1.0",
            },
        }
    )


def decode_verdict(payload: bytes, *, payload_type: str, where: str) -> VerdictStatement:
    """The verdict statement in verified bytes. Raises DecodeError for anything else."""
    if payload_type != PAYLOAD_TYPE:
        raise DecodeError(f"has the payload type {payload_type!r}", where=where)
    try:
        statement = msgspec.convert(jiter.from_json(payload, catch_duplicate_keys=True), VerdictStatement)
    except (ValueError, msgspec.ValidationError) as error:
        raise DecodeError(f"is no verdict statement: {error}", where=where) from error
    if (statement.type_, statement.predicate_type) != (STATEMENT_TYPE, VERDICT):
        raise DecodeError(f"is a statement of {statement.predicate_type!r}", where=where)
    return statement
