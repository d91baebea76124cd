"""What changed over the releases that have evidence: plain values, made of judgements by `harness.compare.history`.

Everything stands in the order of releases, oldest first; a step leads from one release to the next.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from harness.model.facts import CardKind, Column
from harness.model.verdict import Damage, Finding, Verdict


class Released(msgspec.Struct, frozen=True, kw_only=True):
    """One release, judged over its own evidence. `counted` runs are authorized and current."""

    version: str
    sha256: tuple[str, ...]
    verdict: Verdict
    observations: int
    counted: int
    findings: int
    damaged: tuple[Damage, ...]


class ClassCell(msgspec.Struct, frozen=True, kw_only=True):
    """One observation class in one release: original runs of it, how many count, and their comparisons with the
    reference on all surfaces. `missing` are the judge's reasons why the class is not covered."""

    runs: int
    counted: int
    agree: int
    disagree: int
    not_comparable: int
    missing: tuple[str, ...]


class ClassLine(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    cells: tuple[ClassCell, ...]


class Display(StrEnum):
    """Whether a surface of a release prints a fact, over all cards of that release that could be read there."""

    DISPLAYED = "displayed"
    """On every card that could be read."""
    SOMETIMES = "sometimes"
    """On some and not on others."""
    NOT_DISPLAYED = "not_displayed"
    UNREADABLE = "unreadable"
    """On none, and on some of them something is printed that cannot be read as a value."""
    ABSENT = "absent"
    """Every card that could be read has no such row."""
    NOT_CAPTURED = "not_captured"
    """No card with the fact could be read on this surface."""


class FactCell(msgspec.Struct, frozen=True, kw_only=True):
    """One fact on one surface of one release, counted over cards: where it is displayed (`via` names the ways), where
    not, where the row is absent, where it cannot be read, and how the comparisons with the reference ended."""

    display: Display
    displayed: int
    not_displayed: int
    absent: int
    unreadable: int
    via: tuple[str, ...]
    agree: int
    disagree: int
    not_comparable: int


class FactLine(msgspec.Struct, frozen=True, kw_only=True):
    """One label of one kind of card on one surface. `changes` has for each step how many facts changed, by kind of
    change: ``appeared``, ``vanished``, ``value``, ``display``, ``agreement``."""

    kind: CardKind
    label: str
    requirement: str
    surface: Column
    cells: tuple[FactCell, ...]
    changes: tuple[dict[str, int], ...]

    @property
    def changed(self) -> bool:
        return any(self.changes)


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that changed in the same way: their label and surface, what changed, both values in words, and where."""

    kind: CardKind
    label: str
    surface: Column
    kinds: tuple[str, ...]
    before: str
    after: str
    places: tuple[str, ...]
    """``<observation> <card>`` of each."""


class MemberChange(msgspec.Struct, frozen=True, kw_only=True):
    """A card or a capture that changed as a whole: `what` names the member, `places` every ``<observation> <card>``."""

    what: str
    surface: Column
    before: str
    after: str
    places: tuple[str, ...]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """From one release to the next. Findings are told only of observations of both, on surfaces that both captured."""

    before: str
    after: str
    both: tuple[str, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    kinds: dict[str, int]
    """Facts that changed, by kind of change; one fact may have changed in several ways."""
    facts: tuple[Change, ...]
    members: tuple[MemberChange, ...]
    appeared: tuple[Finding, ...]
    resolved: tuple[Finding, ...]
    compared: int
    not_compared: int

    @property
    def changed(self) -> int:
        """How many facts changed."""
        return sum(len(change.places) for change in self.facts)


class History(msgspec.Struct, frozen=True, kw_only=True):
    """All of it. `at` is the time as of which every release was judged, RFC 3339 UTC."""

    product: str
    at: str
    harness: str
    releases: tuple[Released, ...]
    steps: tuple[Step, ...]
    classes: tuple[ClassLine, ...]
    facts: tuple[FactLine, ...]
