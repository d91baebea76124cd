"""Each structural rule by the finding that breaks it and the case that keeps it: none may be met by mere silence."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from harness.judge.requirements import requirement_rows
from harness.judge.rules import HELD
from harness.model.facts import SURFACES, CardKind, Column, Omission
from harness.model.manifest import Product
from harness.model.values import NULL, NotComparable, Reason, known
from harness.model.verdict import (
    Agreement,
    FactRow,
    Finding,
    FindingKind,
    Observation,
    RequirementRow,
    RequirementStatus,
)
from harness.records.rules import RULES as RECORD_RULES
from harness.spec.requirements import REQUIREMENTS, RULES, Requirement, for_rule, requirement
from harness.wire.rules import RULES as WIRE_RULES
from tests.support.columns import LA_REOPEN, MC_REOPEN, Said, agreeing_row, fact, finding, observation

MET, DISAGREES = RequirementStatus.MET, RequirementStatus.DISAGREES
NOT_OBSERVED = RequirementStatus.NOT_OBSERVED
TASK = CardKind.TASK
TESTS = Path(__file__).parents[1]

CAUGHT: dict[str, tuple[str, ...]] = {
    "row-shape": (
        "wire/test_broken_rules.py::test_one_vice_breaks_one_rule_and_is_placed",
        "wire/test_governed.py::test_a_fact_in_a_block_that_is_none_of_results_is_told",
    ),
    "exact-labels": (
        "observe/test_local_agent.py::test_a_row_of_no_known_label_is_a_problem_and_no_fact",
        "compare/test_rules.py::test_a_label_that_the_card_cannot_have_is_not_passed_over",
    ),
    "spelling": ("observe/test_local_agent.py::test_an_ill_spelled_value_is_read_as_it_stands_and_a_problem",),
    "card-outcome": ("compare/test_structure.py::test_a_card_whose_outcome_is_not_that_of_its_script_or_task_is_told",),
    "surface-agreement": (
        "judge/test_rules.py::test_a_fact_that_the_surfaces_show_differently_speaks_against_agreement",
    ),
    "public-ids": (
        "wire/test_governed.py::test_an_execution_identity_that_is_a_public_id_is_told",
        "wire/test_governed.py::test_a_call_id_of_the_backend_that_is_a_public_id_is_told_and_a_number_of_a_task_is_none",
    ),
    "fact-bounds": (
        "compare/test_structure.py::test_more_tracked_paths_than_are_kept_are_told",
        "compare/test_structure.py::test_a_text_of_a_task_on_a_screen_is_held_to_its_bytes",
    ),
    "core-rows": (
        "compare/test_structure.py::test_a_card_without_a_core_row_is_told_whatever_it_omits",
        "compare/test_structure.py::test_optional_rows_that_are_gone_without_a_word_are_told",
    ),
    "interrupted-from-nested": (
        "judge/test_rules.py::test_only_rows_of_a_card_of_the_case_speak_for_a_rule_that_rows_hold",
    ),
    "no-running-replay": ("compare/test_structure.py::test_nothing_runs_on_a_reopened_card",),
    "reopen-inert": ("compare/test_whole_run.py::test_a_workspace_that_a_reopening_changed_is_told",),
    "partition": (
        "compare/test_rules.py::test_counts_that_do_not_add_up_to_the_total_break_the_partition_on_any_column",
        "compare/test_rules.py::test_a_batch_that_has_ended_has_no_running_task_but_one_that_was_cut_may",
    ),
    "live-snapshots": ("wire/test_batches.py::test_a_task_that_stays_counted_as_running_after_its_end_is_told",),
    "task-binding": ("compare/test_structure.py::test_details_with_the_identity_of_another_task_are_told",),
    "report-schema": (
        "project/test_cases.py::test_a_result_without_telemetry_is_told_unless_a_release_wrote_it_that_knew_none",
        "project/test_cases.py::test_a_report_that_is_refused_was_tried_all_the_same",
    ),
    "private-text": ("compare/test_whole_run.py::test_a_context_on_a_card_is_told_wherever_it_stands",),
    "activity-text": ("compare/test_structure.py::test_an_activity_that_says_more_or_something_else_is_told",),
    "direct-call-cap": ("judge/test_rules.py::test_counters_beyond_the_cap_are_held_only_in_a_batch_beyond_it",),
    "legacy-task": (
        "judge/test_rules.py::test_a_task_without_telemetry_is_legacy_only_in_a_session_of_an_older_release",
    ),
    "wire-bounds": (
        "wire/test_broken_rules.py::test_one_vice_breaks_one_rule_and_is_placed",
        "judge/test_rules.py::test_a_finding_of_a_wire_rule_breaks_the_requirement_that_says_the_same",
    ),
}
"""Rule to the tests in which something that breaks it is caught."""


def _row(id_: str, *observations: Observation, findings: tuple[Finding, ...] = ()) -> RequirementRow:
    rows = requirement_rows(observations, findings, release="0.104.0", covered=False)
    return next(row for row in rows if row.id == id_)


def _seen(*rows: FactRow, cases: dict[str, int] | None = None) -> Observation:
    return msgspec.structs.replace(observation("seen", fact_rows=rows), cases=cases or {})


def _found(requirement_: str, label: str = "") -> Finding:
    found = finding("seen", requirement=requirement_, kind=FindingKind.RULE)
    return msgspec.structs.replace(found, label=label)


# The table


def test_every_rule_of_the_catalogue_is_held_for_each_of_its_requirements() -> None:
    assert set(HELD) == set(RULES)
    for name, held in HELD.items():
        assert set(held) == {entry.id for entry in for_rule(name)}, name
        assert all(entry.unseen for entry in held.values()), name


def test_every_rule_that_the_table_names_exists() -> None:
    ids = {rule.id for rule in WIRE_RULES} | set(RECORD_RULES) | {entry.id for entry in REQUIREMENTS}
    for held in HELD.values():
        for entry in held.values():
            assert {same.rule for same in entry.same} <= ids
            assert set(entry.cases) <= ids


def test_every_rule_names_a_test_that_catches_what_breaks_it() -> None:
    assert set(CAUGHT) == set(RULES)
    for rule, named in CAUGHT.items():
        for name in named:
            file, _, test = name.partition("::")
            assert re.search(rf"^def {test}\(", (TESTS / file).read_text(encoding="utf-8"), re.MULTILINE), (rule, name)


@pytest.mark.parametrize("entry", [entry for entry in REQUIREMENTS if entry.rule], ids=lambda entry: entry.id)
def test_no_structural_rule_is_met_by_silence_and_each_is_broken_by_its_own_finding(entry: Requirement) -> None:
    id_ = entry.id
    silent = _row(id_, _seen())
    assert silent.status is not MET
    assert silent.reason
    broken = _row(id_, _seen(), findings=(_found(id_),))
    assert (broken.status, broken.reason, broken.disagree) == (DISAGREES, "1 finding", 1)
    assert broken.observations == ("seen",)


# Findings of other rules


@pytest.mark.parametrize(
    ("id_", "rule", "label"),
    [
        ("general.results-blocks", "wire.schema-version", ""),
        ("general.results-blocks", "wire.schema", "/data/card/blocks/*/type"),
        ("general.row-members", "wire.fact-outcome", "Total calls"),
        ("general.row-members", "wire.schema", "/data/card/blocks/*/rows/*/value"),
        ("general.row-members", "wire.exact-members", "/blocks/*/rows/*/colour"),
        ("general.exact-labels", "wire.fact-label", "Mood"),
        ("general.exact-labels", "wire.fact-repeated", "Total calls"),
        ("general.count-spelling", "wire.fact-spelling", "Total calls"),
        ("general.boolean-spelling", "wire.fact-spelling", "Rollback"),
        ("general.public-child-ids", "wire.children-known", ""),
        ("general.navigation-ids", "wire.parent-known", ""),
        ("code-mode.warning-storage", "wire.fact-bytes", "Warning"),
        ("code-mode.warning-rows", "wire.fact-rows", "Warning"),
        ("code-mode.path-bounds", "wire.fact-rows", "Changed path"),
        ("task.text-bounds", "wire.fact-bytes", "Task agent"),
        ("task.activity-bound", "wire.fact-rows", "Task activity"),
        ("code-mode.no-running-replay", "wire.saved-card", "state"),
        ("code-mode.reopen-inert", "acceptance.no-replay", ""),
        ("acceptance.content-limit", "wire.core-bytes", ""),
        ("acceptance.bounds", "wire.card-bytes", ""),
        ("acceptance.bounds", "wire.run-budget", "cards"),
    ],
)
def test_a_finding_of_a_wire_rule_breaks_the_requirement_that_says_the_same(id_: str, rule: str, label: str) -> None:
    row = _row(id_, _seen(cases={id_: 5}), findings=(_found(rule, label),))
    assert (row.status, row.disagree) == (DISAGREES, 1)
    assert row.reason == f"1 finding of {rule}"
    assert row.findings == (_found(rule, label).id,)


@pytest.mark.parametrize(
    ("id_", "rule", "label"),
    [
        ("general.row-members", "wire.exact-members", "children.rows"),
        ("general.row-members", "wire.schema", "/data/outcome"),
        ("general.count-spelling", "wire.fact-spelling", "Rollback"),
        ("general.boolean-spelling", "wire.fact-spelling", "Total calls"),
        ("code-mode.warning-rows", "wire.fact-rows", "Task activity"),
        ("task.text-bounds", "wire.fact-bytes", "Warning"),
        ("code-mode.no-running-replay", "wire.saved-card", "revision"),
    ],
)
def test_a_finding_of_a_wire_rule_breaks_nothing_else(id_: str, rule: str, label: str) -> None:
    row = _row(id_, _seen(cases={id_: 5}), findings=(_found(rule, label),))
    assert (row.status, row.agree, row.disagree) == (MET, 5, 0)


def test_own_findings_and_those_of_other_rules_are_told_apart() -> None:
    waived = msgspec.structs.replace(_found("wire.fact-rows", "Warning"), waived_by="W-1")
    row = _row("code-mode.warning-rows", _seen(), findings=(_found("code-mode.warning-rows"), waived))
    assert row.reason == "1 finding; 1 finding of wire.fact-rows, 1 of them waived"


def test_cases_of_another_rule_count_where_the_table_says_so() -> None:
    assert _row("general.navigation-ids", _seen(cases={"wire.parent-known": 4})).agree == 4
    assert _row("acceptance.bounds", _seen(cases={"wire.frame-bytes": 4, "wire.seq": 9})).agree == 4
    assert _row("general.public-child-ids", _seen(cases={"wire.children-known": 4})).status is NOT_OBSERVED


# Rules that rows hold

_GONE = NotComparable(reason=Reason.NOT_CAPTURED)


def _showing(row: FactRow, column: Column, *values: Said) -> FactRow:
    """The row with these readings on one column, each held against the reference."""
    readings = tuple(fact(row.label, value) for value in values)
    wrong = any(item.value != row.reference for item in readings)
    cell = msgspec.structs.replace(
        row.cells[column], readings=readings, agreement=Agreement.DISAGREE if wrong else Agreement.AGREE
    )
    return msgspec.structs.replace(row, cells={**row.cells, column: cell})


def test_facts_that_both_surfaces_show_alike_keep_agreement() -> None:
    row = _row(
        "general.surface-agreement", _seen(agreeing_row("Total calls", 3), agreeing_row("Elapsed milliseconds", None))
    )
    assert (row.status, row.agree, row.disagree, row.not_comparable) == (MET, 4, 0, 0)


@pytest.mark.parametrize("values", [(4,), (None,), (3, 4)])
def test_a_fact_that_the_surfaces_show_differently_speaks_against_agreement(values: tuple[Said, ...]) -> None:
    row = _row("general.surface-agreement", _seen(_showing(agreeing_row("Total calls", 3), MC_REOPEN, *values)))
    assert (row.status, row.reason, row.agree, row.disagree) == (DISAGREES, "1 comparison disagrees", 1, 1)


def test_surfaces_that_are_wrong_alike_agree_with_each_other() -> None:
    wrong = _showing(_showing(agreeing_row("Total calls", 3), MC_REOPEN, 4), LA_REOPEN, 4)
    assert _row("general.surface-agreement", _seen(wrong)).disagree == 0


def test_a_surface_that_shows_nothing_agrees_with_nobody() -> None:
    silent = agreeing_row("Total calls", 3, silent={MC_REOPEN: _GONE, SURFACES[2]: _GONE})
    row = _row("general.surface-agreement", _seen(silent))
    assert (row.status, row.agree, row.not_comparable) == (NOT_OBSERVED, 0, 2)
    assert "live they never show one run together" in row.reason


def test_what_a_shortened_card_counts_of_itself_need_not_agree() -> None:
    omitted = _showing(agreeing_row("Warnings omitted", 38), MC_REOPEN, 40)
    seen = _seen(omitted)
    assert _row("general.surface-agreement", seen).disagree == 1
    card = msgspec.structs.replace(
        seen.cards[0], omissions={LA_REOPEN: (Omission(subject="rows", reason="size_limit", omitted_count=2),)}
    )
    shortened = msgspec.structs.replace(seen, cards=(card,))
    row = _row("general.surface-agreement", shortened)
    assert (row.disagree, row.not_comparable) == (0, 1)


@pytest.mark.parametrize(
    ("id_", "label", "wanted", "about", "times"),
    [
        ("code-mode.interrupted-from-nested", "Script outcome", "interrupted", "Total calls", 8),
        ("code-mode.no-running-replay", "Script outcome", "interrupted", "Script outcome", 2),
    ],
)
def test_only_rows_of_a_card_of_the_case_speak_for_a_rule_that_rows_hold(
    id_: str, label: str, wanted: str, about: str, times: int
) -> None:
    case = (agreeing_row(label, wanted), agreeing_row("Total calls", 3))
    other = (agreeing_row(label, "success"), agreeing_row("Total calls", 3))
    row = _row(id_, _seen(*case))
    assert (row.status, row.agree) == (MET, times)
    assert _row(id_, _seen(*other)).status is NOT_OBSERVED
    elsewhere = (agreeing_row(label, wanted, path="turn2/call1"), agreeing_row("Total calls", 3))
    assert _row(id_, _seen(*elsewhere)).agree == (4 if about != label else times)
    wrong = _showing(case[0], MC_REOPEN, "failure") if about == label else _showing(case[1], MC_REOPEN, 9)
    broken = _row(id_, _seen(*(wrong if row_.label == about else row_ for row_ in case)))
    assert (broken.status, broken.reason) == (DISAGREES, "1 comparison disagrees")


def test_a_reference_that_is_silent_is_no_case_of_a_rule_that_rows_hold() -> None:
    silent = msgspec.structs.replace(
        agreeing_row("Total calls", 3), reference=NotComparable(reason=Reason.NOT_DERIVABLE)
    )
    row = _row("code-mode.interrupted-from-nested", _seen(agreeing_row("Script outcome", "interrupted"), silent))
    assert row.agree == 4  # of the outcome itself, which the rule governs too


def _task(label: str, reference: Said) -> FactRow:
    return agreeing_row(label, reference, kind=TASK, path="turn1/call1/task1")


def test_a_task_without_telemetry_is_legacy_only_in_a_session_of_an_older_release() -> None:
    rows = (_task("Task persistence", "not_recorded"), _task("Task failed calls", None), _task("Task intent", "Look"))
    older = Product(version="0.96.6", sha256="1" * 64)
    own = _seen(*rows)
    legacy = msgspec.structs.replace(own, products=(*own.products, older))
    for id_, times in (("task.legacy-missing", 8), ("task.legacy-supply", 4)):
        assert _row(id_, own).status is NOT_OBSERVED
        assert (_row(id_, legacy).status, _row(id_, legacy).agree) == (MET, times)
        reported = msgspec.structs.replace(legacy, rows=(_task("Task persistence", "recorded"), *rows[1:]))
        assert _row(id_, reported).status is NOT_OBSERVED
    wrong = msgspec.structs.replace(legacy, rows=(rows[0], _showing(rows[1], LA_REOPEN, 0), rows[2]))
    assert _row("task.legacy-missing", wrong).status is DISAGREES


def test_counters_beyond_the_cap_are_held_only_in_a_batch_beyond_it() -> None:
    rows = (_task("Task persistence", "recorded"), _task("Task failed calls", None), _task("Task unknown calls", 0))
    id_ = "task.counters-beyond-cap"
    beyond = _row(id_, _seen(*rows, cases={"task.direct-call-cap": 1}))
    assert (beyond.status, beyond.agree) == (MET, 4)
    assert _row(id_, _seen(*rows)).status is NOT_OBSERVED
    wrong = (rows[0], _showing(rows[1], LA_REOPEN, 410), rows[2])
    broken = _row(id_, _seen(*wrong, cases={"task.direct-call-cap": 1}))
    assert (broken.status, broken.disagree) == (DISAGREES, 1)
    unsaved = (_task("Task persistence", "not_recorded"), *rows[1:])
    assert _row(id_, _seen(*unsaved, cases={"task.direct-call-cap": 1})).status is NOT_OBSERVED


def test_null_and_known_are_what_these_tests_take_them_for() -> None:
    assert agreeing_row("Total calls", None).reference == NULL
    assert agreeing_row("Script outcome", "interrupted").reference == known("interrupted")
    assert requirement("code-mode.interrupted-from-nested").rule == "interrupted-from-nested"
