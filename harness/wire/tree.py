"""Where cards stand: activities and their parents to the card paths by which all sources are matched.

All calls count, whatever their kind, so that two surfaces number alike. A task's number is that of its declaration.
A live run shows tasks in the order in which they happened to start, which is not always the declared one when they
start at once; the base activity's name begins with the task's declared number (``g2 · depth 1 · …``), so that decides
when every task of a batch has one. A saved history lists tasks as they were declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_DECLARED = re.compile(r"g([1-9]\d{0,3}) · depth \d+ · ")


class Standing(NamedTuple):
    """One activity. `parent` None: at the root of its turn. `placed` False: it stands below something that the capture
    does not name, so it has no number of its own. `name` is the base activity's name, "" when there is none."""

    id: str
    parent: str | None
    task: bool
    placed: bool = True
    name: str = ""


def declared(name: str) -> int | None:
    """The declared number in the name of a task's base activity, None when it has none."""
    found = _DECLARED.match(name)
    return int(found[1]) if found else None


def paths(standings: Iterable[Standing], turn: int) -> dict[str, str]:
    """Activity id to card path within one turn. `standings` in order of first appearance.

    Activities whose ancestry is unknown, or ends in a cycle, get ``turnN/unplacedK``.
    """
    below: dict[str | None, list[Standing]] = {}
    known = list(standings)
    ids = {one.id for one in known}
    lost: list[Standing] = []
    for one in known:
        if one.placed and (one.parent is None or one.parent in ids):
            below.setdefault(one.parent, []).append(one)
        else:
            lost.append(one)
    found: dict[str, str] = {}
    _number(None, f"turn{turn}", below, found)
    unplaced = 0
    for one in (*lost, *known):
        if one.id not in found:  # also whatever is its own ancestor
            unplaced += 1
            found[one.id] = f"turn{turn}/unplaced{unplaced}"
            _number(one.id, found[one.id], below, found)
    return found


def _number(parent: str | None, prefix: str, below: dict[str | None, list[Standing]], found: dict[str, str]) -> None:
    waiting: list[tuple[str | None, str]] = [(parent, prefix)]
    while waiting:
        parent, prefix = waiting.pop()
        children = below.get(parent, [])
        tasks = [one for one in children if one.task]
        calls = [one for one in children if not one.task]
        numbered = [(number, one, "call") for number, one in enumerate(calls, start=1)]
        numbered += [(number, one, "task") for number, one in zip(_task_numbers(tasks), tasks, strict=True)]
        for number, one, word in numbered:
            if one.id not in found:
                found[one.id] = f"{prefix}/{word}{number}"
                waiting.append((one.id, found[one.id]))


def _task_numbers(tasks: Sequence[Standing]) -> Sequence[int]:
    numbers = [declared(one.name) for one in tasks]
    if None not in numbers and len(set(numbers)) == len(numbers):
        return [number for number in numbers if number is not None]
    return range(1, len(tasks) + 1)
