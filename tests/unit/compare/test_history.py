"""Trends over releases: a change that is counted for the wrong release, and silence that is taken for a display."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest

from harness.compare.difference import Side, difference
from harness.compare.history import grouped, history
from harness.model.facts import CardKind, Column, Problem
from harness.model.history import Display, FactCell, FactLine, History
from harness.model.values import NotComparable, Reason, known, not_displayed, unreadable
from tests.support.columns import LA_LIVE, LA_REOPEN, MC_REOPEN, PATH, card, fact
from tests.support.histories import history_of, hostile, judged, long
from tests.support.releases import both, side

LABEL = "Total calls"
HIDDEN = not_displayed("hidden since 0.101.0")
CALLS = card(fact(LABEL, 3))
REFERENCE = card(fact(LABEL, 3, via="report"))


def shows(release: str, value: object = 3, *, via: str = "row", name: str = "seen") -> Side:
    """A release whose reopened Mission Control shows one count, held against 3."""
    return side(release, {MC_REOPEN: card(fact(LABEL, value, via=via))}, REFERENCE, name=name)  # type: ignore[arg-type] # readings


def line(found: History, surface: Column = MC_REOPEN) -> FactLine:
    (one,) = [item for item in found.facts if (item.label, item.surface) == (LABEL, surface)]
    return one


def cell(display: Display, **counts: object) -> FactCell:
    plain = FactCell(
        display=display,
        displayed=0,
        not_displayed=0,
        absent=0,
        unreadable=0,
        via=(),
        agree=0,
        disagree=0,
        not_comparable=0,
    )
    return msgspec.structs.replace(plain, **counts)


def test_each_step_holds_a_release_against_the_one_before_it_and_no_other() -> None:
    sides = [shows("0.1.0", 3), shows("0.2.0", 4), shows("0.3.0", HIDDEN), shows("0.4.0", HIDDEN)]
    found = history_of(*sides)
    assert [(step.before, step.after) for step in found.steps] == [
        ("0.1.0", "0.2.0"),
        ("0.2.0", "0.3.0"),
        ("0.3.0", "0.4.0"),
    ]
    assert [step.kinds for step in found.steps] == [
        {"agreement": 1, "value": 1},
        {"agreement": 1, "display": 1},
        {},
    ]
    assert line(found).changes == ({"agreement": 1, "value": 1}, {"agreement": 1, "display": 1}, {})
    assert line(found).changed
    assert [step.changed for step in found.steps] == [1, 1, 0]
    for step, (before, after) in zip(found.steps, pairwise(sides), strict=True):
        told = difference(before, after)
        assert (step.compared, step.not_compared, step.both) == (told.compared, told.not_compared, told.both)
        assert step.facts == grouped(told.facts)
        assert (step.appeared, step.resolved) == (told.findings_appeared, told.findings_vanished)


def test_cells_count_cards_by_what_they_show_and_how_it_compares() -> None:
    several = both(
        shows("0.2.0", 3),
        shows("0.2.0", 4, via="metadata", name="wrong"),
        shows("0.2.0", HIDDEN, name="hidden"),
        shows("0.2.0", unreadable("smudged"), name="smudged"),
    )
    first, second = line(history_of(shows("0.1.0"), several)).cells
    assert first == cell(Display.DISPLAYED, displayed=1, via=("row",), agree=1)
    assert second == cell(
        Display.SOMETIMES,
        displayed=2,
        not_displayed=1,
        unreadable=1,
        via=("metadata", "row"),
        agree=1,
        disagree=1,
        not_comparable=2,
    )


@pytest.mark.parametrize(
    ("value", "display"),
    [
        (3, Display.DISPLAYED),
        (None, Display.DISPLAYED),
        (HIDDEN, Display.NOT_DISPLAYED),
        (unreadable("smudged"), Display.UNREADABLE),
    ],
)
def test_five_states_are_told_apart(value: object, display: Display) -> None:
    assert line(history_of(shows("0.1.0", value))).cells[0].display is display


def test_an_absent_row_and_a_surface_nobody_captured_are_two_things() -> None:
    without = side("0.1.0", {MC_REOPEN: card(), LA_LIVE: CALLS}, REFERENCE)
    found = history_of(without)
    assert line(found, MC_REOPEN).cells[0].display is Display.ABSENT
    assert line(found, LA_LIVE).cells[0].display is Display.DISPLAYED
    assert line(found, LA_REOPEN).cells[0] == cell(Display.NOT_CAPTURED)


def test_a_capture_that_ends_early_says_nothing_of_what_it_does_not_show() -> None:
    cut = side(
        "0.2.0",
        {LA_LIVE: ()},
        REFERENCE,
        unavailable={MC_REOPEN: NotComparable(reason=Reason.CAPTURE_CUT, detail="killed")},
        cut=(LA_LIVE,),
    )
    found = history_of(shows("0.1.0"), cut)
    assert line(found).cells[1].display is Display.NOT_CAPTURED
    assert line(found).changes == ({},)
    assert found.steps[0].compared == 0


def test_findings_of_a_step_are_those_of_both_releases_captures() -> None:
    broken = Problem(requirement="wire.order", card=PATH, label="", expected="growing", observed="falling")
    bad = side("0.2.0", {MC_REOPEN: CALLS}, REFERENCE, problems={MC_REOPEN: (broken,)})
    found = history_of(shows("0.1.0"), bad, shows("0.3.0"))
    appeared = [item.requirement for item in found.steps[0].appeared]
    assert appeared == ["wire.order"]
    assert [item.id for item in found.steps[1].resolved] == [item.id for item in found.steps[0].appeared]
    assert (found.steps[0].resolved, found.steps[1].appeared) == ((), ())
    assert [item.findings for item in found.releases] == [0, 1, 0]


def test_classes_count_runs_and_keep_the_reasons_of_the_judge() -> None:
    found = hostile()
    names = [line.name for line in found.classes]
    assert names[0] == "mixed-outcomes"
    assert all(len(item.cells) == 3 for item in found.classes)
    overflow = next(item for item in found.classes if item.name == "overflow")
    assert overflow.cells[0].runs == overflow.cells[1].runs > 0
    assert overflow.cells[0].counted <= overflow.cells[0].runs


def test_changes_that_read_the_same_stand_together_and_name_every_place() -> None:
    before = both(shows("0.1.0"), shows("0.1.0", name="other"), shows("0.1.0", 5, name="third"))
    after = both(shows("0.2.0", HIDDEN), shows("0.2.0", HIDDEN, name="other"), shows("0.2.0", HIDDEN, name="third"))
    changes = history_of(before, after).steps[0].facts
    assert [(item.before, item.after, item.places) for item in changes] == [
        ("3 [row] (agree)", "(not displayed)", (f"other {PATH}", f"seen {PATH}")),
        ("5 [row] (disagree)", "(not displayed)", (f"third {PATH}",)),
    ]
    assert {item.kind for item in changes} == {CardKind.CODE_MODE}


def test_a_single_release_has_no_step_and_none_at_all_is_refused() -> None:
    found = history_of(shows("0.1.0"))
    assert (len(found.releases), found.steps, line(found).changes) == (1, (), ())
    with pytest.raises(ValueError, match="no release"):
        history([])


def test_the_order_of_runs_has_no_effect() -> None:
    one = both(shows("0.2.0"), shows("0.2.0", 4, name="other"))
    other = both(shows("0.2.0", 4, name="other"), shows("0.2.0"))
    before = both(shows("0.1.0", known(9)), shows("0.1.0", name="other"))
    assert history([judged(before), judged(one)]) == history([judged(before), judged(other)])


def test_long_histories_count_each_change_once() -> None:
    found = long(5)
    totals = [sum(step.kinds.values()) for step in found.steps]
    assert len(totals) == 4
    assert len(set(totals)) == 1
    assert totals[0] > 0
