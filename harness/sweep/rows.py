"""What a sweep says: one row a session, and the totals over all of them."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

import msgspec

from harness.model.manifest import Product
from harness.model.verdict import Finding


class Status(StrEnum):
    READ = "read"
    UNREADABLE = "unreadable"
    """Nothing of the session could be judged; its findings say why."""
    FAULT = "fault"
    """The harness, or the process that it ran in, failed on this session."""


class Reopening(StrEnum):
    NOT_ASKED = "not_asked"
    """No candidate was named, or the session could not be read."""
    REOPENED = "reopened"
    FAILED = "failed"
    """The candidate did not open the session or did not page its whole history."""
    NOT_POSSIBLE = "not_possible"
    """The session cannot be laid before a candidate at all."""


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts by outcome of their comparison."""

    agree: int = 0
    disagree: int = 0
    not_comparable: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            agree=self.agree + other.agree,
            disagree=self.disagree + other.disagree,
            not_comparable=self.not_comparable + other.not_comparable,
        )


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One session of an archive, judged.

    `archive` and `session` are its name; `digest` the hex sha256 of all that was read; `bytes` the size of that and
    `children` the number of child sessions. `derivations` counts facts of the host's report against nested records,
    `surface` saved cards of the candidate against the reference. `finding_count` counts all findings; `findings` are
    the first of them, at most `FINDINGS_KEPT`.
    """

    archive: str
    session: str
    digest: str
    status: Status
    synthetic: bool
    bytes: int
    children: int
    cards: int
    derivations: Counts
    reopening: Reopening
    surface: Counts
    finding_count: int
    findings: tuple[Finding, ...]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A whole sweep. Says nothing about when and how fast, so that the same archives give the same summary.

    `by_requirement` counts findings as ``<surface> <requirement>``, the kept ones of each session. `orphans` are child
    sessions that no session leads to; None when only some sessions were looked at. `synthetic` counts made sessions.
    """

    harness: str
    product: Product | None
    archives: tuple[str, ...]
    sessions: int
    read: int
    unreadable: int
    faults: int
    synthetic: int
    bytes: int
    children: int
    orphans: int | None
    cards: int
    derivations: Counts
    reopened: int
    reopening_failed: int
    surface: Counts
    sessions_with_findings: int
    findings: int
    by_requirement: dict[str, int]


class Totals:
    """Adds rows up; holds no row."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._derivations = Counts()
        self._surface = Counts()
        self._requirements: Counter[str] = Counter()

    def add(self, row: Row) -> None:
        self._counts.update(
            sessions=1,
            synthetic=int(row.synthetic),
            bytes=row.bytes,
            children=row.children,
            cards=row.cards,
            findings=row.finding_count,
            sessions_with_findings=int(bool(row.finding_count)),
        )
        self._counts[f"status {row.status}"] += 1
        self._counts[f"reopening {row.reopening}"] += 1
        self._derivations += row.derivations
        self._surface += row.surface
        self._requirements.update(f"{found.surface} {found.requirement}" for found in row.findings)

    def summary(
        self, *, harness: str, product: Product | None, archives: tuple[str, ...], orphans: int | None
    ) -> Summary:
        counts = self._counts
        return Summary(
            harness=harness,
            product=product,
            archives=archives,
            sessions=counts["sessions"],
            read=counts[f"status {Status.READ}"],
            unreadable=counts[f"status {Status.UNREADABLE}"],
            faults=counts[f"status {Status.FAULT}"],
            synthetic=counts["synthetic"],
            bytes=counts["bytes"],
            children=counts["children"],
            orphans=orphans,
            cards=counts["cards"],
            derivations=self._derivations,
            reopened=counts[f"reopening {Reopening.REOPENED}"],
            reopening_failed=counts[f"reopening {Reopening.FAILED}"],
            surface=self._surface,
            sessions_with_findings=counts["sessions_with_findings"],
            findings=counts["findings"],
            by_requirement=dict(sorted(self._requirements.items())),
        )
