"""The trust policy: whose signatures count, in which role, when, and how many are needed."""

from __future__ import annotations

import tomllib
from enum import StrEnum

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from harness.authorize.keys import fingerprint, read_public_key
from harness.authorize.times import time_error
from harness.model.errors import UsageError

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
    """One key of the policy.

    Times are RFC 3339 UTC or "" for no limit; `valid_from` inclusive, `valid_until` exclusive. `revoked` is since when
    the key counts no more, whenever it signed; `revoked_because` is for people.
    """

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

    Raises UsageError that names the key and the member: unknown members, another schema, keys that are not Ed25519 or
    stand twice, times that are none or contradict each other, a threshold that the authority keys cannot reach.
    """
    try:
        data = msgspec.convert(tomllib.loads(text), _File)
    except (ValueError, RecursionError) as error:  # of TOML, of a member, of an integer longer than Python reads
        raise UsageError(f"is no trust policy: {error}", where=where) from error
    if data.schema != POLICY_SCHEMA:
        raise UsageError(f"is of schema {data.schema}, not {POLICY_SCHEMA}", where=where)
    keys = tuple(_trusted(entry, f"{where}, key {number} {entry.name!r}") for number, entry in enumerate(data.key, 1))
    prints = [key.fingerprint for key in keys]
    if len(set(prints)) != len(prints):
        twice = next(key for number, key in enumerate(keys) if key.fingerprint in prints[:number])
        raise UsageError(f"the key {twice.name!r} stands twice", where=where)
    authorities = sum(1 for key in keys if key.role is Role.AUTHORITY)
    if not 1 <= data.threshold <= max(authorities, 1):
        raise UsageError(f"a threshold of {data.threshold} with {authorities} authority keys", where=where)
    return Policy(threshold=data.threshold, keys=keys)


def _trusted(entry: _Key, where: str) -> TrustedKey:
    if not entry.name.strip():
        raise UsageError("has no name", where=where)
    for member, text in (
        ("valid_from", entry.valid_from),
        ("valid_until", entry.valid_until),
        ("revoked", entry.revoked),
    ):
        if text and (problem := time_error(text)):
            raise UsageError(problem, where=f"{where}, {member}", hint="write 2026-11-30T00:00:00Z")
    if entry.valid_from and entry.valid_until and entry.valid_until <= entry.valid_from:
        raise UsageError("is never valid: valid_until is not after valid_from", where=where)
    if entry.revoked_because and not entry.revoked:
        raise UsageError("says why the key is revoked, but not since when", where=where, hint="add revoked")
    public = read_public_key(entry.public_key.encode(), where=where)
    return TrustedKey(
        name=entry.name,
        role=entry.role,
        key=public,
        fingerprint=fingerprint(public),
        valid_from=entry.valid_from,
        valid_until=entry.valid_until,
        revoked=entry.revoked,
        revoked_because=entry.revoked_because,
    )
