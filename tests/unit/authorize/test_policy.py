"""A trust policy says whom to trust without a doubt, or it is refused with the key and the member named."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from harness.authorize.policy import Policy, Role, decode_policy
from harness.model.errors import UsageError
from tests.support.authorities import entry, key, pem, policy, policy_text, print_of

RELEASE_AUTHORITY = """\
schema = 1
threshold = 1

[[key]]
name = "release authority"
role = "authority"
public_key = \"\"\"
-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAFzZXDaKavBxCbQXACqxnSp7j49OQiBXpHxzmFavJ4IQ=
-----END PUBLIC KEY-----
\"\"\"
"""


def refused(text: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        decode_policy(text, where="policy.toml")
    assert caught.value.where.startswith("policy.toml")
    assert caught.value.exit_code == 2
    return caught.value


def spki(public: Any) -> str:
    """Any public key in PEM."""
    text: bytes = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return text.decode()


def test_policy_as_people_write_it_is_read() -> None:
    read = decode_policy(RELEASE_AUTHORITY, where="policy.toml")
    (only,) = read.keys
    assert (only.name, only.role, read.threshold) == ("release authority", Role.AUTHORITY, 1)
    assert (only.valid_from, only.valid_until, only.revoked, only.revoked_because) == ("", "", "", "")
    assert only.key.public_bytes_raw().hex() == "1736570da29abc1c426d05c00aac674a9ee3e3d3908815e91f1ce615abc9e084"


def test_every_member_is_read() -> None:
    read = policy(
        entry(
            "ann",
            role="recorder",
            valid_from="2026-01-01T00:00:00Z",
            valid_until="2027-01-01T00:00:00Z",
            revoked="2026-06-01T00:00:00Z",
            revoked_because="lost",
        ),
        entry("bob"),
        entry("cid"),
        threshold=2,
    )
    ann = read.by_fingerprint(print_of("ann"))
    assert ann is not None
    assert ann.role is Role.RECORDER
    assert (ann.valid_from, ann.valid_until) == ("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z")
    assert (ann.revoked, ann.revoked_because) == ("2026-06-01T00:00:00Z", "lost")
    assert ann.key == key("ann").public_key()
    assert [trusted.name for trusted in read.keys] == ["ann", "bob", "cid"]
    assert read.by_fingerprint(print_of("eve")) is None
    assert read.threshold == 2


def test_policy_without_keys_trusts_nobody() -> None:
    assert decode_policy(policy_text(), where="policy.toml") == Policy(threshold=1, keys=())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "missing required field `schema`"),
        ("not TOML", "is no trust policy"),
        ("schema = 1\nschema = 1\nthreshold = 1\nkey = []\n", "Cannot overwrite a value"),
        ('schema = 1\nthreshold = 1\n[[key]]\nname = "a"\nname = "b"\n', "Cannot overwrite a value"),
        ("schema = 1\nthreshold = 1\n", "missing required field `key`"),
        (policy_text(entry("ann"), schema="1"), "Expected `int`, got `str` - at `$.schema`"),
        (policy_text(entry("ann"), schema=True), "Expected `int`, got `bool` - at `$.schema`"),
        (policy_text(entry("ann"), treshold=2), "unknown field `treshold`"),
        (policy_text(entry("ann", revoked_at="2026-01-01T00:00:00Z")), "unknown field `revoked_at` - at `$.key[0]`"),
        (policy_text(entry("ann"), entry("bob", role="owner")), "Invalid enum value 'owner' - at `$.key[1].role`"),
        (policy_text(entry("ann", role="Authority")), "Invalid enum value 'Authority'"),
        (policy_text({"name": "ann", "role": "authority"}), "missing required field `public_key` - at `$.key[0]`"),
        (policy_text({"name": "ann", "public_key": pem("ann")}), "missing required field `role`"),
        (policy_text({**entry("ann"), "revoked": False}), "Expected `str`, got `bool` - at `$.key[0].revoked`"),
        (
            policy_text(entry("ann")) + "revoked = 2026-01-01T00:00:00Z\n",
            "Expected `str`, got `datetime` - at `$.key[0].revoked`",
        ),
        ("a = " + "[" * 10_000, "is no trust policy"),
    ],
)
def test_policy_of_another_shape_is_refused(text: str, reason: str) -> None:
    error = refused(text)
    assert error.message.startswith("is no trust policy: ")
    assert reason in error.message


@pytest.mark.parametrize("schema", [0, 2, -1])
def test_policy_of_another_schema_is_refused(schema: int) -> None:
    assert refused(policy_text(entry("ann"), schema=schema)).message == f"is of schema {schema}, not 1"


@pytest.mark.parametrize(
    ("threshold", "entries"),
    [
        (0, [entry("ann")]),
        (-1, [entry("ann")]),
        (2, [entry("ann")]),
        (2, [entry("ann"), entry("robot", role="recorder")]),
        (2, []),
    ],
)
def test_threshold_that_the_authorities_cannot_reach_or_that_asks_for_none_is_refused(
    threshold: int, entries: list[dict[str, str]]
) -> None:
    authorities = sum(1 for table in entries if table["role"] == "authority")
    error = refused(policy_text(*entries, threshold=threshold))
    assert error.message == f"a threshold of {threshold} with {authorities} authority keys"


@pytest.mark.parametrize("member", ["valid_from", "valid_until", "revoked"])
@pytest.mark.parametrize("text", ["2026-13-45T99:99:99Z", "2026-11-30", "9999T9999T9999:99:9Z", "soon", " "])
def test_time_that_is_none_is_refused_by_key_and_member(member: str, text: str) -> None:
    error = refused(policy_text(entry("ann"), entry("bob", **{member: text})))
    assert error.where == f"policy.toml, key 2 'bob', {member}"
    assert error.message.startswith(f"{text!r} is no RFC 3339 UTC time")
    assert error.hint == "write 2026-11-30T00:00:00Z"


def test_key_that_is_never_valid_is_refused() -> None:
    moment = "2026-11-30T00:00:00Z"
    error = refused(policy_text(entry("ann", valid_from=moment, valid_until=moment)))
    assert error.message == "is never valid: valid_until is not after valid_from"
    assert error.where == "policy.toml, key 1 'ann'"


def test_reason_of_a_revocation_without_its_time_is_refused_rather_than_taken_for_none() -> None:
    error = refused(policy_text(entry("ann", revoked_because="laptop lost")))
    assert error.message == "says why the key is revoked, but not since when"
    assert error.where == "policy.toml, key 1 'ann'"


def test_key_without_a_name_is_refused() -> None:
    assert refused(policy_text(entry("ann", name=" "))).message == "has no name"


def test_key_that_stands_twice_is_refused_also_in_another_role() -> None:
    error = refused(policy_text(entry("ann"), entry("bob"), entry("ann", name="again", role="recorder")))
    assert error.message == "the key 'again' stands twice"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not a PEM public key"),
        ("no key", "is not a PEM public key"),
        (pem("ann").replace("MCow", "MCox"), "is not a PEM public key"),
        (pem("ann").replace("PUBLIC", "PRIVATE"), "is not a PEM public key"),
        (pem("ann")[:60], "is not a PEM public key"),
        ("ü", "is not a PEM public key"),
        (pem("ann") + pem("bob"), "holds 2 PEM blocks, not one key"),
        (pem("ann") + " " * 20_000, "is larger than 16384 bytes: no key file"),
        (spki(ec.generate_private_key(ec.SECP256R1()).public_key()), "is not an Ed25519 key"),
        (spki(X25519PrivateKey.generate().public_key()), "is not an Ed25519 key"),
    ],
)
def test_key_that_is_no_ed25519_key_is_refused_by_name(text: str, reason: str) -> None:
    error = refused(policy_text(entry("ann"), entry("bob", public_key=text)))
    assert error.message == reason
    assert error.where == "policy.toml, key 2 'bob'"


def test_rsa_key_is_refused_by_name() -> None:
    text = spki(rsa.RSAPublicNumbers(e=65_537, n=2**2_047 + 1).public_key())
    assert refused(policy_text(entry("ann", public_key=text))).message == "is not an Ed25519 key"


def test_private_key_in_a_policy_is_refused_and_not_repeated() -> None:
    text = (
        key("ann")
        .private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        .decode()
    )
    error = refused(policy_text(entry("ann", public_key=text)))
    assert error.message == "is not a PEM public key"
    assert text.splitlines()[1] not in str(error)
