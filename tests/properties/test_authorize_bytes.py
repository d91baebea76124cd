"""Any bytes may stand where an envelope, a statement or a policy is expected: nothing but typed errors comes of it."""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from securesystemslib import dsse
from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined] # its public name

from harness.authorize import envelope
from harness.authorize.decide import decide, read_claims
from harness.authorize.policy import Policy, decode_policy
from harness.authorize.statement import PAYLOAD_TYPE
from harness.authorize.times import time_error
from harness.model.errors import UsageError
from harness.model.verdict import Authorization
from tests.support import bundles
from tests.support.authorities import AT, MANIFEST_SHA256, PREDICATE, entry, key, pem, policy, print_of, signed

TRUST = policy(entry("ann"))
GOOD = signed("ann")
_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=6,
)


def status(content: bytes) -> Authorization:
    """What one envelope file makes of the small bundle; a broken one makes nothing of it."""
    claims, broken = read_claims({"e": content}, TRUST)
    assert len(claims) + len(broken) == 1
    decision = decide(bundles.manifest(), MANIFEST_SHA256, claims, TRUST, product="magi-code", at=AT)
    if decision.status is Authorization.AUTHORIZED:
        assert claims[0].statement.predicate == PREDICATE
    return decision.status


@settings(max_examples=100, deadline=None)
@given(at=st.integers(0, len(GOOD) - 1), byte=st.integers(0, 255))
def test_changed_byte_of_an_envelope_never_authorizes_anything_else(at: int, byte: int) -> None:
    changed = GOOD[:at] + bytes([byte]) + GOOD[at + 1 :]
    if status(changed) is Authorization.AUTHORIZED:
        before, after = json.loads(GOOD), json.loads(changed)
        assert after["payloadType"] == before["payloadType"]
        assert base64.b64decode(after["payload"], b"-_") == base64.b64decode(before["payload"])


@settings(max_examples=40, deadline=None)
@given(content=st.one_of(st.binary(max_size=80), _JSON.map(msgspec.json.encode)))
def test_any_bytes_are_no_envelope(content: bytes) -> None:
    assert status(content) is Authorization.UNAUTHORIZED


@settings(max_examples=40, deadline=None)
@given(
    member=st.sampled_from(["payload", "payloadType", "signatures", "other"]),
    value=st.one_of(_JSON, st.lists(st.fixed_dictionaries({"sig": st.text(max_size=8)}), max_size=3)),
)
def test_any_value_in_an_envelope_is_refused_or_authorizes_nothing_else(member: str, value: object) -> None:
    content = json.dumps({**json.loads(GOOD), member: value}).encode()
    assert (status(content) is Authorization.AUTHORIZED) == (member == "other")


@settings(max_examples=40, deadline=None)
@given(payload=st.one_of(st.binary(max_size=60), _JSON.map(msgspec.json.encode)), kind=st.text(max_size=8))
def test_any_payload_signed_by_an_authority_is_verified_and_then_refused(payload: bytes, kind: str) -> None:
    for payload_type in (PAYLOAD_TYPE, kind):
        content = envelope.sign(payload, [key("ann")], payload_type)
        verified = envelope.verify(envelope.decode(content, where="e"), [key("ann").public_key()], where="e")
        assert verified.payload == payload
        assert verified.payload_type == payload_type
        assert verified.signers == (print_of("ann"),)
        assert status(content) is Authorization.UNAUTHORIZED


@settings(max_examples=40, deadline=None)
@given(payload=st.binary(max_size=200), kind=st.text(max_size=20))
def test_both_implementations_sign_the_same_bytes(payload: bytes, kind: str) -> None:
    content = envelope.sign(payload, [key("ann")], kind)
    theirs = dsse.Envelope.from_dict(json.loads(content))
    assert theirs.pae() == envelope.pre_authentication_encoding(kind, payload)
    public = SSlibKey.from_crypto(key("ann").public_key(), keyid=print_of("ann"))
    assert set(theirs.verify([public], 1)) == {print_of("ann")}


def read_or_refused(text: str) -> Policy | None:
    """The policy in `text`, or None when it is refused as it should be."""
    try:
        return decode_policy(text, where="policy.toml")
    except UsageError as error:
        where = error.where
    assert where.startswith("policy.toml")
    return None


_MEMBERS = st.dictionaries(
    st.sampled_from(["name", "role", "public_key", "valid_from", "valid_until", "revoked", "revoked_because", "x"]),
    st.one_of(
        st.sampled_from(["authority", "recorder", "2026-11-30T00:00:00Z", "2026-13-01T00:00:00Z", pem("ann"), ""]),
        st.text(max_size=6),
        st.integers(-1, 3),
    ),
)


@settings(max_examples=100, deadline=None)
@given(top=st.dictionaries(st.sampled_from(["schema", "threshold", "x"]), st.integers(-1, 3)), table=_MEMBERS)
def test_any_policy_is_read_or_refused(top: dict[str, int], table: dict[str, Any]) -> None:
    text = "".join(f"{name} = {value}\n" for name, value in {"schema": 1, "threshold": 1, **top}.items())
    text += "[[key]]\n"
    merged = {**entry("ann"), **table}
    text += "".join(f"{name} = {json.dumps(value)}\n" for name, value in merged.items())
    read = read_or_refused(text)
    if read is None:
        return
    (trusted,) = read.keys
    assert trusted.fingerprint == print_of("ann")
    assert trusted.name == merged["name"]
    assert trusted.revoked == merged.get("revoked", "")
    assert not (trusted.revoked_because and not trusted.revoked)


@settings(max_examples=40, deadline=None)
@given(text=st.text(max_size=60))
def test_any_text_is_no_policy(text: str) -> None:
    assert read_or_refused(text) is None


@settings(max_examples=100, deadline=None)
@given(moment=st.datetimes(), other=st.datetimes())
def test_every_second_of_the_calendar_is_a_time_and_sorts_as_one(moment: Any, other: Any) -> None:
    first, second = (f"{item.replace(microsecond=0).isoformat()}Z" for item in (moment, other))
    assert time_error(first) is None
    assert (first < second) == (moment.replace(microsecond=0) < other.replace(microsecond=0))
