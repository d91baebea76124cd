"""The trust policy: whose signatures count, in which role, when, and how many are needed."""

from __future__ import annotations

import tomllib
from enum import StrEnum

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from harness.authorize.keys import fingerprint, read_public_key
from harness.model.errors import HarnessError, UsageError

POLICY_SCHEMA = 1


class Role(StrEnum):
    AUTHORITY = "authority"
    """May authorize original runs."""
    RECORDER = "recorder"
    """Makes recordings; its signature never authorizes one."""


class _Key(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    role: Role
    public_key: str
    valid_from: str = ""
    valid_until: str = ""
    revoked: str = ""
    revoked_because: str = ""


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: int
    threshold: int
    key: tuple[_Key, ...]


class TrustedKey(msgspec.Struct, frozen=True, kw_only=True):
    """One key of the policy. Times are RFC 3339 UTC or "" for no limit; `revoked` is since when it counts no more."""

    name: str
    role: Role
    key: Ed25519PublicKey
    fingerprint: str
    valid_from: str
    valid_until: str
    revoked: str
    revoked_because: str


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """`threshold` distinct authority keys must have signed a statement for it to count."""

    threshold: int
    keys: tuple[TrustedKey, ...]

    def by_fingerprint(self, print_: str) -> TrustedKey | None:
        return next((key for key in self.keys if key.fingerprint == print_), None)


def decode_policy(text: str, *, where: str) -> Policy:
    """The policy in a TOML file: ``schema``, ``threshold`` and ``[[key]]`` tables with PEM in ``public_key``.

    Raises UsageError for unknown members, another schema, a threshold that no number of keys can reach, a key that
    stands twice.
    """
    try:
        data = msgspec.convert(tomllib.loads(text), _File)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"is no trust policy: {error}", where=where) from error
    if data.schema != POLICY_SCHEMA:
        raise UsageError(f"is of schema {data.schema}, not {POLICY_SCHEMA}", where=where)
    keys = []
    for entry in data.key:
        try:
            public = read_public_key(entry.public_key.encode(), where=f"{where}, key {entry.name!r}")
        except HarnessError as error:
            raise UsageError(error.message, where=error.where) from error
        keys.append(
            TrustedKey(
                name=entry.name,
                role=entry.role,
                key=public,
                fingerprint=fingerprint(public),
                valid_from=_time(entry.valid_from, where),
                valid_until=_time(entry.valid_until, where),
                revoked=_time(entry.revoked, where),
                revoked_because=entry.revoked_because,
            )
        )
    prints = [key.fingerprint for key in keys]
    if len(set(prints)) != len(prints):
        raise UsageError("one key stands twice", where=where)
    authorities = sum(1 for key in keys if key.role is Role.AUTHORITY)
    if not 1 <= data.threshold <= max(authorities, 1):
        raise UsageError(f"a threshold of {data.threshold} with {authorities} authority keys", where=where)
    return Policy(threshold=data.threshold, keys=tuple(keys))


def _time(text: str, where: str) -> str:
    if text and not (len(text) == len("2026-01-01T00:00:00Z") and text[10] == "T" and text[-1] == "Z"):
        raise UsageError(f"{text!r} is no RFC 3339 UTC time", where=where, hint="write 2026-11-30T00:00:00Z")
    return text
