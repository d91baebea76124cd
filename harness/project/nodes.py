"""Where the cards of a run stand: scripts, batches and their tasks, found from the calls and the child sessions alone.

Both derivations walk this tree. It says which saved records belong to which card and nothing about any fact; the
host's stored reports have no part in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from harness.model.facts import Place
from harness.records.payloads import SessionUsage
from harness.records.session import Record, Session
from harness.records.turns import Call, Turn, Turns

CODE_MODE: Final = "code_mode"
SUBAGENTS: Final = "subagents"
"""Names of the two tools whose calls have cards with facts."""


class UsageRecord(msgspec.Struct, frozen=True, kw_only=True):
    record: Record
    value: SessionUsage


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What is common to all cards of one saved run.

    `usage`: usage snapshots of tasks, in file order, by what follows ``/activity/`` in their id; the host saves those
    of every level in the root session.
    """

    root: Session
    usage: Mapping[str, tuple[UsageRecord, ...]]


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's session within the run: the root's, or a task's.

    `path` is "" for the root, else the task's card path. `chain` names the task as ids do, ending in a slash
    (``call_0/g2/``), and is "" for the root.
    """

    run: Run
    session: Session
    turns: Turns
    path: str = ""
    chain: str = ""

    def place(self, record: Record, pointer: str | None = None) -> Place:
        return self.session.place(record, pointer)


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """One task as the batch's call declares it; `identity` and `agent` are None where not supplied.

    `moved`: the task asks for a working directory of its own, which can fail before a child session begins.
    """

    intent: str
    identity: str | None = None
    agent: str | None = None
    moved: bool = False


class ScriptNode(msgspec.Struct, frozen=True, kw_only=True):
    """A Code Mode call."""

    path: str
    scope: Scope
    turn: Turn
    call: Call


class TaskNode(msgspec.Struct, frozen=True, kw_only=True):
    """A declared task, at `index` from 0.

    `child` is its session, or None. `unaccounted`: a child session was announced for the batch that could not be told
    to any task, so nothing can be said from there being none here.
    """

    path: str
    index: int
    declared: Declared
    child: Scope | None
    unaccounted: bool


class BatchNode(msgspec.Struct, frozen=True, kw_only=True):
    """A batch's call, made by an agent or inside a script. `tasks` is empty when the declared tasks are not valid."""

    path: str
    scope: Scope
    turn: Turn
    call: Call
    tasks: tuple[TaskNode, ...]


Node = ScriptNode | BatchNode


def declared_tasks(arguments: Any, *, most: int) -> tuple[Declared, ...]:
    """The tasks that a batch's arguments declare; empty unless there are 1 to `most`, each with an intent in words."""
    tasks = arguments.get("tasks") if isinstance(arguments, dict) else None
    if not isinstance(tasks, list) or not 1 <= len(tasks) <= most:
        return ()
    found = []
    for task in tasks:
        if not isinstance(task, dict) or not isinstance(task.get("intent"), str) or not task["intent"].strip():
            return ()
        selection = {name: task.get(name) for name in ("identity", "agent")}
        if any(value is not None and not isinstance(value, str) for value in selection.values()):
            return ()
        found.append(Declared(intent=task["intent"], moved=task.get("cwd") is not None, **selection))
    return tuple(found)
