"""What the surfaces are held against, and whose fault a difference is: blamed on the wrong column, a finding sends its
reader to the wrong place."""

from __future__ import annotations

import pytest

from harness.model.facts import SURFACES, CardFacts, CardKind, Column
from harness.model.values import ABSENT, NULL, NotComparable, Reason, known, not_displayed
from harness.model.verdict import Agreement, FindingKind
from tests.support.columns import (
    EXPECTED,
    LA_LIVE,
    LA_REOPEN,
    MC_LIVE,
    MC_REOPEN,
    NESTED,
    PATH,
    REPORT,
    Said,
    card,
    fact,
    held,
    row,
    rows,
    told,
)

TOTAL = "Total calls"
A, D, N = Agreement.AGREE, Agreement.DISAGREE, Agreement.NOT_COMPARABLE


def _stated(said: Said, label: str = TOTAL, *, via: str = "table") -> CardFacts:
    return card(fact(label, said, via=via, file="small.feature"))


def test_what_the_author_worked_out_beats_what_was_derived_and_the_derivation_is_blamed() -> None:
    derived = card(fact(TOTAL, 4, via="report"))
    compared = held({EXPECTED: _stated(3), REPORT: derived, LA_LIVE: card(fact(TOTAL, 3))}, derived)
    found = row(compared, TOTAL)
    assert (found.reference, found.source) == (known(3), "expected")
    assert found.cells[LA_LIVE].agreement is A
    assert found.cells[EXPECTED].agreement is A
    assert found.cells[REPORT].agreement is D
    assert told(compared) == [(FindingKind.EXPECTATION, "report", TOTAL)]
    assert (compared.findings[0].expected, compared.findings[0].observed) == ("3", "4")


def test_a_surface_that_repeats_a_wrong_derivation_is_wrong_as_well() -> None:
    derived = card(fact(TOTAL, 4, via="report"))
    compared = held({EXPECTED: _stated(3), REPORT: derived, NESTED: derived, LA_REOPEN: card(fact(TOTAL, 4))}, derived)
    assert sorted(told(compared)) == [
        (FindingKind.EXPECTATION, "nested", TOTAL),
        (FindingKind.EXPECTATION, "report", TOTAL),
        (FindingKind.VALUE, "local-agent-reopen", TOTAL),
    ]


@pytest.mark.parametrize(("stated", "shown"), [(None, 0), (ABSENT, "x"), (0, None)])
def test_a_stated_state_is_held_as_strictly_as_a_stated_number(stated: Said, shown: Said) -> None:
    label = "Changed path" if stated is ABSENT else TOTAL
    compared = held({EXPECTED: _stated(stated, label), LA_LIVE: card(fact(label, shown))})
    assert row(compared, label).cells[LA_LIVE].agreement is D
    assert (FindingKind.VALUE, "local-agent-live", label) in told(compared)


def test_without_a_statement_the_reference_decides_and_says_where_it_comes_from() -> None:
    derived = card(fact(TOTAL, 4, via="nested"))
    compared = held({NESTED: derived, LA_LIVE: card(fact(TOTAL, 3))}, derived)
    found = row(compared, TOTAL)
    assert (found.reference, found.source) == (known(4), "nested")
    assert told(compared) == [(FindingKind.VALUE, "local-agent-live", TOTAL)]


def test_report_and_nested_records_that_differ_are_one_finding_about_the_report() -> None:
    report, nested = card(fact(TOTAL, 4, via="report", file="r")), card(fact(TOTAL, 3, via="nested", file="n"))
    compared = held({REPORT: report, NESTED: nested, LA_LIVE: card(fact(TOTAL, 4))}, report)
    assert told(compared) == [(FindingKind.DERIVATION, "report", TOTAL)]
    (found,) = compared.findings
    assert (found.expected, found.observed) == ("3 as the nested records say", "4")
    assert found.place is not None
    assert found.place.file == "r"
    assert row(compared, TOTAL).cells[NESTED].agreement is D
    assert row(compared, TOTAL).cells[LA_LIVE].agreement is A


def test_derivations_that_differ_are_a_finding_also_where_the_author_says_which_is_right() -> None:
    report, nested = card(fact(TOTAL, 4, via="report")), card(fact(TOTAL, 3, via="nested"))
    compared = held({EXPECTED: _stated(3), REPORT: report, NESTED: nested}, report)
    assert sorted(told(compared)) == [
        (FindingKind.DERIVATION, "report", TOTAL),
        (FindingKind.EXPECTATION, "report", TOTAL),
    ]


def test_a_derivation_that_breaks_a_rule_is_a_finding_although_the_other_is_silent() -> None:
    nested = card(fact(TOTAL, 3, via="nested"))
    compared = held({NESTED: nested}, card(fact(TOTAL, 4, via="rule")))
    assert told(compared) == [(FindingKind.VALUE, "nested", TOTAL)]
    assert compared.findings[0].expected == "4"


@pytest.mark.parametrize("silent", [NotComparable(reason=Reason.NOT_DERIVABLE), None], ids=["says so", "no fact"])
def test_a_derivation_without_a_source_disagrees_with_nobody(silent: NotComparable | None) -> None:
    report = card(fact("Elapsed milliseconds", 13, via="report"))
    nested = card(fact("Elapsed milliseconds", silent, via="nested")) if silent else card()
    compared = held({REPORT: report, NESTED: nested}, report)
    assert row(compared, "Elapsed milliseconds").cells[NESTED].agreement is N
    assert told(compared) == []


# Patterns


@pytest.mark.parametrize(
    ("pattern", "derived", "agreement"),
    [
        ("<milliseconds>", known(13), A),
        ("<milliseconds>", known("013"), D),
        ("<milliseconds>", NULL, D),
        ("<milliseconds>", ABSENT, D),
        ("<at least 13>", known(13), A),
        ("<at least 14>", known(13), D),
        ("<milliseconds>", NotComparable(reason=Reason.NOT_DERIVABLE), N),
    ],
)
def test_a_pattern_is_held_against_the_derived_value(pattern: str, derived: Said, agreement: Agreement) -> None:
    label = "Elapsed milliseconds"
    reference = card(fact(label, derived, via="report"))
    compared = held({EXPECTED: _stated(pattern, label, via="pattern"), REPORT: reference}, reference)
    found = row(compared, label)
    assert found.cells[EXPECTED].agreement is agreement
    assert (found.reference, found.source) == (derived, "report")
    expectations = [item for item in compared.findings if item.kind is FindingKind.EXPECTATION]
    assert len(expectations) == (agreement is D)
    for item in expectations:
        assert (item.surface, item.expected, item.observed) == ("report", pattern, str(derived))
        assert item.place is not None
        assert item.place.file == "small.feature"


@pytest.mark.parametrize(
    "report",
    [
        card(),
        card(fact("Elapsed milliseconds", NotComparable(reason=Reason.NOT_DERIVABLE), via="report")),
        card(fact("Response token estimate", None, via="report")),
    ],
    ids=["empty", "silent", "the same of another fact"],
)
def test_a_misfit_of_a_pattern_is_blamed_on_the_derivation_that_says_so(report: CardFacts) -> None:
    label = "Elapsed milliseconds"
    nested = card(fact(label, None, via="nested"))
    stated = _stated("<milliseconds>", label, via="pattern")
    compared = held({EXPECTED: stated, REPORT: report, NESTED: nested}, nested)
    assert [item for item in told(compared) if item[2] == label] == [(FindingKind.EXPECTATION, "nested", label)]


def test_surfaces_are_held_against_the_derived_value_and_not_against_the_pattern() -> None:
    label = "Elapsed milliseconds"
    reference = card(fact(label, 13, via="report"))
    shown = {LA_LIVE: card(fact(label, 14)), LA_REOPEN: card(fact(label, 13))}
    compared = held({EXPECTED: _stated("<milliseconds>", label, via="pattern"), **shown}, reference)
    assert row(compared, label).cells[LA_LIVE].agreement is D
    assert row(compared, label).cells[LA_REOPEN].agreement is A
    assert told(compared) == [(FindingKind.VALUE, "local-agent-live", label)]


@pytest.mark.parametrize(("shown", "agreement"), [(13, A), ("soon", D), (None, D), (not_displayed("hidden"), N)])
def test_in_a_run_that_saved_nothing_the_pattern_itself_decides(shown: Said, agreement: Agreement) -> None:
    label = "Elapsed milliseconds"
    compared = held({EXPECTED: _stated("<milliseconds>", label, via="pattern"), MC_LIVE: card(fact(label, shown))})
    found = row(compared, label)
    assert isinstance(found.reference, NotComparable)
    assert found.cells[MC_LIVE].agreement is agreement
    assert found.cells[EXPECTED].agreement is N
    assert told(compared) == ([(FindingKind.VALUE, "mission-control-live", label)] if agreement is D else [])
    assert all(item.expected == "<milliseconds>" for item in compared.findings)


# Surfaces against each other


def test_surfaces_are_held_against_each_other_only_where_no_reference_decides() -> None:
    shown = {LA_LIVE: card(fact(TOTAL, 3)), MC_LIVE: card(fact(TOTAL, 4)), MC_REOPEN: card(fact(TOTAL, 3))}
    undecided = held(shown)
    assert [item for item in told(undecided) if item[2] == TOTAL] == [
        (FindingKind.SURFACES, "mission-control-live", TOTAL)
    ]
    found = next(item for item in undecided.findings if item.label == TOTAL)
    assert (found.expected, found.observed) == ("3 as on local-agent-live", "4")
    assert {row(undecided, TOTAL).cells[column].agreement for column in SURFACES} == {N}
    decided = held(shown, card(fact(TOTAL, 4, via="report")))
    assert sorted(told(decided)) == [
        (FindingKind.VALUE, "local-agent-live", TOTAL),
        (FindingKind.VALUE, "mission-control-reopen", TOTAL),
    ]


@pytest.mark.parametrize("other", [None, ABSENT, 4])
def test_without_a_reference_null_absent_and_another_value_all_differ_from_a_value(other: Said) -> None:
    compared = held({LA_LIVE: card(fact(TOTAL, 3)), LA_REOPEN: card(fact(TOTAL, other))})
    assert (FindingKind.SURFACES, "local-agent-reopen", TOTAL) in told(compared)


def test_a_surface_that_does_not_print_the_fact_differs_from_none() -> None:
    compared = held({LA_LIVE: card(fact(TOTAL, 3)), MC_LIVE: card(fact(TOTAL, not_displayed("hidden")))})
    assert [item for item in told(compared) if item[2] == TOTAL] == []


def test_one_number_of_omitted_rows_may_differ_between_surfaces_that_show_other_rows() -> None:
    label = "Warnings omitted"
    compared = held({LA_LIVE: card(fact(label, 3)), MC_LIVE: card(fact(label, 2))})
    assert [item for item in told(compared) if item[2] == label] == []


# Several readings on one surface


def test_one_wrong_reading_of_a_surface_makes_its_cell_wrong_and_is_the_one_that_is_shown() -> None:
    shown = card(fact(TOTAL, 3, via="summary", file="card"), fact(TOTAL, 4, via="metadata", file="detail"))
    compared = held({MC_REOPEN: shown}, card(fact(TOTAL, 3, via="report")))
    cell = row(compared, TOTAL).cells[MC_REOPEN]
    assert cell.agreement is D
    assert [reading.via for reading in cell.readings] == ["summary", "metadata"]
    values = [item for item in compared.findings if item.kind is FindingKind.VALUE]
    assert [(item.observed, item.place and item.place.file) for item in values] == [("4", "detail")]


def test_a_silent_reading_beside_a_right_one_takes_nothing_away() -> None:
    shown = card(fact(TOTAL, not_displayed("hidden"), via="row"), fact(TOTAL, 3, via="metadata"))
    compared = held({MC_REOPEN: shown}, card(fact(TOTAL, 3, via="report")))
    assert row(compared, TOTAL).cells[MC_REOPEN].agreement is A
    assert told(compared) == []


def test_all_wrong_readings_of_a_surface_are_findings_of_their_own() -> None:
    shown = card(fact(TOTAL, 4, via="summary"), fact(TOTAL, 5, via="metadata"), fact(TOTAL, 6, via="metadata"))
    compared = held({MC_REOPEN: shown}, card(fact(TOTAL, 3, via="report")))
    values = [item for item in compared.findings if item.kind is FindingKind.VALUE]
    assert [item.observed for item in values] == ["4", "5", "6"]
    assert len({item.id for item in compared.findings}) == len(compared.findings)


# Preview rows


@pytest.mark.parametrize(
    ("shown", "wrong"),
    [
        (("a", "b"), {}),
        (("b", "a"), {0: ("a", "b"), 1: ("b", "a")}),
        (("a",), {1: ("b", "(absent)")}),
        ((), {0: ("a", "(absent)"), 1: ("b", "(absent)")}),
        (("a", "b", "c"), {2: ("(absent)", "c")}),
        (("a", None), {1: ("b", "(null)")}),
    ],
    ids=["same", "swapped", "missing", "all missing", "extra", "null"],
)
@pytest.mark.parametrize("column", [LA_LIVE, MC_REOPEN])
def test_preview_rows_are_compared_by_their_order(
    column: Column, shown: tuple[Said, ...], wrong: dict[int, tuple[str, str]]
) -> None:
    label = "Changed path"
    compared = held({column: card(rows(label, *shown))}, card(rows(label, "a", "b", via="report")))
    found = [item for item in compared.findings if item.label == label and item.kind is FindingKind.VALUE]
    assert {item.ordinal: (item.expected, item.observed) for item in found} == wrong
    assert len({item.id for item in found}) == len(wrong)
    extra = [item for item in compared.rows if item.label == label and item.ordinal == 2]
    assert [item.reference for item in extra] == ([ABSENT] if len(shown) == 3 else [])


def test_a_surface_that_prints_no_preview_rows_lacks_none() -> None:
    label = "Changed path"
    shown = card(fact(label, not_displayed("hidden")))
    compared = held({MC_LIVE: shown, REPORT: shown}, card(rows(label, "a", "b", via="report")))
    for ordinal in (0, 1):
        for column in (MC_LIVE, REPORT):
            cell = row(compared, label, ordinal=ordinal).cells[column]
            assert (cell.agreement, cell.reason and cell.reason.reason) == (N, Reason.NOT_DISPLAYED)
    assert told(compared) == []


def test_a_derivation_without_preview_rows_says_that_there_are_none() -> None:
    label = "Warning"
    none, some = card(), card(rows(label, "a", via="nested"))
    compared = held({REPORT: none, NESTED: none}, none)
    assert {row(compared, label).cells[column].agreement for column in (REPORT, NESTED)} == {A}
    compared = held({REPORT: none, NESTED: some}, none)
    assert told(compared) == [(FindingKind.DERIVATION, "report", label)]
    assert (compared.findings[0].expected, compared.findings[0].observed) == ("a as the nested records say", "(absent)")


# The card itself


def test_one_kind_of_card_has_exactly_the_rows_of_its_catalogue() -> None:
    compared = held({LA_LIVE: card(kind=CardKind.SUBAGENT_BATCH)}, card(kind=CardKind.SUBAGENT_BATCH))
    assert [item.label for item in compared.rows] == [
        "Tasks total",
        "Tasks done",
        "Tasks failed",
        "Tasks running",
        "Tasks unknown",
        "Tasks cancelled",
        "Child references complete",
        "Child references omitted",
    ]
    assert {item.card for item in compared.rows} == {PATH}
    assert all(set(item.cells) == set(Column) for item in compared.rows)
