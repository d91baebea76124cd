"""One outcome for all formats: what counts, what only shows, and what could not be compared."""

from __future__ import annotations

import shlex

import msgspec
import pytest

from harness.model.facts import SURFACES, Column
from harness.model.values import NotComparable, Reason, known
from harness.model.verdict import (
    Acceptance,
    Authorization,
    FindingKind,
    Missing,
    RequirementRow,
    RequirementStatus,
    Verdict,
)
from harness.report.views import Outcome, Overview
from tests.support.acceptances import SCRIPT, accepted_of, finding, observed, rejected

LIVE, REOPEN, MC_LIVE, MC_REOPEN = SURFACES
CARD = "turn1/call1"
WRONG = {(CARD, "Script outcome", LIVE): known("failure")}


def outcomes(acceptance: Acceptance) -> dict[Column, Outcome]:
    overview = Overview(acceptance)
    return {column: overview.surface(overview.observations[0], column).outcome for column in SURFACES}


def test_a_disagreement_stays_on_its_surface() -> None:
    found = outcomes(accepted_of((observed("a", overrides=WRONG),)))
    assert found[LIVE] is Outcome.DISAGREES
    assert [found[column] for column in (REOPEN, MC_LIVE, MC_REOPEN)] == [Outcome.AGREES] * 3


def test_agreement_in_unauthorized_or_stale_evidence_settles_nothing() -> None:
    unauthorized = accepted_of((observed("a", authorization=Authorization.REVOKED, detail="key ab12"),))
    overview = Overview(unauthorized)
    check = overview.surface(overview.observations[0], LIVE)
    assert check.outcome is Outcome.UNSETTLED
    assert check.reason == "revoked: key ab12"
    assert outcomes(accepted_of((observed("a", stale=True),)))[REOPEN] is Outcome.UNSETTLED
    assert overview.counting == 0


def test_a_disagreement_in_evidence_that_does_not_count_is_shown_and_decides_nothing() -> None:
    overview = Overview(accepted_of((observed("a", overrides=WRONG, stale=True),)))
    check = overview.surface(overview.observations[0], LIVE)
    assert check.outcome is Outcome.DISAGREES
    assert not check.decides
    assert check.reason.startswith("stale")


def test_what_cannot_be_read_decides_nothing_even_in_authorized_evidence() -> None:
    overview = Overview(accepted_of((observed("a", extra=(finding("a", kind=FindingKind.UNREADABLE),)),)))
    check = overview.surface(overview.observations[0], LIVE)
    assert (check.outcome, check.decides) == (Outcome.DISAGREES, False)


def test_a_wholly_waived_surface_is_waived_and_one_open_finding_ends_that() -> None:
    waived = finding("a", waived_by="W-1")
    opened = finding("a", label="Warnings", observed="3", expected="2")
    assert outcomes(accepted_of((observed("a", extra=(waived,)),)))[LIVE] is Outcome.WAIVED
    both = Overview(accepted_of((observed("a", extra=(waived, opened)),)))
    assert both.surface(both.observations[0], LIVE).outcome is Outcome.DISAGREES
    assert (len(both.open), len(both.waived)) == (1, 1)


def test_silence_is_never_agreement() -> None:
    cut = NotComparable(reason=Reason.CAPTURE_CUT, detail="killed in call 3")
    overview = Overview(accepted_of((observed("a", unavailable={LIVE: cut}),)))
    check = overview.surface(overview.observations[0], LIVE)
    assert check.outcome is Outcome.UNSETTLED
    assert check.reason == "capture cut: killed in call 3"
    observation, _ = observed("b")
    empty = msgspec.structs.replace(observation, surfaces={})
    assert set(outcomes(accepted_of(((empty, ()),))).values()) == {Outcome.UNSETTLED}


def test_totals_are_of_surfaces_only() -> None:
    # 24 facts: the local agent gives all of them, Mission Control only the four that it prints.
    overview = Overview(accepted_of((observed("a", overrides=WRONG),)))
    assert (overview.totals.agree, overview.totals.disagree, overview.totals.not_comparable) == (23 + 24 + 4 + 4, 1, 40)


def test_a_class_is_as_good_as_its_worst_run_and_missing_classes_have_a_row() -> None:
    acceptance = accepted_of(
        (observed("a"), observed("b", overrides=WRONG)),
        missing=(Missing(class_="legacy", reason="no run"), Missing(class_="strange", reason="no run")),
    )
    rows = {row.name: row for row in Overview(acceptance).classes()}
    assert list(rows) == ["mixed-outcomes", "legacy", "agreement", "strange"]
    assert rows["mixed-outcomes"].cells[LIVE].outcome is Outcome.DISAGREES
    assert rows["mixed-outcomes"].cells[LIVE].count.agree == 47
    assert rows["mixed-outcomes"].cells[REOPEN].outcome is Outcome.AGREES
    assert rows["mixed-outcomes"].counted == 2
    assert rows["legacy"].cells[LIVE].outcome is Outcome.UNSETTLED
    assert rows["legacy"].cells[LIVE].reason == "no run"
    assert rows["legacy"].missing == ("no run",)


def test_a_run_of_the_other_driver_does_not_unsettle_a_surface_that_another_run_shows() -> None:
    none = NotComparable(reason=Reason.NOT_CAPTURED, detail="driven by the local agent")
    both = Overview(accepted_of((observed("a", unavailable={MC_LIVE: none}), observed("b")))).classes()[0]
    assert both.cells[MC_LIVE].outcome is Outcome.AGREES
    assert (both.cells[MC_LIVE].runs, both.runs) == (1, 2)
    alone = Overview(accepted_of((observed("a", unavailable={MC_LIVE: none}),))).classes()[0]
    assert alone.cells[MC_LIVE].outcome is Outcome.UNSETTLED
    assert alone.cells[MC_LIVE].runs == 0


def test_requirements_follow_their_findings() -> None:
    acceptance = accepted_of(
        (observed("a", overrides=WRONG, extra=(finding("a", requirement="code-mode.rollback", waived_by="W"),)),)
    )
    overview = Overview(acceptance)
    found = {row.id: overview.requirement(row).outcome for row in acceptance.requirements}
    assert found["code-mode.script-outcome"] is Outcome.DISAGREES
    assert found["code-mode.rollback"] is Outcome.WAIVED
    by_status = {row.status: overview.requirement(row).outcome for row in acceptance.requirements}
    assert by_status[RequirementStatus.MET] is Outcome.AGREES
    assert by_status[RequirementStatus.NOT_OBSERVED] is Outcome.UNSETTLED
    assert by_status[RequirementStatus.NOT_REACHABLE] is Outcome.UNSETTLED


def test_every_authority_is_named_with_its_observations() -> None:
    parts = (observed("a"), observed("b"), observed("c", authorization=Authorization.UNAUTHORIZED, detail=""))
    found = Overview(accepted_of(parts, Verdict.INSUFFICIENT)).authorities()
    assert [(item.authorization, item.observations) for item in found] == [
        (Authorization.AUTHORIZED, 2),
        (Authorization.UNAUTHORIZED, 1),
    ]


def test_order_of_the_input_has_no_meaning() -> None:
    one = accepted_of((observed("b", overrides=WRONG), observed("a", cards=SCRIPT)))
    other = msgspec.structs.replace(one, observations=one.observations[::-1], findings=one.findings[::-1])
    assert Overview(one).observations == Overview(other).observations
    assert Overview(one).findings == Overview(other).findings


@pytest.mark.parametrize(("waived_by", "outcome"), [(None, Outcome.DISAGREES), ("W-1", Outcome.WAIVED)])
def test_a_requirement_is_waived_with_the_finding_of_another_rule_that_breaks_it(
    waived_by: str | None, outcome: Outcome
) -> None:
    other = finding("a", requirement="wire.fact-spelling", label="Total calls", waived_by=waived_by)
    acceptance = accepted_of((observed("a", extra=(other,)),))
    row = RequirementRow(
        id="general.count-spelling",
        section="Code Mode and subagent card facts",
        text="digits",
        scenarios=(),
        observations=("a",),
        status=RequirementStatus.DISAGREES,
        reason="1 finding of wire.fact-spelling",
        agree=3,
        disagree=1,
        not_comparable=0,
        findings=(other.id, "of no judgement"),
    )
    check = Overview(acceptance).requirement(row)
    assert check.outcome is outcome
    assert [item.id for item in check.findings] == [other.id]
    assert check.reason == row.reason


def test_the_command_that_judges_again_can_be_copied_whatever_the_release_is_called() -> None:
    whole = rejected()
    assert Overview(whole).again == f"harness accept --release 0.104.0 --at {whole.at}"
    hostile = msgspec.structs.replace(whole, release=msgspec.structs.replace(whole.release, version="$(hurt) '"))
    words = shlex.split(Overview(hostile).again)
    assert words[:4] == ["harness", "accept", "--release", "$(hurt) '"]
