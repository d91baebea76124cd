"""Other values of a fact: a kind that is forgotten here is a fault that the harness is never tried on."""

from __future__ import annotations

import pytest

from harness.model.facts import CardKind, Column, Fact
from harness.model.values import ABSENT, NULL, NotComparable, Reading, Reason, known
from harness.model.verdict import Agreement, Cell, FactRow
from harness.selfcheck.values import other_values, repairs, undecidable
from harness.spec.facts import fact

SCRIPT, TASK = CardKind.CODE_MODE, CardKind.TASK
LIVE, REOPEN = Column.LOCAL_AGENT_LIVE, Column.LOCAL_AGENT_REOPEN
UNKNOWN = NotComparable(reason=Reason.NOT_RECORDED, detail="no record")
NONE = Cell(readings=(), agreement=Agreement.NOT_COMPARABLE, reason=NotComparable(reason=Reason.NOT_CAPTURED))


def kinds(kind: CardKind, label: str, text: str | None) -> dict[str, object]:
    return {change.kind: change.value for change in other_values(fact(kind, label), text)}


def cell(agreement: Agreement, *values: Reading, via: str = "row") -> Cell:
    return Cell(readings=tuple(Fact(label="", value=value, via=via) for value in values), agreement=agreement)


def row(label: str, reference: Reading, cells: dict[Column, Cell], kind: CardKind = SCRIPT) -> FactRow:
    return FactRow(
        card="turn1/call1",
        kind=kind,
        label=label,
        ordinal=0,
        requirement="code-mode.total-calls",
        reference=reference,
        cells={column: cells.get(column, NONE) for column in Column},
    )


def test_a_count_is_changed_off_by_one_zeroed_nulled_and_misspelt() -> None:
    assert kinds(SCRIPT, "Total calls", "3") == {
        "nulled": None,
        "changed": "10",
        "one more": "4",
        "one less": "2",
        "zeroed": "0",
        "leading zero": "03",
        "number instead of string": 3,
    }


def test_nothing_is_less_than_zero_calls() -> None:
    assert "one less" not in kinds(SCRIPT, "Total calls", "0")
    assert "zeroed" not in kinds(SCRIPT, "Total calls", "0")


def test_an_outcome_becomes_every_other_member_of_its_enumeration() -> None:
    words = kinds(SCRIPT, "Script outcome", "success")
    others = ("running", "failure", "cancelled", "interrupted", "unknown")
    assert {words[f"member {word}"] for word in others} == set(others)
    assert words["no member"] == "finished"
    assert "member success" not in words


def test_a_flag_is_turned_over_and_written_as_json_has_it() -> None:
    words = kinds(SCRIPT, "Rollback", "false")
    assert (words["changed"], words["capital letter"], words["boolean instead of string"]) == ("true", "False", False)


@pytest.mark.parametrize(("label", "text"), [("Task intent", "read"), ("Task intent", "x"), ("Task agent", "")])
def test_a_text_changes_whatever_it_is(label: str, text: str) -> None:
    assert kinds(TASK, label, text)["changed"] != text


@pytest.mark.parametrize(
    ("kind", "label", "invented"),
    [
        (SCRIPT, "Total calls", {"0", "7"}),
        (TASK, "Usage cache known", {"true", "false"}),
        (TASK, "Task agent", {"something"}),
        (TASK, "Task outcome", {"running", "success"}),
    ],
)
def test_null_becomes_a_value(kind: CardKind, label: str, invented: set[str]) -> None:
    assert set(kinds(kind, label, None).values()) == invented


def test_a_value_that_agrees_with_the_records_can_be_told_from_another() -> None:
    shown = row("Total calls", known("3"), {LIVE: cell(Agreement.AGREE, known("3"))})
    assert undecidable(shown, LIVE, "4") == ""


def test_a_value_that_one_surface_alone_shows_and_no_record_knows_cannot() -> None:
    alone = row("Response token estimate", UNKNOWN, {LIVE: cell(Agreement.NOT_COMPARABLE, known("200"))})
    assert "nothing to hold it against" in undecidable(alone, LIVE, "201")


def test_a_second_surface_decides_where_no_record_does() -> None:
    shown = {LIVE: cell(Agreement.NOT_COMPARABLE, known("200")), REOPEN: cell(Agreement.NOT_COMPARABLE, known("200"))}
    assert undecidable(row("Response token estimate", UNKNOWN, shown), LIVE, "201") == ""


def test_a_second_reading_on_the_same_surface_decides() -> None:
    twice = {LIVE: cell(Agreement.NOT_COMPARABLE, known("200"), known("200"))}
    assert undecidable(row("Response token estimate", UNKNOWN, twice), LIVE, "201") == ""


def test_the_authors_pattern_decides_what_it_refuses_and_nothing_else() -> None:
    shown = {
        LIVE: cell(Agreement.AGREE, known("200")),
        Column.EXPECTED: cell(Agreement.NOT_COMPARABLE, known("<at least 100>"), via="pattern"),
    }
    patterned = row("Response token estimate", UNKNOWN, shown)
    assert undecidable(patterned, LIVE, "99") == ""
    assert undecidable(patterned, LIVE, None) == ""
    assert undecidable(patterned, LIVE, "101") != ""


def test_a_change_that_may_mend_a_disagreement_is_no_mutant() -> None:
    wrong = row("Total calls", known("3"), {LIVE: cell(Agreement.DISAGREE, known("4"))})
    assert repairs(wrong, LIVE, "3")
    assert not repairs(wrong, LIVE, "5")
    right = row("Total calls", known("3"), {LIVE: cell(Agreement.AGREE, known("3"))})
    assert not repairs(right, LIVE, "3")
    invented = row("Total calls", NULL, {LIVE: cell(Agreement.DISAGREE, known("4"))})
    assert repairs(invented, LIVE, None)
    counted = row("Warnings omitted", known("3"), {LIVE: cell(Agreement.DISAGREE, known("4"))})
    assert repairs(counted, LIVE, "9"), "what a card recomputes from its own display may be anything"
    assert undecidable(row("Warning", ABSENT, {LIVE: cell(Agreement.AGREE, ABSENT)}), LIVE, "x") == ""
