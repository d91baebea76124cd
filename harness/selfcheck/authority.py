"""Mutants of an authorization: what was signed, by whom, when, for what; and of the very bundle that it names.

The bundle is signed here by a throw-away authority, so that there is something to refuse. The key is made from a text:
it is no secret, and no policy of an evidence folder trusts it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from harness.authorize import envelope, statement
from harness.authorize.decide import decide, read_claims
from harness.authorize.keys import fingerprint
from harness.authorize.policy import decode_policy
from harness.model.manifest import UNKNOWN_SHA256, Manifest
from harness.model.stimulus import canonical
from harness.model.verdict import Authorization
from harness.selfcheck.mutant import Baseline, Mutant, Signal
from harness.selfcheck.subject import Subject

_PRODUCT = "magi-code"
_FROM, _AT, _EXPIRES = "2026-01-01T00:00:00Z", "2026-06-01T00:00:00Z", "2026-12-31T00:00:00Z"
_NO_DIGEST = "0" * 64
_RULE = "acceptance.not-by-analysis"


def _key(owner: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(f"selfcheck {owner}".encode()).digest())


def _table(owner: str, **members: str) -> str:
    public = _key(owner).public_key()
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    entries = {"name": owner, "role": "authority", "public_key": pem, **members}
    return "[[key]]\n" + "".join(f"{name} = {msgspec.json.encode(value).decode()}\n" for name, value in entries.items())


class _Case(NamedTuple):
    """Everything that a decision depends on."""

    manifest: Manifest
    manifest_sha256: str
    policy: str
    envelopes: dict[str, bytes]
    at: str = _AT
    product: str = _PRODUCT

    def decided(self) -> Authorization:
        policy = decode_policy(self.policy, where="policy")
        claims, _ = read_claims(self.envelopes, policy)
        return decide(self.manifest, self.manifest_sha256, claims, policy, product=self.product, at=self.at).status


def authority_mutants(subject: Subject, baseline: Baseline) -> Iterator[Mutant]:
    """Mutants of an authorization of the bundle, one thing at a time; none where nobody can authorize it."""
    digests = {item.sha256 for item in subject.manifest.products}
    if not digests or UNKNOWN_SHA256 in digests or not baseline.examined.columns:
        return
    case = _signed(subject)
    if case.decided() is not Authorization.AUTHORIZED:
        return
    for kind, changed in (
        *_of_policy(case),
        *_of_time(case),
        *_of_statement(subject, case),
        *_of_envelope(case),
        *_of_manifest(case),
    ):
        yield Mutant("authorization", kind, _RULE, "authorizations", probe=partial(_refused, changed))


def _refused(case: _Case) -> Signal | None:
    return None if case.decided() is Authorization.AUTHORIZED else Signal.REFUSED


def _predicate(manifest: Manifest) -> statement.Authorizes:
    products = (*manifest.products, *(capture.product for capture in manifest.captures))
    return statement.Authorizes(
        product=_PRODUCT,
        release=manifest.release,
        product_sha256=tuple(sorted({product.sha256 for product in products})),
        classes=manifest.classes,
        valid_from=_FROM,
        expires=_EXPIRES,
        reason="reviewed",
    )


def _payload(manifest: Manifest, sha256: str, **members: object) -> bytes:
    name = f"{manifest.release}/{manifest.observation}/manifest.json"
    named = statement.Subject(name=name, digest={"sha256": sha256})
    return statement.encode((named,), msgspec.structs.replace(_predicate(manifest), **members))


def _signed(subject: Subject) -> _Case:
    manifest, sha256 = subject.manifest, subject.bundle.manifest_sha256
    signed = envelope.sign(_payload(manifest, sha256), [_key("authority")])
    policy = "schema = 1\nthreshold = 1\n" + _table("authority")
    return _Case(manifest, sha256, policy, {"a.dsse.json": signed})


def _of_policy(case: _Case) -> Iterator[tuple[str, _Case]]:
    def policy(*tables: str, threshold: int = 1) -> _Case:
        return case._replace(policy=f"schema = 1\nthreshold = {threshold}\n" + "".join(tables))

    yield "a key that the policy does not know", policy(_table("somebody"))
    yield "no keys", policy("key = []\n")
    yield "a recorder's key", policy(_table("authority", role="recorder"))
    yield "a revoked key", policy(_table("authority", revoked=_FROM))
    yield "a key that was valid before", policy(_table("authority", valid_until=_FROM))
    yield "a key that is valid later", policy(_table("authority", valid_from=_EXPIRES))
    yield "one of two signatures", policy(_table("authority"), _table("second"), threshold=2)
    own = fingerprint(_key("authority").public_key())
    recorder = msgspec.structs.replace(case.manifest.recorder, key=own)
    manifest = msgspec.structs.replace(case.manifest, recorder=recorder)
    yield "the recorder's own signature", case._replace(manifest=manifest)
    twice = envelope.sign(_decoded(case)[0], [_key("authority"), _key("authority")])
    two = policy(_table("authority"), _table("second"), threshold=2)
    yield "one key signing twice", two._replace(envelopes={"a.dsse.json": twice})


def _of_time(case: _Case) -> Iterator[tuple[str, _Case]]:
    yield "expired", case._replace(at=_EXPIRES)
    yield "not yet valid", case._replace(at="2025-12-31T23:59:59Z")
    yield "years later", case._replace(at="2030-01-01T00:00:00Z")
    yield "another product", case._replace(product="other-code")


def _of_statement(subject: Subject, case: _Case) -> Iterator[tuple[str, _Case]]:
    """Other statements, duly signed."""
    manifest, sha256 = case.manifest, subject.bundle.manifest_sha256

    def signed(payload: bytes) -> _Case:
        return case._replace(envelopes={"a.dsse.json": envelope.sign(payload, [_key("authority")])})

    yield "for another bundle", signed(_payload(manifest, _NO_DIGEST))
    yield "for another release", signed(_payload(manifest, sha256, release="0.1.0"))
    yield "for another product's name", signed(_payload(manifest, sha256, product="other-code"))
    yield "for another binary", signed(_payload(manifest, sha256, product_sha256=(_NO_DIGEST,)))
    yield "for no binary", signed(_payload(manifest, sha256, product_sha256=()))
    if manifest.classes:
        yield "for fewer classes", signed(_payload(manifest, sha256, classes=manifest.classes[:-1]))
        yield "for no class", signed(_payload(manifest, sha256, classes=()))
    yield "expired by then", signed(_payload(manifest, sha256, expires=_AT))
    yield "valid from later on", signed(_payload(manifest, sha256, valid_from="2026-07-01T00:00:00Z"))
    plain: dict[str, Any] = msgspec.json.decode(_payload(manifest, sha256))
    other: tuple[tuple[str, Callable[[dict[str, Any]], object]], ...] = (
        ("another statement type", lambda it: it.update(_type="https://in-toto.io/Statement/v0")),
        ("another predicate type", lambda it: it.update(predicateType="https://slsa.dev/provenance/v1")),
        ("an unknown member of the predicate", lambda it: it["predicate"].update(note=1)),
        ("no reason", lambda it: it["predicate"].update(reason=" ")),
        ("no subject", lambda it: it.update(subject=[])),
        ("a subject of another digest", lambda it: it["subject"][0].update(digest={"sha512": "0"})),
        ("times that are none", lambda it: it["predicate"].update(expires="2026-12-31")),
        ("never valid", lambda it: it["predicate"].update(expires=_FROM)),
        ("no expiry", lambda it: it["predicate"].pop("expires")),
    )
    for kind, edit in other:
        changed: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(plain))
        edit(changed)
        yield kind, signed(canonical(changed))


def _decoded(case: _Case) -> tuple[bytes, dict[str, Any]]:
    plain: dict[str, Any] = msgspec.json.decode(case.envelopes["a.dsse.json"])
    return base64.b64decode(plain["payload"]), plain


def _of_envelope(case: _Case) -> Iterator[tuple[str, _Case]]:
    """The envelope's own bytes changed after it was signed."""
    payload, plain = _decoded(case)
    signature = base64.b64decode(plain["signatures"][0]["sig"])

    def with_members(**members: object) -> _Case:
        return case._replace(envelopes={"a.dsse.json": msgspec.json.encode({**plain, **members})})

    def encoded(content: bytes) -> str:
        return base64.b64encode(content).decode()

    later = payload.replace(_EXPIRES.encode(), b"2036-12-31T00:00:00Z")
    yield "a later expiry than was signed", with_members(payload=encoded(later))
    yield "a blank in the payload", with_members(payload=encoded(payload.replace(b":", b": ", 1)))
    yield "a payload cut short", with_members(payload=encoded(payload[:-1]))
    for at in (0, 31, 32, 63):
        flipped = signature[:at] + bytes([signature[at] ^ 1]) + signature[at + 1 :]
        yield f"a bit of byte {at} of the signature", with_members(signatures=[{"sig": encoded(flipped)}])
    yield "no signature", with_members(signatures=[])
    yield "an empty signature", with_members(signatures=[{"sig": ""}])
    yield "another payload type", with_members(payloadType="application/json")
    yield "a payload type that was not signed", with_members(payloadType="application/vnd.in-toto+json ")
    named = plain["signatures"][0]["keyid"]
    forged = base64.b64encode(
        _key("somebody").sign(envelope.pre_authentication_encoding(plain["payloadType"], payload))
    )
    yield (
        "another's signature under the authority's key id",
        with_members(signatures=[{"keyid": named, "sig": forged.decode()}]),
    )
    raw = encoded(_key("authority").sign(payload))
    yield "a signature of the bare payload", with_members(signatures=[{"sig": raw}])
    yield "no JSON", case._replace(envelopes={"a.dsse.json": b"{"})
    yield "no envelope at all", case._replace(envelopes={})


def _of_manifest(case: _Case) -> Iterator[tuple[str, _Case]]:
    """The bundle changed and sealed anew after it was signed, and a manifest that is not the one that was signed."""
    manifest = case.manifest
    replaced = partial(msgspec.structs.replace, manifest)
    captures = manifest.captures
    cut = tuple(msgspec.structs.replace(item, complete=not item.complete) for item in captures)
    other = tuple(msgspec.structs.replace(item, sha256=_NO_DIGEST) for item in manifest.products)
    later = tuple(msgspec.structs.replace(item, version="9.9.9") for item in manifest.products)
    stored = {name: msgspec.structs.replace(entry, sha256=_NO_DIGEST) for name, entry in manifest.files.items()}
    recorder = msgspec.structs.replace(manifest.recorder, foreign=not manifest.recorder.foreign)
    for kind, changed in (
        ("another observation", replaced(observation="another")),
        ("another scenario", replaced(scenario="another.feature::another")),
        ("other classes", replaced(classes=(*manifest.classes, "made-up"))),
        ("another release", replaced(release="9.9.9")),
        ("another driver", replaced(driver="mission-control" if manifest.driver == "local-agent" else "local-agent")),
        ("another stimulus", replaced(stimulus_sha256=_NO_DIGEST)),
        ("another binary", replaced(products=other)),
        ("another version", replaced(products=later)),
        ("another recorder", replaced(recorder=recorder)),
        ("another time", replaced(recorded_at="2026-01-01T00:00:00Z")),
        ("another workspace", replaced(workspace="/elsewhere")),
        ("another session", replaced(session="other.jsonl.gz")),
        ("other children", replaced(children=("children/x.jsonl.gz",))),
        ("cut captures made whole", replaced(captures=cut)),
        ("a capture less", replaced(captures=captures[:-1])),
        ("other files", replaced(files=stored)),
    ):
        sha256 = hashlib.sha256(canonical(changed) + b"\n").hexdigest()
        yield f"{kind}, sealed anew", case._replace(manifest=changed, manifest_sha256=sha256)
