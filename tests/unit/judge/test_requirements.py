"""The traceability matrix: a rule that nobody observed, or that something contradicts, must not read as met."""

from __future__ import annotations

import msgspec
import pytest

from harness.judge.requirements import OtherRule, requirement_rows
from harness.model.facts import SURFACES, CardKind, Column
from harness.model.values import NotComparable, Reason
from harness.model.verdict import (
    Agreement,
    Authorization,
    FactRow,
    Finding,
    FindingKind,
    Observation,
    RequirementRow,
    RequirementStatus,
)
from harness.spec.requirements import REQUIREMENTS
from tests.support.columns import LA_LIVE, LA_REOPEN, MC_LIVE, agreeing_row, finding, observation

MET, DISAGREES = RequirementStatus.MET, RequirementStatus.DISAGREES
NOT_OBSERVED, NOT_REACHABLE = RequirementStatus.NOT_OBSERVED, RequirementStatus.NOT_REACHABLE
ALL_SILENT = {column: NotComparable(reason=Reason.NOT_DISPLAYED) for column in SURFACES}


def _rows(
    *observations: Observation,
    findings: tuple[Finding, ...] = (),
    covered: bool = False,
    others: tuple[OtherRule, ...] = (),
    release: str = "0.104.0",
) -> dict[str, RequirementRow]:
    found = requirement_rows(observations, findings, release=release, covered=covered, others=others)
    assert [item.id for item in found] == [*(entry.id for entry in REQUIREMENTS), *(rule.id for rule in others)]
    return {item.id: item for item in found}


def _seen(*rows: FactRow) -> Observation:
    return observation("seen", fact_rows=rows)


def _disagreeing(row: FactRow, column: Column) -> FactRow:
    cell = msgspec.structs.replace(row.cells[column], agreement=Agreement.DISAGREE)
    return msgspec.structs.replace(row, cells={**row.cells, column: cell})


def test_without_observations_nothing_is_met_and_every_rule_is_told() -> None:
    rows = _rows()
    assert all(item.status in (NOT_OBSERVED, NOT_REACHABLE) for item in rows.values())
    assert all(item.reason for item in rows.values())
    assert all((item.agree, item.disagree, item.not_comparable) == (0, 0, 0) for item in rows.values())
    assert all(item.text and item.section for item in rows.values())


def test_a_rule_about_a_fact_is_met_where_a_surface_agrees_on_a_case_of_it() -> None:
    rows = _rows(_seen(agreeing_row("Total calls", 3)))
    total = rows["code-mode.total-calls"]
    assert (total.status, total.reason) == (MET, "")
    assert (total.agree, total.disagree, total.not_comparable) == (4, 0, 0)
    assert total.observations == ("seen",)
    assert total.scenarios == ("small.feature::seen",)
    failed = rows["code-mode.failed-calls"]
    assert (failed.status, failed.observations, failed.agree) == (NOT_OBSERVED, (), 0)


@pytest.mark.parametrize(
    ("label", "reference", "met", "other"),
    [
        ("Running calls", "0", "code-mode.running-calls", "code-mode.running-calls.null-without-report"),
        ("Running calls", None, "code-mode.running-calls.null-without-report", "code-mode.running-calls"),
        (
            "Elapsed milliseconds",
            "13",
            "code-mode.elapsed-milliseconds",
            "code-mode.elapsed-milliseconds.measured-only",
        ),
        ("Elapsed milliseconds", None, "code-mode.missing-stays-null", "code-mode.elapsed-milliseconds"),
        (
            "Completed with warnings",
            True,
            "code-mode.completed-with-warnings",
            "code-mode.completed-with-warnings.null",
        ),
        (
            "Completed with warnings",
            False,
            "code-mode.completed-with-warnings.false",
            "code-mode.completed-with-warnings",
        ),
        ("Execution persistence", "recorded", "acceptance.saved-confirms", "acceptance.delivery-is-not-persistence"),
        (
            "Execution persistence",
            "unavailable",
            "acceptance.delivery-is-not-persistence",
            "code-mode.execution-persistence.saved",
        ),
    ],
)
def test_a_clause_is_met_by_its_own_case_only(label: str, reference: str | bool | None, met: str, other: str) -> None:
    rows = _rows(_seen(agreeing_row(label, reference)))
    assert rows[met].status is MET
    assert rows[met].agree == 4
    assert (rows[other].status, rows[other].agree) == (NOT_OBSERVED, 0)
    assert rows[other].reason == "no original run of this release shows a case of it"


def test_null_meets_the_general_rule_about_null_and_a_number_does_not() -> None:
    null = _rows(_seen(agreeing_row("Elapsed milliseconds", None)))["general.missing-is-null"]
    number = _rows(_seen(agreeing_row("Elapsed milliseconds", 13)))["general.missing-is-null"]
    assert (null.status, number.status) == (MET, NOT_OBSERVED)


def test_a_reference_that_is_no_value_is_evidence_of_nothing() -> None:
    row = agreeing_row("Total calls", 3)
    row = msgspec.structs.replace(row, reference=NotComparable(reason=Reason.NOT_RECORDED))
    found = _rows(_seen(row))["code-mode.total-calls"]
    assert (found.status, found.agree, found.observations) == (NOT_OBSERVED, 0, ())


def test_a_fact_that_no_surface_could_show_meets_nothing_but_is_counted() -> None:
    found = _rows(_seen(agreeing_row("Total calls", 3, silent=ALL_SILENT)))["code-mode.total-calls"]
    assert (found.status, found.agree, found.not_comparable) == (NOT_OBSERVED, 0, 4)
    assert found.observations == ()


def test_the_same_label_of_another_card_is_no_evidence() -> None:
    label = "Child references omitted"
    rows = _rows(_seen(agreeing_row(label, 0, kind=CardKind.SUBAGENT_BATCH)))
    assert rows["batch.child-references-omitted"].status is MET
    assert rows["code-mode.child-references-omitted"].status is NOT_OBSERVED


def test_counts_add_up_over_observations_whoever_authorized_them() -> None:
    one, two = _seen(agreeing_row("Total calls", 3)), _seen(agreeing_row("Total calls", 4, silent={MC_LIVE: _GONE}))
    two = msgspec.structs.replace(two, id="two", authorization=Authorization.UNAUTHORIZED, scenario="")
    found = _rows(one, two)["code-mode.total-calls"]
    assert (found.agree, found.disagree, found.not_comparable) == (7, 0, 1)
    assert found.observations == ("seen", "two")
    assert found.scenarios == ("small.feature::seen",)


_GONE = NotComparable(reason=Reason.NOT_CAPTURED)


@pytest.mark.parametrize("waived_by", [None, "W-1"])
def test_a_finding_speaks_against_its_rule_waived_or_not(waived_by: str | None) -> None:
    found = finding("seen", requirement="code-mode.total-calls", waived_by=waived_by)
    row = _rows(_seen(agreeing_row("Total calls", 3)), findings=(found,))["code-mode.total-calls"]
    assert row.status is DISAGREES
    assert row.reason == ("1 finding, 1 of them waived" if waived_by else "1 finding")
    assert row.agree == 4


@pytest.mark.parametrize(
    "requirement", ["code-mode.rollback", "general.no-split-identity", "code-mode.duplicate-parents", "batch.partition"]
)
def test_a_finding_speaks_against_its_rule_however_that_is_held(requirement: str) -> None:
    row = _rows(_seen(agreeing_row("Total calls", 3)), findings=(finding("seen", requirement=requirement),))
    assert row[requirement].status is DISAGREES


def test_a_finding_speaks_against_a_rule_of_the_process_although_every_class_is_covered() -> None:
    found = finding("seen", requirement="acceptance.no-substitute")
    row = _rows(_seen(agreeing_row("Total calls", 3)), findings=(found,), covered=True)["acceptance.no-substitute"]
    assert row.status is DISAGREES


def test_a_disagreement_speaks_against_every_clause_that_it_is_a_case_of() -> None:
    row = _disagreeing(agreeing_row("Elapsed milliseconds", None), LA_REOPEN)
    found = finding("seen", requirement="code-mode.elapsed-milliseconds")
    rows = _rows(_seen(row), findings=(found,))
    for clause in (
        "code-mode.elapsed-milliseconds.measured-only",
        "general.missing-is-null",
        "code-mode.missing-stays-null",
    ):
        assert (rows[clause].status, rows[clause].reason) == (DISAGREES, "1 comparison disagrees")
        assert (rows[clause].agree, rows[clause].disagree) == (3, 1)
    assert rows["code-mode.elapsed-milliseconds"].status is DISAGREES


def test_what_could_not_be_read_speaks_neither_for_nor_against() -> None:
    smudged = finding("seen", kind=FindingKind.UNREADABLE, requirement="code-mode.total-calls")
    rows = _rows(_seen(agreeing_row("Total calls", 3, silent=ALL_SILENT)), findings=(smudged,))
    assert rows["code-mode.total-calls"].status is NOT_OBSERVED
    rows = _rows(_seen(agreeing_row("Total calls", 3)), findings=(smudged,))
    assert rows["code-mode.total-calls"].status is MET


def test_what_no_run_of_the_release_can_show_is_not_reachable_and_says_why() -> None:
    rows = _rows()
    assert rows["code-mode.duplicate-parents"].status is NOT_REACHABLE
    assert rows["code-mode.duplicate-parents"].reason == "the host refuses two calls with one id in one turn"
    assert _rows(release="9.9.9")["code-mode.duplicate-parents"].status is NOT_OBSERVED
    assert _rows(release="0.96.6")["task.report-bounds"].reason == "the release has no telemetry"
    excluded = [entry for entry in REQUIREMENTS if entry.check == "excluded"]
    assert excluded
    assert all((rows[entry.id].status, rows[entry.id].reason) == (NOT_REACHABLE, entry.reason) for entry in excluded)


# Structural rules


def _tried(times: int, requirement: str = "batch.partition", id_: str = "seen") -> Observation:
    return msgspec.structs.replace(observation(id_), cases={requirement: times})


def test_a_structural_rule_that_nothing_was_tried_on_is_never_met() -> None:
    row = _rows(observation("seen"))["batch.partition"]
    assert (row.status, row.reason) == (NOT_OBSERVED, "no batch shows all of its counts")
    assert (row.agree, row.disagree, row.observations) == (0, 0, ())


def test_a_structural_rule_is_met_by_every_case_that_kept_it() -> None:
    found = _rows(_tried(3), _tried(2, id_="other"), observation("third"))["batch.partition"]
    assert (found.status, found.reason, found.agree, found.disagree) == (MET, "", 5, 0)
    assert found.observations == ("seen", "other")
    assert _rows(_tried(3))["batch.terminal-unfinished"].status is NOT_OBSERVED


def test_a_case_that_broke_a_structural_rule_does_not_count_as_keeping_it() -> None:
    broken = tuple(
        finding("seen", requirement="batch.partition", kind=FindingKind.RULE, surface=column)
        for column in (LA_LIVE, LA_REOPEN)
    )
    found = _rows(_tried(3), _tried(3, id_="other"), findings=broken)["batch.partition"]
    assert (found.status, found.reason, found.agree, found.disagree) == (DISAGREES, "2 findings", 4, 2)
    many = tuple(finding("seen", requirement="batch.partition", kind=FindingKind.RULE) for _ in range(9))
    assert _rows(_tried(3), findings=many)["batch.partition"].agree == 0


OTHER = OtherRule(id="wire.seq", section="Wire rules", text="seq grows")


def test_a_rule_of_the_wire_has_a_row_that_is_met_only_where_it_was_tried() -> None:
    row = _rows(_tried(7, "wire.seq"), observation("other"), others=(OTHER,))["wire.seq"]
    assert (row.status, row.reason, row.agree, row.disagree) == (MET, "", 7, 0)
    assert (row.section, row.text, row.observations) == ("Wire rules", "seq grows", ("seen",))
    untried = _rows(observation("seen"), others=(OTHER,))["wire.seq"]
    assert (untried.status, untried.agree) == (NOT_OBSERVED, 0)
    assert untried.reason == "no original run of this release gave a case of it"


def test_a_rule_of_the_wire_is_broken_by_its_findings_waived_or_not() -> None:
    for waived_by, reason in ((None, "1 finding"), ("W-1", "1 finding, 1 of them waived")):
        found = finding("seen", requirement="wire.seq", kind=FindingKind.RULE, waived_by=waived_by)
        row = _rows(_tried(7, "wire.seq"), findings=(found,), others=(OTHER,))["wire.seq"]
        assert (row.status, row.reason, row.agree, row.disagree) == (DISAGREES, reason, 6, 1)
        assert row.observations == ("seen",)


def test_the_rules_of_the_process_are_met_by_coverage_alone() -> None:
    process = [entry.id for entry in REQUIREMENTS if entry.check == "process"]
    assert process == ["acceptance.not-by-analysis", "acceptance.observation-classes", "acceptance.no-substitute"]
    for covered in (True, False):
        rows = _rows(observation("seen"), covered=covered)
        assert {rows[id_].status for id_ in process} == {MET if covered else NOT_OBSERVED}
