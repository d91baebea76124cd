"""Rules that a card breaks by itself: they hold without any reference, so nothing else may be needed to see it."""

from __future__ import annotations

import pytest

from harness.model.facts import SURFACES, CardFacts, CardKind, Column
from harness.model.values import ABSENT, not_displayed, unreadable
from harness.model.verdict import Finding, FindingKind
from tests.support.columns import (
    BATCH,
    LA_LIVE,
    LA_REOPEN,
    MC_LIVE,
    MC_REOPEN,
    NESTED,
    REPORT,
    SCRIPT,
    Said,
    card,
    fact,
    facts,
    held,
    omission,
    rows,
)

_RULE = FindingKind.RULE


def _batch(**changed: Said) -> CardFacts:
    """A batch of five tasks with some counts changed: `done=2` is ``Tasks done`` 2."""
    said = {**BATCH, **{f"Tasks {name}": value for name, value in changed.items()}}
    return card(facts(said), kind=CardKind.SUBAGENT_BATCH, children=5)


def _script(changed: dict[str, Said]) -> CardFacts:
    return card(facts({**SCRIPT, **changed}), children=3)


def _broken(shown: CardFacts, column: Column = LA_REOPEN, *, cut: bool = False) -> list[Finding]:
    compared = held({column: shown}, cut=(column,) if cut else ())
    return [item for item in compared.findings if item.kind is _RULE]


# The five counts


@pytest.mark.parametrize("column", [*SURFACES, REPORT, NESTED])
def test_counts_that_do_not_add_up_to_the_total_break_the_partition_on_any_column(column: Column) -> None:
    (found,) = _broken(_batch(done=2), column)
    assert (found.requirement, found.label, found.surface) == ("batch.partition", "Tasks total", column.value)
    assert found.observed == "2 + 1 + 0 + 1 + 2 = 6, Tasks total 5"
    assert found.expected == "Tasks done + Tasks failed + Tasks running + Tasks unknown + Tasks cancelled = Tasks total"
    assert _broken(_batch(), column) == []


@pytest.mark.parametrize("lacking", ["done", "failed", "running", "unknown", "cancelled", "total"])
def test_counts_are_all_known_or_all_null(lacking: str) -> None:
    (found,) = _broken(_batch(**{lacking: None}))
    assert found.requirement == "batch.partition"
    assert found.observed == f"Tasks {lacking} null, others known"
    assert found.label == ("Tasks done" if lacking == "total" else "Tasks total")
    names = ("total", "done", "failed", "running", "unknown", "cancelled")
    assert _broken(_batch(**dict.fromkeys(names))) == []


@pytest.mark.parametrize("silence", [ABSENT, not_displayed("hidden"), unreadable("smudged")])
def test_a_count_that_this_surface_does_not_say_breaks_nothing(silence: Said) -> None:
    assert _broken(_batch(unknown=silence), MC_REOPEN) == []


def test_a_batch_that_has_ended_has_no_running_task_but_one_that_was_cut_may() -> None:
    running = _batch(running=1, unknown=0)
    for column in (LA_LIVE, LA_REOPEN, MC_LIVE, MC_REOPEN, REPORT):
        (found,) = _broken(running, column)
        assert (found.requirement, found.label, found.ordinal) == ("batch.terminal-unfinished", "Tasks running", 0)
        assert found.observed == "1"
    assert _broken(running, LA_LIVE, cut=True) == []
    assert len(_broken(running, LA_REOPEN, cut=True)) == 1


# The parts of a script


@pytest.mark.parametrize(
    ("changed", "observed"),
    [
        ({"Successful calls": 3}, "3 + 1 + 0 + 0 = 4, Total calls 3"),
        ({"Failed calls": 0}, "2 + 0 + 0 + 0 = 2, Total calls 3"),
        ({"Total calls": 0}, "2 + 1 + 0 + 0 = 3, Total calls 0"),
        ({"Running calls": None, "Unknown calls": 1}, "2 + 1 + 1 = 4, Total calls 3"),
    ],
)
def test_calls_by_outcome_are_the_total(changed: dict[str, Said], observed: str) -> None:
    (found,) = _broken(_script(changed))
    assert (found.requirement, found.label, found.observed) == ("code-mode.total-calls", "Total calls", observed)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"Running calls": None},
        {"Running calls": None, "Successful calls": 1},  # what is not known to run may be running
        {"Unknown calls": None, "Failed calls": 9},
        {"Total calls": None},
    ],
)
def test_parts_that_may_be_right_break_nothing(changed: dict[str, Said]) -> None:
    assert _broken(_script(changed)) == []


# Constants and nulls


@pytest.mark.parametrize(
    ("label", "wrong"),
    [("Completed actions remain applied", False), ("Rollback", True), ("External effects may be untracked", False)],
)
@pytest.mark.parametrize("column", SURFACES)
def test_a_safety_marker_has_one_value_on_every_card(label: str, wrong: bool, column: Column) -> None:
    for said in (wrong, None):
        (found,) = _broken(_script({label: said}), column)
        assert found.label == label
        assert found.expected == ("false" if wrong else "true")
        assert found.requirement.startswith("code-mode.")
    for silence in (ABSENT, not_displayed("hidden")):
        assert _broken(_script({label: silence}), column) == []


@pytest.mark.parametrize(
    ("kind", "label"), [(CardKind.CODE_MODE, "Script outcome"), (CardKind.TASK, "Task persistence")]
)
def test_null_where_the_rules_give_a_value_in_every_case_is_wrong_without_any_reference(
    kind: CardKind, label: str
) -> None:
    (found,) = _broken(card(fact(label, None), kind=kind))
    assert (found.label, found.expected, found.observed) == (label, "a value in every case", "(null)")
    assert _broken(card(fact("Task outcome", None), kind=CardKind.TASK)) == []


# Labels and contradictions


def test_a_label_that_the_card_cannot_have_is_not_passed_over() -> None:
    (found,) = _broken(card(facts({**SCRIPT, "Tasks total": 3})))
    assert (found.requirement, found.label, found.observed) == ("general.exact-labels", "Tasks total", "'Tasks total'")
    assert found.expected == "a label of code_mode cards"


def test_a_single_row_that_stands_twice_is_not_passed_over() -> None:
    found = _broken(card(facts(SCRIPT), fact("Rollback", False, ordinal=1)))
    assert [(item.requirement, item.label, item.ordinal) for item in found] == [("general.exact-labels", "Rollback", 1)]
    assert [(item.expected, item.observed) for item in found] == [("one row", "row 2: false")]
    assert _broken(card(facts(SCRIPT), rows("Warning", "a", "b"))) == []


@pytest.mark.parametrize(("first", "second"), [(3, 4), (3, None), (None, 3)])
def test_two_places_of_one_surface_that_contradict_each_other_are_a_finding(first: Said, second: Said) -> None:
    label = "Elapsed milliseconds"
    shown = card(fact(label, second, via="title", file="card"), fact(label, first, via="metadata", file="detail"))
    (found,) = _broken(shown, MC_REOPEN)
    spelled = ["(null)" if said is None else str(said) for said in (first, second)]
    assert (found.expected, found.observed) == (f"{spelled[0]} as in its metadata", f"{spelled[1]} in its title")
    assert found.place is not None
    assert found.place.file == "card", "what stands under its own label is held to be right"


def test_places_contradict_each_other_row_by_row() -> None:
    shown = card(rows("Changed path", "a", "b"), rows("Changed path", "a", "c", via="metadata"))
    (found,) = _broken(shown, MC_REOPEN)
    assert (found.label, found.ordinal, found.observed) == ("Changed path", 1, "c in its metadata")


@pytest.mark.parametrize("silence", [ABSENT, not_displayed("hidden"), unreadable("smudged")])
def test_a_place_that_says_nothing_contradicts_none(silence: Said) -> None:
    shown = card(fact("Warnings", 3, via="summary"), fact("Warnings", silence, via="metadata"))
    assert _broken(shown, MC_REOPEN) == []


def test_a_contradiction_and_a_wrong_sum_of_one_label_are_two_findings() -> None:
    shown = card(facts({**SCRIPT, "Total calls": 9}), fact("Total calls", 3, via="metadata"))
    found = _broken(shown, MC_REOPEN)
    assert [(item.requirement, item.label) for item in found] == [("code-mode.total-calls", "Total calls")] * 2
    assert len({item.id for item in found}) == 2


# Live and saved


def _saved(live: CardFacts, saved: CardFacts, *, cut: bool = False) -> list[tuple[str, str, str]]:
    compared = held({LA_LIVE: live, LA_REOPEN: saved}, cut=(LA_LIVE,) if cut else ())
    found = [item for item in compared.findings if item.requirement == "wire.saved-equals-live"]
    assert all(item.kind is FindingKind.SURFACES for item in found)
    wrong = {True: "local-agent-live", False: "local-agent-reopen"}
    assert all(item.surface == wrong[item.expected.endswith(" as saved")] for item in found)
    assert len({item.id for item in found}) == len(found)
    return [(item.label, item.expected, item.observed) for item in found]


def test_outcome_and_changes_are_those_of_the_live_card() -> None:
    live, saved = card(outcome="success", changes="partial"), card(outcome="failure", changes="unknown")
    assert _saved(live, saved) == [
        ("card outcome", "success as live", "failure"),
        ("card changes", "partial as live", "unknown"),
    ]
    assert _saved(live, live) == []
    assert _saved(live, saved, cut=True) == []


@pytest.mark.parametrize(
    ("live", "saved", "differences"),
    [
        ((("rows", "missing_source", None),), (("rows", "not_recorded", None),), []),
        ((("rows", "missing_source", 4),), (("rows", "not_recorded", 4),), []),
        (
            (("rows", "missing_source", 4),),
            (("rows", "not_recorded", None),),
            [("rows, not_recorded: 4 as live", "rows, not_recorded: null")],
        ),
        (
            (("children", "size_limit", None),),
            (("children", "size_limit", 28),),
            [("children, size_limit: 28 as saved", "children, size_limit: null")],
        ),
        (
            (("children", "size_limit", 28),),
            (),
            [("children, size_limit: 28 as live", "children, size_limit: not omitted")],
        ),
        (
            (),
            (("text", "redacted", 1),),
            [("text, redacted: not omitted as live", "text, redacted: 1")],
        ),
        (
            (("rows", "size_limit", 1),),
            (("rows", "redacted", 1),),
            [
                ("rows, redacted: not omitted as live", "rows, redacted: 1"),
                ("rows, size_limit: 1 as live", "rows, size_limit: not omitted"),
            ],
        ),
        (
            (("rows", "size_limit", 1), ("rows", "size_limit", 1)),
            (("rows", "size_limit", 1),),
            [("rows, size_limit: 1, 1 as live", "rows, size_limit: 1")],
        ),
        (
            (("rows", "size_limit", 1), ("text", "redacted", None)),
            (("text", "redacted", None), ("rows", "size_limit", 1)),
            [],
        ),
    ],
)
def test_omissions_are_those_of_the_live_card(
    live: tuple[tuple[str, str, int | None], ...],
    saved: tuple[tuple[str, str, int | None], ...],
    differences: list[tuple[str, str]],
) -> None:
    ours = card(omissions=tuple(omission(*item) for item in live), outcome="success")
    theirs = card(omissions=tuple(omission(*item) for item in saved), outcome="success")
    assert _saved(ours, theirs) == [("omissions", *difference) for difference in differences]


def test_what_was_left_out_for_its_size_was_not_left_out_for_want_of_a_source() -> None:
    live, saved = (
        card(omissions=(omission("rows", reason),), outcome="success") for reason in ("size_limit", "not_recorded")
    )
    assert len(_saved(live, saved)) == 2


def test_a_card_that_never_finished_or_was_cut_for_want_of_room_is_no_measure_for_the_saved_one() -> None:
    saved = card(outcome="failure")
    assert _saved(card(omissions=(omission("text", "redacted"),)), saved) == []
    reduced = card(omissions=(omission("title", "budget_limit"), omission("text", "redacted")), outcome="failure")
    assert _saved(reduced, saved) == []
    assert [label for label, *_ in _saved(reduced, card(outcome="success"))] == ["card outcome"]
