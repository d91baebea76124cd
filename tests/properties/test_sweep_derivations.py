"""The shortcut of a sweep may never hide what the full comparison would find, nor count otherwise than its rows."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.compare import compare
from harness.compare.readings import comparable
from harness.model.facts import CardFacts, Column, ColumnFacts, Fact
from harness.model.values import NULL, NotComparable, Reading, Reason, known
from harness.model.verdict import FactRow
from harness.project import Projection, reference
from harness.sweep.derivations import held
from harness.sweep.rows import Counts
from tests.support import sessions

PROJECTIONS = [sessions.projected(name) for name in sessions.names()]
READINGS = st.sampled_from([NULL, known(0), known(1), known("true"), NotComparable(reason=Reason.NOT_DERIVABLE)])


@st.composite
def bent(draw: st.DrawFn) -> Projection:
    """A real projection with up to three facts of either derivation changed, dropped or repeated."""
    projection = draw(st.sampled_from(PROJECTIONS))
    report, nested = projection.report, projection.nested
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            report = _bent(draw, report)
        else:
            nested = _bent(draw, nested)
    return Projection(report=report, nested=nested, reference=reference(report, nested), problems=())


def _bent(draw: st.DrawFn, column: ColumnFacts) -> ColumnFacts:
    number = draw(st.integers(0, len(column.cards) - 1))
    card = column.cards[number]
    at = draw(st.integers(0, len(card.facts) - 1))
    fact = card.facts[at]
    match draw(st.sampled_from(("change", "drop", "repeat"))):
        case "change":
            new: tuple[Fact, ...] = (msgspec.structs.replace(fact, value=draw(READINGS)),)
        case "drop":
            new = ()
        case _:
            new = (fact, msgspec.structs.replace(fact, ordinal=fact.ordinal + 1, value=draw(READINGS)))
    facts = (*card.facts[:at], *new, *card.facts[at + 1 :])
    changed: CardFacts = msgspec.structs.replace(card, facts=facts)
    cards = (*column.cards[:number], changed, *column.cards[number + 1 :])
    return msgspec.structs.replace(column, cards=cards)


def said(row: FactRow, column: Column) -> Reading | None:
    return next((fact.value for fact in row.cells[column].readings if comparable(fact.value) is None), None)


def not_recorded(card: CardFacts, label: str) -> bool:
    """Whether the derivation has rows of the label and says nothing of any."""
    rows = [fact.value for fact in card.facts if fact.label == label]
    return len(rows) > 1 and all(comparable(value) is not None for value in rows)


@settings(max_examples=300, deadline=None)
@given(bent())
def test_a_quiet_pair_of_derivations_has_no_finding(projection: Projection) -> None:
    columns = {Column.REPORT: projection.report, Column.NESTED: projection.nested}
    compared = compare(columns, projection.reference, observation="o")
    if held(projection.report, projection.nested).quiet:
        assert compared.findings == ()


def test_real_sessions_are_quiet_and_counted_as_their_rows_say() -> None:
    total = 0
    for projection in PROJECTIONS:
        columns = {Column.REPORT: projection.report, Column.NESTED: projection.nested}
        rows = compare(columns, projection.reference, observation="o").rows
        pairs = [(said(row, Column.REPORT), said(row, Column.NESTED)) for row in rows]
        both = [(one, two) for one, two in pairs if one is not None and two is not None]
        agree = sum(one == two for one, two in both)
        found = held(projection.report, projection.nested)
        assert found.quiet
        assert found.counts == Counts(agree=agree, disagree=len(both) - agree, not_comparable=len(rows) - len(both))
        total += agree
    assert total > 500


def test_a_first_row_that_is_lost_ends_the_quiet() -> None:
    projection = next(one for one in PROJECTIONS if not_recorded(one.report.cards[0], "Changed path"))
    card = projection.report.cards[0]
    kept = tuple(fact for fact in card.facts if (fact.label, fact.ordinal) != ("Changed path", 0))
    bent_card = msgspec.structs.replace(card, facts=kept)
    report = msgspec.structs.replace(projection.report, cards=(bent_card, *projection.report.cards[1:]))
    columns = {Column.REPORT: report, Column.NESTED: projection.nested}
    found = compare(columns, reference(report, projection.nested), observation="o").findings
    assert [(one.label, one.ordinal) for one in found] == [("Changed path", 0)]
    assert not held(report, projection.nested).quiet


def test_each_single_difference_ends_the_quiet() -> None:
    projection = sessions.projected("0.104.0-mixed-script")
    loud = 0
    for number, fact in enumerate(projection.nested.cards[0].facts):
        other = next((one for one in projection.report.cards[0].facts if one.label == fact.label), None)
        if comparable(fact.value) or other is None or comparable(other.value):
            continue
        facts = list(projection.nested.cards[0].facts)
        facts[number] = msgspec.structs.replace(fact, value=known("another"))
        card = msgspec.structs.replace(projection.nested.cards[0], facts=tuple(facts))
        nested = msgspec.structs.replace(projection.nested, cards=(card,))
        found = held(projection.report, nested)
        assert not found.quiet, fact.label
        assert found.counts.disagree == 1, fact.label
        loud += 1
    assert loud >= 10
