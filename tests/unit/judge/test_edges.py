"""What a judgement holds beside its verdict, and the smallest thing that still counts as compared.

Each test stands for a mutant of the code that nothing else noticed.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from harness.judge import OtherRule, judge
from harness.judge.coverage import missing, refusal
from harness.judge.requirements import requirement_rows
from harness.model.errors import HarnessError
from harness.model.facts import Column
from harness.model.selfcheck import SelfcheckState
from harness.model.stability import StabilityState, Variation
from harness.model.values import ABSENT, NotComparable, Reading, Reason, not_displayed, unreadable
from harness.model.verdict import (
    Acceptance,
    Agreement,
    Authorization,
    Finding,
    Observation,
    Release,
    RequirementStatus,
    SurfaceCount,
    UnreadAuthorization,
    Verdict,
)
from tests.support.columns import RELEASE, Said, agreeing_row, covered_release, fact, finding
from tests.support.selfchecks import PROVEN, with_survivors
from tests.support.stabilities import STEADY, repeated, varied

OBSERVATIONS, RUNS_OF = covered_release()
GONE = Reason.NOT_CAPTURED
OTHER = OtherRule(id="wire.made-up", section="Wire rules", text="nothing is made up")


def judged(
    observations: Sequence[Observation] = OBSERVATIONS,
    findings: Sequence[Finding] = (),
    *,
    selfcheck: SelfcheckState = PROVEN,
    stability: StabilityState = STEADY,
    unread: Sequence[UnreadAuthorization] = (),
) -> Acceptance:
    return judge(
        release=Release(name="magi-code", version=RELEASE, sha256=("0" * 64,)),
        at="2026-11-30T12:00:00Z",
        harness="0.1.0",
        observations=observations,
        findings=findings,
        damaged=(),
        runs_of=RUNS_OF,
        others=(OTHER,),
        selfcheck=selfcheck,
        stability=stability,
        unread=unread,
    )


def test_the_rows_of_every_requirement_and_of_other_rules_are_part_of_the_judgement() -> None:
    acceptance = judged()
    assert acceptance.requirements == requirement_rows(OBSERVATIONS, (), release=RELEASE, covered=True, others=(OTHER,))
    assert acceptance.requirements[-1].id == "wire.made-up"


def test_a_rule_that_was_broken_without_having_been_tried_says_how_often() -> None:
    first = OBSERVATIONS[0].id
    found = msgspec.structs.replace(finding(first), requirement="wire.made-up")
    row = judged(findings=(found,)).requirements[-1]
    assert (row.status, row.disagree, row.not_comparable) == (RequirementStatus.DISAGREES, 1, 0)
    assert row.reason
    assert "None" not in row.reason


def test_one_agreement_and_one_disagreement_are_two_comparisons() -> None:
    """They do not take each other away: the surface was read."""
    counts = dict.fromkeys(Column, SurfaceCount(agree=1, disagree=1, not_comparable=0))
    observations = [msgspec.structs.replace(item, surfaces=counts) for item in OBSERVATIONS]
    assert missing(observations, RUNS_OF, release=RELEASE, findings=()) == ()
    assert judged(observations).verdict is Verdict.ACCEPTED


def test_a_stale_run_is_refused_in_these_words() -> None:
    stale = msgspec.structs.replace(OBSERVATIONS[0], stale=True)
    assert refusal(stale, RELEASE) == "its scenario has changed since it was recorded (stale)"


def test_an_observation_that_stands_twice_is_refused_with_what_should_be() -> None:
    with pytest.raises(HarnessError) as caught:
        judged([*OBSERVATIONS, OBSERVATIONS[0]])
    assert (caught.value.message, caught.value.hint) == (
        "two observations have one id",
        "a release has every observation once",
    )


def test_what_could_not_be_read_of_a_run_that_does_not_count_is_no_gap() -> None:
    first = OBSERVATIONS[0]
    torn = NotComparable(reason=Reason.UNREADABLE, detail="torn")
    row = agreeing_row("Script outcome", "success", silent={Column.LOCAL_AGENT_REOPEN: torn})
    extra = msgspec.structs.replace(
        first, id="again", authorization=Authorization.UNAUTHORIZED, rows=(row,), authorization_detail=""
    )
    runs_of = {**RUNS_OF, "again": RUNS_OF[first.id]}
    assert missing([*OBSERVATIONS, extra], runs_of, release=RELEASE) == ()


def test_how_much_more_could_not_be_read_is_said_where_there_is_more() -> None:
    first, (run,) = OBSERVATIONS[0], RUNS_OF[OBSERVATIONS[0].id]
    torn = {Column.LOCAL_AGENT_REOPEN: NotComparable(reason=Reason.UNREADABLE, detail="torn")}
    unread = tuple(
        agreeing_row(label, 3, silent=torn) for label in ("Total calls", "Failed calls", "Unknown calls", "Warnings")
    )
    for number, more in ((1, ""), (2, " and 1 more"), (4, " and 3 more")):
        extra = msgspec.structs.replace(first, id="again", rows=unread[:number])
        own, _ = missing([*OBSERVATIONS, extra], {**RUNS_OF, "again": (run,)}, release=RELEASE)
        assert own.reason == f"{run}: Total calls of turn1/call1 is unreadable on local-agent-reopen{more} (again)"


def test_the_agreement_class_names_every_class_that_it_lacks() -> None:
    """observations.md: agreement is every run above it."""
    last = missing([], {}, release=RELEASE)[-1]
    assert last.class_ == "agreement"
    assert last.reason == (
        "needs every run of the other classes: "
        "mixed-outcomes, overflow, recovered-failures, cancellation, concurrency, out-of-order, legacy"
    )


def test_a_finding_of_a_rule_of_the_process_speaks_against_that_rule_itself() -> None:
    found = finding(OBSERVATIONS[0].id, requirement="acceptance.no-substitute")
    (row,) = [row for row in judged(findings=(found,)).requirements if row.id == "acceptance.no-substitute"]
    assert (row.status, row.reason) == (RequirementStatus.DISAGREES, "1 finding")


def test_a_rule_of_the_process_that_is_met_needs_no_reason_and_one_that_is_not_names_the_release() -> None:
    for covered, reason in (
        (True, ""),
        (False, f"not every observation class of {RELEASE} is covered by authorized original runs"),
    ):
        found = requirement_rows(OBSERVATIONS, (), release=RELEASE, covered=covered)
        assert [row.reason for row in found if row.id == "acceptance.observation-classes"] == [reason]


def test_a_run_that_kept_a_rule_as_often_as_it_broke_it_was_observed() -> None:
    first = msgspec.structs.replace(OBSERVATIONS[0], cases={"general.exact-labels": 2})
    found = finding(first.id, requirement="general.exact-labels")
    rows = requirement_rows([first], (found,), release=RELEASE, covered=True)
    (row,) = [row for row in rows if row.id == "general.exact-labels"]
    assert (row.agree, row.disagree, row.observations) == (1, 1, (first.id,))


@pytest.mark.parametrize(
    ("rule", "label", "value", "reason"),
    [
        ("code-mode.total-calls", "Total calls", 3, "1 finding"),  # the comparison that disagrees is the finding
        ("code-mode.no-running-replay", "Script outcome", "interrupted", "1 finding; 1 comparison disagrees"),
    ],
)
def test_a_comparison_is_told_beside_findings_only_where_it_is_none_of_them(
    rule: str, label: str, value: Said, reason: str
) -> None:
    row = agreeing_row(label, value)
    cell = msgspec.structs.replace(row.cells[Column.LOCAL_AGENT_REOPEN], agreement=Agreement.DISAGREE)
    row = msgspec.structs.replace(row, cells={**row.cells, Column.LOCAL_AGENT_REOPEN: cell})
    first = msgspec.structs.replace(OBSERVATIONS[0], rows=(row,))
    found = finding(first.id, requirement=rule)
    rows = requirement_rows([first], (found,), release=RELEASE, covered=True)
    assert [one.reason for one in rows if one.id == rule] == [reason]


@pytest.mark.parametrize("silence", [ABSENT, not_displayed("hidden"), unreadable("torn"), NotComparable(reason=GONE)])
def test_a_surface_that_says_nothing_of_a_fact_does_not_contradict_the_other(silence: Reading) -> None:
    row = agreeing_row("Total calls", 3)
    cell = msgspec.structs.replace(row.cells[Column.MISSION_CONTROL_REOPEN], readings=(fact("Total calls", silence),))
    row = msgspec.structs.replace(row, cells={**row.cells, Column.MISSION_CONTROL_REOPEN: cell})
    first = msgspec.structs.replace(OBSERVATIONS[0], rows=(row,))
    rows = requirement_rows([first], (), release=RELEASE, covered=True)
    (found,) = [one for one in rows if one.id == "general.surface-agreement"]
    assert (found.agree, found.disagree, found.not_comparable) == (1, 0, 1)


@pytest.mark.parametrize(("number", "words"), [(1, "1 mutant"), (2, "2 mutants")])
def test_mutants_that_nobody_noticed_are_counted_and_the_first_is_named(number: int, words: str) -> None:
    (reason,) = judged(selfcheck=SelfcheckState(result=with_survivors(number))).reasons
    named = "the first: fact-value, changed (code-mode.total-calls)"
    assert reason == f"the harness did not notice {words} of evidence in its selfcheck, {named}"


@pytest.mark.parametrize(
    ("undeclared", "words"),
    [
        ((varied("Warnings"),), "1 thing varied between recordings that no scenario declares, the first: Warnings"),
        (
            (varied(), varied("Warnings")),
            "2 things varied between recordings that no scenario declares, the first: Total calls",
        ),
        (
            (msgspec.structs.replace(varied(""), detail="children"),),
            "1 thing varied between recordings that no scenario declares, the first: children",
        ),
        ((varied(""),), "1 thing varied between recordings that no scenario declares, the first: fact"),
    ],
)
def test_what_varied_undeclared_is_counted_and_the_first_is_named(
    undeclared: tuple[Variation, ...], words: str
) -> None:
    stability = StabilityState(repeated=repeated(*undeclared), undeclared=undeclared)
    acceptance = judged(stability=stability)
    assert acceptance.reasons == (f"{words} of handled.local-agent on local-agent-live",)
    assert acceptance.stability == stability


def test_every_reason_why_no_run_counts_is_said_once() -> None:
    first, (run,) = OBSERVATIONS[0], RUNS_OF[OBSERVATIONS[0].id]
    unauthorized = msgspec.structs.replace(first, authorization=Authorization.UNAUTHORIZED, authorization_detail="none")
    serving = (
        msgspec.structs.replace(first, stale=True),
        msgspec.structs.replace(unauthorized, id="b"),
        msgspec.structs.replace(unauthorized, id="c"),
    )
    found = missing(serving, {item.id: (run,) for item in serving}, release=RELEASE)
    (gap,) = [item for item in found if item.reason.startswith(f"{run}:")]
    why = "its scenario has changed since it was recorded (stale); recorded, not authorized: none"
    assert gap.reason == f"{run}: {why} (3 original runs)"


@pytest.mark.parametrize(("number", "more"), [(1, ""), (2, "; and 1 more"), (3, "; and 2 more")])
def test_the_first_authorization_that_cannot_be_read_is_named_and_the_others_are_counted(
    number: int, more: str
) -> None:
    unread = [UnreadAuthorization(name=f"{name}.dsse.json", reason=f"torn {name}") for name in "abc"[:number]]
    told = [reason for reason in judged(unread=unread).reasons if "cannot be read" in reason]
    assert told == [f"authorizations that cannot be read count for nothing: a.dsse.json: torn a{more}"]
