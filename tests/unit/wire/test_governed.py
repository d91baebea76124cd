"""Facts outside of results blocks, and ids that are the backend's own, must be told with the card and their place."""

from __future__ import annotations

import pytest

from harness.wire.breaches import Breach
from harness.wire.governed import judge
from harness.wire.reading import read_capture
from tests.support.wire_frames import TASK_VALUES, Json, Wire, below, card, children, entry, rows, saved

IDENTITY = "call_7/g1"


def _judged(*cards: Json) -> tuple[tuple[Breach, ...], dict[str, int]]:
    wire = Wire().initialize().open()
    wire.page([entry("u"), *(saved(one) for one in cards)])
    return judge(read_capture(wire.shutdown().encode()))


def _batch(task: Json, **members: object) -> Json:
    return card("b", "subagent", blocks=[rows({"Tasks total": "1"}), children(task, total=1)], **members)


def _task(name: str = "t", *more: Json, identity: str | None = IDENTITY) -> Json:
    blocks = [rows({**TASK_VALUES, "Task execution identity": identity}), *more]
    return card(name, "subagent", blocks=blocks, **below("b", name))


def _told(breaches: tuple[Breach, ...]) -> list[tuple[str, str, str, str, str]]:
    return [(one.rule, one.key.activity if one.key else "", one.label, one.observed, one.pointer) for one in breaches]


def test_cards_of_public_ids_and_facts_in_results_break_nothing_and_are_counted() -> None:
    breaches, cases = _judged(_batch(_task()), _task())
    assert breaches == ()
    assert cases == {"general.results-blocks": 2, "general.public-child-ids": 1, "general.execution-label": 1}


def test_without_cards_nothing_was_tried() -> None:
    assert _judged() == ((), {})
    assert _judged(card("r")) == ((), {})
    assert _judged(_task(identity=None))[1] == {"general.results-blocks": 1}


def test_an_execution_identity_that_is_a_public_id_is_told() -> None:
    task = _task(identity="t")
    breaches, _ = _judged(_batch(task), task)
    at = "/result/entries/2/tool_card"
    assert _told(breaches)[0] == (
        "general.execution-label",
        "b",
        "Task execution identity",
        "t",
        "/result/entries/1/tool_card/blocks/1/children/0/activity_id",
    )
    assert _told(breaches)[1] == ("general.execution-label", "t", "Task execution identity", "t", f"{at}/activity_id")
    assert [one.times for one in breaches] == [1, 3]  # of the task its activity, its card and its task id
    assert all(one.line and one.offset for one in breaches)


def test_a_call_id_of_the_backend_that_is_a_public_id_is_told_and_a_number_of_a_task_is_none() -> None:
    inner = card("call_7", "subagent", blocks=[rows({"Tasks total": "1"})])
    breaches, _ = _judged(inner, _task() | {"parent_activity_id": "call_7"})
    assert {one[:4] for one in _told(breaches)} == {
        ("general.public-child-ids", "call_7", "", "the backend's own call_7"),
        ("general.public-child-ids", "t", "", "the backend's own call_7"),
    }
    assert _judged(card("g1", "read"), _task())[0] == ()


@pytest.mark.parametrize("member", ["card_id", "parent_activity_id", "task_id"])
def test_a_call_id_of_the_backend_is_found_at_the_member_that_shows_it(member: str) -> None:
    breaches, _ = _judged(_task(), card("r") | {member: "call_7"})
    assert _told(breaches) == [
        ("general.public-child-ids", "r", "", "the backend's own call_7", f"/result/entries/2/tool_card/{member}")
    ]


@pytest.mark.parametrize(
    ("block", "pointer"),
    [
        (
            {
                "type": "resources",
                "rows": [{"availability": "unknown", "kind": "file", "label": "Task outcome", "location": None}],
            },
            "/blocks/1/rows/0/label",
        ),
        (
            {"type": "progress", "label": "Task outcome", "completed": None, "total": None, "unit": "items"},
            "/blocks/1/label",
        ),
    ],
)
def test_a_fact_in_a_block_that_is_none_of_results_is_told(block: Json, pointer: str) -> None:
    breaches, _ = _judged(_task("t", block))
    assert _told(breaches) == [
        (
            "general.results-blocks",
            "t",
            "Task outcome",
            "'Task outcome' in another block",
            f"/result/entries/1/tool_card{pointer}",
        )
    ]
    harmless = block | {"label": "Tasks finished"} if "label" in block else block | {"rows": []}
    assert _judged(_task("t", harmless))[0] == ()
