"""What exactly a broken wire rule says and where it points: bounds, pointers and counts that a reader acts on.

Each test stands for a mutant of the code that nothing else noticed.
"""

from __future__ import annotations

import msgspec
import pytest

from harness.model.facts import Place
from harness.spec import bounds
from harness.wire.breaches import Breach
from harness.wire.cases import Cases
from harness.wire.checking import over
from harness.wire.reading import read_capture
from harness.wire.strict import WireError, parse
from tests.support.wire_frames import (
    Json,
    Wire,
    card,
    children,
    compact,
    entry,
    results,
    row,
    rows,
    running,
    script_run,
)


def broken(wire: Wire, rule: str) -> list[Breach]:
    return [breach for breach in read_capture(wire.encode()).breaches if breach.rule == rule]


def shown(snapshot: Json) -> Wire:
    wire = script_run(finish=False)
    wire.show(snapshot)
    return wire.finish().shutdown()


@pytest.mark.parametrize(
    ("blocks", "pointer", "most", "seen"),
    [
        ([results(*[row("Warning", "x")] * 33)], "/blocks/0/rows", "at most 32 rows", "33 rows"),
        (
            [children(*[card(f"k{number}") for number in range(33)], total=40)],
            *("/blocks/0/children", "at most 32 children", "33 children"),
        ),
    ],
    ids=["rows", "children"],
)
def test_a_block_with_one_thing_too_many_says_how_many_may_be(
    blocks: list[Json], pointer: str, most: str, seen: str
) -> None:
    found = broken(shown(card("c9", blocks=blocks)), "wire.block-size")
    assert found
    assert found[0].pointer.endswith(pointer)
    assert (found[0].expected, found[0].observed) == (most, seen)


def test_too_many_blocks_say_which_card_and_how_many() -> None:
    found = broken(shown(card("c9", blocks=[results(row("Warning", "x"))] * 17)), "wire.blocks")
    assert [(item.label, item.expected, item.observed) for item in found] == [("", "at most 16 blocks", "17 blocks")]


def test_a_request_over_the_bound_is_the_clients_fault_and_not_the_products() -> None:
    wire = script_run(finish=False)
    wire.frames.append(("to_product", compact({"x": "y" * bounds.FRAME_BYTES})))
    wire.finish().shutdown()
    assert len(broken(wire, "wire.request")) == 1
    assert broken(wire, "wire.frame-bytes") == []


def test_an_answer_that_nobody_waits_for_is_found_at_its_id() -> None:
    wire = script_run(finish=False)
    wire.answer("nobody", result={})
    found = broken(wire.finish().shutdown(), "wire.response")
    assert [(item.pointer, item.expected) for item in found] == [("/id", "a request that waits for an answer")]


def test_a_part_out_of_order_is_found_at_the_part() -> None:
    wire = Wire().initialize().open()
    wire.page([entry("u1"), entry("a1", "assistant", part=1)])
    found = [item for item in broken(wire.shutdown(), "wire.entry-parts") if item.label == "number"]
    assert [(item.pointer, item.expected, item.observed) for item in found] == [
        ("/result/entries/1/part", "part 0", "part 1 of a1")
    ]


@pytest.mark.parametrize(
    ("member", "before", "after", "expected"),
    [
        ("outcome", "success", "failure", "success as before"),
        ("changes", "applied", "none", "applied or partial as before"),
    ],
)
def test_a_fact_that_does_not_stay_says_what_it_was(member: str, before: str, after: str, expected: str) -> None:
    wire = script_run(finish=False)
    first = card("c9", **{member: before})
    wire.show(first)
    wire.card({**first, member: after, "revision": 5})
    found = [item for item in broken(wire.finish().shutdown(), "wire.facts-stay") if item.label == member]
    assert [(item.pointer.rpartition("/")[2], item.expected) for item in found] == [(member, expected)]


def test_a_child_reference_to_no_card_says_so() -> None:
    found = broken(shown(card("c9", blocks=[children(card("gone"), total=1)])), "wire.children-known")
    assert [item.observed for item in found] == ["no such card"]


def test_a_member_beyond_the_agreed_shape_is_found_whatever_frame_it_is_in() -> None:
    wire = script_run(finish=False)
    snapshot = running(card("c9", blocks=[rows({"Total calls": "1"})]))
    wire.show({**snapshot, "unheard_of": 1})
    found = broken(wire.finish().shutdown(), "wire.exact-members")
    assert any(item.pointer.endswith("/unheard_of") for item in found)
    assert all((item.expected, item.observed) == ("no such member", "a member") for item in found)


def test_every_run_is_a_case_of_its_admission() -> None:
    wire = script_run()
    wire.start("Once more.")
    wire.finish().shutdown()
    cases = Cases()
    reading = read_capture(wire.encode(), cases.take)
    assert len(reading.runs) == 2
    assert cases.of(reading)["wire.admission"] == 2


def test_a_breach_becomes_a_problem_of_its_own_rule() -> None:
    (found,) = broken(shown(card("c9", blocks=[results(row("Warning", "x"))] * 17)), "wire.blocks")
    assert found.problem(file="f", card="turn1/call1").requirement == "wire.blocks"


def test_a_breach_becomes_a_problem_at_its_place_and_one_of_no_line_has_no_pointer() -> None:
    (found,) = broken(shown(card("c9", blocks=[results(row("Warning", "x"))] * 17)), "wire.blocks")
    place = found.problem(file="f", card="turn1/call1").place
    assert place == Place(file="f", line=found.line, offset=found.offset, pointer="/data/card/blocks")
    nowhere = msgspec.structs.replace(found, line=0, offset=None)
    assert nowhere.problem(file="f", card="").place == Place(file="f")


def test_broken_json_of_several_lines_is_found_at_its_byte() -> None:
    with pytest.raises(WireError) as caught:
        parse(b'{"a" : 1,\n "b": }')
    assert (caught.value.rule, caught.value.offset) == ("wire.frame-json", 16)


@pytest.mark.parametrize(
    ("text", "size"), [("é" * 5, 10), ("a" * 10, 10), ("a" * 11, 11), ("\U0001f600" * 3, 12), ("", 0), ("é" * 6, 12)]
)
def test_a_text_is_over_its_bound_by_its_bytes(text: str, size: int) -> None:
    assert over(text, 10) == (size if size > 10 else None)
