"""Evidence that is taken away never makes a verdict better, and evidence that is added never hides a disagreement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.judge import judge
from harness.model.facts import SURFACES, Column
from harness.model.selfcheck import SelfcheckState
from harness.model.stability import StabilityState
from harness.model.values import NotComparable, Reason
from harness.model.verdict import (
    Agreement,
    Authorization,
    Cell,
    Damage,
    Finding,
    FindingKind,
    Observation,
    Release,
    SurfaceCount,
    Verdict,
)
from tests.support.columns import RELEASE, counted, covered_release, finding
from tests.support.selfchecks import PROVEN, with_survivors
from tests.support.stabilities import STEADY, repeated, varied

OBSERVATIONS, RUNS_OF = covered_release()
BETTER = [Verdict.TAMPERED, Verdict.REJECTED, Verdict.INSUFFICIENT, Verdict.ACCEPTED]
_AT = st.integers(0, len(OBSERVATIONS) - 1)
_FEW = settings(max_examples=15, deadline=None)


class Evidence(NamedTuple):
    observations: tuple[Observation, ...]
    runs_of: dict[str, tuple[str, ...]]
    findings: tuple[Finding, ...] = ()
    damaged: tuple[Damage, ...] = ()
    faults: tuple[str, ...] = ()
    selfcheck: SelfcheckState = PROVEN
    stability: StabilityState = STEADY


def _verdict(evidence: Evidence) -> Verdict:
    acceptance = judge(
        release=Release(name="magi-code", version=RELEASE, sha256=()),
        at="2026-11-30T12:00:00Z",
        harness="0.1.0",
        observations=evidence.observations,
        findings=evidence.findings,
        damaged=evidence.damaged,
        runs_of=evidence.runs_of,
        faults=evidence.faults,
        selfcheck=evidence.selfcheck,
        stability=evidence.stability,
    )
    assert acceptance.reasons
    return acceptance.verdict


COVERED = Evidence(tuple(OBSERVATIONS), RUNS_OF)

Loss = Callable[[Evidence], Evidence]


def _changed(at: int, change: Callable[[Observation], Observation]) -> Loss:
    def apply(evidence: Evidence) -> Evidence:
        if not evidence.observations:
            return evidence
        place = at % len(evidence.observations)
        old = evidence.observations
        return evidence._replace(observations=(*old[:place], change(old[place]), *old[place + 1 :]))

    return apply


def _removed(at: int) -> Loss:
    def apply(evidence: Evidence) -> Evidence:
        kept = tuple(item for place, item in enumerate(evidence.observations) if place != at)
        ids = {item.id for item in kept}
        return evidence._replace(
            observations=kept, findings=tuple(item for item in evidence.findings if item.observation in ids)
        )

    return apply


def _unauthorized(at: int, state: Authorization) -> Loss:
    return _changed(at, lambda item: msgspec.structs.replace(item, authorization=state))


def _stale(at: int) -> Loss:
    return _changed(at, lambda item: msgspec.structs.replace(item, stale=True))


def _without_surface(at: int, column: Column) -> Loss:
    """The surface shows nothing that could be compared, and its capture is gone."""
    nothing = SurfaceCount(agree=0, disagree=0, not_comparable=0)

    def lose(item: Observation) -> Observation:
        captures = tuple(capture for capture in item.captures if capture.column is not column)
        return msgspec.structs.replace(item, surfaces={**item.surfaces, column: nothing}, captures=captures)

    return _changed(at, lose)


def _silenced(at: int, column: Column, row: int, reason: Reason) -> Loss:
    """One comparison is not made any more."""

    def lose(item: Observation) -> Observation:
        rows = list(item.rows)
        place = row % len(rows)
        cell = Cell(readings=(), agreement=Agreement.NOT_COMPARABLE, reason=NotComparable(reason=reason))
        rows[place] = msgspec.structs.replace(rows[place], cells={**rows[place].cells, column: cell})
        return msgspec.structs.replace(item, rows=tuple(rows), surfaces=counted(rows))

    return _changed(at, lose)


def _unserved(at: int) -> Loss:
    """The scenario serves no run any more."""
    id_ = OBSERVATIONS[at].id
    return lambda evidence: evidence._replace(runs_of={**evidence.runs_of, id_: ()})


def _found(at: int, kind: FindingKind) -> Loss:
    def apply(evidence: Evidence) -> Evidence:
        if not evidence.observations:
            return evidence
        id_ = evidence.observations[at % len(evidence.observations)].id
        return evidence._replace(findings=(*evidence.findings, finding(id_, kind=kind)))

    return apply


def _unproven(state: SelfcheckState) -> Loss:
    """The harness's own proof is gone, of something else, or shows that it is blind."""
    return lambda evidence: evidence._replace(selfcheck=state)


_UNPROVEN = (
    SelfcheckState(),
    SelfcheckState(fault="no selfcheck was made"),
    SelfcheckState(result=PROVEN.result, fault="made over other original runs"),
    SelfcheckState(result=with_survivors(2)),
)


def _unsteady(state: StabilityState) -> Loss:
    """The runs were not recorded again, others were, or something varied."""
    return lambda evidence: evidence._replace(stability=state)


_UNSTEADY = (
    StabilityState(),
    StabilityState(fault="no run was recorded twice"),
    StabilityState(repeated=repeated(), fault="of other recordings"),
    StabilityState(repeated=repeated(varied()), undeclared=(varied(),)),
)
_COLUMN, _REASON, _KIND = st.sampled_from(SURFACES), st.sampled_from(Reason), st.sampled_from(FindingKind)
_REFUSED = st.sampled_from([state for state in Authorization if state is not Authorization.AUTHORIZED])
_LOSSES: st.SearchStrategy[Loss] = st.one_of(
    st.builds(_removed, _AT),
    st.builds(_unproven, st.sampled_from(_UNPROVEN)),
    st.builds(_unsteady, st.sampled_from(_UNSTEADY)),
    st.builds(_unauthorized, _AT, _REFUSED),
    st.builds(_stale, _AT),
    st.builds(_without_surface, _AT, _COLUMN),
    st.builds(_silenced, _AT, _COLUMN, st.integers(0, 2), _REASON),
    st.builds(_unserved, _AT),
)
_TROUBLES: st.SearchStrategy[Loss] = st.one_of(
    st.builds(_found, _AT, _KIND),
    st.just(lambda evidence: evidence._replace(damaged=(Damage(bundle="b", reasons=("torn",)),))),
    st.just(lambda evidence: evidence._replace(faults=("a waiver is expired",))),
)


@_FEW
@given(st.lists(_LOSSES, min_size=1, max_size=4))
def test_evidence_that_is_lost_never_makes_the_verdict_better(losses: Sequence[Loss]) -> None:
    evidence, verdict = COVERED, Verdict.ACCEPTED
    for lose in losses:
        evidence = lose(evidence)
        after = _verdict(evidence)
        assert BETTER.index(after) <= BETTER.index(verdict)
        assert after in (Verdict.ACCEPTED, Verdict.INSUFFICIENT), "what is not there disagrees with nothing"
        verdict = after


@_FEW
@given(st.lists(st.one_of(_LOSSES, _TROUBLES), max_size=3), _TROUBLES)
def test_a_disagreement_damage_or_fault_never_makes_the_verdict_better(before: Sequence[Loss], trouble: Loss) -> None:
    evidence = COVERED
    for lose in before:
        evidence = lose(evidence)
    assert BETTER.index(_verdict(trouble(evidence))) <= BETTER.index(_verdict(evidence))


@_FEW
@given(st.sets(_AT, min_size=1), st.sets(_AT), st.lists(_LOSSES, max_size=3), st.data())
def test_no_evidence_that_is_added_hides_a_disagreement(
    first: set[int], more: set[int], losses: Sequence[Loss], data: st.DataObject
) -> None:
    found = finding(OBSERVATIONS[data.draw(st.sampled_from(sorted(first)))].id)
    few = Evidence(tuple(OBSERVATIONS[at] for at in sorted(first)), RUNS_OF, (found,))
    assert _verdict(few) is Verdict.REJECTED
    added = COVERED
    for lose in losses:
        added = lose(added)
    held = {item.id for item in few.observations}
    extra = tuple(item for item in added.observations if item.id not in held)
    extra = tuple(item for at, item in enumerate(extra) if at in more)
    assert _verdict(few._replace(observations=few.observations + extra)) is Verdict.REJECTED
    assert _verdict(COVERED._replace(findings=(found,))) is Verdict.REJECTED


@_FEW
@given(st.sets(_AT))
def test_anything_less_than_every_run_is_insufficient(kept: set[int]) -> None:
    observations = tuple(OBSERVATIONS[at] for at in sorted(kept))
    needed = {item.id for item in OBSERVATIONS if not RUNS_OF[item.id][0].startswith("legacy.")}
    legacy = {RUNS_OF[item.id][0] for item in OBSERVATIONS} - {RUNS_OF[id_][0] for id_ in needed}
    ids = {item.id for item in observations}
    whole = needed <= ids and legacy <= {RUNS_OF[id_][0] for id_ in ids}
    verdict = _verdict(COVERED._replace(observations=observations))
    assert verdict is (Verdict.ACCEPTED if whole else Verdict.INSUFFICIENT)
