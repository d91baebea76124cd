"""A wrong path would hold one card's facts against another's."""

from __future__ import annotations

from harness.record.mission_control_screen import TreeRow
from harness.record.navigation import cards, governed_paths


def rows(*labels: str) -> list[TreeRow]:
    """Rows from indented labels; ``g3`` is the third task."""
    found = []
    for number, text in enumerate(labels, start=1):
        label = text.strip()
        task = int(label[1:]) if label[0] == "g" and label[1:].isdigit() else None
        depth = len(text) - len(text.lstrip())
        name = "agent • " + label if task else label
        found.append(TreeRow(row=number, column=1, depth=depth, folded=False, label=name, task=task))
    return found


def paths(*labels: str, turns: list[list[str]]) -> list[tuple[str, int]]:
    return [(card.path, card.row.row) for card in cards(rows(*labels), turns)]


def test_every_call_counts_but_only_governed_ones_are_cards() -> None:
    assert governed_paths([["read", "code_mode"], [], ["subagents"]]) == (
        ("turn1/call2", "code_mode"),
        ("turn3/call1", "subagents"),
    )
    assert paths(
        "read 1 file",
        "code_mode",
        " write x",
        "agent • Done",
        "subagents • 2 tasks",
        turns=[
            ["read", "code_mode"],
            [],
            ["subagents"],
        ],
    ) == [("turn1/call2", 2), ("turn3/call1", 5)]


def test_a_task_is_known_by_its_number_and_not_by_its_place() -> None:
    assert paths("subagents", " g2", " g1", "  agent", turns=[["subagents"]]) == [
        ("turn1/call1", 1),
        ("turn1/call1/task2", 2),
        ("turn1/call1/task1", 3),
    ]


def test_cards_inside_tasks_and_scripts_have_paths_of_their_own() -> None:
    tree = ("subagents", " g1", "  read 1 file", "  code_mode", "   read 1 file", "  subagents", "   g2", "    agent")
    assert paths(*tree, "code_mode", " read 1 file", " subagents", "  g1", turns=[["subagents"], ["code_mode"]]) == [
        ("turn1/call1", 1),
        ("turn1/call1/task1", 2),
        ("turn1/call1/task1/call2", 4),
        ("turn1/call1/task1/call3", 6),
        ("turn1/call1/task1/call3/task2", 7),
        ("turn2/call1", 9),
        ("turn2/call1/call2", 11),
        ("turn2/call1/call2/task1", 12),
    ]


def test_a_call_that_never_came_to_the_tree_leaves_the_others_alone() -> None:
    assert paths("code_mode", turns=[["code_mode", "code_mode"]]) == [("turn1/call1", 1)]
    assert paths("code_mode", "subagents", turns=[["code_mode"], ["code_mode", "subagents"]]) == [
        ("turn1/call1", 1),
        ("turn2/call2", 2),
    ]


def test_a_row_that_the_model_never_called_is_no_card() -> None:
    assert paths("code_mode", "code_mode", "subagents", turns=[["code_mode"]]) == [("turn1/call1", 1)]
    assert paths(turns=[["code_mode"]]) == []
