"""Key files: a right one is read, and every wrong one says what is wrong without saying what is in it."""

from __future__ import annotations

import hashlib

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from harness.authorize.keys import fingerprint, new_key_pair, read_private_key, read_public_key
from harness.model.errors import UsageError

ED25519_SPKI = bytes.fromhex("302a300506032b6570032100")
"""RFC 8410, section 4: what stands before the 32 bytes of an Ed25519 public key in DER."""
RFC8032_TEST1 = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")


def refused(pem: bytes, passphrase: bytes | None) -> UsageError:
    with pytest.raises(UsageError) as caught:
        read_private_key(pem, passphrase, where="a.pem")
    assert caught.value.where == "a.pem"
    return caught.value


def test_fingerprint_is_the_sha256_of_the_der_key() -> None:
    key = Ed25519PublicKey.from_public_bytes(RFC8032_TEST1)
    assert fingerprint(key) == hashlib.sha256(ED25519_SPKI + RFC8032_TEST1).hexdigest()


@pytest.mark.parametrize("passphrase", [None, b"", b"secret", b"x" * 1_023, "pässword".encode()])
def test_new_pair_fits_together_and_reads_back(passphrase: bytes | None) -> None:
    private, public = new_key_pair(passphrase)
    key = read_private_key(private, passphrase, where="a.pem")
    assert key.public_key() == read_public_key(public, where="a.pub.pem")
    assert (b"ENCRYPTED" in private) == bool(passphrase)
    assert new_key_pair(passphrase)[0] != private


@pytest.mark.parametrize("passphrase", [None, b""])
def test_encrypted_key_without_a_passphrase_asks_for_it(passphrase: bytes | None) -> None:
    error = refused(new_key_pair(b"secret")[0], passphrase)
    assert error.message == "the private key needs a passphrase"
    assert error.hint == "set HARNESS_KEY_PASSPHRASE"


@pytest.mark.parametrize("passphrase", [b"Secret", b"secret ", b"x" * 5_000, b"\x00"])
def test_encrypted_key_with_a_wrong_passphrase_is_refused_and_the_passphrase_not_repeated(passphrase: bytes) -> None:
    error = refused(new_key_pair(b"secret")[0], passphrase)
    assert error.message == "cannot be read: no PEM private key, or the passphrase is wrong"
    assert passphrase.decode() not in str(error)


def test_passphrase_for_a_key_that_has_none_is_refused() -> None:
    error = refused(new_key_pair(None)[0], b"secret")
    assert error.message == "the private key is not protected by a passphrase"
    assert error.hint == "unset HARNESS_KEY_PASSPHRASE"


@pytest.mark.parametrize("passphrase", [None, b"secret"])
@pytest.mark.parametrize("pem", [b"", b"no key", b"\xff\x00", new_key_pair(None)[1]])
def test_file_that_is_no_private_key_is_refused(pem: bytes, passphrase: bytes | None) -> None:
    assert refused(pem, passphrase).message.startswith("cannot be read: no PEM private key")


def test_private_key_of_another_kind_is_refused() -> None:
    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    assert refused(other, None).message == "is not an Ed25519 key"


def test_file_with_two_keys_is_refused_rather_than_one_chosen() -> None:
    pem = new_key_pair(None)[0] + new_key_pair(None)[0]
    assert refused(pem, None).message == "holds 2 PEM blocks, not one key"


def test_file_too_large_for_a_key_is_refused_rather_than_cut() -> None:
    private, public = new_key_pair(None)
    assert refused(private + b"\n" * 16_384, None).message == "is larger than 16384 bytes: no key file"
    with pytest.raises(UsageError, match="larger than 16384 bytes"):
        read_public_key(public + b"\n" * 16_384, where="a.pub.pem")


def test_passphrase_longer_than_openssl_takes_is_refused_before_a_key_is_made() -> None:
    with pytest.raises(UsageError, match="the passphrase has 1024 bytes; 1023 are possible"):
        new_key_pair(b"x" * 1_024)
