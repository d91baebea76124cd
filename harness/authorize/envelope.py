"""DSSE envelopes (github.com/secure-systems-lab/dsse, v1.0.2): sign bytes, verify, and only then hand them out.

``securesystemslib`` matches signatures to keys by ``keyid``, which proves nothing and which the specification forbids
to rely on, so verification tries every key here; the tests hold both implementations against each other.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

import jiter
import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from harness.authorize.keys import fingerprint
from harness.authorize.statement import PAYLOAD_TYPE
from harness.model.errors import DecodeError, UsageError

ENVELOPE_BYTES = 4_194_304
SIGNATURES = 64


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """`keyid` is a hint for people; `sig` base64."""

    sig: str
    keyid: str = ""


class Envelope(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An envelope as it lies in a file. Nothing in it is to be believed before `verify`."""

    payload: str
    payload_type: str
    signatures: tuple[Signature, ...]


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """The bytes that are signed (DSSE protocol, "Signature Definition")."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign(payload: bytes, keys: Sequence[Ed25519PrivateKey], payload_type: str = PAYLOAD_TYPE) -> bytes:
    """An envelope file of `payload` signed by every key, ending in a newline.

    Raises UsageError for no key or too many, and for a payload whose envelope nobody would read.
    """
    if not 1 <= len(keys) <= SIGNATURES:
        raise UsageError(f"{len(keys)} keys to sign with, not 1 to {SIGNATURES}")
    message = pre_authentication_encoding(payload_type, payload)
    envelope = Envelope(
        payload=base64.b64encode(payload).decode(),
        payload_type=payload_type,
        signatures=tuple(
            Signature(keyid=fingerprint(key.public_key()), sig=base64.b64encode(key.sign(message)).decode())
            for key in keys
        ),
    )
    content = msgspec.json.encode(envelope) + b"\n"
    if len(content) > ENVELOPE_BYTES:
        raise UsageError(f"the envelope would have {len(content)} bytes; {ENVELOPE_BYTES} are read at most")
    return content


def cosign(envelope: Envelope, key: Ed25519PrivateKey, *, where: str) -> bytes:
    """The envelope file with one more signature, of the very bytes that the others signed; those stay as they are.

    Raises UsageError when there is no room for another one, DecodeError for a payload that is not base64.
    """
    payload = _base64(envelope.payload, where, "payload")
    message = pre_authentication_encoding(envelope.payload_type, payload)
    added = Signature(keyid=fingerprint(key.public_key()), sig=base64.b64encode(key.sign(message)).decode())
    if len(envelope.signatures) >= SIGNATURES:
        raise UsageError(f"has {SIGNATURES} signatures, and more are not read", where=where)
    content = msgspec.json.encode(msgspec.structs.replace(envelope, signatures=(*envelope.signatures, added))) + b"\n"
    if len(content) > ENVELOPE_BYTES:
        raise UsageError(f"would have {len(content)} bytes; {ENVELOPE_BYTES} are read at most", where=where)
    return content


_URL_SAFE = str.maketrans("-_+/", "+/\0\0")
"""To the standard alphabet, with the standard's own two characters made invalid: nobody mixes the two alphabets."""


def _base64(text: str, where: str, path: str) -> bytes:
    """Standard or URL-safe base64, as the specification lets either be used."""
    try:
        url_safe = "-" in text or "_" in text
        return base64.b64decode(text.translate(_URL_SAFE) if url_safe else text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise DecodeError(f"is not base64: {error}", path=path, where=where) from error


def decode(content: bytes, *, where: str) -> Envelope:
    """The envelope in `content`. Raises DecodeError: too large, not strict JSON, members missing or mistyped."""
    if len(content) > ENVELOPE_BYTES:
        raise DecodeError(f"an envelope of {len(content)} bytes; the limit is {ENVELOPE_BYTES}", where=where)
    try:
        envelope = msgspec.convert(jiter.from_json(content, catch_duplicate_keys=True), Envelope)
    except (ValueError, msgspec.ValidationError) as error:
        raise DecodeError(f"is no DSSE envelope: {error}", where=where) from error
    if not envelope.signatures or len(envelope.signatures) > SIGNATURES:
        raise DecodeError(f"has {len(envelope.signatures)} signatures, not 1 to {SIGNATURES}", where=where)
    return envelope


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """The payload whose bytes were verified, and the fingerprints of the distinct keys that signed it.

    `unknown` counts signatures that no given key made. With no signer at all, `payload` is still what the envelope
    says: fit to name what it wants to authorize, and for nothing else.
    """

    payload: bytes
    payload_type: str
    signers: tuple[str, ...]
    unknown: int


def verify(envelope: Envelope, keys: Sequence[Ed25519PublicKey], *, where: str) -> Verified:
    """Try every signature with every key; ``keyid`` is not looked at. Raises DecodeError for broken base64."""
    payload = _base64(envelope.payload, where, "payload")
    message = pre_authentication_encoding(envelope.payload_type, payload)
    signers: dict[str, None] = {}
    unknown = 0
    for index, signature in enumerate(envelope.signatures):
        content = _base64(signature.sig, where, f"signatures[{index}].sig")
        for key in keys:
            try:
                key.verify(content, message)
            except InvalidSignature:
                continue
            signers[fingerprint(key)] = None
            break
        else:
            unknown += 1
    return Verified(payload=payload, payload_type=envelope.payload_type, signers=tuple(signers), unknown=unknown)
