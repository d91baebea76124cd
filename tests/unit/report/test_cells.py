"""Cells of the fact tables: five states and eight reasons, each with a word of its own, and a link to the proof."""

from __future__ import annotations

import msgspec
import pytest

from harness.model.facts import CardKind, Column, Fact, Place
from harness.model.values import ABSENT, NULL, NotComparable, Reading, Reason, known, not_displayed, unreadable
from harness.model.verdict import Agreement, Cell, FactRow
from harness.report.cells import CellWriter, Notes, Wholes
from harness.report.proofs import Budget, Proofs

COLUMN = Column.LOCAL_AGENT_LIVE
PLACE = Place(file="a.jsonl", line=1, offset=2, pointer="/x")


def fact(value: Reading, place: Place | None = PLACE, via: str = "row") -> Fact:
    return Fact(label="Warnings", value=value, via=via, place=place)


def row(cell: Cell | None, reference: Reading = NULL) -> FactRow:
    return FactRow(
        card="turn1/call1",
        kind=CardKind.CODE_MODE,
        label="Warnings",
        ordinal=0,
        requirement="code-mode.warnings",
        reference=reference,
        cells={} if cell is None else {COLUMN: cell},
    )


def written(cell: Cell | None, reference: Reading = NULL) -> str:
    return str(CellWriter(Proofs("run", "o1"), Notes("o1"), Wholes()).cell(row(cell, reference), COLUMN, "o1r1"))


def agreeing(*facts: Fact) -> Cell:
    return Cell(readings=facts, agreement=Agreement.AGREE)


def silent(reason: Reason, detail: str = "") -> Cell:
    return Cell(readings=(), agreement=Agreement.NOT_COMPARABLE, reason=NotComparable(reason=reason, detail=detail))


def test_a_known_value_links_to_its_place() -> None:
    assert written(agreeing(fact(known(3)))) == "<td class=a><a href=#o1p1>3</a>"


def test_a_value_that_spells_a_state_is_not_mistaken_for_it() -> None:
    assert written(agreeing(fact(known("null")))) == "<td class=a><a href=#o1p1>null</a>"
    assert written(agreeing(fact(NULL))) == "<td class=a><a class=z href=#o1p1>null</a>"


def test_an_empty_text_is_seen() -> None:
    assert "empty text" in written(agreeing(fact(known(""))))


def test_states_and_reasons_are_all_told_apart() -> None:
    cells = [
        agreeing(fact(known("x"), None)),
        agreeing(fact(NULL, None)),
        agreeing(fact(ABSENT, None)),
        Cell(readings=(fact(not_displayed(""), None),), agreement=Agreement.NOT_COMPARABLE),
        Cell(readings=(fact(unreadable(""), None),), agreement=Agreement.NOT_COMPARABLE),
        *(silent(reason) for reason in Reason if reason not in (Reason.NOT_DISPLAYED, Reason.UNREADABLE)),
    ]
    texts = [written(cell) for cell in cells]
    assert len(set(texts)) == len(cells) == 11
    classes = {text.partition(">")[2].partition(">")[0] if "<em" in text else text.partition(">")[0] for text in texts}
    assert len(classes) == 11


@pytest.mark.parametrize("reason", list(Reason))
def test_each_reason_is_a_word_in_the_cell(reason: Reason) -> None:
    assert reason.value.replace("_", " ") in written(silent(reason))


def test_a_reading_that_is_its_own_reason_is_said_once_and_has_nothing_to_look_at() -> None:
    stated = NotComparable(reason=Reason.NOT_STATED, detail="the scenario states nothing")
    cell = Cell(readings=(fact(stated),), agreement=Agreement.NOT_COMPARABLE, reason=stated)
    assert written(cell) == '<td class="n e">not stated'
    hidden = not_displayed("hidden since 0.101.0")
    reason = NotComparable(reason=Reason.NOT_DISPLAYED, detail="hidden since 0.101.0")
    cell = Cell(readings=(fact(hidden),), agreement=Agreement.NOT_COMPARABLE, reason=reason)
    assert written(cell) == "<td class=n><a class=h href=#o1n1>not displayed</a>"


def test_what_is_unreadable_can_be_looked_at() -> None:
    cell = Cell(readings=(fact(unreadable("cut by the border")),), agreement=Agreement.NOT_COMPARABLE)
    assert written(cell) == "<td class=n><a class=u href=#o1n1>unreadable</a> <a class=v href=#o1p1>row</a>"


def test_a_reason_with_more_to_say_links_to_its_note() -> None:
    notes = Notes("o1")
    writer = CellWriter(Proofs("run", "o1"), notes, Wholes())
    for _ in range(2):
        cell = row(silent(Reason.NOT_DERIVABLE, "nested <records> hold no time"))
        assert writer.cell(cell, COLUMN, "o1r1") == "<td class=n><a class=d href=#o1n1>not derivable</a>"
    assert notes.found == (("o1n1", "d", "not derivable: nested <records> hold no time"),)


def test_what_differs_says_so_in_words_and_marks_its_place_as_cited_by_a_finding() -> None:
    proofs = Proofs("run", "o1")
    writer = CellWriter(proofs, Notes("o1"), Wholes())
    wrong = Cell(readings=(fact(known("4")),), agreement=Agreement.DISAGREE)
    text = writer.cell(row(wrong, known("5")), COLUMN, "o1r1")
    assert text == "<td class=x><b>✗ differs</b><a href=#o1p1>4</a>"
    assert proofs.cite(PLACE, "", "") == "o1p1"
    proofs.fill(lambda _o, _p: None, lambda _o, _p, _m: None, Budget(1_000), Budget(1_000), findings=True)
    assert len(proofs.blocks) == 1


def test_readings_with_one_value_stand_once_and_link_to_each_place() -> None:
    detail = msgspec.structs.replace(PLACE, line=9)
    text = written(agreeing(fact(known(3)), fact(known(3), detail, "metadata")))
    assert text == "<td class=a><a href=#o1p1>3</a> <a class=v href=#o1p2>metadata</a>"


def test_readings_that_contradict_each_other_are_both_seen() -> None:
    both = Cell(readings=(fact(known(3)), fact(known(4))), agreement=Agreement.DISAGREE)
    text = written(both, known(3))
    assert ">3</a>" in text
    assert ">4</a>" in text


def test_a_column_without_a_cell_is_not_captured_and_not_empty() -> None:
    assert written(None) == '<td class="n k">not captured'


def test_markup_in_values_and_ways_of_reading_stays_text() -> None:
    text = written(agreeing(fact(known("<script>&")), fact(known("<script>&"), Place(file="b"), "<b>")))
    assert "<script>" not in text
    assert "<b>" not in text
    assert "&lt;script&gt;&amp;" in text


def test_a_long_value_is_cut_and_stands_once_in_full() -> None:
    wholes = Wholes()
    long = "x" * 10_000
    for _ in range(3):
        text = wholes.value(long)
        assert text == "x" * 96 + " <a class=w href=#w1>… all 10,000 characters</a>"
    (whole,) = wholes.found
    assert (whole.text, whole.length, whole.note) == (long, 10_000, "")


def test_an_endless_value_is_cut_even_in_full_and_says_so() -> None:
    wholes = Wholes()
    wholes.value("x" * 50_000)
    assert wholes.found[0].note == "… 30,000 more characters"
    assert len(wholes.found[0].text) == 20_000


def test_long_values_that_begin_alike_are_shown_from_their_difference() -> None:
    same = "s" * 500
    text = Wholes().value(same + "DIFFERENT" + "t" * 100, beside=same + "other")
    assert text.startswith("<i class=cut>484 characters the same …</i>" + "s" * 16 + "DIFFERENT")
