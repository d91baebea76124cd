"""Turns and calls: which record belongs to which call, and what is left over."""

from __future__ import annotations

from harness.records import Turns, read_session, turns_of
from tests.support.sessions import Lines


def turns(lines: Lines) -> Turns:
    return turns_of(read_session(lines.bytes(), file="s.jsonl"))


def rules(found: Turns) -> list[tuple[str, int | None]]:
    return [(problem.requirement, problem.place.line if problem.place else None) for problem in found.problems]


def test_calls_are_numbered_within_their_turn_whatever_tool_they_call() -> None:
    found = turns(
        Lines().user().call("a", "read").result("a").script("b").result("b").user("again").call("a", "bash").answer()
    )
    assert [[(call.number, call.id, call.ending is None) for call in turn.calls] for turn in found.turns] == [
        [(1, "a", False), (2, "b", False)],
        [(1, "a", True)],
    ]
    assert [(turn.number, turn.start, turn.end) for turn in found.turns] == [(1, 0, 5), (2, 5, 8)]
    assert found.problems == ()


def test_parallel_calls_get_their_own_results() -> None:
    found = turns(Lines().user().call("a", "read").call("b", "read").result("b", success=False).result("a"))
    outcomes = {call.id: call.ending.value.result.success for call in found.turns[0].calls if call.ending}
    assert outcomes == {"a": True, "b": False}


def test_steering_goes_on_with_the_turn_and_a_new_input_ends_it() -> None:
    found = turns(Lines().user().call("a", "read").user("rather that", origin="steering").result("a").user("next"))
    assert len(found.turns) == 2
    assert found.turns[0].calls[0].ending is not None
    assert found.problems == ()


def test_a_turn_keeps_its_last_status_in_one_spelling() -> None:
    found = turns(Lines().user().status("incomplete").status("canceled").user().answer())
    assert [turn.status for turn in found.turns] == ["cancelled", None]
    assert found.turns[0].status_record is not None
    assert found.turns[0].status_record.line == 3


def test_nested_calls_stand_in_the_order_of_their_sequence() -> None:
    found = turns(Lines().user().script().inner(2, "bash").inner(1, "read").inner_result(2).warning(2))
    (call,) = found.turns[0].calls
    assert [(inner.number, inner.name, inner.ending is None) for inner in call.inner] == [
        (1, "read", True),
        (2, "bash", False),
    ]
    assert [warned.text for warned in call.warnings] == ["careful"]
    assert not call.contradictory


def test_a_result_in_a_later_turn_is_no_result_of_the_earlier_call() -> None:
    found = turns(Lines().user().call("a", "read").user("again").result("a"))
    assert found.turns[0].calls[0].ending is None
    assert rules(found) == [("records.result-call", 4)]


def test_a_nested_record_in_a_later_turn_has_no_parent() -> None:
    found = turns(Lines().user().script().inner(1).user("again").inner_result(1))
    assert found.turns[0].calls[0].inner[0].ending is None
    assert rules(found) == [("records.nested-parent", 5)]


def test_calls_and_results_before_any_input_belong_to_no_turn() -> None:
    found = turns(Lines().call("a", "read").result("a").user().call("b", "read"))
    assert [call.id for call in found.turns[0].calls] == ["b"]
    assert rules(found) == [("records.turn", 1), ("records.result-call", 2)]


def test_the_first_of_two_results_counts() -> None:
    found = turns(Lines().user().call("a", "read").result("a", success=True).result("a", success=False))
    ending = found.turns[0].calls[0].ending
    assert ending is not None
    assert ending.value.result.success is True
    assert rules(found) == [("records.result-once", 4)]


def test_nested_records_of_two_parents_with_one_id_belong_to_neither() -> None:
    found = turns(Lines().user().script().script().inner(1).warning(1))
    assert [(call.repeated, call.inner, call.warnings) for call in found.turns[0].calls] == [(True, (), ())] * 2
    assert rules(found) == [("records.call-id", 3), ("records.nested-parent", 4), ("records.nested-parent", 5)]


def test_one_result_for_two_open_calls_of_one_id_is_given_to_neither() -> None:
    found = turns(Lines().user().script().script().result("c"))
    assert [call.ending for call in found.turns[0].calls] == [None, None]
    assert rules(found)[-1] == ("records.result-call", 4)


def test_results_of_calls_that_repeat_an_id_one_after_another_are_told_apart() -> None:
    found = turns(Lines().user().script().result("c", success=True).script().result("c", success=False))
    assert [call.ending.value.result.success for call in found.turns[0].calls if call.ending] == [True, False]
    assert all(call.repeated for call in found.turns[0].calls)


def test_one_id_in_two_turns_is_not_repeated() -> None:
    found = turns(Lines().user().script().result("c").user().script().result("c"))
    assert [call.repeated for turn in found.turns for call in turn.calls] == [False, False]
    assert found.problems == ()


def test_contradictory_nested_records_are_marked_on_their_parent_only() -> None:
    twice = turns(Lines().user().script().inner(1).inner_result(1).inner_result(1, success=False).script("d"))
    assert [call.contradictory for call in twice.turns[0].calls] == [True, False]
    assert rules(twice) == [("records.nested-once", 5)]
    without_call = turns(Lines().user().script().inner_result(1))
    assert without_call.turns[0].calls[0].contradictory
    same_id = turns(Lines().user().script().inner(1).inner(1))
    assert same_id.turns[0].calls[0].contradictory
    assert len(same_id.turns[0].calls[0].inner) == 1
