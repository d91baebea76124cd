"""Where a finding about a card points, and the reasons that go along with what cannot be compared.

Each test stands for a mutant of the code that nothing else noticed.
"""

from __future__ import annotations

import msgspec
import pytest

from harness.compare.readings import comparable, differing
from harness.compare.structure import try_bounds
from harness.compare.whole_run import Asked, ListedFile, Reopening, try_reopening
from harness.model.facts import CardKind, Column, Place
from harness.model.values import Reason, known, not_displayed, unreadable
from harness.spec import bounds
from tests.support.columns import (
    BATCH,
    EXPECTED,
    LA_LIVE,
    MC_LIVE,
    NESTED,
    REPORT,
    SCRIPT,
    card,
    compare_tried,
    facts,
    held,
    rows,
)

FIRST = card(facts(SCRIPT), path="turn1/call1", children=3)
SECOND = card(facts(BATCH), path="turn1/call2", kind=CardKind.SUBAGENT_BATCH, children=5)


def test_why_a_reading_cannot_be_compared_goes_along_with_it() -> None:
    for reading, reason in ((not_displayed("hidden"), Reason.NOT_DISPLAYED), (unreadable("torn"), Reason.UNREADABLE)):
        why = comparable(reading)
        assert why is not None
        assert (why.reason, why.detail) == (reason, reading.reason)


def test_a_value_differs_whatever_its_name_begins_with() -> None:
    """deepdiff passes over names that look private to Python, and looks less deep where much differs."""
    names = ["__secret", "_x", *(f"label {number}" for number in range(40))]
    left = {name: known("a") for name in names}
    right = {name: known("b") for name in names}
    assert differing(left, right) == set(names)
    assert differing(left, {**left, "__secret": known("b")}) == {"__secret"}


def test_a_card_of_another_kind_is_found_at_that_card_and_not_at_the_last_one() -> None:
    there = Place(file="capture", line=7)
    wrong = msgspec.structs.replace(FIRST, kind=CardKind.SUBAGENT_BATCH, facts=(), place=there)
    compared = held({REPORT: (FIRST, SECOND), NESTED: (FIRST, SECOND), LA_LIVE: (wrong, SECOND)}, (FIRST, SECOND))
    (found,) = [item for item in compared.findings if item.card == "turn1/call1" and "card" in item.expected]
    assert found.place == there


@pytest.mark.parametrize("column", [MC_LIVE, Column.MISSION_CONTROL_REOPEN])
def test_a_warning_that_is_too_long_is_held_against_the_bound_in_bytes(column: Column) -> None:
    long = card((*facts(SCRIPT), *rows("Warning", "é" * bounds.WARNING_BYTES)), path="turn1/call1")
    (problem,) = [tried.problem for tried in try_bounds(long, column) if tried.problem is not None]
    assert problem.requirement == "code-mode.warning-storage"
    assert problem.expected == f"at most {bounds.WARNING_BYTES} bytes"
    assert problem.observed == f"{2 * bounds.WARNING_BYTES} bytes"


def test_two_ways_to_replay_a_run_are_two_findings() -> None:
    """A changed workspace and a model that was asked break one rule; under one id one of them would be lost."""
    file = ListedFile(path="a.txt", size=1, sha256="0" * 64)
    reopening = Reopening(left=(file,), found=(), asked=(Asked(at=2.0, lane="main"),), since=1.0, log_file="model")
    tries = [(None, tried) for tried in try_reopening(reopening, scripts=False)]
    compared = compare_tried({}, tries)
    ids = [found.id for found in compared.findings if found.requirement == "acceptance.no-replay"]
    assert len(ids) == 2
    assert len(set(ids)) == 2


def test_a_card_that_only_the_author_knows_is_found_at_the_authors_table() -> None:
    first, second = Place(file="notes.feature", line=7), Place(file="notes.feature", line=20)
    stated = (msgspec.structs.replace(FIRST, place=first), msgspec.structs.replace(SECOND, place=second))
    compared = held({REPORT: (SECOND,), NESTED: (SECOND,), EXPECTED: stated}, (SECOND,))
    places = [found.place for found in compared.findings if found.observed == "no saved record of it"]
    assert places == [first]
