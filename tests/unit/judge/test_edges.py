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
from harness.model.verdict import Acceptance, Finding, Observation, Release, RequirementStatus, SurfaceCount
from tests.support.columns import RELEASE, covered_release, finding
from tests.support.selfchecks import PROVEN
from tests.support.stabilities import STEADY

OBSERVATIONS, RUNS_OF = covered_release()
OTHER = OtherRule(id="wire.made-up", section="Wire rules", text="nothing is made up")


def judged(observations: Sequence[Observation] = OBSERVATIONS, findings: Sequence[Finding] = ()) -> Acceptance:
    return judge(
        release=Release(name="magi-code", version=RELEASE, sha256=("0" * 64,)),
        at="2026-11-30T12:00:00Z",
        harness="0.1.0",
        observations=observations,
        findings=findings,
        damaged=(),
        runs_of=RUNS_OF,
        others=(OTHER,),
        selfcheck=PROVEN,
        stability=STEADY,
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
