"""A verdict that is signed says on what it was given; nothing but an accepted release gets a verification summary."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.authorize import attestation, envelope, statement
from harness.model.errors import DecodeError
from harness.model.verdict import Acceptance, Release, Verdict
from tests.support.authorities import AT, key, payload, print_of

BINARY, VERDICT_JSON = "a" * 64, "b" * 64
INPUTS = attestation.Inputs(
    manifests={"0.104.0/reads-notes.local-agent": "1" * 64},
    authorizations={"y.dsse.json": "3" * 64, "x.dsse.json": "2" * 64},
    features={"notes.feature": "4" * 64},
    policy="5" * 64,
    waivers="",
)


def judged(verdict: Verdict) -> Acceptance:
    return Acceptance(
        verdict=verdict,
        release=Release(name="magi-code", version="0.104.0", sha256=(BINARY,)),
        at=AT,
        harness="0.1.0",
        reasons=("because",),
        observations=(),
        findings=(),
        missing=(),
        damaged=(),
        requirements=(),
    )


def decoded(content: bytes, payload_type: str = statement.PAYLOAD_TYPE) -> attestation.VerdictStatement:
    return attestation.decode_verdict(content, payload_type=payload_type, where="verdict.dsse.json")


@pytest.mark.parametrize("verdict", list(Verdict))
def test_statement_of_a_verdict_names_the_binary_and_every_input(verdict: Verdict) -> None:
    content = attestation.verdict_statement(judged(verdict), INPUTS, VERDICT_JSON)
    assert json.loads(content) == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "magi-code 0.104.0", "digest": {"sha256": BINARY}}],
        "predicateType": "urn:card-acceptance-harness:verdict:v1",
        "predicate": {
            "verdict": verdict.value,
            "product": "magi-code",
            "release": "0.104.0",
            "at": "2026-11-30T12:00:00Z",
            "harness": "0.1.0",
            "reasons": ["because"],
            "verdictSha256": VERDICT_JSON,
            "inputs": {
                "manifests": {"0.104.0/reads-notes.local-agent": "1" * 64},
                "authorizations": {"x.dsse.json": "2" * 64, "y.dsse.json": "3" * 64},
                "features": {"notes.feature": "4" * 64},
                "policy": "5" * 64,
                "waivers": "",
                "selfcheck": "",
                "stability": "",
            },
        },
    }
    read = decoded(content)
    assert read.predicate.inputs == INPUTS
    assert read.predicate.verdict is verdict


def test_signed_verdict_is_verified_and_read_back() -> None:
    content = attestation.verdict_statement(judged(Verdict.REJECTED), INPUTS, VERDICT_JSON)
    file = envelope.sign(content, [key("judge")])
    verified = envelope.verify(envelope.decode(file, where="v"), [key("judge").public_key()], where="v")
    assert verified.signers == (print_of("judge"),)
    assert decoded(verified.payload, verified.payload_type).predicate.verdict is Verdict.REJECTED


def test_summary_of_an_accepted_release_has_the_members_of_slsa() -> None:
    summary = json.loads(attestation.summary_statement(judged(Verdict.ACCEPTED), INPUTS))
    assert summary["_type"] == "https://in-toto.io/Statement/v1"
    assert summary["predicateType"] == "https://slsa.dev/verification_summary/v1"
    assert summary["subject"] == [{"name": "magi-code 0.104.0", "digest": {"sha256": BINARY}}]
    predicate = summary["predicate"]
    assert predicate["verificationResult"] == "PASSED"
    assert predicate["timeVerified"] == "2026-11-30T12:00:00Z"
    assert predicate["resourceUri"] == "pkg:cargo/magi-code@0.104.0"
    assert predicate["policy"]["digest"] == {"sha256": "5" * 64}
    assert predicate["verifier"]["id"]
    assert predicate["verifiedLevels"]
    assert [item["uri"] for item in predicate["inputAttestations"]] == ["x.dsse.json", "y.dsse.json"]


@pytest.mark.parametrize("verdict", [verdict for verdict in Verdict if verdict is not Verdict.ACCEPTED])
def test_any_other_verdict_has_no_summary(verdict: Verdict) -> None:
    with pytest.raises(ValueError, match=f"a release that is {verdict.value} has no verification summary"):
        attestation.summary_statement(judged(verdict), INPUTS)


def _changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    plain = json.loads(attestation.verdict_statement(judged(Verdict.ACCEPTED), INPUTS, VERDICT_JSON))
    change(plain)
    return json.dumps(plain).encode()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is no verdict statement"),
        (b"[" * 100_000, "is no verdict statement"),
        (_changed(lambda plain: plain["predicate"].update(more=1)), "unknown field `more`"),
        (_changed(lambda plain: plain["predicate"].update(verdict="fine")), "Invalid enum value 'fine'"),
        (_changed(lambda plain: plain["predicate"]["inputs"].pop("waivers")), "missing required field `waivers`"),
        (_changed(lambda plain: plain.update(predicateType="x")), "is a statement of 'x'"),
        (_changed(lambda plain: plain.update(_type="https://in-toto.io/Statement/v0.1")), "is a statement of"),
        (payload(), "is no verdict statement"),
    ],
    ids=["empty", "deep", "more", "verdict", "waivers", "predicate type", "type", "authorization"],
)
def test_what_is_no_verdict_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decoded(content)
    assert reason in caught.value.message
    assert caught.value.where == "verdict.dsse.json"


def test_verdict_never_passes_for_an_authorization() -> None:
    content = attestation.verdict_statement(judged(Verdict.ACCEPTED), INPUTS, VERDICT_JSON)
    with pytest.raises(DecodeError, match="is no authorization statement"):
        statement.decode(content, payload_type=statement.PAYLOAD_TYPE, where="e")
    with pytest.raises(DecodeError, match="has the payload type 'text/plain'"):
        decoded(content, "text/plain")
