"""The traceability matrix: every rule of card-facts.md with the comparisons that say something about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness.model.facts import SURFACES, CardKind
from harness.model.verdict import (
    Agreement,
    FactRow,
    Finding,
    FindingKind,
    Observation,
    RequirementRow,
    RequirementStatus,
)
from harness.spec.requirements import REQUIREMENTS, CheckKind, Requirement, not_reachable

_Outcome = tuple[int, int, int]


def _rows_about(requirement: Requirement, rows: Iterable[FactRow]) -> list[FactRow]:
    return [
        row
        for row in rows
        if row.label in requirement.labels and row.kind in requirement.cards and requirement.evidenced_by(row.reference)
    ]


def _count(rows: Iterable[FactRow]) -> _Outcome:
    outcomes = [row.cells[column].agreement for row in rows for column in SURFACES]
    return (
        outcomes.count(Agreement.AGREE),
        outcomes.count(Agreement.DISAGREE),
        outcomes.count(Agreement.NOT_COMPARABLE),
    )


def _compared(row: FactRow) -> bool:
    return any(row.cells[column].agreement is not Agreement.NOT_COMPARABLE for column in SURFACES)


def _cards_shown(observation: Observation, kinds: Iterable[CardKind]) -> int:
    """Surface cards of these kinds that were read in one observation."""
    wanted = set(kinds)
    return sum(
        1 for card in observation.cards if card.kind in wanted for column in SURFACES if card.shown[column] == "shown"
    )


def _disagreement(counts: _Outcome, findings: Sequence[Finding]) -> str:
    """What speaks against a requirement, waived or not, in words; "" when nothing does."""
    if findings:
        waived = sum(1 for found in findings if found.waived_by is not None)
        return f"{len(findings)} findings" + (f", {waived} of them waived" if waived else "")
    return f"{counts[1]} comparisons disagree" if counts[1] else ""


def _status(
    requirement: Requirement, counts: _Outcome, findings: Sequence[Finding], *, release: str, checked: bool
) -> tuple[RequirementStatus, str]:
    if against := _disagreement(counts, findings):
        return RequirementStatus.DISAGREES, against
    if requirement.kind is CheckKind.EXCLUDED:
        return RequirementStatus.NOT_REACHABLE, requirement.reason
    if unreachable := not_reachable(requirement.id, release):
        return RequirementStatus.NOT_REACHABLE, unreachable.reason
    if counts[0]:
        return RequirementStatus.MET, ""
    if not checked:
        return RequirementStatus.NOT_OBSERVED, f"this version of the harness does not check {requirement.rule}"
    return RequirementStatus.NOT_OBSERVED, "no original run of this release shows a case of it"


def _process_status(findings: Sequence[Finding], *, release: str, covered: bool) -> tuple[RequirementStatus, str]:
    if against := _disagreement((0, 0, 0), findings):
        return RequirementStatus.DISAGREES, against
    if covered:
        return RequirementStatus.MET, ""
    reason = f"not every observation class of {release} is covered by authorized original runs"
    return RequirementStatus.NOT_OBSERVED, reason


def _row(
    requirement: Requirement,
    scenarios: Iterable[str],
    observations: Iterable[str],
    counts: _Outcome,
    status: tuple[RequirementStatus, str],
) -> RequirementRow:
    return RequirementRow(
        id=requirement.id,
        section=requirement.section,
        text=requirement.text,
        scenarios=tuple(dict.fromkeys(name for name in scenarios if name)),
        observations=tuple(observations),
        status=status[0],
        reason=status[1],
        agree=counts[0],
        disagree=counts[1],
        not_comparable=counts[2],
    )


def requirement_rows(
    observations: Sequence[Observation],
    findings: Sequence[Finding],
    *,
    release: str,
    covered: bool,
    rules_checked: Mapping[str, frozenset[CardKind]],
) -> tuple[RequirementRow, ...]:
    """One row per requirement, in page order.

    `rules_checked` maps the structural rules that this version checks to the card kinds that they are checked on: a
    rule counts as agreeing once for every card of such a kind that a surface showed without breaking it. `covered`:
    nothing that the classes require is missing.
    """
    by_requirement: dict[str, list[Finding]] = {}
    for found in findings:
        if found.kind is not FindingKind.UNREADABLE:
            by_requirement.setdefault(found.requirement, []).append(found)
    result: list[RequirementRow] = []
    for requirement in REQUIREMENTS:
        own = by_requirement.get(requirement.id, [])
        if requirement.kind is CheckKind.PROCESS:
            status = _process_status(own, release=release, covered=covered)
            result.append(_row(requirement, (), (), (0, 0, 0), status))
            continue
        checked = requirement.kind is not CheckKind.RULE or requirement.rule in rules_checked
        counts = (0, 0, 0)
        about: list[Observation] = []
        for observation in observations:
            if requirement.kind is CheckKind.FACTS:
                rows = _rows_about(requirement, observation.rows)
                agree, disagree, rest = _count(rows)
                counts = (counts[0] + agree, counts[1] + disagree, counts[2] + rest)
                if any(_compared(row) for row in rows):
                    about.append(observation)
            elif requirement.kind is CheckKind.RULE and checked:
                broken = sum(1 for found in own if found.observation == observation.id)
                shown = _cards_shown(observation, rules_checked[requirement.rule] & set(requirement.cards))
                counts = (counts[0] + max(shown - broken, 0), counts[1] + broken, counts[2])
                if shown or broken:
                    about.append(observation)
        status = _status(requirement, counts, own, release=release, checked=checked)
        result.append(_row(requirement, (item.scenario for item in about), (item.id for item in about), counts, status))
    return tuple(result)
