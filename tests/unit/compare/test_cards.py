"""Cards as wholes: one that is lost, made up, of another kind or there twice must not pass for a right one."""

from __future__ import annotations

import msgspec
import pytest

from harness.model.facts import SURFACES, CardFacts, CardKind, Column
from harness.model.values import NotComparable, Reason
from harness.model.verdict import Agreement, FindingKind
from tests.support.columns import (
    BATCH,
    EXPECTED,
    LA_LIVE,
    LA_REOPEN,
    MC_LIVE,
    MC_REOPEN,
    NESTED,
    REPORT,
    SCRIPT,
    card,
    facts,
    held,
    omission,
    row,
    told,
)

N = Agreement.NOT_COMPARABLE
FIRST = card(facts(SCRIPT), path="turn1/call1", children=3)
SECOND = card(facts(BATCH), path="turn1/call2", kind=CardKind.SUBAGENT_BATCH, children=5)
BOTH = (FIRST, SECOND)


def _recorded(*cards: CardFacts) -> dict[Column, tuple[CardFacts, ...]]:
    return {REPORT: cards, NESTED: cards}


def test_cards_that_are_all_there_and_right_are_no_finding() -> None:
    compared = held({**_recorded(*BOTH), **dict.fromkeys(SURFACES, BOTH)}, BOTH)
    assert told(compared) == []
    assert [(item.path, item.kind) for item in compared.cards] == [
        ("turn1/call1", CardKind.CODE_MODE),
        ("turn1/call2", CardKind.SUBAGENT_BATCH),
    ]
    assert all(
        state == "shown" for item in compared.cards for column, state in item.shown.items() if column in SURFACES
    )
    assert all(compared.surfaces[column].disagree == 0 for column in SURFACES)
    assert all(compared.surfaces[column].agree == len(compared.rows) for column in SURFACES)


@pytest.mark.parametrize("column", SURFACES)
def test_a_card_that_a_whole_capture_lacks_is_one_finding_and_agrees_in_nothing(column: Column) -> None:
    compared = held({**_recorded(*BOTH), column: FIRST}, BOTH)
    assert told(compared) == [(FindingKind.CARD, column.value, "")]
    (found,) = compared.findings
    assert (found.card, found.expected, found.observed) == ("turn1/call2", "a subagent_batch card", "no card there")
    assert found.requirement == "general.surface-agreement"
    assert found.place == FIRST.place, "it stands behind the last card that is there"
    assert {item.cells[column].agreement for item in compared.rows if item.card == "turn1/call2"} == {N}
    assert compared.cards[1].shown[column] == "missing"
    assert compared.surfaces[column].agree == sum(1 for item in compared.rows if item.card == "turn1/call1")


@pytest.mark.parametrize("column", SURFACES)
def test_a_card_that_a_cut_capture_lacks_is_cut_and_no_finding(column: Column) -> None:
    compared = held({**_recorded(*BOTH), column: FIRST}, BOTH, cut=(column,))
    assert told(compared) == []
    cell = row(compared, "Tasks total", path="turn1/call2").cells[column]
    assert (cell.agreement, cell.reason and cell.reason.reason) == (N, Reason.CAPTURE_CUT)
    assert compared.cards[1].shown[column] == "cut"
    assert row(compared, "Total calls").cells[column].agreement is Agreement.AGREE


@pytest.mark.parametrize("column", SURFACES)
def test_a_card_that_is_missing_where_none_is_shown_has_no_place(column: Column) -> None:
    (found, *_) = held({**_recorded(FIRST), column: ()}, FIRST).findings
    assert (found.kind, found.place) == (FindingKind.CARD, None)


@pytest.mark.parametrize("column", SURFACES)
def test_a_card_that_no_record_knows_is_a_finding(column: Column) -> None:
    compared = held({**_recorded(FIRST), column: BOTH}, FIRST)
    assert [item for item in told(compared) if item[0] is FindingKind.CARD] == [(FindingKind.CARD, column.value, "")]
    found = next(item for item in compared.findings if item.kind is FindingKind.CARD)
    assert (found.card, found.expected, found.observed) == ("turn1/call2", "no card there", "a subagent_batch card")


def test_a_card_is_also_extra_when_the_saved_session_has_no_card_at_all() -> None:
    compared = held({**_recorded(), LA_REOPEN: FIRST})
    assert (FindingKind.CARD, "local-agent-reopen", "") in told(compared)


def test_without_saved_records_no_card_is_extra_but_one_surface_s_card_is_missing_on_another() -> None:
    compared = held({LA_LIVE: BOTH, MC_LIVE: FIRST})
    assert told(compared) == [(FindingKind.CARD, "mission-control-live", "")]
    gone = NotComparable(reason=Reason.NOT_CAPTURED, detail="no session")
    assert told(held({MC_LIVE: FIRST}, unavailable={REPORT: gone, NESTED: gone})) == []


@pytest.mark.parametrize("column", SURFACES)
def test_a_card_of_another_kind_is_one_finding_and_its_facts_are_not_held_against_foreign_ones(column: Column) -> None:
    script = card(facts(SCRIPT), path="turn1/call2", children=3)
    compared = held({**_recorded(*BOTH), column: (FIRST, script)}, BOTH)
    assert told(compared) == [(FindingKind.CARD, column.value, "")]
    (found,) = compared.findings
    assert (found.expected, found.observed) == ("a subagent_batch card", "a code_mode card")
    assert {item.cells[column].agreement for item in compared.rows if item.card == "turn1/call2"} == {N}


def test_a_second_card_in_one_place_does_not_hide_behind_the_first() -> None:
    wrong = card(facts({**SCRIPT, "Total calls": 9}), children=3)
    compared = held({LA_REOPEN: (wrong, FIRST), REPORT: FIRST}, FIRST)
    found = next(item for item in compared.findings if item.kind is FindingKind.CARD)
    assert (found.surface, found.card, found.observed) == ("local-agent-reopen", "turn1/call1", "2 cards there")


@pytest.mark.parametrize("column", [MC_LIVE, MC_REOPEN])
def test_mission_control_does_not_list_the_calls_of_a_script_s_task_but_does_list_tasks(column: Column) -> None:
    task = card(path="turn1/call2/task1", kind=CardKind.TASK)
    inner = card(facts(SCRIPT), path="turn1/call2/task1/call1")
    cards = (*BOTH, task, inner)
    compared = held({column: BOTH}, cards)
    assert [(item.kind, item.card) for item in compared.findings] == [(FindingKind.CARD, "turn1/call2/task1")]
    shown = {item.path: item.shown[column] for item in compared.cards}
    assert shown["turn1/call2/task1/call1"] == "not_displayed"
    reopened = held({LA_REOPEN: (*BOTH, task)}, cards)
    assert told(reopened) == [], "a session's history has no cards of its child sessions"
    assert {item.path: item.shown[LA_REOPEN] for item in reopened.cards}[inner.path] == "not_displayed"
    assert (FindingKind.CARD, "local-agent-live", "") in told(held({LA_LIVE: (*BOTH, task)}, cards))


@pytest.mark.parametrize(
    ("recorded", "observed"),
    [
        ((), "no saved record of it"),
        ((card(path="turn1/call1", kind=CardKind.SUBAGENT_BATCH),), "a subagent_batch card"),
    ],
    ids=["no record", "another kind"],
)
def test_a_card_that_the_author_worked_out_and_no_record_has_is_a_finding(
    recorded: tuple[CardFacts, ...], observed: str
) -> None:
    stated = card(facts({"Total calls": 3}, via="table", file="small.feature"))
    compared = held({EXPECTED: stated, **_recorded(*recorded)}, recorded)
    (found,) = (item for item in compared.findings if item.kind is FindingKind.CARD)
    assert (found.surface, found.expected) == ("report", "a code_mode card, as the scenario states")
    assert found.observed == observed


def test_cards_stand_in_transcript_order_whatever_the_order_of_their_source() -> None:
    paths = ["turn1/call2", "turn1/call10", "turn1/call10/task2", "turn1/call10/task10", "turn2/call1", "turn10/call1"]
    cards = tuple(card(path=path, kind=CardKind.TASK) for path in reversed(paths))
    compared = held({LA_REOPEN: cards}, cards[:3])
    assert [item.path for item in compared.cards] == paths
    assert [item.card for item in compared.rows if item.label == "Task intent"] == paths


def test_a_card_s_own_members_are_shown_column_by_column() -> None:
    live = card(facts(SCRIPT), children=3, outcome="success", omissions=(omission("children", count=8),))
    saved = card(facts(SCRIPT), children=3, changes="partial")
    (shown,) = held({LA_LIVE: live, LA_REOPEN: saved, MC_LIVE: FIRST, REPORT: FIRST}, FIRST).cards
    assert shown.title == "title"
    assert shown.outcomes == {LA_LIVE: "success"}
    assert shown.changes == {LA_REOPEN: "partial"}
    assert shown.omissions == {LA_LIVE: (omission("children", count=8),), LA_REOPEN: ()}


def test_a_card_without_a_title_is_shown_without_one() -> None:
    untitled = msgspec.structs.replace(FIRST, title=None)
    assert held({LA_LIVE: untitled, MC_LIVE: FIRST}, FIRST).cards[0].title == "title"
    assert held({LA_LIVE: untitled}, untitled).cards[0].title == ""
