"""Misread frames send keys and clicks astray, or make a reading stop before a page has been seen."""

from __future__ import annotations

import pytest

from harness.record import mission_control_screen as layout


def grid(text: str) -> list[str]:
    return [line.ljust(46) for line in text.strip("\n").split("\n")]


TREE = grid("""
┌Transcript──────┌Activity Tree────[Alt-1] [X]┐
│                │ 15:07:06 ▾ ✓ code_mode   ↑ │
│                │ 15:07:06   • ✗ read 1 fi…┃ │
│                │ 15:07:06 ▸ ✗ subagents • ┃ │
│                │ 15:07:06 • ✓ agent • Done┃ │
│                │                          ↓ │
└────────────────└[Enter] detail────────────┘
┌ run complete ─────────── [Alt-M] scripted ┐
│                                           │
└ Session: 0m00s ───────────────────────────┘
""")


@pytest.mark.parametrize(
    ("head", "status", "running"),
    [
        ("┌ Mission Control ready ──── [Alt-M] x ┐", "Mission Control ready", False),
        ("┌ running prompt… [Alt-C] to cancel ── x ┐", "running prompt… [Alt-C] to cancel", True),
        ("┌provider request failed for http://127─ [Alt-M] x ┐", "provider request failed for http://127", False),
        ("┌ canceled: Run it. ────┐", "canceled: Run it.", False),
    ],
)
def test_the_state_of_a_turn_is_read_from_the_prompts_frame(head: str, status: str, *, running: bool) -> None:
    screen = [*grid("┌Transcript [Alt-C] to┐\n│ running │"), head, "│  │"]
    assert layout.status(screen) == status
    assert layout.running(screen) is running


def test_a_screen_without_a_frame_has_no_state() -> None:
    assert layout.status(["", "Error: something"]) == ""
    assert not layout.running([""])
    assert not layout.ready([""])


def test_tree_rows_have_depth_kind_and_a_place_to_click() -> None:
    pane = layout.tree(TREE)
    assert pane is not None
    rows = layout.tree_rows(TREE, pane)
    assert [(row.row, row.depth, row.tool, row.folded) for row in rows] == [
        (2, 0, "code_mode", False),
        (3, 1, "read", False),
        (4, 0, "subagents", True),
        (5, 0, "", False),
    ]
    assert TREE[1][rows[0].column - 1 :].startswith("code_mode")
    assert rows[0].label == "code_mode"


def test_a_task_row_is_told_from_an_answer_of_the_agent() -> None:
    tree = grid("""
┌Activity Tree───────────────[X]┐
│ 15:09:55   ▾ ✓ agent • g10 • d↑ │
│ 15:09:55     • ✓ agent • gone ┃ │
│ 15:09:55   ▾ ✓ agent • g3      │
└───────────────────────────────┘
""")
    pane = layout.tree(tree)
    assert pane is not None
    assert [row.task for row in layout.tree_rows(tree, pane)] == [10, None, 3]


@pytest.mark.parametrize(
    ("bar", "at_start", "at_end"),
    [("↑┃┃┃↓", True, True), ("↑┃┃│↓", True, False), ("↑│┃┃↓", False, True), ("↑│┃│↓", False, False)],
)
def test_the_scroll_bar_says_whether_all_has_been_seen(bar: str, *, at_start: bool, at_end: bool) -> None:
    screen = [
        "  ┌ Selected Activity Detail ──[X]┐",
        *(f"  │ text                        {mark} │" for mark in bar),
        "  └──────────────────────────────┘",
    ]
    pane = layout.modal(screen)
    assert pane is not None
    assert (pane.at_start, pane.at_end, pane.whole) == (at_start, at_end, at_start and at_end)
    assert (pane.top, pane.bottom, pane.left) == (1, 7, 3)


def test_a_frame_that_is_not_drawn_to_its_end_is_not_there_yet() -> None:
    assert layout.modal(["┌ Selected Activity Detail ──[X]┐", "│ text  │"]) is None
    assert layout.tree(["no tree"]) is None


@pytest.mark.parametrize(("mark", "is_open"), [("▸", False), ("▾", True)])
def test_the_metadata_line_is_found_inside_the_modal_only(mark: str, *, is_open: bool) -> None:
    screen = [
        "│ ▸ Metadata / Params in the transcript",
        "  ┌ Selected Activity Detail ─┐",
        "  │ Status: SUCCESS           │",
        f"  │ {mark} Metadata / Params      │",
        "  │ Sanitized Output:         │",
        "  └───────────────────────────┘",
    ]
    pane = layout.modal(screen)
    assert pane is not None
    assert layout.metadata_toggle(screen, pane) == (4, 5, is_open)
    assert layout.output_heading(screen, pane)
    assert not layout.output_heading(screen[:4] + screen[5:], pane)


def test_buttons_of_a_card_keep_together_and_cards_apart() -> None:
    screen = [
        "│ [g1 ✓] [g7 ✓] [g3 a long label ✓] │",
        "│ [g2 ✗] [g10 ●] [g4 cut off he",
        "│ g1 · scripted",
        "│ [g1 ✓]",
    ]
    first, second = layout.chips(screen)
    assert [(chip.row, chip.task) for chip in first] == [(1, 1), (1, 7), (1, 3), (2, 2), (2, 10), (2, 4)]
    assert [(chip.row, chip.task) for chip in second] == [(4, 1)]
    assert screen[1][first[4].column - 1] == "g"
