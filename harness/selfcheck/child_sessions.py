"""Mutants of child sessions: lost, exchanged, cut, counting otherwise, or ending otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec

from harness.selfcheck.frames import Tree
from harness.selfcheck.mutant import Mutant
from harness.selfcheck.saved_session import NESTED, NO_ID, Lines, SavedSession, records_of
from harness.selfcheck.subject import Subject


def child_sessions(subject: Subject, uncounted: str) -> Iterator[Mutant]:
    """Mutants of every child session. `uncounted`: why no fact counts the calls of children, "" when some do."""
    for member in subject.manifest.children:
        file = SavedSession.of(subject, member)
        trees = records_of(file)

        def mutant(kind: str, requirement: str, lines: Lines, why: str = "", file: SavedSession = file) -> Mutant:
            return file.mutant("child-session", kind, requirement, lines, where=NESTED, equivalent=why)

        lost = partial(subject.with_members, {}, (member,))
        yield Mutant("child-session", "lost", "records.child-file", NESTED, examine=lost)
        yield mutant("of another session", "records.child-file", partial(_strangers, trees))
        yield mutant("no lines at all", "records.child-file", list)
        for index, tree in enumerate(trees):
            payload = tree["payload"]
            if tree["event_type"] == "tool_result":
                flipped = {**payload["result"], "success": not payload["result"]["success"]}
                edit = partial(_payload, {"result": flipped})
                yield mutant(
                    "other success", "task.task-failed-calls-task-unknown-calls", file.edited(index, edit), uncounted
                )
                yield mutant(
                    "a result lost", "task.task-failed-calls-task-unknown-calls", file.with_line(index), uncounted
                )
                paths = {"changed_paths": ["elsewhere", *(payload.get("changed_paths") or [])]}
                effects = {"changed_path_count": len(paths["changed_paths"]), "paths": paths["changed_paths"]}
                edit = partial(_payload, {**paths, "execution_effects": effects})
                yield mutant("one path more", "task.task-changed-paths", file.edited(index, edit), uncounted)
            elif tree["event_type"] == "tool_call":
                yield mutant("a call lost", "records.result-call", file.with_line(index), uncounted)
            elif tree["event_type"] == "user_input" and index < 5:
                text = payload["text"].replace("Subagent g", "Subagent g9", 1)
                if text != payload["text"]:
                    yield mutant(
                        "another task named",
                        "records.child-task",
                        file.edited(index, partial(_payload, {"text": text})),
                    )
            elif tree["event_type"] == "task_scope":
                edit = partial(_payload, {"original_task": {**payload["original_task"], "intent": "Another intent"}})
                yield mutant("another intent", "records.child-task", file.edited(index, edit))
            elif tree["event_type"] == "turn_status":
                word = "failed" if payload["status"] != "failed" else "cancelled"
                edit = partial(_payload, {"status": word})
                yield mutant(f"ended {word}", "task.task-outcome", file.edited(index, edit))
            elif tree["event_type"] == "assistant_output" and index > len(trees) - 3:
                yield mutant("the answer lost", "task.task-outcome", file.with_line(index))


def _strangers(trees: list[Tree]) -> list[bytes]:
    return [msgspec.json.encode({**tree, "session_id": NO_ID}) + b"\n" for tree in trees]


def _payload(members: dict[str, Any], tree: Tree) -> None:
    tree["payload"].update(members)
