"""The verdict: accepted, rejected, insufficient or tampered, and every reason for it (evidence.md, "Verdict")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.judge.coverage import missing, refusal
from harness.judge.requirements import OtherRule, requirement_rows
from harness.model.errors import HarnessError
from harness.model.selfcheck import SelfcheckState
from harness.model.stability import StabilityState
from harness.model.verdict import (
    Acceptance,
    Authorization,
    Damage,
    Finding,
    FindingKind,
    Missing,
    Observation,
    Release,
    UnreadAuthorization,
    Verdict,
)
from harness.model.words import plural


def _counts_for_rejection(found: Finding, observation: Observation, release: str) -> bool:
    """Whether the finding is something authorized and current that disagrees, and nobody waived it."""
    return not refusal(observation, release) and found.waived_by is None and found.kind is not FindingKind.UNREADABLE


def _by_id(observations: Sequence[Observation], findings: Sequence[Finding]) -> dict[str, Observation]:
    """The observations by id. Raises HarnessError when two share one, or a finding is of none: nothing may get lost."""
    by_id = {observation.id: observation for observation in observations}
    if len(by_id) < len(observations):
        raise HarnessError("two observations have one id", hint="a release has every observation once")
    for found in findings:
        if found.observation not in by_id:
            raise HarnessError(f"the finding {found.id} is of no observation that is judged", where=found.observation)
    return by_id


def _reasons(
    verdict: Verdict,
    *,
    damaged: Sequence[Damage],
    rejecting: Sequence[Finding],
    gaps: Sequence[Missing],
    findings: Sequence[Finding],
    observations: Sequence[Observation],
    unread: Sequence[UnreadAuthorization],
) -> tuple[str, ...]:
    reasons = [f"{item.bundle}: {item.reasons[0]}" for item in damaged]
    if rejecting:
        reasons.append(f"{plural(len(rejecting), 'finding')} in authorized original runs not waived")
    unauthorized = sum(1 for item in observations if item.authorization is not Authorization.AUTHORIZED)
    if unauthorized:
        reasons.append(f"{unauthorized} of {len(observations)} original runs are recorded, not authorized")
    if unread:
        first = f"{unread[0].name}: {unread[0].reason}"
        more = f"; and {len(unread) - 1} more" if len(unread) > 1 else ""
        reasons.append(f"authorizations that cannot be read count for nothing: {first}{more}")
    stale = sum(1 for item in observations if item.stale)
    if stale:
        reasons.append(f"{plural(stale, 'stale original run')}: the scenario changed after the recording")
    absent = list(dict.fromkeys(item.class_ for item in gaps))
    if absent:
        reasons.append(f"observation classes not covered: {', '.join(absent)}")
    if not observations:
        reasons.append("there is no original run of this release")
    reasons += _undecided(findings, rejecting)
    if verdict is Verdict.ACCEPTED:
        reasons.append("every observation class is covered by authorized original runs, and nothing unwaived disagrees")
    return tuple(reasons)


def _undecided(findings: Sequence[Finding], rejecting: Sequence[Finding]) -> list[str]:
    """What was found and decides nothing, one line for each reason why not."""
    deciding = {found.id for found in rejecting}
    rest = [found for found in findings if found.id not in deciding]
    waived = sum(1 for found in rest if found.waived_by is not None)
    unreadable = sum(1 for found in rest if found.waived_by is None and found.kind is FindingKind.UNREADABLE)
    told = (
        (waived, "waived: they stay visible and do not decide"),
        (unreadable, "of something unreadable: they cover nothing and do not reject"),
        (len(rest) - waived - unreadable, "in runs that do not count yet"),
    )
    return [f"{plural(number, 'finding')} {words}" for number, words in told if number]


def _unrecorded(unrecorded: Sequence[str]) -> tuple[str, ...]:
    """That runs which the scenarios ask for are not there; whoever leaves out a run leaves out what it would show."""
    if not unrecorded:
        return ()
    if len(unrecorded) == 1:
        return (f"an original run that the scenarios ask for is not there: {unrecorded[0]}",)
    return (f"{len(unrecorded)} original runs that the scenarios ask for are not there, the first: {unrecorded[0]}",)


def _blind(selfcheck: SelfcheckState) -> tuple[str, ...]:
    """Why the harness has not shown that it would notice what is wrong; empty when it has."""
    reasons = [selfcheck.fault] if selfcheck.fault else []
    result = selfcheck.result
    if result is None and not reasons:
        reasons.append("no selfcheck shows that the harness can fail")
    if result is not None and result.survivors:
        number = len(result.survivors)
        first = result.survivors[0]
        reasons.append(
            f"the harness did not notice {number} {'mutant' if number == 1 else 'mutants'} of evidence in its "
            f"selfcheck, the first: {first.class_}, {first.kind} ({first.requirement})"
        )
    return tuple(reasons)


def _unsteady(stability: StabilityState) -> tuple[str, ...]:
    """Why the runs are not known to come out alike every time; empty when they are."""
    reasons = [stability.fault] if stability.fault else []
    if stability.repeated is None and not reasons:
        reasons.append("nothing shows that the runs come out alike a second time")
    if stability.undeclared:
        number, first = len(stability.undeclared), stability.undeclared[0]
        what = first.label or first.detail or first.what
        reasons.append(
            f"{number} {'thing' if number == 1 else 'things'} varied between recordings that no scenario declares, "
            f"the first: {what} of {first.observation} on {first.surface}"
        )
    return tuple(reasons)


def judge(
    *,
    release: Release,
    at: str,
    harness: str,
    observations: Sequence[Observation],
    findings: Sequence[Finding],
    damaged: Sequence[Damage],
    runs_of: Mapping[str, Sequence[str]],
    selfcheck: SelfcheckState,
    stability: StabilityState,
    others: Sequence[OtherRule] = (),
    faults: Sequence[str] = (),
    unread: Sequence[UnreadAuthorization] = (),
    unrecorded: Sequence[str] = (),
) -> Acceptance:
    """Judge one release. Tampered outranks rejected, rejected outranks insufficient; no comparison is no acceptance.

    `others` are rules beside the requirement catalogue that findings can name. `faults` are things wrong with the
    waivers themselves: each of them alone keeps a release from being accepted. `unread` are
    authorizations that could not be read: they authorize nothing, are always said, and decide nothing by themselves.
    `unrecorded` are observations that scenarios ask for and that have no bundle: each keeps a release from acceptance.
    `selfcheck`: what proves that the harness can fail. A mutant that survived, and a proof that is missing or of
    something else, alone keep a release from being accepted; so does `stability` when something varies between
    recordings that no scenario declares, or when the runs were not recorded a second time.
    Raises HarnessError when the observations and findings do not belong together.
    """
    by_id = _by_id(observations, findings)
    rejecting = [found for found in findings if _counts_for_rejection(found, by_id[found.observation], release.version)]
    gaps = missing(observations, runs_of, release=release.version, findings=findings)
    unproven = (*_unrecorded(unrecorded), *_blind(selfcheck), *_unsteady(stability))
    compared = sum(count.agree + count.disagree for item in observations for count in item.surfaces.values())
    if damaged:
        verdict = Verdict.TAMPERED
    elif rejecting:
        verdict = Verdict.REJECTED
    elif gaps or faults or unproven or not compared:
        verdict = Verdict.INSUFFICIENT
    else:
        verdict = Verdict.ACCEPTED
    return Acceptance(
        verdict=verdict,
        release=release,
        at=at,
        harness=harness,
        reasons=(
            *faults,
            *unproven,
            *_reasons(
                verdict,
                damaged=damaged,
                rejecting=rejecting,
                gaps=gaps,
                findings=findings,
                observations=observations,
                unread=unread,
            ),
        ),
        observations=tuple(observations),
        findings=tuple(findings),
        missing=gaps,
        damaged=tuple(damaged),
        requirements=requirement_rows(observations, findings, release=release.version, covered=not gaps, others=others),
        unread=tuple(unread),
        selfcheck=selfcheck,
        stability=stability,
    )
