"""Cards are matched by where they stand, so every number has one meaning."""

from __future__ import annotations

from itertools import permutations

from harness.wire.tree import Standing, declared, paths


def call(identity: str, parent: str | None = None, *, placed: bool = True) -> Standing:
    return Standing(identity, parent, task=False, placed=placed)


def task(identity: str, parent: str, name: str = "") -> Standing:
    return Standing(identity, parent, task=True, name=name)


def test_all_calls_count_whatever_their_kind() -> None:
    found = paths([call("read"), call("script"), call("inner", "script"), call("more", "script"), call("last")], 2)

    assert found == {
        "read": "turn2/call1",
        "script": "turn2/call2",
        "inner": "turn2/call2/call1",
        "more": "turn2/call2/call2",
        "last": "turn2/call3",
    }


def test_tasks_and_calls_below_one_parent_have_numbers_of_their_own() -> None:
    found = paths([call("b"), task("t1", "b"), call("k", "b"), task("t2", "b"), call("j", "t2")], 1)

    assert found["t1"] == "turn1/call1/task1"
    assert found["t2"] == "turn1/call1/task2"
    assert found["k"] == "turn1/call1/call1"
    assert found["j"] == "turn1/call1/task2/call1"


def test_tasks_have_their_declared_numbers_in_whatever_order_they_start() -> None:
    names = {"x": "g1 · depth 1 · Do", "y": "g2 · depth 1 · Re", "z": "g4 · depth 1 · Mi"}
    for order in permutations(names):
        found = paths([call("b"), *(task(name, "b", names[name]) for name in order)], 1)

        assert (found["x"], found["y"], found["z"]) == (
            "turn1/call1/task1",
            "turn1/call1/task2",
            "turn1/call1/task4",
        )


def test_tasks_without_distinct_declared_numbers_are_numbered_as_they_appear() -> None:
    unnamed = paths([call("b"), task("x", "b", "g2 · depth 1 · Do"), task("y", "b")], 1)
    twice = paths([call("b"), task("x", "b", "g2 · depth 1 · Do"), task("y", "b", "g2 · depth 1 · Re")], 1)

    for found in (unnamed, twice):
        assert (found["x"], found["y"]) == ("turn1/call1/task1", "turn1/call1/task2")


def test_an_intent_that_looks_like_a_number_declares_none() -> None:
    assert declared("g3 · depth 2 · g9 · depth 1 · x") == 3
    assert declared("fix g3 · depth 1 · x") is None
    assert declared("g0 · depth 1 · x") is None
    assert declared("") is None


def test_a_child_shown_before_its_parent_stands_below_it() -> None:
    found = paths([call("inner", "script"), call("script")], 1)

    assert found == {"script": "turn1/call1", "inner": "turn1/call1/call1"}


def test_unknown_ancestry_takes_no_number_from_anybody() -> None:
    found = paths([call("lost", placed=False), call("below", "lost"), call("orphan", "ghost"), call("a")], 1)

    assert found == {
        "lost": "turn1/unplaced1",
        "below": "turn1/unplaced1/call1",
        "orphan": "turn1/unplaced2",
        "a": "turn1/call1",
    }


def test_cycles_end() -> None:
    found = paths([call("a", "b"), call("b", "a"), call("c")], 1)

    assert found["c"] == "turn1/call1"
    assert (found["a"], found["b"]) == ("turn1/unplaced1", "turn1/unplaced1/call1")


def test_a_very_deep_chain_does_not_exhaust_the_stack() -> None:
    chain = [call("0"), *(call(str(number), str(number - 1)) for number in range(1, 5000))]

    assert paths(chain, 1)["4999"].count("call1") == 5000
