"""Facts that count what the very card shows: a reduced card is right with other numbers than a whole one, and a number
that its own rows refute is wrong (card-facts.md, "Wire omission counts are recomputed after card reduction")."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from harness.model.facts import CardFacts, CardKind, Column
from harness.model.values import NotComparable, Reason, known
from harness.model.verdict import Agreement, FindingKind
from tests.support.columns import (
    EXPECTED,
    LA_LIVE,
    LA_REOPEN,
    MC_LIVE,
    REPORT,
    Said,
    card,
    fact,
    held,
    omission,
    row,
    rows,
    told,
)

A, D = Agreement.AGREE, Agreement.DISAGREE
SCRIPT, BATCH, TASK = CardKind.CODE_MODE, CardKind.SUBAGENT_BATCH, CardKind.TASK


class Counted(NamedTuple):
    """A preview: the labels of its total, of what is omitted and of its rows; a total, and the rows of a whole card."""

    kind: CardKind
    total: str
    omitted: str
    label: str
    events: int
    whole: int

    def reference(self) -> CardFacts:
        return card(
            fact(self.total, self.events, via="report"),
            fact(self.omitted, self.events - self.whole, via="rule"),
            rows(self.label, *self.texts(self.whole), via="report"),
            kind=self.kind,
        )

    def texts(self, number: int) -> list[str]:
        return [f"{self.label} {at}" for at in range(number)]


WARNINGS = Counted(SCRIPT, "Warnings", "Warnings omitted", "Warning", 40, 2)
PATHS = Counted(SCRIPT, "Changed paths", "Changed paths omitted", "Changed path", 60, 3)
ACTIVITIES = Counted(TASK, "Task activity count", "Task activity omitted", "Task activity", 12, 8)
COUNTED = pytest.mark.parametrize("counted", [WARNINGS, PATHS, ACTIVITIES], ids=["warnings", "paths", "activities"])


@COUNTED
@pytest.mark.parametrize("column", [LA_LIVE, LA_REOPEN])
@pytest.mark.parametrize("lost", [0, 1, 2])
@pytest.mark.parametrize("off", [0, 1, -1])
def test_an_omitted_count_is_the_total_less_the_rows_of_this_card(
    counted: Counted, column: Column, lost: int, off: int
) -> None:
    rest = counted.events - counted.whole
    shown = card(
        fact(counted.total, counted.events),
        fact(counted.omitted, rest + lost + off),
        rows(counted.label, *counted.texts(counted.whole - lost)),
        kind=counted.kind,
        omissions=(omission("rows", count=lost),) if lost else (),
    )
    compared = held({column: shown}, counted.reference())
    assert row(compared, counted.omitted).cells[column].agreement is (D if off else A)
    assert told(compared) == ([(FindingKind.VALUE, column.value, counted.omitted)] if off else [])
    assert [item.expected for item in compared.findings] == ([str(rest + lost)] if off else [])
    assert row(compared, counted.omitted).reference == known(rest)


@COUNTED
def test_mission_control_is_held_against_the_whole_card(counted: Counted) -> None:
    def agreement(omitted: int) -> Agreement:
        shown = {MC_LIVE: card(fact(counted.omitted, omitted), kind=counted.kind)}
        return row(held(shown, counted.reference()), counted.omitted).cells[MC_LIVE].agreement

    assert agreement(counted.events - counted.whole) is A
    assert agreement(counted.events) is D


class References(NamedTuple):
    """A card that refers to `shown` of `calls` calls and says so, rightly or not."""

    calls: int
    shown: int
    complete: Said
    omitted: Said
    wrong: tuple[str, ...] = ()


COMPLETE, OMITTED = "Child references complete", "Child references omitted"


@pytest.mark.parametrize(("kind", "total"), [(SCRIPT, "Total calls"), (BATCH, "Tasks total")])
@pytest.mark.parametrize(
    "case",
    [
        References(3, 3, True, 0),
        References(3, 2, False, 1),
        References(3, 2, True, 0, (COMPLETE, OMITTED)),
        References(3, 3, False, 0, (COMPLETE,)),
        References(40, 32, False, 8),
        References(40, 31, False, 8, (OMITTED,)),
        References(40, 31, False, 9),
        References(0, 0, True, 0),
        References(3, 3, None, None, (COMPLETE, OMITTED)),
    ],
)
def test_child_references_are_counted_on_the_card(kind: CardKind, total: str, case: References) -> None:
    reference = card(
        fact(total, case.calls, via="report"),
        fact(COMPLETE, case.calls <= 32, via="rule"),
        fact(OMITTED, max(case.calls - 32, 0), via="rule"),
        kind=kind,
    )
    published = card(
        fact(total, case.calls),
        fact(COMPLETE, case.complete),
        fact(OMITTED, case.omitted),
        kind=kind,
        children=case.shown,
    )
    compared = held({LA_REOPEN: published}, reference)
    assert told(compared) == [(FindingKind.VALUE, "local-agent-reopen", label) for label in case.wrong]


def test_without_a_known_total_the_relative_facts_are_null_whatever_is_shown() -> None:
    labels = ("Warnings omitted", "Child references complete", "Child references omitted")
    reference = card(
        *(fact(label, None, via="rule") for label in ("Warnings", "Total calls", *labels)),
    )
    silent = card(*(fact(label, None) for label in labels), rows("Warning", "a"), children=3)
    compared = held({LA_REOPEN: silent}, reference)
    assert {row(compared, label).cells[LA_REOPEN].agreement for label in labels} == {A}
    loud = card(*(fact(label, 0 if "omitted" in label else True) for label in labels), children=0)
    compared = held({LA_REOPEN: loud}, reference)
    assert {row(compared, label).cells[LA_REOPEN].agreement for label in labels} == {D}


def test_a_total_that_is_known_but_not_consistent_gives_no_relative_fact() -> None:
    label = "Child references omitted"
    reference = card(fact("Total calls", 3, via="report"), fact(label, None, via="rule"))
    compared = held({LA_REOPEN: card(fact("Total calls", 3), fact(label, 0), children=3)}, reference)
    assert row(compared, label).cells[LA_REOPEN].agreement is D
    compared = held({LA_REOPEN: card(fact("Total calls", 3), fact(label, None), children=3)}, reference)
    assert row(compared, label).cells[LA_REOPEN].agreement is A


def test_a_card_whose_references_cannot_be_counted_is_held_against_the_whole_card() -> None:
    label = "Child references omitted"
    reference = card(fact("Total calls", 40, via="report"), fact(label, 8, via="rule"))
    compared = held({LA_REOPEN: card(fact(label, 8))}, reference)
    assert row(compared, label).cells[LA_REOPEN].agreement is A
    compared = held({LA_REOPEN: card(fact(label, 9))}, reference)
    assert row(compared, label).cells[LA_REOPEN].agreement is D


def test_a_wrong_total_on_the_card_is_no_excuse_for_what_is_counted_from_it() -> None:
    reference = card(
        fact("Warnings", 40, via="report"), fact("Warnings omitted", 38, via="rule"), rows("Warning", "a", "b")
    )
    shown = card(fact("Warnings", 30), fact("Warnings omitted", 28), rows("Warning", "a", "b"))
    compared = held({LA_REOPEN: shown}, reference)
    assert [label for _, _, label in told(compared)] == ["Warnings", "Warnings omitted"]


# Against what an author stated for a whole card


def _stated_omitted(shown: CardFacts) -> Agreement:
    stated = card(fact("Warnings", 40, via="table"), fact("Warnings omitted", 38, via="table"))
    reference = card(fact("Warnings", 40, via="report"), rows("Warning", "a", "b", via="report"))
    compared = held({EXPECTED: stated, REPORT: reference, LA_REOPEN: shown}, reference)
    found = row(compared, "Warnings omitted")
    assert (found.reference, found.source) == (known(38), "expected")
    return found.cells[LA_REOPEN].agreement


def test_what_the_author_stated_stands_for_a_whole_card() -> None:
    assert _stated_omitted(card(fact("Warnings omitted", 38), rows("Warning", "a", "b"))) is A
    assert _stated_omitted(card(fact("Warnings omitted", 39), rows("Warning", "a"))) is D


@pytest.mark.parametrize("subject", ["rows", "blocks"])
def test_a_card_that_says_it_was_reduced_is_held_against_its_own_rows(subject: str) -> None:
    reduced = (omission(subject),)
    assert _stated_omitted(card(fact("Warnings omitted", 39), rows("Warning", "a"), omissions=reduced)) is A
    assert _stated_omitted(card(fact("Warnings omitted", 38), rows("Warning", "a"), omissions=reduced)) is D


@pytest.mark.parametrize(("subject", "agreement"), [("children", A), ("blocks", A), ("rows", D), ("", D)], ids=str)
def test_references_are_held_against_the_card_s_own_only_where_it_says_that_it_lacks_some(
    subject: str, agreement: Agreement
) -> None:
    stated = card(fact("Total calls", 3, via="table"), fact(OMITTED, 0, via="table"))
    shown = card(fact(OMITTED, 1), children=2, omissions=(omission(subject),) if subject else ())
    assert row(held({EXPECTED: stated, LA_REOPEN: shown}), OMITTED).cells[LA_REOPEN].agreement is agreement


def test_omitted_children_excuse_no_omitted_rows() -> None:
    reduced = (omission("children"),)
    assert _stated_omitted(card(fact("Warnings omitted", 39), rows("Warning", "a"), omissions=reduced)) is D


def test_a_silent_total_says_nothing_about_what_is_counted_from_it() -> None:
    silent = NotComparable(reason=Reason.NOT_DERIVABLE, detail="two parents")
    labels = ("Warnings", "Warnings omitted")
    reference = card(*(fact(label, silent, via="nested") for label in labels))
    compared = held({LA_REOPEN: card(fact("Warnings", 5), fact("Warnings omitted", 5))}, reference)
    for label in labels:
        assert row(compared, label).cells[LA_REOPEN].agreement is Agreement.NOT_COMPARABLE
    assert told(compared) == []
