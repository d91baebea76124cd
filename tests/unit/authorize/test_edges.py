"""The very last byte, key and subject that may be there, and what is said where something is refused.

Each test stands for a mutant of the code that nothing else noticed.
"""

from __future__ import annotations

import base64
import json

import msgspec
import pytest

from harness.authorize import attestation, envelope, statement
from harness.authorize.decide import decide
from harness.authorize.keys import KEY_BYTES, new_key_pair, read_private_key, read_public_key
from harness.authorize.policy import decode_policy
from harness.model.errors import DecodeError, UsageError
from harness.model.verdict import Acceptance, Release, Verdict
from tests.support import bundles
from tests.support.authorities import AT, MANIFEST_SHA256, SUBJECT, entry, key, payload, policy, policy_text, signed

BINARY = "a" * 64
INPUTS = attestation.Inputs(
    manifests={}, authorizations={"x.dsse.json": "2" * 64}, features={}, policy="5" * 64, waivers=""
)
ACCEPTED = Acceptance(
    verdict=Verdict.ACCEPTED,
    release=Release(name="magi-code", version="0.104.0", sha256=(BINARY,)),
    at=AT,
    harness="0.1.0",
    reasons=(),
    observations=(),
    findings=(),
    missing=(),
    damaged=(),
    requirements=(),
)


def test_the_whole_verification_summary_is_that_of_slsa() -> None:
    """slsa.dev/spec/v1.0/verification_summary: every member, spelled as readers of it expect."""
    predicate = json.loads(attestation.summary_statement(ACCEPTED, INPUTS))["predicate"]
    assert predicate["verifier"]["version"] == {"harness": "0.1.0"}
    assert predicate["policy"] == {"uri": "evidence/trust-policy.toml", "digest": {"sha256": "5" * 64}}
    assert predicate["inputAttestations"] == [{"uri": "x.dsse.json", "digest": {"sha256": "2" * 64}}]
    assert predicate["slsaVersion"] == "1.0"
    assert set(predicate) == {
        *("verifier", "timeVerified", "resourceUri", "policy", "inputAttestations"),
        *("verificationResult", "verifiedLevels", "slsaVersion"),
    }


def test_a_doubled_member_of_a_verdict_is_refused() -> None:
    content = attestation.verdict_statement(ACCEPTED, INPUTS, "b" * 64)
    doubled = content.replace(b'"verdict":', b'"verdict":"rejected","verdict":', 1)
    assert doubled != content
    with pytest.raises(DecodeError, match="uplicate"):
        attestation.decode_verdict(doubled, payload_type=statement.PAYLOAD_TYPE, where="v")


def test_a_verdict_of_another_payload_type_is_refused_by_its_file() -> None:
    content = attestation.verdict_statement(ACCEPTED, INPUTS, "b" * 64)
    with pytest.raises(DecodeError, match="payload type 'text/plain'") as caught:
        attestation.decode_verdict(content, payload_type="text/plain", where="v.json")
    assert caught.value.where == "v.json"


def test_as_many_signatures_as_are_allowed_are_made_and_read() -> None:
    keys = [key("ann")] * envelope.SIGNATURES
    read = envelope.decode(envelope.sign(b"x", keys), where="e")
    assert len(read.signatures) == envelope.SIGNATURES


def test_an_envelope_of_the_largest_size_is_made_and_read() -> None:
    bare = len(envelope.sign(b"", [key("ann")], ""))
    room = envelope.ENVELOPE_BYTES - bare
    content = envelope.sign(b"x" * (room // 4 * 3), [key("ann")], "t" * (room % 4))
    assert len(content) == envelope.ENVELOPE_BYTES
    assert len(envelope.decode(content, where="e").payload) == room // 4 * 4
    with pytest.raises(DecodeError, match="the limit is"):
        envelope.decode(content + b" ", where="e")
    with pytest.raises(UsageError, match="are read at most"):
        envelope.sign(b"x" * (room // 4 * 3), [key("ann")], "t" * (room % 4 + 1))


def test_a_payload_in_the_other_alphabet_needs_only_one_of_its_characters() -> None:
    content = json.loads(envelope.sign(b"\xf8", [key("ann")]))
    assert content["payload"] == "+A=="
    content["payload"] = "-A=="
    read = envelope.verify(
        envelope.decode(json.dumps(content).encode(), where="e"), [key("ann").public_key()], where="e"
    )
    assert read.payload == b"\xf8"
    assert len(read.signers) == 1


def test_every_stranger_among_the_signers_is_counted() -> None:
    content = envelope.decode(signed("eve", "mal", "ann"), where="e")
    assert envelope.verify(content, [key("ann").public_key()], where="e").unknown == 2


def test_a_broken_signature_is_refused_by_its_file_and_place() -> None:
    content = json.loads(signed("ann"))
    content["signatures"].append({"sig": "?"})
    with pytest.raises(DecodeError, match="is not base64") as caught:
        envelope.verify(envelope.decode(json.dumps(content).encode(), where="e"), [], where="e.json")
    assert caught.value.where == "e.json, signatures[1].sig"


def test_a_time_that_is_none_is_refused_by_its_name() -> None:
    with pytest.raises(UsageError) as caught:
        decide(bundles.manifest(), MANIFEST_SHA256, (), policy(entry("ann")), product="magi-code", at="noon")
    assert caught.value.where == "at"


def test_as_many_subjects_as_are_allowed_are_read() -> None:
    content = payload([SUBJECT] * statement.SUBJECTS)
    read = statement.decode(content, payload_type=statement.PAYLOAD_TYPE, where="s")
    assert len(read.subject) == statement.SUBJECTS
    with pytest.raises(UsageError, match=f"{statement.SUBJECTS + 1} subjects"):
        payload([SUBJECT] * (statement.SUBJECTS + 1))


@pytest.mark.parametrize(
    ("path", "change", "message"),
    [
        ("subject[0].digest", {"digest": {"sha1": "0" * 40}}, "is no sha256"),
        ("predicate.productSha256[0]", {"productSha256": ["x"]}, "is no sha256"),
        ("predicate.reason", {"reason": " "}, "says nothing"),
    ],
)
def test_what_is_wrong_with_a_statement_is_said(path: str, change: dict[str, object], message: str) -> None:
    plain = json.loads(payload())
    (plain["subject"][0] if path.startswith("subject") else plain["predicate"]).update(change)
    with pytest.raises(DecodeError) as caught:
        statement.decode(json.dumps(plain).encode(), payload_type=statement.PAYLOAD_TYPE, where="s")
    assert (caught.value.message, caught.value.path) == (message, path)


def test_a_revocation_without_its_time_says_what_to_add() -> None:
    with pytest.raises(UsageError) as caught:
        decode_policy(policy_text(entry("ann", revoked_because="lost")), where="p")
    assert caught.value.hint == "add revoked"


def test_a_key_file_of_the_largest_size_is_read() -> None:
    _, public = new_key_pair(None)
    largest = public + b"\n" * (KEY_BYTES - len(public))
    assert read_public_key(largest, where="k") == read_public_key(public, where="k")
    with pytest.raises(UsageError, match="is larger than"):
        read_public_key(largest + b"\n", where="k")


def test_nobody_who_gave_no_passphrase_is_told_that_it_is_wrong() -> None:
    with pytest.raises(UsageError) as caught:
        read_private_key(b"-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n", None, where="k")
    assert caught.value.message == "cannot be read: no PEM private key"


def test_the_signature_is_over_the_payload_that_is_handed_out() -> None:
    content = json.loads(signed("ann"))
    read = msgspec.json.decode(json.dumps(content).encode(), type=envelope.Envelope)
    verified = envelope.verify(read, [key("ann").public_key()], where="e")
    assert base64.b64decode(content["payload"]) == verified.payload
