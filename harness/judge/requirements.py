"""The traceability matrix: every rule of card-facts.md with the comparisons that say something about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from harness.judge import rules
from harness.judge.rules import Outcome
from harness.model.facts import SURFACES
from harness.model.verdict import (
    Agreement,
    FactRow,
    Finding,
    FindingKind,
    Observation,
    RequirementRow,
    RequirementStatus,
)
from harness.model.words import plural
from harness.spec.requirements import REQUIREMENTS, CheckKind, Requirement, not_reachable


def _rows_about(requirement: Requirement, rows: Iterable[FactRow]) -> list[FactRow]:
    return [
        row
        for row in rows
        if row.label in requirement.labels and row.kind in requirement.cards and requirement.evidenced_by(row.reference)
    ]


def _count(rows: Iterable[FactRow]) -> Outcome:
    outcomes = [row.cells[column].agreement for row in rows for column in SURFACES]
    return (
        outcomes.count(Agreement.AGREE),
        outcomes.count(Agreement.DISAGREE),
        outcomes.count(Agreement.NOT_COMPARABLE),
    )


def _compared(row: FactRow) -> bool:
    return any(row.cells[column].agreement is not Agreement.NOT_COMPARABLE for column in SURFACES)


def _disagreement(requirement: str, findings: Sequence[Finding], comparisons: int) -> str:
    """What speaks against a requirement, waived or not, in words; "" when nothing does. `comparisons`: how many of the
    rows that are cases of it disagree."""
    by_rule: dict[str, list[Finding]] = {}
    for found in findings:
        by_rule.setdefault(found.requirement, []).append(found)
    parts = []
    for rule, found_here in by_rule.items():
        waived = sum(1 for found in found_here if found.waived_by is not None)
        part = plural(len(found_here), "finding") + ("" if rule == requirement else f" of {rule}")
        parts.append(part + (f", {waived} of them waived" if waived else ""))
    if comparisons:
        parts.append(f"{plural(comparisons, 'comparison')} {'disagrees' if comparisons == 1 else 'disagree'}")
    return "; ".join(parts)


def _status(
    requirement: Requirement, counts: Outcome, findings: Sequence[Finding], *, release: str
) -> tuple[RequirementStatus, str]:
    # Each comparison that disagrees is a finding of its fact's own rule; a structural rule counts its own in as well.
    comparisons = counts[1] - len(findings) if requirement.kind is CheckKind.RULE else 0 if findings else counts[1]
    if against := _disagreement(requirement.id, findings, comparisons):
        return RequirementStatus.DISAGREES, against
    if requirement.kind is CheckKind.EXCLUDED:
        return RequirementStatus.NOT_REACHABLE, requirement.reason
    if unreachable := not_reachable(requirement.id, release):
        return RequirementStatus.NOT_REACHABLE, unreachable.reason
    if counts[0]:
        return RequirementStatus.MET, ""
    if requirement.kind is CheckKind.RULE:
        return RequirementStatus.NOT_OBSERVED, rules.HELD[requirement.rule][requirement.id].unseen
    return RequirementStatus.NOT_OBSERVED, "no original run of this release shows a case of it"


def _process_status(
    requirement: str, findings: Sequence[Finding], *, release: str, covered: bool
) -> tuple[RequirementStatus, str]:
    if against := _disagreement(requirement, findings, 0):
        return RequirementStatus.DISAGREES, against
    if covered:
        return RequirementStatus.MET, ""
    reason = f"not every observation class of {release} is covered by authorized original runs"
    return RequirementStatus.NOT_OBSERVED, reason


def _added(one: Outcome, two: Outcome) -> Outcome:
    return one[0] + two[0], one[1] + two[1], one[2] + two[2]


def _row(
    rule: Requirement | OtherRule,
    about: Iterable[Observation],
    counts: Outcome,
    status: tuple[RequirementStatus, str],
    findings: Iterable[Finding],
) -> RequirementRow:
    observations = tuple(about)
    return RequirementRow(
        id=rule.id,
        section=rule.section,
        text=rule.text,
        scenarios=tuple(dict.fromkeys(item.scenario for item in observations if item.scenario)),
        observations=tuple(item.id for item in observations),
        status=status[0],
        reason=status[1],
        agree=counts[0],
        disagree=counts[1],
        not_comparable=counts[2],
        findings=tuple(found.id for found in findings),
    )


class OtherRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that findings name beside the requirements of card-facts.md: of the wire, or of saved records."""

    id: str
    section: str
    text: str


def _requirement_row(
    requirement: Requirement,
    observations: Sequence[Observation],
    by_requirement: Mapping[str, Sequence[Finding]],
    *,
    release: str,
    covered: bool,
) -> RequirementRow:
    own = list(by_requirement.get(requirement.id, ()))
    if requirement.kind is CheckKind.PROCESS:
        process = _process_status(requirement.id, own, release=release, covered=covered)
        return _row(requirement, (), (0, 0, 0), process, own)
    if requirement.kind is CheckKind.RULE:
        own = rules.against(requirement, by_requirement)
    counts: Outcome = (0, 0, 0)
    about: list[Observation] = []
    for observation in observations:
        if requirement.kind is CheckKind.FACTS:
            rows = _rows_about(requirement, observation.rows)
            here, seen = _count(rows), any(_compared(row) for row in rows)
        elif requirement.kind is CheckKind.RULE:
            here = rules.outcome(requirement, observation, sum(found.observation == observation.id for found in own))
            seen = bool(here[0] + here[1])
        else:
            continue
        counts = _added(counts, here)
        if seen:
            about.append(observation)
    return _row(requirement, about, counts, _status(requirement, counts, own, release=release), own)


def _other_row(
    rule: OtherRule, observations: Sequence[Observation], by_requirement: Mapping[str, Sequence[Finding]]
) -> RequirementRow:
    own = by_requirement.get(rule.id, ())
    tried = {item.id: item.cases.get(rule.id, 0) for item in observations}
    broken = Counter(found.observation for found in own)
    counts = (sum(max(tried[id_] - broken[id_], 0) for id_ in tried), len(own), 0)
    if own:
        status = (RequirementStatus.DISAGREES, _disagreement(rule.id, own, 0))
    elif counts[0]:
        status = (RequirementStatus.MET, "")
    else:
        status = (RequirementStatus.NOT_OBSERVED, "no original run of this release gave a case of it")
    return _row(rule, (item for item in observations if tried[item.id] or broken[item.id]), counts, status, own)


def requirement_rows(
    observations: Sequence[Observation],
    findings: Sequence[Finding],
    *,
    release: str,
    covered: bool,
    others: Sequence[OtherRule] = (),
) -> tuple[RequirementRow, ...]:
    """One row per requirement, in page order, then one for each of the `others`.

    `covered`: nothing that the classes require is missing. A structural rule counts as agreeing once for every case
    that did not break it, and a rule that was never tried is not met.
    """
    by_requirement: dict[str, list[Finding]] = {}
    for found in findings:
        if found.kind is not FindingKind.UNREADABLE:
            by_requirement.setdefault(found.requirement, []).append(found)
    return (
        *(
            _requirement_row(requirement, observations, by_requirement, release=release, covered=covered)
            for requirement in REQUIREMENTS
        ),
        *(_other_row(rule, observations, by_requirement) for rule in others),
    )
