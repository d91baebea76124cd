"""What every format says alike: orders, counts and outcomes derived once from the judgement.

A format that needs a status, a total or a group takes it from here, so that no two formats can contradict each other.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from harness.model.facts import SURFACES, Column
from harness.model.values import Reason
from harness.model.verdict import (
    Acceptance,
    Agreement,
    Authorization,
    Finding,
    FindingKind,
    Observation,
    RequirementRow,
    RequirementStatus,
    SurfaceCount,
    Verdict,
)
from harness.spec.classes import CLASS_IDS

MEANING = {
    Verdict.ACCEPTED: "Every required class was observed, every required comparison was made, "
    "and nothing unwaived disagrees.",
    Verdict.REJECTED: "Authorized evidence disagrees with the rules.",
    Verdict.INSUFFICIENT: "Something that is required is missing, stale, unauthorized, expired or "
    "could not be compared.",
    Verdict.TAMPERED: "Evidence does not verify: it is damaged or was tampered with.",
}
"""What a verdict means, in one sentence."""

ELSEWHERE = "EVIDENCE"
"""How commands in a report call an evidence folder whose path belongs to one machine: no report holds such a path."""

EXIT_CODES = {Verdict.ACCEPTED: 0, Verdict.REJECTED: 1, Verdict.INSUFFICIENT: 3, Verdict.TAMPERED: 4}


class Outcome(StrEnum):
    """How one check ended. Unsettled is neither: nothing that counts was compared."""

    AGREES = "agrees"
    DISAGREES = "disagrees"
    WAIVED = "waived"
    UNSETTLED = "unsettled"


_WORST_FIRST = (Outcome.DISAGREES, Outcome.UNSETTLED, Outcome.WAIVED, Outcome.AGREES)


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One outcome with its reason ("" when the outcome says it all) and the findings behind it.

    `decides` is False for a disagreement that cannot reject the release: it stands in evidence that does not count
    (yet), or could not be read. It is shown all the same.
    """

    outcome: Outcome
    reason: str
    findings: tuple[Finding, ...]
    decides: bool = True


class ClassCell(msgspec.Struct, frozen=True, kw_only=True):
    """One class on one surface: the worst outcome, summed counts, and how many runs were captured there."""

    outcome: Outcome
    reason: str
    count: SurfaceCount
    runs: int


class ClassRow(msgspec.Struct, frozen=True, kw_only=True):
    """One class of one release. `counted` runs are authorized and current; `missing` are the judge's reasons."""

    name: str
    release: str
    cells: dict[Column, ClassCell]
    runs: int
    counted: int
    missing: tuple[str, ...]


class Authority(msgspec.Struct, frozen=True, kw_only=True):
    """By which authority, or why by none, and for how many observations."""

    authorization: Authorization
    detail: str
    observations: int


def observation_key(observation: Observation) -> tuple[str, str, str]:
    return observation.release, observation.id, observation.bundle


def finding_key(finding: Finding) -> tuple[str, str, str, str, str, int, str, str]:
    return (
        finding.observation,
        finding.surface,
        finding.card,
        finding.label,
        finding.requirement,
        finding.ordinal,
        finding.kind.value,
        finding.id,
    )


def class_key(name: str) -> tuple[int, str]:
    """Sorts classes in the order of observations.md; a class that is not there stands after them."""
    return (CLASS_IDS.index(name) if name in CLASS_IDS else len(CLASS_IDS)), name


def counts(observation: Observation, column: Column) -> SurfaceCount:
    """The observation's counts on one surface; all zero when the judgement has none."""
    return observation.surfaces.get(column, SurfaceCount(agree=0, disagree=0, not_comparable=0))


def counts_as_evidence(observation: Observation) -> bool:
    """Whether an observation counts for the verdict: authorized, and of the scenario as it is now."""
    return not _why_not(observation)


def _why_not(observation: Observation) -> str:
    if observation.stale:
        return "stale: the scenario changed after the run"
    if observation.authorization is Authorization.AUTHORIZED:
        return ""
    return f"{words(observation.authorization)}: {observation.authorization_detail}".rstrip(": ")


def total(parts: Iterable[SurfaceCount]) -> SurfaceCount:
    parts = tuple(parts)
    return SurfaceCount(
        agree=sum(part.agree for part in parts),
        disagree=sum(part.disagree for part in parts),
        not_comparable=sum(part.not_comparable for part in parts),
    )


def words(member: StrEnum) -> str:
    """The words of an enumeration's member: ``not comparable``."""
    return member.value.replace("_", " ")


class Overview:
    """The judgement with its derived values. Raises nothing: whatever the judge says can be shown.

    `rules` are the texts of rules that findings can name beside the requirements of the judgement (wire rules).
    `evidence` is what commands must call the evidence folder: "" for the one that they look in by themselves, a path
    that means the same on every machine, or `ELSEWHERE`.
    """

    def __init__(self, acceptance: Acceptance, rules: Mapping[str, str] | None = None, evidence: str = "") -> None:
        self.acceptance = acceptance
        self.evidence = evidence
        self.rules = rules or {}
        self.observations = tuple(sorted(acceptance.observations, key=observation_key))
        self.findings = tuple(sorted(acceptance.findings, key=finding_key))
        self.missing = tuple(sorted(acceptance.missing, key=lambda item: (class_key(item.class_), item.reason)))
        self.damaged = tuple(sorted(acceptance.damaged, key=lambda item: item.bundle))
        self.unread = tuple(sorted(acceptance.unread, key=lambda item: item.name))
        self.open = tuple(finding for finding in self.findings if finding.waived_by is None)
        self.waived = tuple(finding for finding in self.findings if finding.waived_by is not None)
        self.totals = total(counts(item, column) for item in self.observations for column in SURFACES)
        self.requirements = {row.id: row for row in acceptance.requirements}
        self._counting = {item.id for item in self.observations if counts_as_evidence(item)}
        self._by_id = {finding.id: finding for finding in self.findings}
        self._by_surface: dict[tuple[str, str], list[Finding]] = {}
        self._by_requirement: dict[str, list[Finding]] = {}
        for finding in self.findings:
            self._by_surface.setdefault((finding.observation, finding.surface), []).append(finding)
            self._by_requirement.setdefault(finding.requirement, []).append(finding)

    def command(self, text: str) -> str:
        """A command of the harness, as it must be given for this evidence."""
        return f"{text} --evidence {shlex.quote(self.evidence)}" if self.evidence else text

    @property
    def again(self) -> str:
        """The command that judges the same again, over the same evidence."""
        release, at = self.acceptance.release.version, self.acceptance.at
        return self.command(f"harness accept --release {shlex.quote(release)} --at {shlex.quote(at)}")

    @property
    def stands_for(self) -> str:
        """What the commands leave to whoever gives them, "" when they can be copied as they are."""
        return "is the whole path of the folder that holds this evidence" if self.evidence == ELSEWHERE else ""

    @property
    def counting(self) -> int:
        """How many observations are authorized and current."""
        return sum(map(counts_as_evidence, self.observations))

    def decides(self, finding: Finding) -> bool:
        """Whether the finding can reject the release: unwaived, read, and in evidence that counts (evidence.md)."""
        readable = finding.kind is not FindingKind.UNREADABLE
        return finding.waived_by is None and readable and finding.observation in self._counting

    def surface(self, observation: Observation, column: Column) -> Check:
        """How one observation's comparisons on one surface ended."""
        findings = tuple(self._by_surface.get((observation.id, column.value), ()))
        count = counts(observation, column)
        outcome = _outcome(findings, disagree=bool(count.disagree) and not findings)
        if outcome is not None:
            decides = any(map(self.decides, findings)) if findings else counts_as_evidence(observation)
            decides = decides or outcome is Outcome.WAIVED
            return Check(outcome=outcome, reason=_why_not(observation), findings=findings, decides=decides)
        unavailable = observation.unavailable.get(column)
        if unavailable is not None:
            reason = words(unavailable.reason) + (f": {unavailable.detail}" if unavailable.detail else "")
        elif not count.agree:
            reason = "nothing could be compared"
        else:
            reason = _why_not(observation)
        if not reason:
            return Check(outcome=Outcome.AGREES, reason="", findings=())
        return Check(outcome=Outcome.UNSETTLED, reason=reason, findings=())

    def requirement(self, row: RequirementRow) -> Check:
        """How one requirement ended. A disagreement that is wholly waived is waived, and stays visible.

        Findings of other rules that say the same count here as they do for the judge.
        """
        others = (self._by_id[id_] for id_ in row.findings if id_ in self._by_id)
        same = (item for item in others if item.requirement != row.id)
        findings = (*self._by_requirement.get(row.id, ()), *same)
        outcome = _outcome(findings, disagree=row.status is RequirementStatus.DISAGREES and not findings)
        if outcome is not None:
            decides = not findings or outcome is Outcome.WAIVED or any(map(self.decides, findings))
            return Check(outcome=outcome, reason=row.reason, findings=findings, decides=decides)
        met = row.status is RequirementStatus.MET
        reason = row.reason or ("" if met else words(row.status))
        return Check(outcome=Outcome.AGREES if met else Outcome.UNSETTLED, reason=reason, findings=())

    def statuses(self) -> dict[RequirementStatus, int]:
        """How many requirements have each status, in the order of the enumeration."""
        found = Counter(row.status for row in self.acceptance.requirements)
        return {status: found[status] for status in RequirementStatus}

    def authorities(self) -> tuple[Authority, ...]:
        """Every authorization that stands behind (or not behind) the observations, authorized ones first."""
        found = Counter((item.authorization, item.authorization_detail) for item in self.observations)
        order = list(Authorization)
        return tuple(
            Authority(authorization=authorization, detail=detail, observations=number)
            for (authorization, detail), number in sorted(
                found.items(), key=lambda entry: (order.index(entry[0][0]), entry[0][1])
            )
        )

    def releases(self) -> tuple[str, ...]:
        return tuple(sorted({item.release for item in self.observations} | {self.acceptance.release.version}))

    def classes(self) -> tuple[ClassRow, ...]:
        """The matrix of classes and surfaces, one row a class and release that has runs or is missing."""
        observed = {(name, item.release) for item in self.observations for name in item.classes}
        version = self.acceptance.release.version
        wanted = {(item.class_, version) for item in self.missing if item.class_}
        return tuple(
            self._class_row(name, release)
            for name, release in sorted(observed | wanted, key=lambda key: (class_key(key[0]), key[1]))
        )

    def _class_row(self, name: str, release: str) -> ClassRow:
        runs = [item for item in self.observations if name in item.classes and item.release == release]
        current = release == self.acceptance.release.version
        return ClassRow(
            name=name,
            release=release,
            cells={column: self._class_cell(runs, column) for column in SURFACES},
            runs=len(runs),
            counted=sum(counts_as_evidence(item) for item in runs),
            missing=tuple(item.reason for item in self.missing if item.class_ == name) if current else (),
        )

    def _class_cell(self, runs: list[Observation], column: Column) -> ClassCell:
        # A surface that some run could not have shown says nothing of the class while another run shows it; the cell
        # then counts fewer runs than its row, which is how the reader sees it.
        captured = [item for item in runs if not _never_captured(item, column)]
        checks = [self.surface(item, column) for item in captured or runs]
        worst = next((outcome for outcome in _WORST_FIRST if any(check.outcome is outcome for check in checks)), None)
        reasons = sorted({check.reason for check in checks if check.outcome is worst and check.reason})
        return ClassCell(
            outcome=worst or Outcome.UNSETTLED,
            reason="; ".join(reasons) if runs else "no run",
            count=total(counts(item, column) for item in runs),
            runs=len(captured),
        )


def _never_captured(observation: Observation, column: Column) -> bool:
    unavailable = observation.unavailable.get(column)
    return unavailable is not None and unavailable.reason is Reason.NOT_CAPTURED


def _outcome(findings: tuple[Finding, ...], *, disagree: bool) -> Outcome | None:
    """Disagrees or waived when findings (or a bare disagreement without any) say so, else None."""
    if disagree or any(finding.waived_by is None for finding in findings):
        return Outcome.DISAGREES
    return Outcome.WAIVED if findings else None


def row_agreement(agreements: Iterable[Agreement]) -> Agreement:
    """One fact over all columns: disagree when any does, agree when any agrees and none disagrees."""
    found = set(agreements)
    for agreement in (Agreement.DISAGREE, Agreement.AGREE):
        if agreement in found:
            return agreement
    return Agreement.NOT_COMPARABLE
