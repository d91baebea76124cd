"""The judgement as a flat list of named checks, the shape that test-report formats know."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.model.facts import SURFACES
from harness.model.verdict import Finding, Verdict
from harness.model.words import plural
from harness.report.text import one_line, shortened
from harness.report.views import MEANING, Check, Outcome, Overview, words

VALUE_SHOWN = 200


class NamedCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One check. `suite` is ``verdict``, ``observations`` or ``requirements``; `group` the observation or the
    requirement's section; `message` one line, `details` several; `file` the scenario's feature file or "".

    `blocking` marks the checks that stand for the verdict itself: they are errors when unsettled, so that a report of
    nothing but skipped checks can never look green.
    """

    suite: str
    group: str
    name: str
    outcome: Outcome
    message: str
    details: str
    tags: tuple[str, ...] = ()
    file: str = ""
    blocking: bool = False


def checks(overview: Overview) -> tuple[NamedCheck, ...]:
    """The verdict with what is missing and damaged, each surface of each observation, and each requirement."""
    return (*_verdict(overview), *_observations(overview), *_requirements(overview))


def _verdict(overview: Overview) -> Iterator[NamedCheck]:
    acceptance = overview.acceptance
    outcome = {Verdict.ACCEPTED: Outcome.AGREES, Verdict.INSUFFICIENT: Outcome.UNSETTLED}.get(
        acceptance.verdict, Outcome.DISAGREES
    )
    yield NamedCheck(
        suite="verdict",
        group="verdict",
        name=f"{acceptance.release.name} {acceptance.release.version} is accepted",
        outcome=outcome,
        message=f"{acceptance.verdict.value}: {MEANING[acceptance.verdict]}",
        details="\n".join(acceptance.reasons),
        blocking=True,
    )
    for missing in overview.missing:
        yield NamedCheck(
            suite="verdict",
            group="required",
            name=f"{missing.class_ or 'evidence'} is there: {shortened(missing.reason, VALUE_SHOWN)}",
            outcome=Outcome.UNSETTLED,
            message=f"missing: {missing.reason}",
            details="",
            blocking=True,
        )
    for damage in overview.damaged:
        yield NamedCheck(
            suite="verdict",
            group="integrity",
            name=f"{damage.bundle} verifies",
            outcome=Outcome.DISAGREES,
            message="; ".join(damage.reasons),
            details="\n".join(damage.reasons),
            blocking=True,
        )


def _observations(overview: Overview) -> Iterator[NamedCheck]:
    for item in overview.observations:
        for column in SURFACES:
            check = overview.surface(item, column)
            yield NamedCheck(
                suite="observations",
                group=f"{item.release} {item.id}",
                name=f"{item.id} on {column.value}",
                outcome=_settled(check),
                message=_message(check),
                details=_details(check.findings, overview),
                tags=(*sorted(item.classes), item.driver, words(item.authorization)),
                file=item.scenario.partition("::")[0],
            )


def _requirements(overview: Overview) -> Iterator[NamedCheck]:
    for row in overview.acceptance.requirements:
        check = overview.requirement(row)
        yield NamedCheck(
            suite="requirements",
            group=row.section,
            name=f"{row.id}: {row.text}",
            outcome=_settled(check),
            message=_message(check),
            details=_details(check.findings, overview),
            tags=(words(row.status),),
        )


def _settled(check: Check) -> Outcome:
    """A disagreement that decides nothing fails no test: else an accepted release could have failing ones."""
    return check.outcome if check.decides else Outcome.UNSETTLED


def _message(check: Check) -> str:
    if check.outcome is Outcome.WAIVED:
        return f"waived by {', '.join(sorted({finding.waived_by or '' for finding in check.findings}))}"
    first = next((finding for finding in check.findings if finding.waived_by is None), None)
    if check.outcome is not Outcome.DISAGREES or first is None:
        return check.reason
    number = sum(finding.waived_by is None for finding in check.findings)
    says = f"{plural(number, 'unwaived finding')}: {_finding(first)}"
    return says if check.decides else f"disagrees, but does not decide ({check.reason or words(first.kind)}). {says}"


def _finding(finding: Finding) -> str:
    expected, observed = shortened(finding.expected, VALUE_SHOWN), shortened(finding.observed, VALUE_SHOWN)
    subject = " ".join(part for part in (finding.card, finding.label or finding.requirement) if part)
    return f"{one_line(subject)} is {observed}, expected {expected}"


def _details(findings: tuple[Finding, ...], overview: Overview) -> str:
    lines: list[str] = []
    for finding in findings:
        waived = f" (waived by {finding.waived_by})" if finding.waived_by is not None else ""
        lines += [
            f"{finding.requirement} {finding.surface}: {_finding(finding)}{waived}",
            f"  at {finding.place or 'no place'}",
            f"  {overview.command(finding.command)}",
        ]
    return "\n".join(lines)
