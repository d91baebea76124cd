"""Throw-away authorities, policies and envelopes. The keys come from their names: nothing here is secret or trusted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from harness.authorize import envelope, statement
from harness.authorize.decide import Decision, decide, read_claims
from harness.authorize.keys import fingerprint
from harness.authorize.policy import Policy, decode_policy
from harness.model.manifest import Manifest
from tests.support import bundles

AT = "2026-11-30T12:00:00Z"
MANIFEST_SHA256 = hashlib.sha256(b"manifest").hexdigest()
PRODUCT = "magi-code"
SUBJECT = statement.Subject(name="0.104.0/reads-notes.local-agent/manifest.json", digest={"sha256": MANIFEST_SHA256})
PREDICATE = statement.Authorizes(
    product=PRODUCT,
    release="0.104.0",
    product_sha256=(bundles.PRODUCT.sha256,),
    classes=("mixed-outcomes",),
    valid_from="2026-11-01T00:00:00Z",
    expires="2027-05-01T00:00:00Z",
    reason="reviewed",
)


@cache
def key(name: str) -> Ed25519PrivateKey:
    """The private key of whoever is called so."""
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())


def key_file(folder: Path, owner: str) -> Path:
    """The owner's private key as a file in `folder`."""
    path = folder / f"{owner}.pem"
    pem = serialization.Encoding.PEM
    path.write_bytes(key(owner).private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return path


@cache
def print_of(name: str) -> str:
    return fingerprint(key(name).public_key())


@cache
def pem(name: str) -> str:
    """The public key of whoever is called so."""
    return (
        key(name)
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode()
    )


def entry(owner: str, **members: str) -> dict[str, str]:
    """One ``[[key]]`` table: the owner's key, named like the owner and an authority unless `members` say otherwise."""
    return {"name": owner, "role": "authority", "public_key": pem(owner), **members}


def policy_text(*entries: Mapping[str, object], **top: object) -> str:
    """A policy file. `top` replaces ``schema`` and ``threshold`` or adds members."""
    lines = [f"{name} = {_toml(value)}" for name, value in {"schema": 1, "threshold": 1, **top}.items()]
    for table in entries:
        lines += ["[[key]]", *(f"{name} = {_toml(value)}" for name, value in table.items())]
    if not entries and "key" not in top:
        lines.append("key = []")
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    return msgspec.json.encode(value).decode()  # JSON's strings, numbers, booleans and lists are TOML's too


def policy(*entries: Mapping[str, object], threshold: int = 1) -> Policy:
    return decode_policy(policy_text(*entries, threshold=threshold), where="policy.toml")


def payload(subjects: Sequence[statement.Subject] = (SUBJECT,), **changes: object) -> bytes:
    """A statement that authorizes the small bundle, with some members of its predicate changed."""
    return statement.encode(tuple(subjects), msgspec.structs.replace(PREDICATE, **changes))


def signed(*owners: str, subjects: Sequence[statement.Subject] = (SUBJECT,), **changes: object) -> bytes:
    """An envelope of `payload` with the owners' signatures."""
    return envelope.sign(payload(subjects, **changes), [key(owner) for owner in owners])


def decided(
    trust: Policy, *envelopes: bytes, at: str = AT, manifest: Manifest | None = None, product: str = PRODUCT
) -> Decision:
    """What is decided of the small bundle; fails when an envelope is broken."""
    claims, broken = read_claims({f"{number}.dsse.json": content for number, content in enumerate(envelopes)}, trust)
    assert broken == ()
    return decide(manifest or bundles.manifest(), MANIFEST_SHA256, claims, trust, product=product, at=at)
