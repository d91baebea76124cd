"""Builds the tree of cards: which calls have cards, and which child session is which declared task.

A child session is announced by the session that begins it, between the batch's call and its result, and says in its
first input which task of the batch it is. A child that nobody announced, that is not saved, or that names no declared
task, belongs to none, and the problem says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from harness.model.facts import Problem
from harness.project.nodes import (
    CODE_MODE,
    SUBAGENTS,
    BatchNode,
    Declared,
    Node,
    Run,
    Scope,
    ScriptNode,
    TaskNode,
    UsageRecord,
    declared_tasks,
)
from harness.records import Call, Session, Turn, turns_of
from harness.records.payloads import SessionUsage, SubagentSession, TaskScope, UserInput
from harness.records.rules import RULES
from harness.spec import bounds

_NAMED_TASK: Final = re.compile(r"Subagent g([1-9][0-9]{0,3}) task intent:\n")


def usage_by_task(root: Session) -> dict[str, tuple[UsageRecord, ...]]:
    """Usage snapshots of tasks by what follows ``/activity/`` in their id, each in file order."""
    found: dict[str, list[UsageRecord]] = {}
    for record, usage in root.each(SessionUsage):
        _, activity, task = usage.id.partition("/activity/")
        if activity:
            found.setdefault(task, []).append(UsageRecord(record=record, value=usage))
    return {task: tuple(records) for task, records in found.items()}


class TreeBuilder:
    """Walks the root session and every child session that it leads to, once.

    `nodes` come in transcript order: a call's card, then what it contains; `sessions` are those that were walked.
    `problems` are those of the records and of how sessions fit together.
    """

    def __init__(self, root: Session, children: Mapping[str, Session]) -> None:
        self.children = children
        self.nodes: list[Node] = []
        self.sessions: list[Session] = []
        self.problems: list[Problem] = []
        self._seen = {root.session_id}
        run = Run(root=root, usage=usage_by_task(root))
        scope = self._scope(run, root, path="", chain="")
        self._walk(scope)
        for id_ in sorted(set(children) - self._seen):
            self._report("records.child-file", root, 0, f"{id_!r} is saved but was not announced")

    def _report(self, rule: str, session: Session, index: int, observed: str) -> None:
        place = session.place(session.records[index], "/payload")
        self.problems.append(
            Problem(requirement=rule, card="", label="", expected=RULES[rule], observed=observed, place=place)
        )

    def _scope(self, run: Run, session: Session, *, path: str, chain: str) -> Scope:
        turns = turns_of(session)
        self.sessions.append(session)
        self.problems.extend(session.problems)
        self.problems.extend(turns.problems)
        return Scope(run=run, session=session, turns=turns, path=path, chain=chain)

    def _walk(self, scope: Scope) -> None:
        number = 0
        for turn in scope.turns.turns:
            for call in turn.calls:
                number += 1
                path = f"turn{turn.number}/call{call.number}" if not scope.path else f"{scope.path}/call{number}"
                self._call(scope, turn, call, path)

    def _call(self, scope: Scope, turn: Turn, call: Call, path: str) -> None:
        if call.name == CODE_MODE:
            self.nodes.append(ScriptNode(path=path, scope=scope, turn=turn, call=call))
            for inner in call.inner:
                if inner.name == SUBAGENTS:
                    self._batch(scope, turn, inner, f"{path}/call{inner.number}")
        elif call.name == SUBAGENTS:
            self._batch(scope, turn, call, path)

    def _batch(self, scope: Scope, turn: Turn, call: Call, path: str) -> None:
        declared = declared_tasks(call.arguments, most=bounds.TASKS_PER_REPORT)
        found, unaccounted = self._match(scope, turn, call, declared)
        tasks = []
        scopes = []
        for index, task in enumerate(declared):
            child = None
            if index in found:
                chain = f"{scope.chain}{call.id}/g{index + 1}/"
                child = self._scope(scope.run, found[index], path=f"{path}/task{index + 1}", chain=chain)
                scopes.append(child)
            tasks.append(
                TaskNode(
                    path=f"{path}/task{index + 1}",
                    index=index,
                    declared=task,
                    child=child,
                    unaccounted=unaccounted and child is None,
                )
            )
        self.nodes.append(BatchNode(path=path, scope=scope, turn=turn, call=call, tasks=tuple(tasks)))
        for child in scopes:
            if child.chain.count("/") // 2 > bounds.CHILDREN_DEPTH:
                self._report("records.child-file", child.session, 0, f"nested over {bounds.CHILDREN_DEPTH} deep")
            else:
                self._walk(child)

    def _match(
        self, scope: Scope, turn: Turn, call: Call, declared: tuple[Declared, ...]
    ) -> tuple[dict[int, Session], bool]:
        """The child session of each task index, and whether an announced child could be told to no task."""
        end = call.ending.record.index if call.ending else turn.end
        announced: list[tuple[int, Session]] = []
        unaccounted = False
        for record in scope.session.records[call.record.index : end]:
            if not isinstance(record.payload, SubagentSession) or record.payload.child in self._seen:
                continue
            child = self.children.get(record.payload.child)
            if child is None:
                self._seen.add(record.payload.child)
                text = f"{record.payload.child!r} was announced but is not saved"
                self._report("records.child-file", scope.session, record.index, text)
                unaccounted = True
                continue
            index = task_index(child, declared)
            if index is None and self._other_batch_open(turn, call, record.index):
                continue
            self._seen.add(record.payload.child)
            if index is None:
                self._report("records.child-task", child, 0, "it names no task that the batch declares")
                unaccounted = True
            else:
                announced.append((index, child))
        found: dict[int, Session] = {}
        for index, child in announced:
            if sum(1 for other, _ in announced if other == index) > 1:
                self._report("records.child-task", child, 0, f"another child names task {index + 1}, too")
                unaccounted = True
            else:
                found[index] = child
        return found, unaccounted

    @staticmethod
    def _other_batch_open(turn: Turn, call: Call, index: int) -> bool:
        """Whether a further batch of the turn was open at the record `index`, so that the child may be its own."""
        batches = [c for outer in turn.calls for c in (outer, *outer.inner) if c.name == SUBAGENTS and c is not call]
        return any(c.record.index < index and (c.ending is None or c.ending.record.index > index) for c in batches)


def task_index(child: Session, declared: tuple[Declared, ...]) -> int | None:
    """Index of the declared task that a child session works on, or None when that cannot be told.

    The child's first input counts; where it names no task, a task whose intent no other task has. In both cases the
    intent that the child was given must be the declared one.
    """
    scope = next((value for _, value in child.each(TaskScope)), None)
    given = scope.original_task.intent if scope else None
    first = next((value.text for _, value in child.each(UserInput)), "")
    if named := _NAMED_TASK.match(first):
        index = int(named[1]) - 1
        if index < len(declared) and given in (None, declared[index].intent):
            return index
        return None
    same = [index for index, task in enumerate(declared) if task.intent == given]
    return same[0] if len(same) == 1 else None
