"""Structural rules of cards: a rule that a card breaks must name the card, and one that nothing tries must not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from harness.compare.structure import try_cards
from harness.compare.tried import Tried
from harness.model.facts import CardFacts, CardKind, Column, ColumnFacts
from harness.model.values import NotComparable, Reason
from harness.spec.facts import facts_of
from tests.support.columns import (
    BATCH,
    LA_LIVE,
    LA_REOPEN,
    MC_LIVE,
    MC_REOPEN,
    SCRIPT,
    Said,
    card,
    fact,
    facts,
    omission,
    rows,
)

BATCH_KIND, TASK = CardKind.SUBAGENT_BATCH, CardKind.TASK
TASK_FACTS: dict[str, Said] = {
    "Task execution identity": "call/g1",
    "Task intent": "First",
    "Task profile": None,
    "Task agent": None,
    "Task provider": "scripted",
    "Task model": "scripted",
    "Task outcome": "success",
    "Task persistence": "recorded",
    "Task facts limited": False,
    "Task changed paths": 0,
    "Task failed calls": 0,
    "Task unknown calls": 0,
    "Task calls with effects": 0,
    "Task activity count": 1,
    "Task activity omitted": 0,
    "Usage provenance": "normalized_provider_usage",
    "Usage effective input tokens": 100,
    "Usage output tokens": 20,
    "Usage cache read tokens": 10,
    "Usage latest request sequence": 0,
    "Usage latest effective input tokens": 100,
    "Usage latest output tokens": 20,
    "Usage latest cache read tokens": 10,
    "Usage cache known": True,
    "Usage latest final": True,
}


def _script(outcome: str | None = "success", /, **changed: Said) -> CardFacts:
    return card(facts({**SCRIPT, **{name.replace("_", " "): said for name, said in changed.items()}}), outcome=outcome)


def _task(
    number: int = 1, /, outcome: str | None = "success", activity: str = "read: success", **changed: Said
) -> CardFacts:
    said = {**TASK_FACTS, "Task execution identity": f"call/g{number}", "Task intent": f"Task {number}"}
    said |= {name.replace("_", " "): value for name, value in changed.items()}
    path = f"turn1/call1/task{number}"
    return card(facts(said), rows("Task activity", activity), path=path, kind=TASK, outcome=outcome)


def _tries(
    shown: Mapping[Column, CardFacts | tuple[CardFacts, ...]], *reference: CardFacts, cut: bool = False
) -> list[tuple[Column, Tried]]:
    columns = {
        column: ColumnFacts(column=column, cards=cards if isinstance(cards, tuple) else (cards,), complete=not cut)
        for column, cards in shown.items()
    }
    return list(try_cards(columns, reference))


def _cases(tries: list[tuple[Column, Tried]]) -> Counter[str]:
    return Counter(tried.requirement for _, tried in tries)


def _broken(tries: list[tuple[Column, Tried]]) -> list[tuple[str, str, str, str, str, str]]:
    """Surface, requirement, card, label, expected and observed of everything that broke a rule."""
    return [
        (column.value, problem.requirement, problem.card, problem.label, problem.expected, problem.observed)
        for column, tried in tries
        if (problem := tried.problem) is not None
    ]


def test_cards_that_keep_every_rule_break_none_and_are_cases_of_those_that_they_show() -> None:
    batch = card(facts(BATCH), kind=BATCH_KIND, children=2, outcome="failure")
    tries = _tries({LA_REOPEN: (batch, _task(1), _task(2))}, _task(1), _task(2))
    assert _broken(tries) == []
    cases = _cases(tries)
    # 8 rows of the batch, 26 of each task
    assert cases["general.row-members"] == cases["general.exact-labels"] == 8 + 2 * 26
    # counts: 6 and one of references; of a task 4 of its work, 2 of activities, 3 of its usage and 4 of the latest
    assert cases["general.count-spelling"] == 7 + 2 * 13
    assert cases["general.boolean-spelling"] == 1 + 2 * 3
    assert cases["general.row-outcome-inert"] == 2
    assert cases["task.activity-rows"] == cases["task.activity-bound"] == 2
    assert cases["batch.partition"] == cases["batch.terminal-unfinished"] == 1
    assert cases["batch.early-details"] == 4
    for nothing in ("acceptance.core-survives", "acceptance.optional-explicit", "code-mode.no-running-replay"):
        assert cases[nothing] == 0


@pytest.mark.parametrize("column", [MC_LIVE, MC_REOPEN])
def test_how_the_wire_spells_is_no_case_on_a_screen(column: Column) -> None:
    cases = _cases(_tries({column: _script(None)}))
    for rule in (
        "general.row-members",
        "general.count-spelling",
        "general.row-outcome-inert",
        "code-mode.warning-rows",
    ):
        assert cases[rule] == 0


# card-outcome


@pytest.mark.parametrize(
    ("shown", "expected", "observed"),
    [
        (_script("unknown"), "a card with outcome success, as its Script outcome", "outcome unknown"),
        (_script(None), "a card with outcome success, as its Script outcome", "outcome null"),
        (
            _script("success", Script_outcome="running"),
            "a card with outcome null, as its Script outcome",
            "outcome success",
        ),
        (_task(1, outcome="failure"), "a card with outcome success, as its Task outcome", "outcome failure"),
    ],
)
def test_a_card_whose_outcome_is_not_that_of_its_script_or_task_is_told(
    shown: CardFacts, expected: str, observed: str
) -> None:
    tries = _tries({LA_LIVE: shown})
    assert ("local-agent-live", "general.row-outcome-inert", shown.path, "", expected, observed) in _broken(tries)
    (problem,) = (tried.problem for _, tried in tries if tried.requirement == "general.row-outcome-inert")
    assert problem is not None
    assert problem.place == shown.place


def test_a_task_without_an_outcome_says_nothing_of_its_card() -> None:
    tries = _tries({LA_REOPEN: _task(1, outcome="interrupted", Task_outcome=None)})
    assert _cases(tries)["general.row-outcome-inert"] == 0


# no-running-replay


@pytest.mark.parametrize(
    ("shown", "label", "observed"),
    [
        (_script("success", Script_outcome="running"), "Script outcome", "running"),
        (_script("success", Running_calls=2), "Running calls", "2"),
        (_task(1, Task_outcome="running"), "Task outcome", "running"),
        (card(facts({**BATCH, "Tasks running": 1}), kind=BATCH_KIND, outcome="success"), "Tasks running", "1"),
    ],
)
@pytest.mark.parametrize("column", [LA_REOPEN, MC_REOPEN])
def test_nothing_runs_on_a_reopened_card(column: Column, shown: CardFacts, label: str, observed: str) -> None:
    told = [item for item in _broken(_tries({column: shown})) if item[1] == "code-mode.no-running-replay"]
    assert told == [
        (column.value, "code-mode.no-running-replay", shown.path, label, "nothing runs on a reopened card", observed)
    ]
    live = LA_LIVE if column is LA_REOPEN else MC_LIVE
    assert [item for item in _broken(_tries({live: shown})) if item[1] == "code-mode.no-running-replay"] == []


def test_a_reopened_card_without_an_outcome_is_still_running() -> None:
    interrupted = _script("interrupted", Script_outcome="interrupted")
    told = _broken(_tries({LA_REOPEN: card(interrupted.facts, outcome=None)}, interrupted))
    assert ("code-mode.no-running-replay", "a running card") in {(item[1], item[5]) for item in told}


def test_only_a_tool_that_had_not_ended_is_a_case_of_its_replay() -> None:
    interrupted = _script("interrupted", Script_outcome="interrupted")
    assert _cases(_tries({LA_REOPEN: interrupted}, interrupted))["code-mode.no-running-replay"] == 1
    assert _cases(_tries({LA_REOPEN: _script()}, _script()))["code-mode.no-running-replay"] == 0
    assert _cases(_tries({LA_REOPEN: interrupted}))["code-mode.no-running-replay"] == 0


# activity-text


@pytest.mark.parametrize("text", ["read: success", "mcp__files__read: failure", "bash: cancelled", "x: unknown"])
def test_an_activity_of_a_tool_and_a_status_is_kept(text: str) -> None:
    tries = _tries({MC_REOPEN: _task(1, activity=text)})
    assert _broken(tries) == []
    assert _cases(tries)["task.activity-rows"] == 1


@pytest.mark.parametrize(
    "text", ["read: running", "read a.txt: success", "read", "read: success, 5 lines", "read:success"]
)
def test_an_activity_that_says_more_or_something_else_is_told(text: str) -> None:
    shown = _task(1, activity=text)
    (told,) = _broken(_tries({LA_REOPEN: shown}))
    expected = "a tool name and one of success, failure, cancelled, unknown"
    assert told == ("local-agent-reopen", "task.activity-rows", shown.path, "Task activity", expected, repr(text))


# fact-bounds


def test_more_tracked_paths_than_are_kept_are_told() -> None:
    assert _broken(_tries({MC_REOPEN: _script(Changed_paths=1_000)})) == []
    (told,) = _broken(_tries({MC_REOPEN: _script(Changed_paths=1_001)}))
    assert told[1:] == ("code-mode.path-bounds", "turn1/call1", "Changed paths", "at most 1000 tracked paths", "1001")
    assert _cases(_tries({MC_REOPEN: _script(Changed_paths=0)}))["code-mode.path-bounds"] == 0


@pytest.mark.parametrize(("size", "broken"), [(240, False), (241, True)])
def test_a_text_of_a_task_on_a_screen_is_held_to_its_bytes(size: int, broken: bool) -> None:
    shown = _task(1, Task_agent="é" * (size // 2) + "x" * (size % 2))
    told = _broken(_tries({MC_REOPEN: shown}))
    assert [(item[1], item[3], item[5]) for item in told] == (
        [("task.text-bounds", "Task agent", f"{size} bytes")] if broken else []
    )
    assert _broken(_tries({LA_REOPEN: shown})) == []  # the wire holds its own bytes


@pytest.mark.parametrize(("size", "broken"), [(512, False), (513, True)])
def test_a_warning_on_a_screen_is_held_to_its_bytes(size: int, broken: bool) -> None:
    shown = card(facts(SCRIPT), rows("Warning", "w" * size))
    told = _broken(_tries({MC_REOPEN: shown}))
    assert [item[1] for item in told] == (["code-mode.warning-storage"] if broken else [])


def test_previews_are_cases_of_their_bounds_only_where_there_are_some() -> None:
    shown = card(facts(SCRIPT), rows("Warning", "one"), rows("Changed path", "a"))
    cases = _cases(_tries({LA_LIVE: shown}))
    assert (cases["code-mode.warning-rows"], cases["code-mode.path-bounds"]) == (1, 1)
    cases = _cases(_tries({LA_LIVE: _script()}))
    assert (cases["code-mode.warning-rows"], cases["code-mode.path-bounds"]) == (0, 0)


# core-rows


def _without(shown: CardFacts, *labels: str, omissions: tuple[str, ...] = (), count: int | None = None) -> CardFacts:
    kept = tuple(item for item in shown.facts if item.label not in labels)
    told = tuple(omission(subject, count=count) for subject in omissions)
    return card(kept, path=shown.path, kind=shown.kind, outcome=shown.outcome, omissions=told)


@pytest.mark.parametrize("column", [LA_LIVE, LA_REOPEN])
def test_a_card_without_a_core_row_is_told_whatever_it_omits(column: Column) -> None:
    for shown, label in ((_script(), "Rollback"), (_task(), "Task failed calls")):
        (told,) = _broken(_tries({column: _without(shown, label, omissions=("rows", "blocks"))}))
        assert told == (column.value, "acceptance.core-survives", shown.path, "", "every core row", f"no row {label}")
    assert _broken(_tries({MC_REOPEN: _without(_script(), "Rollback")})) == []


@pytest.mark.parametrize("omissions", [(), ("rows", "blocks")])
def test_a_row_that_is_neither_core_nor_optional_may_not_be_dropped(omissions: tuple[str, ...]) -> None:
    for shown, label in ((_script(), "Elapsed milliseconds"), (_task(), "Task persistence")):
        (told,) = _broken(_tries({LA_LIVE: _without(shown, label, omissions=omissions)}))
        assert told[1:] == (
            "acceptance.optional-explicit",
            shown.path,
            "",
            "all rows but optional ones",
            f"no row {label}",
        )


def test_a_reduced_card_with_its_core_is_a_case_of_it() -> None:
    reduced = _without(_script(), "Code Mode intent", omissions=("rows",), count=1)
    tries = _tries({LA_LIVE: reduced})
    assert _broken(tries) == []
    assert _cases(tries)["acceptance.core-survives"] == _cases(tries)["acceptance.optional-explicit"] == 1
    assert _cases(_tries({LA_LIVE: _script()}))["acceptance.core-survives"] == 0


def test_optional_rows_that_are_gone_without_a_word_are_told() -> None:
    shown = _task()
    gone = ("Task intent", "Task agent")
    expected = ("acceptance.optional-explicit", "omissions that name 2 rows", "no row Task intent, Task agent")
    for silent in (
        _without(shown, *gone),
        _without(shown, *gone, omissions=("rows",), count=1),
        _without(shown, *gone, omissions=("text",)),
    ):
        (told,) = _broken(_tries({LA_REOPEN: silent}))
        assert (told[1], told[4], told[5]) == expected
    for honest in (
        _without(shown, *gone, omissions=("rows",), count=2),
        _without(shown, *gone, omissions=("rows",)),
        _without(shown, *gone, omissions=("blocks",), count=1),
    ):
        assert _broken(_tries({LA_REOPEN: honest})) == []


def test_a_card_that_dropped_previews_has_every_total() -> None:
    dropped = _script(Warnings=40, Warnings_omitted=38)
    assert _cases(_tries({LA_LIVE: dropped}))["code-mode.previews-cost-no-counts"] == 1
    told = {item[1]: item[5] for item in _broken(_tries({LA_LIVE: _without(dropped, "Failed calls", "Total calls")}))}
    assert told["code-mode.previews-cost-no-counts"] == "no row Total calls, Failed calls"
    assert told["acceptance.core-survives"] == "no row Failed calls"
    assert _cases(_tries({LA_LIVE: _script()}))["code-mode.previews-cost-no-counts"] == 0


# partition


def test_a_batch_is_a_case_of_its_partition_only_where_its_counts_are_read() -> None:
    batch = card(facts(BATCH), kind=BATCH_KIND)
    assert _cases(_tries({MC_REOPEN: batch}))["batch.partition"] == 1
    assert _cases(_tries({MC_REOPEN: _without(batch, "Tasks unknown")}))["batch.partition"] == 0
    hidden = NotComparable(reason=Reason.NOT_DISPLAYED)
    assert (
        _cases(_tries({MC_REOPEN: card(facts({**BATCH, "Tasks done": hidden}), kind=BATCH_KIND)}))["batch.partition"]
        == 0
    )


def test_a_batch_is_a_case_of_its_end_only_when_it_has_ended_and_says_how_many_run() -> None:
    batch = card(facts(BATCH), kind=BATCH_KIND, outcome="success")
    assert _cases(_tries({LA_LIVE: batch}))["batch.terminal-unfinished"] == 1
    assert _cases(_tries({LA_LIVE: batch}, cut=True))["batch.terminal-unfinished"] == 0
    null = card(facts(dict.fromkeys(BATCH)), kind=BATCH_KIND)
    assert _cases(_tries({LA_REOPEN: null}))["batch.terminal-unfinished"] == 0


# task-binding


@pytest.mark.parametrize(
    ("column", "requirement"),
    [(LA_LIVE, "task.live-binding"), (MC_LIVE, "task.live-binding"), (LA_REOPEN, "batch.early-details")],
)
def test_details_with_the_identity_of_another_task_are_told(column: Column, requirement: str) -> None:
    shown = (_task(1), _task(2, Task_execution_identity="call/g3"), _task(3))
    (told,) = _broken(_tries({column: shown}))
    label = "Task execution identity"
    assert told == (column.value, requirement, "turn1/call1/task2", label, "call/g2", "call/g3")


def test_details_of_another_parent_are_told() -> None:
    shown = (_task(1), _task(2, Task_execution_identity="other/g2"), _task(3))
    (told,) = _broken(_tries({LA_LIVE: shown}))
    assert told[1:] == ("task.live-binding", "turn1/call1/task2", "Task execution identity", "call/g2", "other/g2")


def test_a_surface_may_name_its_own_scope_before_the_identity_as_long_as_it_is_one() -> None:
    shown = tuple(_task(number, Task_execution_identity=f"run-1/call/g{number}") for number in (1, 2))
    tries = _tries({MC_LIVE: shown})
    assert _broken(tries) == []
    assert _cases(tries)["task.live-binding"] == 2


def test_a_task_with_the_intent_of_another_is_told() -> None:
    declared = (_task(1), _task(2))
    crossed = (_task(1, Task_intent="Task 2"), _task(2))
    (told,) = _broken(_tries({LA_REOPEN: crossed}, *declared))
    assert told[1:4] == ("batch.early-details", "turn1/call1/task1", "Task intent")
    assert told[4:] == ("Task 1", "Task 2, the intent of turn1/call1/task2")
    assert _broken(_tries({LA_REOPEN: (_task(1, Task_intent="Something"), _task(2))}, *declared)) == []
    alone = _tries({LA_REOPEN: _task(1)}, _task(1))
    assert [tried.detail for _, tried in alone if tried.requirement == "batch.early-details"] == ["binding row"]


def test_the_task_of_these_tests_has_every_row_of_its_kind() -> None:
    assert set(TASK_FACTS) | {"Task activity"} == set(facts_of(TASK))
    assert fact("Task activity", "read: success") == _task().facts[-1]


@pytest.mark.parametrize(
    ("label", "printed", "rule"),
    [
        ("Warnings", "00", "general.count-spelling"),
        ("Elapsed milliseconds", "+5", "general.count-spelling"),
        ("Rollback", "False", "general.boolean-spelling"),
    ],
)
def test_what_a_screen_prints_misspelt_is_told_without_any_reference(label: str, printed: str, rule: str) -> None:
    tries = _tries({MC_LIVE: _script(**{label: printed})})
    broken = [tried.problem for _, tried in tries if tried.problem is not None]
    assert [(problem.requirement, problem.label) for problem in broken if problem.requirement == rule] == [
        (rule, label)
    ]
    well = _tries({MC_LIVE: _script(**{label: SCRIPT[label]})})
    assert not [tried for _, tried in well if tried.requirement == rule]
