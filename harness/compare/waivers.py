"""Waivers: findings that somebody answers for, for a while. Strict, owned, expiring, and shown wherever they apply."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from datetime import datetime

import msgspec

from harness.model.errors import UsageError
from harness.model.verdict import Finding

WAIVER_SCHEMA = 1
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
"""So spelled, the order of texts is the order of times."""


class Waiver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One waiver. `requirement`, `observation`, `label` and `release` say what it covers, each exactly (`label` "" for
    findings of a whole card); `card` and `surface` narrow it further when given. `expires` is RFC 3339 UTC,
    exclusive. `owner`, `reason` and `issue` say who answers for it, why, and where it is being mended."""

    id: str
    requirement: str
    observation: str
    label: str
    owner: str
    reason: str
    issue: str
    expires: str
    release: str
    card: str = ""
    surface: str = ""

    def covers(self, found: Finding, release: str) -> bool:
        return (
            self.release == release
            and self.requirement == found.requirement
            and self.observation == found.observation
            and self.label == found.label
            and self.card in ("", found.card)
            and self.surface in ("", found.surface)
        )


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: int
    waiver: tuple[Waiver, ...] = ()


class Waived(msgspec.Struct, frozen=True, kw_only=True):
    """The findings, waived ones marked, and what is wrong with the waivers themselves: each of these fails the run."""

    findings: tuple[Finding, ...]
    faults: tuple[str, ...]


def _is_time(text: str) -> bool:
    if not _TIME.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def decode_waivers(text: str, *, where: str) -> tuple[Waiver, ...]:
    """The waivers of a TOML file: ``schema = 1`` and ``[[waiver]]`` tables.

    Raises UsageError for unknown or missing members, an empty one, a time that is none, an id that stands twice.
    """
    try:
        data = msgspec.convert(tomllib.loads(text), _File)
    except (ValueError, RecursionError) as error:  # of TOML, of a member, of an integer longer than Python reads
        raise UsageError(f"is no waiver file: {error}", where=where) from error
    if data.schema != WAIVER_SCHEMA:
        raise UsageError(f"is of schema {data.schema}, not {WAIVER_SCHEMA}", where=where)
    ids = [waiver.id for waiver in data.waiver]
    for waiver in data.waiver:
        for name in ("id", "requirement", "observation", "owner", "reason", "issue", "release"):
            if not getattr(waiver, name).strip():
                raise UsageError(f"the waiver {waiver.id!r} has no {name}", where=where)
        if not _is_time(waiver.expires):
            raise UsageError(
                f"the waiver {waiver.id!r} expires at {waiver.expires!r}, which is no RFC 3339 UTC time", where=where
            )
        if ids.count(waiver.id) > 1:
            raise UsageError(f"the waiver {waiver.id!r} stands twice", where=where)
    return data.waiver


def apply_waivers(findings: Sequence[Finding], waivers: Sequence[Waiver], *, release: str, at: str) -> Waived:
    """Mark every finding that a current waiver of this release covers. Waivers of other releases are left alone."""
    own = [waiver for waiver in waivers if waiver.release == release]
    current = [waiver for waiver in own if at < waiver.expires]
    faults = [
        f"the waiver {waiver.id} of {waiver.owner} expired at {waiver.expires}"
        for waiver in own
        if waiver not in current
    ]
    used: set[str] = set()
    marked: list[Finding] = []
    for found in findings:
        covering = [waiver.id for waiver in current if waiver.covers(found, release)]
        used.update(covering)
        marked.append(msgspec.structs.replace(found, waived_by=covering[0]) if covering else found)
    faults.extend(
        f"the waiver {waiver.id} of {waiver.owner} matches no finding" for waiver in current if waiver.id not in used
    )
    return Waived(findings=tuple(marked), faults=tuple(faults))
