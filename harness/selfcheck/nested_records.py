"""Mutants of the records of a session: calls, results, nested records, and the usage snapshots of tasks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from harness.model.facts import CardKind
from harness.project.execution import EXECUTION
from harness.project.telemetry import TELEMETRY
from harness.selfcheck.frames import Tree
from harness.selfcheck.mutant import Mutant
from harness.selfcheck.saved_session import NESTED, NO_ID, Lines, SavedSession, label_of, metadata_of
from harness.spec.facts import facts_of

_UNNAMED = "the script was interrupted before any call, so that no result and no nested record names its id"


def nested_record(file: SavedSession, index: int, tree: Tree, named: set[str | None]) -> Iterator[Mutant]:
    """Mutants of the record on line `index`, 0-based. `named`: the ids of calls that any result or record names."""
    kind = tree["event_type"]

    def mutant(what: str, requirement: str, lines: Lines, equivalent: str = "") -> Mutant:
        return file.mutant("nested-record", what, requirement, lines, where=NESTED, state=kind, equivalent=equivalent)

    def payload(what: str, requirement: str, **members: object) -> Mutant:
        return mutant(what, requirement, file.edited(index, lambda tree: tree["payload"].update(members)))

    line = file.lines[index]
    twice = file.with_line(index, line, line)
    match kind:
        case "code_mode_tool_call":
            yield mutant("lost", "records.nested-once", file.with_line(index))
            yield mutant("twice", "records.nested-once", twice)
            yield payload("of another parent", "records.nested-parent", parent_call_id="call_none")
            yield payload("of another id", "records.nested-once", id="call_none:inner:1")
            yield payload("mistyped", "records.payload", name=7)
        case "code_mode_tool_result":
            result = tree["payload"]["result"]
            yield mutant("lost", "code-mode.unknown-calls", file.with_line(index))
            yield mutant("twice", "records.nested-once", twice)
            yield payload("of another parent", "records.nested-parent", parent_call_id="call_none")
            yield payload("of another call", "records.nested-once", call_id="call_none:inner:1")
            flipped = {**result, "success": not result["success"]}
            yield payload("other success", "code-mode.successful-calls", result=flipped)
        case "code_mode_warning":
            yield mutant("lost", "code-mode.warnings", file.with_line(index))
            yield payload("of another parent", "records.nested-parent", parent_call_id="call_none")
        case "tool_call" if tree["payload"]["name"] in ("code_mode", "subagents"):
            yield mutant("lost", "records.result-call", file.with_line(index))
            yield mutant("twice", "records.call-id", twice)
            why = "" if tree["payload"]["id"] in named else _UNNAMED
            yield payload("of another id", "records.result-call", id="call_none")._replace(equivalent=why)
            yield payload("of another tool", "general.surface-agreement", name="read")
        case "tool_result":
            result = tree["payload"]["result"]
            yield mutant("twice", "records.result-once", twice)
            yield payload("of another call", "records.result-call", call_id="call_none")
            if EXECUTION in metadata_of(tree) or TELEMETRY in metadata_of(tree):
                yield mutant("lost", "acceptance.no-promotion", file.with_line(index))
            if EXECUTION in metadata_of(tree):
                flipped = {**result, "success": not result["success"]}
                yield payload("other success", "code-mode.script-outcome", result=flipped)
        case "subagent_session":
            yield mutant("lost", "records.child-file", file.with_line(index))
            yield payload("of another child", "records.child-file", session_id=NO_ID)
        case "user_input":
            yield mutant("lost", "records.turn", file.with_line(index))


def usage_snapshots(file: SavedSession, trees: list[Tree]) -> Iterator[Mutant]:
    """The last usage snapshot of each task: what the whole task used."""
    last: dict[str, int] = {}
    for index, tree in enumerate(trees):
        if tree["event_type"] == "session_usage" and "/activity/" in tree["payload"]["id"]:
            last[tree["payload"]["id"]] = index
    for index in last.values():
        usage = trees[index]["payload"]["usage"]
        if not usage["cache_known"] and not usage["effective_input"]:
            continue
        for member in ("effective_input", "output", "cache_read"):
            lines = file.edited(index, partial(_more_tokens, member))
            label = label_of(CardKind.TASK, f"usage.whole_run.{member}")
            rule = facts_of(CardKind.TASK)[label].requirement
            yield file.mutant("usage-snapshot", f"{member} changed", rule, lines, where=NESTED)
        for kind, requirement, edit in (
            ("of another task", "task.task-execution-identity", lambda tree: tree["payload"].update(id="x/activity/y")),
            ("not final", "task.usage-latest-final", lambda tree: tree["payload"].update(final_usage=False)),
            ("sequence changed", "task.usage-latest-request-sequence", _later),
            ("without a member", "records.payload", lambda tree: tree["payload"]["usage"].pop("output") and None),
        ):
            yield file.mutant("usage-snapshot", kind, requirement, file.edited(index, edit), where=NESTED)


def _more_tokens(member: str, tree: Tree) -> None:
    tree["payload"]["usage"][member] += 1


def _later(tree: Tree) -> None:
    tree["payload"]["request_sequence"] += 1
