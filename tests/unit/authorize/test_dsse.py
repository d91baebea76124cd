"""Envelopes are those of DSSE: the published vector, another implementation both ways, and keyids that lie."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from securesystemslib import dsse
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey  # type: ignore[attr-defined] # its public names

from harness.authorize import envelope, statement
from harness.authorize.decide import read_claims
from harness.model.errors import DecodeError, UsageError
from tests.support import authorities
from tests.support.authorities import entry, key, policy, print_of

HELLO_TYPE, HELLO = "http://example.com/HelloWorld", b"hello world"
"""The test vector of the DSSE repository, protocol.md, "Test Vectors"."""
HELLO_PAE = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
HELLO_ENVELOPE = (
    '{"payload": "aGVsbG8gd29ybGQ=", "payloadType": "http://example.com/HelloWorld", "signatures": [{"sig": '
    '"A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA=="}]}'
)
HELLO_KEY = ec.EllipticCurvePublicNumbers(
    x=46950820868899156662930047687818585632848591499744589407958293238635476079160,
    y=5640078356564379163099075877009565129882514886557779369047442380624545832820,
    curve=ec.SECP256R1(),
).public_key()


def read(content: bytes) -> envelope.Envelope:
    return envelope.decode(content, where="e.dsse.json")


def verified(content: bytes, *owners: str) -> envelope.Verified:
    """The envelope, tried with the owners' public keys."""
    return envelope.verify(read(content), [key(owner).public_key() for owner in owners], where="e.dsse.json")


def changed(content: bytes, **members: object) -> bytes:
    return json.dumps({**json.loads(content), **members}).encode()


def test_pre_authentication_encoding_is_that_of_the_published_vector() -> None:
    assert envelope.pre_authentication_encoding(HELLO_TYPE, HELLO) == HELLO_PAE


def test_published_envelope_is_read_and_its_signature_is_over_our_encoding() -> None:
    hello = read(HELLO_ENVELOPE.encode())
    assert hello.payload_type == HELLO_TYPE
    assert base64.b64decode(hello.payload) == HELLO
    raw = base64.b64decode(hello.signatures[0].sig)
    signature = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    HELLO_KEY.verify(
        signature, envelope.pre_authentication_encoding(hello.payload_type, HELLO), ec.ECDSA(hashes.SHA256())
    )
    assert verified(HELLO_ENVELOPE.encode(), "ann").signers == ()


def test_lengths_count_bytes_and_nothing_is_trimmed() -> None:
    assert envelope.pre_authentication_encoding("é", " ü ".encode()) == b"DSSEv1 2 \xc3\xa9 4  \xc3\xbc "
    assert envelope.pre_authentication_encoding("", b"") == b"DSSEv1 0  0 "


def test_no_two_pairs_of_type_and_payload_are_signed_alike() -> None:
    one = envelope.pre_authentication_encoding("a 1 b", b"c")
    assert one == b"DSSEv1 5 a 1 b 1 c"
    assert one != envelope.pre_authentication_encoding("a", b"b 1 c")


def other_implementation(content: bytes) -> dsse.Envelope:
    return dsse.Envelope.from_dict(json.loads(content))


def other_key(owner: str) -> SSlibKey:
    made: SSlibKey = SSlibKey.from_crypto(key(owner).public_key(), keyid=print_of(owner))
    return made


def test_our_envelope_verifies_with_securesystemslib() -> None:
    content = envelope.sign(b"payload \x00\xff", [key("ann"), key("bob")])
    theirs = other_implementation(content)
    assert theirs.payload == b"payload \x00\xff"
    assert theirs.payload_type == "application/vnd.in-toto+json"
    assert theirs.pae() == envelope.pre_authentication_encoding(theirs.payload_type, theirs.payload)
    accepted = theirs.verify([other_key("ann"), other_key("bob")], 2)
    assert set(accepted) == {print_of("ann"), print_of("bob")}
    with pytest.raises(VerificationError):
        other_implementation(content).verify([other_key("ann"), other_key("eve")], 2)


def test_envelope_of_securesystemslib_verifies_here() -> None:
    theirs = dsse.Envelope(b"payload \x00\xff", "application/vnd.in-toto+json", {})
    for owner in ("ann", "bob"):
        theirs.sign(CryptoSigner(key(owner), other_key(owner)))
    result = verified(json.dumps(theirs.to_dict()).encode(), "bob", "ann")
    assert result.payload == b"payload \x00\xff"
    assert set(result.signers) == {print_of("ann"), print_of("bob")}
    assert result.unknown == 0
    theirs.payload = b"payload \x00\xfe"
    assert verified(json.dumps(theirs.to_dict()).encode(), "bob", "ann").signers == ()


@pytest.mark.parametrize("keyid", ["", "made up", print_of("bob"), print_of("ann"), "\x1b[31m"])
def test_keyid_is_not_looked_at(keyid: str) -> None:
    content = json.loads(authorities.signed("ann"))
    content["signatures"][0]["keyid"] = keyid
    result = verified(json.dumps(content).encode(), "bob", "ann")
    assert result.signers == (print_of("ann"),)
    assert verified(json.dumps(content).encode(), "bob").signers == ()


def test_missing_keyid_is_an_empty_one() -> None:
    content = json.loads(authorities.signed("ann"))
    del content["signatures"][0]["keyid"]
    assert verified(json.dumps(content).encode(), "ann").signers == (print_of("ann"),)
    assert read(json.dumps(content).encode()).signatures[0].keyid == ""


def test_two_signatures_under_one_keyid_are_both_tried() -> None:
    content = json.loads(authorities.signed("ann", "bob"))
    for signature in content["signatures"]:
        signature["keyid"] = "same"
    result = verified(json.dumps(content).encode(), "ann", "bob")
    assert set(result.signers) == {print_of("ann"), print_of("bob")}


def test_key_that_signs_twice_is_one_signer_and_strangers_are_counted() -> None:
    result = verified(authorities.signed("ann", "ann", "eve", "ann"), "ann", "bob")
    assert result.signers == (print_of("ann"),)
    assert result.unknown == 1


def test_signature_of_another_payload_or_type_does_not_count() -> None:
    content = authorities.signed("ann")
    other = base64.b64encode(authorities.payload(reason="something else")).decode()
    assert verified(changed(content, payload=other), "ann").signers == ()
    assert verified(changed(content, payloadType="application/json"), "ann").signers == ()
    assert verified(changed(content, payload=""), "ann").signers == ()


@pytest.mark.parametrize("length", [0, 1, 63, 65, 10_000])
def test_signature_of_another_length_does_not_count(length: int) -> None:
    content = changed(authorities.signed("ann"), signatures=[{"sig": base64.b64encode(bytes(length)).decode()}])
    result = verified(content, "ann")
    assert result.signers == ()
    assert result.unknown == 1


def test_url_safe_base64_is_read_like_the_standard_one() -> None:
    payload = b"\xfb\xff\xbf>?" * 7
    content = json.loads(envelope.sign(payload, [key("ann")]))
    assert "+" in content["payload"]
    assert "/" in content["payload"]
    content["payload"] = base64.urlsafe_b64encode(payload).decode()
    raw = base64.b64decode(content["signatures"][0]["sig"])
    content["signatures"][0]["sig"] = base64.urlsafe_b64encode(raw).decode()
    result = verified(json.dumps(content).encode(), "ann")
    assert result.payload == payload
    assert result.signers == (print_of("ann"),)


MALFORMED = [
    "a",
    "ab",
    "abc",
    "ab==cd==",
    "ab c",
    "abcd\n",
    "a===",
    "====",
    "é",
    "+-aa",
    "_/aa",
    "-+_/",
    "ab=",
    "\x00aaa",
]


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_base64_is_refused_where_it_stands(text: str) -> None:
    content = authorities.signed("ann", "bob")
    with pytest.raises(DecodeError) as caught:
        verified(changed(content, payload=text), "ann")
    assert caught.value.path == "payload"
    assert caught.value.where.startswith("e.dsse.json")
    signatures = json.loads(content)["signatures"]
    signatures[1]["sig"] = text
    with pytest.raises(DecodeError) as caught:
        verified(changed(content, signatures=signatures), "ann")
    assert caught.value.path == "signatures[1].sig"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is no DSSE envelope"),
        (b"no JSON", "is no DSSE envelope"),
        (b"\xff", "is no DSSE envelope"),
        (b"[]", "Expected `object`, got `array`"),
        (b"{}", "missing required field `payload`"),
        (b'{"payload":"","payloadType":""}', "missing required field `signatures`"),
        (b'{"payload":1,"payloadType":"","signatures":[]}', "Expected `str`, got `int` - at `$.payload`"),
        (b'{"payload":"","payloadType":"","signatures":[{}]}', "missing required field `sig`"),
        (b'{"payload":"","payloadType":"","signatures":[]}', "has 0 signatures, not 1 to 64"),
        (b'{"payload":"","payload":"","payloadType":"","signatures":[]}', "Detected duplicate key"),
        (b'{"payload":"","payloadType":"\\ud800","signatures":[{"sig":""}]}', "is no DSSE envelope"),
        (b"[" * 100_000, "recursion limit exceeded"),
        (
            json.dumps({"payload": "", "payloadType": "", "signatures": [{"sig": ""}] * 65}).encode(),
            "has 65 signatures, not 1 to 64",
        ),
        (b" " * 4_194_305, "an envelope of 4194305 bytes; the limit is 4194304"),
    ],
)
def test_what_is_no_envelope_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read(content)
    assert reason in caught.value.message
    assert caught.value.where == "e.dsse.json"
    assert caught.value.exit_code == 4


def test_unknown_members_of_an_envelope_are_ignored_as_the_specification_says() -> None:
    content: dict[str, Any] = json.loads(authorities.signed("ann"))
    content["extension"] = {"later": 1}
    content["signatures"][0]["extension"] = None
    assert verified(json.dumps(content).encode(), "ann").signers == (print_of("ann"),)


def test_payload_that_no_envelope_could_hold_is_not_signed() -> None:
    with pytest.raises(UsageError, match="4194304 are read at most"):
        envelope.sign(bytes(3_200_000), [key("ann")])


def test_largest_payload_is_judged_in_seconds() -> None:
    content = envelope.sign(bytes(3_100_000), [key("ann")])
    started = time.monotonic()
    assert verified(content, "ann", "bob").signers == (print_of("ann"),)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("count", [0, 65])
def test_signing_with_no_key_or_too_many_is_refused(count: int) -> None:
    with pytest.raises(UsageError, match=f"{count} keys to sign with"):
        envelope.sign(b"payload", [key("ann")] * count)


def test_what_is_decoded_are_the_very_bytes_that_were_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """The statement's decoder gets the very object that the verifier returned: nothing in between can be changed."""
    seen: list[tuple[str, bytes]] = []
    verify, decode = envelope.verify, statement.decode

    def watched_verify(*arguments: Any, **named: Any) -> envelope.Verified:
        result = verify(*arguments, **named)
        seen.append(("verified", result.payload))
        return result

    def watched_decode(payload: bytes, **named: Any) -> statement.Statement:
        seen.append(("decoded", payload))
        return decode(payload, **named)

    monkeypatch.setattr(envelope, "verify", watched_verify)
    monkeypatch.setattr(statement, "decode", watched_decode)
    claims, _ = read_claims({"e": authorities.signed("ann")}, policy(entry("ann")))
    assert [step for step, _ in seen] == ["verified", "decoded"]
    assert seen[0][1] is seen[1][1]
    assert claims[0].statement.predicate == authorities.PREDICATE
    with pytest.raises(AttributeError):
        claims[0].statement.predicate.reason = "other"  # type: ignore[misc] # what the test is about


def test_payload_changed_after_signing_authorizes_nothing_though_it_is_a_fine_statement() -> None:
    forged = base64.b64encode(authorities.payload(classes=("mixed-outcomes", "overflow"))).decode()
    content = changed(authorities.signed("ann"), payload=forged)
    claims, broken = read_claims({"e": content}, policy(entry("ann")))
    assert broken == ()
    assert claims[0].signers == ()
    assert claims[0].unknown == 1
    assert claims[0].statement.predicate.classes == ("mixed-outcomes", "overflow")
    assert authorities.decided(policy(entry("ann")), content).status == "unknown_key"
