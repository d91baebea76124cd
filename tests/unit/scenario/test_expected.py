"""Cells of a scenario's tables: a state taken for a word, or a word for a state, would expect another fact."""

from __future__ import annotations

import pytest

from harness.model.errors import UsageError
from harness.model.facts import CardKind, Column, Fact, Place
from harness.model.values import ABSENT, NULL, Reading, known
from harness.scenario.expected import Expected, ExpectedCard, ExpectedFact, expected_column, parse_expected

SCRIPT, TASK = CardKind.CODE_MODE, CardKind.TASK


@pytest.mark.parametrize(
    ("kind", "label", "text", "reading"),
    [
        (SCRIPT, "Elapsed milliseconds", "null", NULL),
        (SCRIPT, "Code Mode intent", "null", NULL),
        (SCRIPT, "Code Mode intent", '"null"', known("null")),
        (SCRIPT, "Code Mode intent", '"absent"', known("absent")),
        (SCRIPT, "Code Mode intent", '"<count>"', known("<count>")),
        (SCRIPT, "Code Mode intent", '""', known("")),
        (SCRIPT, "Code Mode intent", '"', known('"')),
        (SCRIPT, "Code Mode intent", '""quoted""', known('"quoted"')),
        (SCRIPT, "Code Mode intent", "not null", known("not null")),
        (SCRIPT, "Warning", "absent", ABSENT),
        (SCRIPT, "Total calls", "0", known("0")),
        (SCRIPT, "Total calls", "1000", known(1000)),
        (SCRIPT, "Rollback", "false", known(False)),
        (SCRIPT, "Script outcome", "interrupted", known("interrupted")),
        (TASK, "Task persistence", "not_recorded", known("not_recorded")),
        (SCRIPT, "Changed path", "<workspace>/a <b>.txt", known("<workspace>/a <b>.txt")),
    ],
)
def test_a_cell_is_the_state_or_the_literal_that_it_spells(
    kind: CardKind, label: str, text: str, reading: Reading
) -> None:
    assert parse_expected(text, kind, label, where="f:1") == Expected(reading=reading)


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("Total calls", "<count>"),
        ("Total calls", "<at least 0>"),
        ("Total calls", "<at least 32>"),
        ("Elapsed milliseconds", "<milliseconds>"),
        ("Elapsed milliseconds", "<at least 20>"),
        ("Code Mode intent", "<text>"),
        ("Warning", "<text>"),
    ],
)
def test_a_cell_is_a_pattern_of_the_label_s_own_type(label: str, text: str) -> None:
    assert parse_expected(text, SCRIPT, label, where="f:1") == Expected(pattern=text)


def test_a_word_of_another_outcome_list_is_refused() -> None:
    assert parse_expected("running", TASK, "Task outcome", where="f:1") == Expected(reading=known("running"))
    with pytest.raises(UsageError, match="not one of running, success, failure, cancelled, unknown") as caught:
        parse_expected("interrupted", TASK, "Task outcome", where="f:1")
    assert caught.value.where == "f:1"


def test_the_workspace_is_put_into_literals_and_only_there() -> None:
    card = ExpectedCard(
        path="turn1/call1",
        kind=SCRIPT,
        facts=(
            ExpectedFact(
                label="Changed path", ordinal=0, value=Expected(reading=known("<workspace>/a:<workspace>")), line=9
            ),
            ExpectedFact(label="Changed path", ordinal=1, value=Expected(reading=ABSENT), line=10),
            ExpectedFact(label="Code Mode intent", ordinal=0, value=Expected(reading=NULL), line=9),
            ExpectedFact(label="Warning", ordinal=0, value=Expected(pattern="<text>"), line=12),
        ),
    )
    column = expected_column((card,), file="f.feature", workspace="/acceptance/x")
    assert column.column is Column.EXPECTED
    assert column.complete
    assert column.unavailable is None
    (stated,) = column.cards
    assert (stated.path, stated.kind, stated.place) == ("turn1/call1", SCRIPT, Place(file="f.feature", line=9))
    assert stated.facts == (
        Fact(
            label="Changed path",
            value=known("/acceptance/x/a:/acceptance/x"),
            via="table",
            place=Place(file="f.feature", line=9),
        ),
        Fact(label="Changed path", ordinal=1, value=ABSENT, via="table", place=Place(file="f.feature", line=10)),
        Fact(label="Code Mode intent", value=NULL, via="table", place=Place(file="f.feature", line=9)),
        Fact(label="Warning", value=known("<text>"), via="pattern", place=Place(file="f.feature", line=12)),
    )
