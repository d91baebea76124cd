"""Where a finding about a card points, and the reasons that go along with what cannot be compared.

Each test stands for a mutant of the code that nothing else noticed.
"""

from __future__ import annotations

import msgspec
import pytest

from harness.compare.difference import FactChange, Side, difference
from harness.compare.history import said
from harness.compare.readings import comparable, differing
from harness.compare.rules import card_problems
from harness.compare.shown import Shown
from harness.compare.stability import repeated
from harness.compare.structure import try_binding, try_bounds, try_core, try_replay
from harness.compare.tried import Tried
from harness.compare.waivers import decode_waivers
from harness.compare.whole_run import Asked, ListedFile, PrivateTexts, Reopening, requests, try_privacy, try_reopening
from harness.model.errors import DecodeError, UsageError
from harness.model.facts import CardFacts, CardKind, Column, ColumnFacts, Place
from harness.model.values import NotComparable, Reason, known, not_displayed, unreadable
from harness.model.verdict import SurfaceCount
from harness.spec import bounds
from tests.support.columns import (
    BATCH,
    EXPECTED,
    LA_LIVE,
    LA_REOPEN,
    MC_LIVE,
    MC_REOPEN,
    NESTED,
    RELEASE,
    REPORT,
    SCRIPT,
    card,
    compare_tried,
    fact,
    facts,
    held,
    observation,
    omission,
    row,
    rows,
)
from tests.support.histories import history_of
from tests.support.releases import side

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


def test_a_batch_that_ended_with_tasks_running_is_told_what_it_may_show() -> None:
    ended = card(facts({**BATCH, "Tasks running": 1, "Tasks unknown": 0}), kind=CardKind.SUBAGENT_BATCH)
    ((_, _, problem),) = card_problems(ended, ended=True)
    assert (problem.requirement, problem.label) == ("batch.terminal-unfinished", "Tasks running")
    assert (problem.expected, problem.observed) == ("0 in a batch that has ended", "1")


def test_comparisons_of_a_class_are_added_up_over_surfaces_and_runs() -> None:
    counts = {
        LA_LIVE: SurfaceCount(agree=1, disagree=2, not_comparable=3),
        MC_LIVE: SurfaceCount(agree=10, disagree=20, not_comparable=30),
    }
    runs = tuple(
        msgspec.structs.replace(observation(name), classes=("overflow",), surfaces=counts) for name in ("a", "b")
    )
    (line,) = history_of(Side(release=RELEASE, observations=runs, findings=())).classes
    (cell,) = line.cells
    assert (cell.runs, cell.counted) == (2, 2)
    assert (cell.agree, cell.disagree, cell.not_comparable) == (22, 44, 66)


def test_every_way_in_which_a_fact_was_read_is_said_where_the_ways_changed() -> None:
    change = FactChange(
        observation="seen",
        card="turn1/call1",
        card_kind=CardKind.CODE_MODE,
        label="Total calls",
        ordinal=0,
        surface=MC_LIVE,
        kinds=(),
        before=Shown(state="known", values=("3",), via=("row", "title")),
        after=Shown(state="known", values=("3",), via=("title",)),
    )
    assert said(change) == ("3 [row, title]", "3 [title]")


def test_a_column_without_a_card_says_why_in_words() -> None:
    inner = msgspec.structs.replace(FIRST, path="turn1/call1/call1")
    other = msgspec.structs.replace(FIRST, kind=CardKind.SUBAGENT_BATCH, facts=())
    recorded = (FIRST, inner)
    compared = held(
        {REPORT: recorded, NESTED: recorded, LA_LIVE: (), LA_REOPEN: (other,), MC_LIVE: (FIRST,)},
        recorded,
        cut=(LA_LIVE,),
    )
    cells = row(compared, "Total calls").cells
    deeper = row(compared, "Total calls", path=inner.path).cells
    for reason, why, detail in (
        (cells[LA_LIVE].reason, Reason.CAPTURE_CUT, "the capture ends before this card"),
        (cells[LA_REOPEN].reason, Reason.NOT_CAPTURED, "a card of another kind stands there"),
        (deeper[LA_REOPEN].reason, Reason.NOT_CAPTURED, "the card is missing"),
        (deeper[MC_LIVE].reason, Reason.NOT_DISPLAYED, "Mission Control lists root cards and tasks"),
        (cells[MC_REOPEN].reason, Reason.NOT_CAPTURED, "the bundle has no such capture"),
        (compared.unavailable[MC_REOPEN], Reason.NOT_CAPTURED, "the bundle has no such capture"),
    ):
        assert reason == NotComparable(reason=why, detail=detail)


def test_what_could_not_be_compared_is_added_up_over_all_recordings() -> None:
    whole = side("0.104.0", {LA_LIVE: FIRST, MC_LIVE: FIRST}, FIRST)
    torn = side("0.104.0", {LA_LIVE: FIRST, MC_LIVE: ()}, FIRST, cut=(MC_LIVE,))
    once = difference(whole, torn).not_compared
    entry = repeated(whole, [torn, torn])
    assert once > 0
    assert (entry.release, entry.not_compared) == ("0.104.0", 2 * once)


def test_a_text_that_looks_like_an_identity_is_none() -> None:
    def task(number: int, intent: str) -> CardFacts:
        said = (fact("Task execution identity", f"call/g{number}"), fact("Task intent", intent))
        return card(said, path=f"turn1/call1/task{number}", kind=CardKind.TASK)

    shown = {one.path: one for one in (task(1, "g7"), task(2, "other/g1"))}
    tries = list(try_binding(LA_LIVE, shown, {}))
    assert [(tried.requirement, tried.problem) for tried in tries] == [("task.live-binding", None)] * 2


def test_an_execution_identity_is_no_text_of_240_bytes() -> None:
    """card-facts.md bounds selection strings and activity entries; an identity is neither."""
    long = card(fact("Task execution identity", "x" * 241), path="turn1/call1/task1", kind=CardKind.TASK)
    assert list(try_bounds(long, MC_LIVE)) == []


@pytest.mark.parametrize("subject", ["rows", "blocks", "children"])
def test_a_card_that_left_something_out_is_a_case_of_a_core_that_survives(subject: str) -> None:
    reduced = msgspec.structs.replace(FIRST, omissions=(omission(subject),))
    assert [tried for tried in try_core(reduced, LA_LIVE) if tried.requirement == "acceptance.core-survives"] == [
        Tried("acceptance.core-survives")
    ]
    assert list(try_core(FIRST, LA_LIVE)) == []


def test_two_places_of_a_reopened_card_that_say_running_are_two_findings() -> None:
    shown = card(fact("Script outcome", "running", via="title"), fact("Script outcome", "running", via="metadata"))
    tries = [(MC_REOPEN, tried) for tried in try_replay(shown, MC_REOPEN, unfinished=True)]
    found = [one for one in compare_tried({}, tries).findings if one.requirement == "code-mode.no-running-replay"]
    assert len({one.id for one in found}) == 2


def test_waivers_of_another_schema_are_refused_with_both() -> None:
    with pytest.raises(UsageError) as caught:
        decode_waivers("schema = 2\n", where="waivers.toml")
    assert (caught.value.message, caught.value.where) == ("is of schema 2, not 1", "waivers.toml")


@pytest.mark.parametrize(("length", "times"), [(20, 0), (21, 1)])
def test_more_than_20_characters_of_a_private_text_give_it_away(length: int, times: int) -> None:
    context = "The name of the file is heron, and nothing else is."
    shown = card(fact("Task agent", context[:length]), path="turn1/call1/task1", kind=CardKind.TASK)
    columns = {LA_LIVE: ColumnFacts(column=LA_LIVE, cards=(shown,))}
    tries = try_privacy(columns, PrivateTexts(contexts={"turn1/call1/task1": context}, others=()))
    assert len([tried for _, tried in tries if tried.problem is not None]) == times


def test_a_log_that_is_none_says_so() -> None:
    with pytest.raises(DecodeError, match="is no log of a model: "):
        requests(b"[", where="log")
