"""The verdict over a release that is covered whole, and everything that must take it away: an acceptance that rests on
less would be worth nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import pytest

from harness.judge import judge
from harness.model.errors import HarnessError
from harness.model.facts import SURFACES, Column
from harness.model.selfcheck import SelfcheckState
from harness.model.stability import StabilityState
from harness.model.values import NotComparable, Reason
from harness.model.verdict import (
    Acceptance,
    Agreement,
    Authorization,
    Damage,
    Finding,
    FindingKind,
    Observation,
    Release,
    SurfaceCount,
    UnreadAuthorization,
    Verdict,
)
from harness.spec.classes import CLASS_IDS, RUNS
from tests.support.columns import (
    LA_LIVE,
    LA_REOPEN,
    MC_LIVE,
    MC_REOPEN,
    RELEASE,
    agreeing_row,
    covered_release,
    finding,
    observation,
    replaced,
)
from tests.support.selfchecks import PROVEN, survivor, with_survivors
from tests.support.stabilities import STEADY, repeated, varied

OBSERVATIONS, RUNS_OF = covered_release()
SCRIPT_RUN = "mixed-outcomes.script"
KILLED_RUN = "cancellation.killed-in-call"
FIRST = f"{SCRIPT_RUN}.local-agent"


def _judged(
    observations: Sequence[Observation] = OBSERVATIONS,
    findings: Sequence[Finding] = (),
    *,
    runs_of: Mapping[str, Sequence[str]] = RUNS_OF,
    damaged: Sequence[Damage] = (),
    faults: Sequence[str] = (),
    unread: Sequence[UnreadAuthorization] = (),
    selfcheck: SelfcheckState = PROVEN,
    stability: StabilityState = STEADY,
    unrecorded: Sequence[str] = (),
) -> Acceptance:
    return judge(
        release=Release(name="magi-code", version=RELEASE, sha256=("0" * 64,)),
        at="2026-11-30T12:00:00Z",
        harness="0.1.0",
        observations=observations,
        findings=findings,
        damaged=damaged,
        runs_of=runs_of,
        faults=faults,
        unread=unread,
        selfcheck=selfcheck,
        stability=stability,
        unrecorded=unrecorded,
    )


def _insufficient(acceptance: Acceptance, run: str, *parts: str) -> None:
    """The verdict is insufficient for this run alone, and its reason says so in these parts."""
    assert acceptance.verdict is Verdict.INSUFFICIENT
    class_ = run.partition(".")[0]
    own = [item.reason for item in acceptance.missing if item.class_ != "agreement"]
    assert own
    assert all(reason.startswith(f"{run}: ") for reason in own), own
    assert any(all(part in reason for part in parts) for reason in own), own
    assert [item.reason for item in acceptance.missing if item.class_ == "agreement"] == [
        f"needs every run of the other classes: {class_}"
    ]
    assert f"observation classes not covered: {class_}, agreement" in acceptance.reasons


def test_a_release_that_is_covered_whole_is_accepted_and_says_why() -> None:
    acceptance = _judged()
    assert acceptance.verdict is Verdict.ACCEPTED
    assert acceptance.missing == ()
    assert acceptance.reasons == (
        "every observation class is covered by authorized original runs, and nothing unwaived disagrees",
    )
    assert len(acceptance.observations) == 2 * len(RUNS)
    assert acceptance.release.version == RELEASE
    assert (acceptance.at, acceptance.harness) == ("2026-11-30T12:00:00Z", "0.1.0")


# Nothing at all


def test_no_observation_at_all_is_insufficient_in_every_class() -> None:
    acceptance = _judged([], runs_of={})
    assert acceptance.verdict is Verdict.INSUFFICIENT
    assert list(dict.fromkeys(item.class_ for item in acceptance.missing)) == list(CLASS_IDS)
    assert len(acceptance.missing) == len(RUNS) + 1
    assert "there is no original run of this release" in acceptance.reasons


def test_observations_in_which_nothing_was_compared_are_not_accepted() -> None:
    nothing = {column: SurfaceCount(agree=0, disagree=0, not_comparable=9) for column in SURFACES}
    acceptance = _judged([msgspec.structs.replace(item, surfaces=nothing, rows=()) for item in OBSERVATIONS])
    assert acceptance.verdict is Verdict.INSUFFICIENT
    assert {item.class_ for item in acceptance.missing} == set(CLASS_IDS)
    empty = [msgspec.structs.replace(item, surfaces={}, rows=()) for item in OBSERVATIONS]
    assert _judged(empty).verdict is Verdict.INSUFFICIENT


# One gap at a time


@pytest.mark.parametrize("run", RUNS)
def test_every_single_run_is_needed(run: str) -> None:
    left = [item for item in OBSERVATIONS if run not in RUNS_OF[item.id]]
    assert len(left) == len(OBSERVATIONS) - 2
    _insufficient(_judged(left), run, "no original run of this release", RUNS[run].text)


def test_a_run_that_no_scenario_serves_any_more_is_missing() -> None:
    runs_of = {id_: () if run == (SCRIPT_RUN,) else run for id_, run in RUNS_OF.items()}
    _insufficient(_judged(runs_of=runs_of), SCRIPT_RUN, "no original run")


@pytest.mark.parametrize(("driver", "column"), [("local-agent", LA_LIVE), ("mission-control", MC_LIVE)])
def test_a_live_run_on_both_surfaces_needs_a_run_driven_by_each(driver: str, column: Column) -> None:
    left = [item for item in OBSERVATIONS if item.id != f"{SCRIPT_RUN}.{driver}"]
    _insufficient(_judged(left), SCRIPT_RUN, f"nothing was compared on {column.value}")


@pytest.mark.parametrize("driver", ["local-agent", "mission-control"])
def test_a_legacy_run_needs_its_reopening_only(driver: str) -> None:
    left = [item for item in OBSERVATIONS if item.id != f"legacy.code-mode.{driver}"]
    assert _judged(left).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize("column", [LA_REOPEN, MC_REOPEN])
@pytest.mark.parametrize("run", [SCRIPT_RUN, "legacy.code-mode", KILLED_RUN])
def test_every_run_is_reopened_on_both_surfaces(run: str, column: Column) -> None:
    nothing = SurfaceCount(agree=0, disagree=0, not_comparable=3)
    observations = [
        msgspec.structs.replace(item, surfaces={**item.surfaces, column: nothing})
        if RUNS_OF[item.id] == (run,)
        else item
        for item in OBSERVATIONS
    ]
    _insufficient(_judged(observations), run, f"nothing was compared on {column.value}")


@pytest.mark.parametrize("state", [state for state in Authorization if state is not Authorization.AUTHORIZED])
def test_an_original_run_that_nobody_else_vouches_for_does_not_count(state: Authorization) -> None:
    observations = replaced(OBSERVATIONS, FIRST, authorization=state, authorization_detail="because of x")
    acceptance = _judged(observations)
    # the other driver's run of the scenario still counts, but not for this driver's live surface
    _insufficient(acceptance, SCRIPT_RUN, "nothing was compared on local-agent-live")
    assert f"1 of {len(OBSERVATIONS)} original runs are recorded, not authorized" in acceptance.reasons
    both = replaced(observations, f"{SCRIPT_RUN}.mission-control", authorization=state, authorization_detail="")
    spelled = state.value.replace("_", " ")
    _insufficient(_judged(both), SCRIPT_RUN, "recorded, not authorized: because of x", spelled, "(2 original runs)")


def test_a_stale_run_does_not_count() -> None:
    acceptance = _judged(replaced(OBSERVATIONS, FIRST, stale=True))
    _insufficient(acceptance, SCRIPT_RUN, "nothing was compared on local-agent-live")
    assert "1 stale original run: the scenario changed after the recording" in acceptance.reasons
    both = replaced(replaced(OBSERVATIONS, FIRST, stale=True), f"{SCRIPT_RUN}.mission-control", stale=True)
    _insufficient(_judged(both), SCRIPT_RUN, "(stale)")


def test_a_run_of_another_release_does_not_count() -> None:
    both = replaced(OBSERVATIONS, FIRST, release="0.100.0")
    both = replaced(both, f"{SCRIPT_RUN}.mission-control", release="0.100.0")
    _insufficient(_judged(both), SCRIPT_RUN, "it is of release 0.100.0")


def test_a_waiver_that_is_at_fault_takes_the_acceptance_away() -> None:
    acceptance = _judged(faults=("the waiver W-1 of somebody matches no finding",))
    assert acceptance.verdict is Verdict.INSUFFICIENT
    assert acceptance.missing == ()
    assert acceptance.reasons[0] == "the waiver W-1 of somebody matches no finding"


# What could not be read


def _silent(column: Column, reason: Reason, run: str) -> list[Observation]:
    """One observation of the run in which a fact could not be compared on one column, but others could."""
    id_ = f"{run}.local-agent"
    rows = (
        agreeing_row("Script outcome", "success"),
        agreeing_row("Total calls", 3, silent={column: NotComparable(reason=reason, detail="so")}),
    )
    made = observation(id_, fact_rows=rows)
    return [made if item.id == id_ else item for item in OBSERVATIONS]


@pytest.mark.parametrize("column", SURFACES)
@pytest.mark.parametrize("reason", [Reason.UNREADABLE, Reason.CAPTURE_CUT])
def test_a_fact_that_should_have_been_read_and_could_not_be_is_missing(column: Column, reason: Reason) -> None:
    words = "is unreadable on" if reason is Reason.UNREADABLE else "could not be read on"
    acceptance = _judged(_silent(column, reason, SCRIPT_RUN))
    _insufficient(acceptance, SCRIPT_RUN, f"Total calls of turn1/call1 {words} {column.value}", f"({FIRST})")


def test_one_reason_for_each_observation_says_how_much_more_could_not_be_read() -> None:
    silent = {LA_LIVE: NotComparable(reason=Reason.CAPTURE_CUT)}
    rows = tuple(agreeing_row(label, 3, silent=silent) for label in ("Total calls", "Failed calls", "Unknown calls"))
    made = observation(FIRST, fact_rows=(agreeing_row("Script outcome", "success"), *rows))
    acceptance = _judged([made if item.id == FIRST else item for item in OBSERVATIONS])
    (own,) = (item.reason for item in acceptance.missing if item.class_ != "agreement")
    assert own == (
        f"{SCRIPT_RUN}: Total calls of turn1/call1 could not be read on local-agent-live: the capture is cut "
        f"and 2 more ({FIRST})"
    )


@pytest.mark.parametrize("column", SURFACES)
@pytest.mark.parametrize(
    "reason", [reason for reason in Reason if reason not in (Reason.UNREADABLE, Reason.CAPTURE_CUT)]
)
def test_a_fact_that_nothing_could_have_shown_is_not(column: Column, reason: Reason) -> None:
    assert _judged(_silent(column, reason, SCRIPT_RUN)).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize("column", SURFACES)
def test_only_the_live_capture_of_a_killed_run_may_be_cut(column: Column) -> None:
    acceptance = _judged(_silent(column, Reason.CAPTURE_CUT, KILLED_RUN))
    if column in (LA_LIVE, MC_LIVE):
        assert acceptance.verdict is Verdict.ACCEPTED
    else:
        _insufficient(acceptance, KILLED_RUN, f"could not be read on {column.value}: the capture is cut")
    _insufficient(_judged(_silent(column, Reason.UNREADABLE, KILLED_RUN)), KILLED_RUN, "is unreadable")


def test_a_live_capture_that_was_never_made_is_missing_also_of_a_killed_run() -> None:
    id_ = f"{KILLED_RUN}.local-agent"
    (made,) = (item for item in OBSERVATIONS if item.id == id_)
    left = tuple(capture for capture in made.captures if capture.column is not LA_LIVE)
    _insufficient(
        _judged(replaced(OBSERVATIONS, id_, captures=left)), KILLED_RUN, "nothing was compared on local-agent"
    )
    whole = tuple(msgspec.structs.replace(capture, complete=True) for capture in made.captures)
    _insufficient(
        _judged(replaced(OBSERVATIONS, id_, captures=whole)), KILLED_RUN, "nothing was compared on local-agent"
    )


def test_a_cut_live_capture_in_which_nothing_was_compared_is_missing_of_a_run_that_was_not_killed() -> None:
    cut = observation(FIRST, cut=(LA_LIVE,))
    acceptance = _judged([cut if item.id == FIRST else item for item in OBSERVATIONS])
    _insufficient(acceptance, SCRIPT_RUN, "nothing was compared on local-agent-live")


def test_what_is_unreadable_on_a_surface_that_the_run_does_not_need_is_not_missing() -> None:
    run = "legacy.code-mode"
    smudged = finding(f"{run}.local-agent", kind=FindingKind.UNREADABLE, surface=LA_LIVE)
    assert _judged(findings=[smudged]).verdict is Verdict.ACCEPTED
    needed = finding(f"{run}.local-agent", kind=FindingKind.UNREADABLE, surface=LA_REOPEN)
    _insufficient(_judged(findings=[needed]), run, "is unreadable on local-agent-reopen")


def test_a_reading_that_is_unreadable_beside_a_right_one_is_missing_until_it_is_waived() -> None:
    smudged = finding(FIRST, kind=FindingKind.UNREADABLE, surface=MC_REOPEN)
    acceptance = _judged(findings=[smudged])
    _insufficient(acceptance, SCRIPT_RUN, "Script outcome of turn1/call1 is unreadable on mission-control-reopen")
    waived = msgspec.structs.replace(smudged, waived_by="W-1")
    acceptance = _judged(findings=[waived])
    assert acceptance.verdict is Verdict.ACCEPTED
    assert acceptance.findings == (waived,)


# Findings


@pytest.mark.parametrize("kind", [kind for kind in FindingKind if kind is not FindingKind.UNREADABLE])
def test_one_finding_that_nobody_waived_rejects(kind: FindingKind) -> None:
    found = finding(FIRST, kind=kind)
    acceptance = _judged(findings=[found])
    assert acceptance.verdict is Verdict.REJECTED
    assert "1 finding in authorized original runs not waived" in acceptance.reasons
    assert acceptance.findings == (found,)


def test_rejected_outranks_insufficient() -> None:
    left = [item for item in OBSERVATIONS if RUNS_OF[item.id] != ("concurrency.four-tasks",)]
    acceptance = _judged(left, [finding(FIRST)], faults=("a waiver is expired",))
    assert acceptance.verdict is Verdict.REJECTED
    assert any(item.class_ == "concurrency" for item in acceptance.missing)


@pytest.mark.parametrize(
    "change",
    [
        *({"authorization": state} for state in Authorization if state is not Authorization.AUTHORIZED),
        {"stale": True},
        {"release": "0.100.0"},
    ],
)
def test_a_finding_in_a_run_that_does_not_count_rejects_nothing_but_stays_visible(change: dict[str, object]) -> None:
    found = finding(FIRST)
    acceptance = _judged(replaced(OBSERVATIONS, FIRST, **change), [found])
    assert acceptance.verdict is Verdict.INSUFFICIENT
    assert acceptance.findings == (found,)
    assert "1 finding in runs that do not count yet" in acceptance.reasons


def test_an_extra_run_that_does_not_count_takes_nothing_away() -> None:
    extra = msgspec.structs.replace(observation("imported"), authorization=Authorization.UNAUTHORIZED)
    acceptance = _judged([*OBSERVATIONS, extra], [finding("imported")])
    assert acceptance.verdict is Verdict.ACCEPTED
    assert acceptance.reasons[0] == f"1 of {len(OBSERVATIONS) + 1} original runs are recorded, not authorized"


def test_an_authorized_run_that_serves_no_class_rejects_all_the_same() -> None:
    acceptance = _judged([*OBSERVATIONS, observation("imported")], [finding("imported")])
    assert acceptance.verdict is Verdict.REJECTED


def test_a_waived_finding_is_accepted_and_stays_visible() -> None:
    found = finding(FIRST, waived_by="W-1")
    acceptance = _judged(findings=[found])
    assert acceptance.verdict is Verdict.ACCEPTED
    assert acceptance.findings == (found,)
    assert acceptance.reasons[0] == "1 finding waived: they stay visible and do not decide"
    other = finding(f"{SCRIPT_RUN}.mission-control", surface=MC_LIVE)
    both = _judged(findings=[found, other])
    assert both.verdict is Verdict.REJECTED
    assert both.reasons == (
        "1 finding in authorized original runs not waived",
        "1 finding waived: they stay visible and do not decide",
    )


def test_what_does_not_decide_is_told_by_its_reason() -> None:
    """A waived finding in a run that does not count is waived; an unreadable one that counts is unreadable."""
    unread = finding(FIRST, kind=FindingKind.UNREADABLE)
    other = observation("imported")
    extra = msgspec.structs.replace(other, authorization=Authorization.UNAUTHORIZED)
    found = [
        msgspec.structs.replace(unread, id="F-1"),
        msgspec.structs.replace(finding("imported"), id="F-2"),
        msgspec.structs.replace(finding("imported"), id="F-3"),
        msgspec.structs.replace(finding("imported", waived_by="W-1"), id="F-4"),
    ]
    reasons = _judged([*OBSERVATIONS, extra], found).reasons
    assert "1 finding waived: they stay visible and do not decide" in reasons
    assert "1 finding of something unreadable: they cover nothing and do not reject" in reasons
    assert "2 findings in runs that do not count yet" in reasons


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["a.local-agent"], "an original run that the scenarios ask for is not there: a.local-agent"),
        (
            ["b.local-agent", "a.local-agent"],
            "2 original runs that the scenarios ask for are not there, the first: b.local-agent",
        ),
    ],
)
def test_a_run_that_was_left_out_keeps_a_release_from_being_accepted(names: list[str], reason: str) -> None:
    acceptance = _judged(unrecorded=names)
    assert acceptance.verdict is Verdict.INSUFFICIENT
    assert acceptance.reasons[0] == reason
    assert _judged(findings=[finding(FIRST)], unrecorded=names).verdict is Verdict.REJECTED


# Damage, and inputs that do not belong together


@pytest.mark.parametrize("findings", [[], [finding(FIRST)]])
@pytest.mark.parametrize("observations", [OBSERVATIONS, OBSERVATIONS[:3]])
def test_damaged_evidence_outranks_everything(observations: list[Observation], findings: list[Finding]) -> None:
    damage = Damage(bundle="0.104.0/x", reasons=("session.jsonl.gz has another sha256", "more"))
    acceptance = _judged(observations, findings, damaged=[damage], faults=("a waiver is expired",))
    assert acceptance.verdict is Verdict.TAMPERED
    assert acceptance.damaged == (damage,)
    assert "0.104.0/x: session.jsonl.gz has another sha256" in acceptance.reasons


def test_an_authorization_that_cannot_be_read_is_said_and_decides_nothing() -> None:
    unread = [UnreadAuthorization(name=f"authorizations/{n}.dsse.json", reason="is no DSSE envelope") for n in "ab"]
    accepted = _judged(unread=unread)
    assert accepted.verdict is Verdict.ACCEPTED
    assert accepted.unread == tuple(unread)
    first = "authorizations/a.dsse.json: is no DSSE envelope"
    said = f"authorizations that cannot be read count for nothing: {first}; and 1 more"
    assert said in accepted.reasons
    rejected = _judged(findings=[finding(FIRST)], unread=unread)
    assert rejected.verdict is Verdict.REJECTED
    assert said in rejected.reasons


def test_a_finding_of_no_observation_and_an_observation_that_stands_twice_are_our_own_faults() -> None:
    with pytest.raises(HarnessError, match="no observation that is judged") as caught:
        _judged(findings=[finding("elsewhere")])
    assert (caught.value.exit_code, caught.value.where) == (70, "elsewhere")
    again = msgspec.structs.replace(OBSERVATIONS[0], authorization=Authorization.UNAUTHORIZED)
    with pytest.raises(HarnessError, match="two observations have one id"):
        _judged([*OBSERVATIONS, again])


def test_the_counts_of_the_covered_release_are_what_its_rows_say() -> None:
    """The builder itself: a count that no row bears out would make these tests prove nothing."""
    for item in OBSERVATIONS:
        for column in SURFACES:
            outcomes = [row.cells[column].agreement for row in item.rows]
            count = item.surfaces[column]
            assert (count.agree, count.disagree) == (outcomes.count(Agreement.AGREE), 0)
            assert count.not_comparable == len(outcomes) - count.agree


# The harness's own proof


def test_a_single_mutant_that_survived_makes_a_covered_release_insufficient() -> None:
    acceptance = _judged(selfcheck=SelfcheckState(result=with_survivors(1)))
    assert acceptance.verdict is Verdict.INSUFFICIENT
    assert acceptance.missing == ()
    assert acceptance.selfcheck.result is not None
    (reason,) = acceptance.reasons
    assert "did not notice 1 mutant of evidence" in reason
    assert survivor().requirement in reason


@pytest.mark.parametrize(
    ("selfcheck", "says"),
    [
        (SelfcheckState(), "no selfcheck shows that the harness can fail"),
        (SelfcheckState(fault="no selfcheck was made"), "no selfcheck was made"),
        (SelfcheckState(result=PROVEN.result, fault="made with other judging code"), "made with other judging code"),
    ],
)
def test_a_proof_that_is_missing_or_of_something_else_makes_a_covered_release_insufficient(
    selfcheck: SelfcheckState, says: str
) -> None:
    acceptance = _judged(selfcheck=selfcheck)
    assert acceptance.verdict is Verdict.INSUFFICIENT
    assert acceptance.reasons == (says,)


def test_a_rejected_release_stays_rejected_whatever_the_selfcheck_says() -> None:
    found = [finding(FIRST)]
    for selfcheck in (PROVEN, SelfcheckState(), SelfcheckState(result=with_survivors(3))):
        assert _judged(findings=found, selfcheck=selfcheck).verdict is Verdict.REJECTED


# The same runs, recorded again


def test_a_thing_that_varied_undeclared_makes_a_covered_release_insufficient() -> None:
    acceptance = _judged(stability=StabilityState(repeated=repeated(varied()), undeclared=(varied(),)))
    assert acceptance.verdict is Verdict.INSUFFICIENT
    assert acceptance.missing == ()
    (reason,) = acceptance.reasons
    assert "1 thing varied between recordings that no scenario declares" in reason
    assert varied().label in reason


def test_a_thing_that_varied_as_declared_keeps_nothing_back() -> None:
    assert _judged(stability=StabilityState(repeated=repeated(varied()))).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize(
    ("stability", "says"),
    [
        (StabilityState(), "nothing shows that the runs come out alike a second time"),
        (StabilityState(fault="no run was recorded twice"), "no run was recorded twice"),
        (StabilityState(repeated=repeated(), fault="other recordings"), "other recordings"),
    ],
)
def test_runs_that_were_not_recorded_again_make_a_covered_release_insufficient(
    stability: StabilityState, says: str
) -> None:
    acceptance = _judged(stability=stability)
    assert acceptance.verdict is Verdict.INSUFFICIENT
    assert acceptance.reasons == (says,)


def test_a_rejected_release_stays_rejected_whatever_varied() -> None:
    found = [finding(FIRST)]
    for stability in (STEADY, StabilityState(), StabilityState(repeated=repeated(varied()), undeclared=(varied(),))):
        assert _judged(findings=found, stability=stability).verdict is Verdict.REJECTED
