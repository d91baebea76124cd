"""Which card each row of the activity tree is: rows are matched to the calls that the scripted model made.

A card's path counts turns, calls and tasks (see `harness.model.facts`). The tree shows neither turns nor call
numbers, but it shows calls in the order in which the model made them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from harness.record.mission_control_screen import TreeRow

CODE_MODE_TOOL = "code_mode"
BATCH_TOOL = "subagents"
GOVERNED_TOOLS = frozenset({CODE_MODE_TOOL, BATCH_TOOL})


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """One card that the tree shows: its path and its row."""

    path: str
    row: TreeRow


def governed_paths(turns: Sequence[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    """Path and tool of every top-level card, given the names of the tools called in each turn."""
    return tuple(
        (f"turn{turn}/call{call}", tool)
        for turn, calls in enumerate(turns, start=1)
        for call, tool in enumerate(calls, start=1)
        if tool in GOVERNED_TOOLS
    )


def cards(rows: Sequence[TreeRow], turns: Sequence[Sequence[str]]) -> tuple[Card, ...]:
    """The cards among the rows of a tree, in the order of the rows.

    A top-level row is the next call of its tool that has no row yet. Calls of which the tree shows nothing (a process
    was killed before it came to them) are the last ones, so they leave the others' paths alone.
    """
    found: list[Card] = []
    expected = list(governed_paths(turns))
    for row, below in _families(rows, 0):
        if row.tool not in GOVERNED_TOOLS:
            continue
        path = next((path for path, tool in expected if tool == row.tool), None)
        if path is None:
            continue
        expected = [entry for entry in expected if entry[0] != path]
        found.append(Card(path=path, row=row))
        found += _inside(path, row, below)
    return tuple(found)


def _inside(path: str, row: TreeRow, below: Sequence[TreeRow]) -> list[Card]:
    """The cards below one card or task."""
    found: list[Card] = []
    call = 0
    for child, rest in _families(below, row.depth + 1):
        if child.task is not None and row.tool == BATCH_TOOL:
            task = f"{path}/task{child.task}"
            found.append(Card(path=task, row=child))
            found += _inside(task, child, rest)
        elif child.tool:
            call += 1
            if child.tool in GOVERNED_TOOLS:
                inner = f"{path}/call{call}"
                found.append(Card(path=inner, row=child))
                found += _inside(inner, child, rest)
    return found


def _families(rows: Sequence[TreeRow], depth: int) -> Iterator[tuple[TreeRow, Sequence[TreeRow]]]:
    """Each row of the given depth with the deeper rows right below it."""
    start = 0
    while start < len(rows):
        end = start + 1
        while end < len(rows) and rows[end].depth > depth:
            end += 1
        if rows[start].depth == depth:
            yield rows[start], rows[start + 1 : end]
        start = end
