"""Ed25519 keys in PEM: reading them with clear errors, and making new ones. By ``cryptography``."""

from __future__ import annotations

import hashlib

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from harness.model.errors import UsageError

KEY_BYTES = 16_384
"""Largest key file that is read."""

PASSPHRASE_BYTES = 1_023
"""Longest passphrase that OpenSSL takes."""


def fingerprint(key: Ed25519PublicKey) -> str:
    """Hex sha256 of the key's DER SubjectPublicKeyInfo: what identifies a key in policies, manifests and reports."""
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(der).hexdigest()


def _check_file(pem: bytes, where: str) -> None:
    if len(pem) > KEY_BYTES:
        raise UsageError(f"is larger than {KEY_BYTES} bytes: no key file", where=where)
    if (blocks := pem.count(b"-----BEGIN ")) > 1:
        raise UsageError(f"holds {blocks} PEM blocks, not one key", where=where)


def read_public_key(pem: bytes, *, where: str) -> Ed25519PublicKey:
    """The Ed25519 public key in `pem`. Raises UsageError for anything else."""
    _check_file(pem, where)
    try:
        key = serialization.load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise UsageError("is not a PEM public key", where=where) from error
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError("is not an Ed25519 key", where=where)
    return key


def read_private_key(pem: bytes, passphrase: bytes | None, *, where: str) -> Ed25519PrivateKey:
    """The Ed25519 private key in `pem`. An empty passphrase is none.

    Raises UsageError when it is something else, needs a passphrase that was not given, or has another one.
    """
    passphrase = passphrase or None
    _check_file(pem, where)
    try:
        key = serialization.load_pem_private_key(pem, passphrase)
    except TypeError as error:
        hint = "set HARNESS_KEY_PASSPHRASE" if passphrase is None else "unset HARNESS_KEY_PASSPHRASE"
        needs = "needs a passphrase" if passphrase is None else "is not protected by a passphrase"
        raise UsageError(f"the private key {needs}", where=where, hint=hint) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        problem = "cannot be read: no PEM private key" + (", or the passphrase is wrong" if passphrase else "")
        raise UsageError(problem, where=where) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError("is not an Ed25519 key", where=where)
    return key


def new_key_pair(passphrase: bytes | None) -> tuple[bytes, bytes]:
    """A new private and public key in PEM; the private one is encrypted when a passphrase is given.

    Raises UsageError for a passphrase that is too long.
    """
    if passphrase and len(passphrase) > PASSPHRASE_BYTES:
        raise UsageError(f"the passphrase has {len(passphrase)} bytes; {PASSPHRASE_BYTES} are possible")
    key = Ed25519PrivateKey.generate()
    protection: serialization.KeySerializationEncryption = (
        serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
    )
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, protection)
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private, public
