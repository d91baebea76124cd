"""Mutants of saved records: the host's reports, nested records, usage snapshots, child sessions, and single lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import msgspec

from harness.examine import Examined
from harness.model.facts import CardKind
from harness.model.verdict import FactRow
from harness.project.execution import COUNTS, ESTIMATE, EXECUTION
from harness.project.telemetry import TELEMETRY
from harness.selfcheck.frames import Tree
from harness.selfcheck.mutant import Baseline, Mutant
from harness.selfcheck.subject import Subject
from harness.spec import bounds
from harness.spec.facts import facts_of

_NO_ID = "00000000-0000-4000-8000-000000000000"
_REPORT = "report"
_NESTED = "nested"
_UNNAMED = "the script was interrupted before any call, so that no result and no nested record names its id"
_UNREPORTED = "no telemetry was saved with the batch, so that the facts that count a child's calls are null"
_TIME = "when a record was written is no fact"
Edit = Callable[[Any], None]
Lines = Callable[[], list[bytes]]
"""Makes the changed lines, which is put off: most mutants of most bundles are never asked for."""


class _File(NamedTuple):
    """A saved session's lines. `where` is the member."""

    subject: Subject
    where: str
    lines: list[bytes]

    def tree(self, index: int) -> Tree:
        value: Tree = msgspec.json.decode(self.lines[index])
        return value

    def mutant(
        self,
        class_: str,
        kind: str,
        requirement: str,
        lines: Lines,
        *,
        where: str = "session",
        label: str = "",
        card_kind: str = "",
        state: str = "",
        equivalent: str = "",
    ) -> Mutant:
        return Mutant(
            class_=class_,
            kind=kind,
            requirement=requirement,
            where=where,
            label=label,
            card_kind=card_kind,
            state=state,
            equivalent=equivalent,
            examine=partial(self._examine, lines),
        )

    def _examine(self, lines: Lines) -> Examined:
        return self.subject.with_members({self.where: b"".join(lines())})

    def edited(self, index: int, edit: Edit) -> Lines:
        return partial(self._edited, index, edit)

    def _edited(self, index: int, edit: Edit) -> list[bytes]:
        tree = self.tree(index)
        edit(tree)
        return self._with_line(index, msgspec.json.encode(tree) + b"\n")

    def with_line(self, index: int, *instead: bytes) -> Lines:
        return partial(self._with_line, index, *instead)

    def _with_line(self, index: int, *instead: bytes) -> list[bytes]:
        return [*self.lines[:index], *instead, *self.lines[index + 1 :]]


def record_mutants(subject: Subject, baseline: Baseline) -> Iterator[Mutant]:
    """Mutants of the session that a bundle holds, and of its child sessions."""
    member = subject.manifest.session
    if not member:
        return
    file = _File(subject, member, subject.raw[member].splitlines(keepends=True))
    trees = _trees(file)
    named = {tree["payload"].get(member) for tree in trees for member in ("call_id", "parent_call_id")}
    for index, tree in enumerate(trees):
        metadata = _metadata(tree)
        if isinstance(metadata.get(EXECUTION), dict):
            yield from _execution(file, index, metadata)
        if isinstance(metadata.get(TELEMETRY), dict):
            yield from _telemetry(file, index, metadata[TELEMETRY], baseline)
        yield from _record(file, index, tree, named)
    yield from _usage(file, trees)
    yield from _lines(file, trees)
    reported = any(isinstance(_metadata(tree).get(TELEMETRY), dict) for tree in trees)
    yield from _children(subject, "" if reported else _UNREPORTED)


def _trees(file: _File) -> list[Tree]:
    """Every record decoded; none where some line is no record, so that nothing is said of a session that is broken."""
    try:
        trees = [file.tree(index) for index in range(len(file.lines))]
    except msgspec.DecodeError:
        return []
    whole = all({"event_type", "payload"} <= set(tree) and isinstance(tree["payload"], dict) for tree in trees)
    return trees if whole else []


def _metadata(tree: Tree) -> dict[str, Any]:
    result = tree["payload"].get("result") if tree["event_type"] == "tool_result" else None
    metadata = result.get("metadata") if isinstance(result, dict) else None
    return metadata if isinstance(metadata, dict) else {}


# The host's reports


def _labels(kind: CardKind, member: str) -> str:
    return next((label for label, entry in facts_of(kind).items() if entry.member == member), "")


def _execution(file: _File, index: int, metadata: dict[str, Any]) -> Iterator[Mutant]:
    def change(member: str, value: object, tree: Tree) -> None:
        tree["payload"]["result"]["metadata"][EXECUTION][member] = value

    def lose(member: str, tree: Tree) -> None:
        del tree["payload"]["result"]["metadata"][EXECUTION][member]

    def mutant(kind: str, member: str, edit: Edit, requirement: str = "") -> Mutant:
        label = _labels(CardKind.CODE_MODE, member)
        rule = requirement or (facts_of(CardKind.CODE_MODE)[label].requirement if label else "records.payload")
        said = {"where": _REPORT, "label": label, "card_kind": CardKind.CODE_MODE.value}
        return file.mutant("report-member", kind, rule, file.edited(index, edit), state=member, **said)

    report = metadata[EXECUTION]
    for member in (*COUNTS, "changed_paths_incomplete"):
        if member not in report:
            continue
        value = report[member]
        other = not value if isinstance(value, bool) else (value or 0) + 1
        yield mutant("changed", member, partial(change, member, other))
        if value is not None:
            yield mutant("null", member, partial(change, member, None))
            yield mutant("lost", member, partial(lose, member))
        yield mutant("text", member, partial(change, member, str(value)), "records.payload")
        if not isinstance(value, bool):
            yield mutant("negative", member, partial(change, member, -1), "records.payload")
    many, long = ["w"] * (bounds.WARNINGS_RETAINED + 1), ["w" * (bounds.WARNING_BYTES + 1)]
    yield mutant("33 entries", "warnings", partial(change, "warnings", many), "code-mode.warning-storage")
    yield mutant("513 bytes", "warnings", partial(change, "warnings", long), "code-mode.warning-storage")
    paths = [f"p{number}" for number in range(bounds.PATHS_REPORTED + 1)]
    yield mutant("51 entries", "changed_paths", partial(change, "changed_paths", paths), "code-mode.path-bounds")
    yield mutant(
        "another path", "changed_paths", partial(change, "changed_paths", ["elsewhere"]), "code-mode.path-bounds"
    )
    if ESTIMATE in metadata:
        entry = facts_of(CardKind.CODE_MODE)["Response token estimate"]

        def estimate(value: object, tree: Tree) -> None:
            tree["payload"]["result"]["metadata"][ESTIMATE] = value

        for kind, value in (("changed", (metadata[ESTIMATE] or 0) + 1), ("null", None), ("text", "1")):
            if value != metadata[ESTIMATE]:
                lines = file.edited(index, partial(estimate, value))
                said = {"where": _REPORT, "label": entry.label, "card_kind": CardKind.CODE_MODE.value}
                yield file.mutant("report-member", kind, entry.requirement, lines, state=ESTIMATE, **said)
    lost = file.edited(index, lambda tree: tree["payload"]["result"]["metadata"].pop(EXECUTION) and None)
    yield file.mutant("report-shape", "no execution report", "code-mode.total-calls", lost, where=_REPORT)


_USAGE = ("effective_input", "output", "cache_read", "cache_known")


def _telemetry(file: _File, index: int, report: dict[str, Any], baseline: Baseline) -> Iterator[Mutant]:
    def at(edit: Edit, tree: Tree) -> None:
        edit(tree["payload"]["result"]["metadata"][TELEMETRY])

    def shape(kind: str, requirement: str, edit: Edit) -> Mutant:
        return file.mutant("report-shape", kind, requirement, file.edited(index, partial(at, edit)), where=_REPORT)

    tasks = report["tasks"]
    for number, task in enumerate(tasks):
        for member, value in task.items():
            if member == "usage":
                continue
            yield from _task_member(file, index, (number, member, value), at, baseline)
        if isinstance(task["usage"], dict):
            yield from _task_usage(file, index, number, task["usage"], at)
    first = tasks[0]
    valid, bound, once = "task.report-validation", "task.report-bounds", "task.usage-round-trip"
    yield shape("schema version 2", bound, lambda it: it.update(schema_version=2))
    yield shape("no schema version", valid, lambda it: it.pop("schema_version") and None)
    eleven = [{**first, "index": number, "scoped_id": f"{first['scoped_id'][:-1]}{number}"} for number in range(11)]
    yield shape("eleven tasks", bound, lambda it: it.update(tasks=eleven))
    size = len(msgspec.json.encode({**report, "note": ""}))
    yield shape("65,537 bytes", bound, lambda it: it.update(note="x" * (bounds.REPORT_BYTES + 1 - size)))
    yield shape("a task lost", valid, lambda it: it["tasks"].pop() and None)
    yield shape("a task twice", valid, lambda it: it["tasks"].append(dict(it["tasks"][0])))
    yield shape("tasks no list", valid, lambda it: it.update(tasks={}))
    nine = ["read: success"] * (bounds.TASK_ACTIVITY_ENTRIES + 1)
    yield shape("nine activities", "task.activity-bound", lambda it: it["tasks"][0].update(activity=nine))
    long = ["x" * (bounds.TASK_TEXT_BYTES + 1)]
    yield shape("an activity of 241 bytes", "task.text-bounds", lambda it: it["tasks"][0].update(activity=long))
    if len(tasks) > 1:
        yield shape("two tasks of one id", valid, lambda it: it["tasks"][1].update(scoped_id=first["scoped_id"]))
        yield shape("two tasks of one index", valid, lambda it: it["tasks"][1].update(index=0))
        yield shape("intents exchanged", valid, _exchange)
    lost = file.edited(index, lambda tree: tree["payload"]["result"]["metadata"].pop(TELEMETRY) and None)
    yield file.mutant("report-shape", "no telemetry", "batch.telemetry-stored", lost, where=_REPORT)
    whole = next((task for task in tasks if isinstance(task["usage"], dict)), None)
    if whole is not None:
        place = tasks.index(whole)
        for member in ("whole_run", "latest", "latest_request_sequence", "latest_final"):
            edit = partial(_lose_usage, place, member)
            yield shape(f"usage without {member}", once, edit)
        for member in _USAGE:
            yield shape(f"usage without whole_run.{member}", once, partial(_lose_tokens, place, "whole_run", member))


def _exchange(report: Any) -> None:
    one, two = report["tasks"][:2]
    one["intent"], two["intent"] = two["intent"], one["intent"]


def _lose_usage(place: int, member: str, report: Any) -> None:
    del report["tasks"][place]["usage"][member]


def _lose_tokens(place: int, part: str, member: str, report: Any) -> None:
    del report["tasks"][place]["usage"][part][member]


At = Callable[[Edit, Tree], None]


def _task_member(file: _File, index: int, what: tuple[int, str, Any], at: At, baseline: Baseline) -> Iterator[Mutant]:
    number, member, value = what
    label = _labels(CardKind.TASK, member)
    entry = facts_of(CardKind.TASK).get(label)
    rule = entry.requirement if entry else "task.report-validation"

    def mutant(kind: str, new: object, requirement: str = rule, equivalent: str = "") -> Mutant:
        edit = partial(at, lambda it: it["tasks"][number].update({member: new}))
        said = {"where": _REPORT, "label": label, "card_kind": CardKind.TASK.value, "equivalent": equivalent}
        state = f"{member} {'null' if value is None else 'known'}"
        return file.mutant("report-member", kind, requirement, file.edited(index, edit), state=state, **said)

    why = _alone(baseline, number, label)
    if isinstance(value, bool):
        yield mutant("changed", not value, equivalent=why)
    elif isinstance(value, int):
        yield mutant("changed", value + 1, equivalent=why)
        yield mutant("text", str(value), "task.report-validation")
    elif isinstance(value, str):
        other = "unknown" if member == "outcome" and value != "unknown" else f"{value}x"
        yield mutant("changed", "success" if member == "outcome" and value == "unknown" else other, equivalent=why)
        yield mutant("number", 1, "task.report-validation")
        if member == "outcome":
            yield mutant("no outcome", "finished", "task.report-validation")
        elif member != "scoped_id":
            yield mutant("241 bytes", "x" * (bounds.TASK_TEXT_BYTES + 1), "task.text-bounds")
    if value is not None and not isinstance(value, list):
        nullable = member in ("profile", "agent", "provider", "model", "outcome")
        nullable = nullable or (isinstance(value, int) and member not in ("index", "text_limited"))
        yield mutant("null", None, rule if nullable else "task.report-validation", why if nullable else "")
    if isinstance(value, list):
        yield mutant("one more", [*value, "read: success"], "task.task-activity-count")
        yield mutant("no list", "read", "task.report-validation")
    lost = file.edited(index, partial(at, lambda it: it["tasks"][number].pop(member) and None))
    said = {"where": _REPORT, "label": label, "card_kind": CardKind.TASK.value, "state": member}
    yield file.mutant("report-member", "lost", "task.report-validation", lost, **said)


def _alone(baseline: Baseline, number: int, label: str) -> str:
    """Why another value in the report would not show: no surface was read that says the same fact."""
    rows = [
        row for (card, name, _), row in baseline.rows.items() if name == label and card.endswith(f"/task{number + 1}")
    ]
    shown = any(_shown(row) for row in rows)
    return "" if shown or not rows else "no surface shows the fact, and nothing else derives it"


def _shown(row: FactRow) -> bool:
    return any(cell.readings and cell.agreement.value != "not_comparable" for cell in row.cells.values())


def _task_usage(file: _File, index: int, number: int, usage: dict[str, Any], at: At) -> Iterator[Mutant]:
    def mutant(kind: str, member: str, edit: Edit, requirement: str = "") -> Mutant:
        label = _labels(CardKind.TASK, f"usage.{member}")
        rule = requirement or (facts_of(CardKind.TASK)[label].requirement if label else "task.usage-round-trip")
        said = {"where": _REPORT, "label": label, "card_kind": CardKind.TASK.value, "state": member}
        return file.mutant("report-member", kind, rule, file.edited(index, partial(at, edit)), **said)

    def of(report: Any) -> Any:
        return report["tasks"][number]["usage"]

    for part in ("whole_run", "latest"):
        tokens = usage.get(part)
        if not isinstance(tokens, dict):
            continue
        for member, value in tokens.items():
            if member not in _USAGE or (member == "cache_read" and not tokens["cache_known"]):
                continue
            name = f"{part}.{member}"
            new = not value if isinstance(value, bool) else value + 1
            tokens_of = partial(_tokens, of, part)
            yield mutant("changed", name, partial(_update, tokens_of, {member: new}))
            yield mutant("null", name, partial(_update, tokens_of, {member: None}), "task.usage-round-trip")
            yield mutant("lost", name, partial(_lose, tokens_of, member), "task.usage-round-trip")
    sequence = usage["latest_request_sequence"]
    edit = partial(_update, of, {"latest_request_sequence": sequence + 1})
    yield mutant("changed", "latest_request_sequence", edit)
    yield mutant("changed", "latest_final", partial(_update, of, {"latest_final": not usage["latest_final"]}))

    def no_usage(report: Any) -> None:
        report["tasks"][number]["usage"] = None

    said = {"where": _REPORT, "label": "Usage provenance", "card_kind": CardKind.TASK.value}
    lines = file.edited(index, partial(at, no_usage))
    yield file.mutant("report-member", "null", "task.usage-provenance", lines, state="usage", **said)


def _tokens(of: Callable[[Any], Any], part: str, report: Any) -> Any:
    return of(report)[part]


def _lose(of: Callable[[Any], Any], member: str, report: Any) -> None:
    del of(report)[member]


def _update(of: Callable[[Any], Any], members: dict[str, Any], report: Any) -> None:
    of(report).update(members)


# Nested records and calls


def _record(file: _File, index: int, tree: Tree, named: set[str | None]) -> Iterator[Mutant]:
    """Mutants of one record. `named`: the ids of calls that results and nested records name."""
    kind = tree["event_type"]

    def mutant(what: str, requirement: str, lines: Lines, equivalent: str = "") -> Mutant:
        return file.mutant("nested-record", what, requirement, lines, where=_NESTED, state=kind, equivalent=equivalent)

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
            if EXECUTION in _metadata(tree) or TELEMETRY in _metadata(tree):
                yield mutant("lost", "acceptance.no-promotion", file.with_line(index))
            if EXECUTION in _metadata(tree):
                flipped = {**result, "success": not result["success"]}
                yield payload("other success", "code-mode.script-outcome", result=flipped)
        case "subagent_session":
            yield mutant("lost", "records.child-file", file.with_line(index))
            yield payload("of another child", "records.child-file", session_id=_NO_ID)
        case "user_input":
            yield mutant("lost", "records.turn", file.with_line(index))


def _usage(file: _File, trees: list[Tree]) -> Iterator[Mutant]:
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
            label = _labels(CardKind.TASK, f"usage.whole_run.{member}")
            rule = facts_of(CardKind.TASK)[label].requirement
            yield file.mutant("usage-snapshot", f"{member} changed", rule, lines, where=_NESTED)
        for kind, requirement, edit in (
            ("of another task", "task.task-execution-identity", lambda tree: tree["payload"].update(id="x/activity/y")),
            ("not final", "task.usage-latest-final", lambda tree: tree["payload"].update(final_usage=False)),
            ("sequence changed", "task.usage-latest-request-sequence", _later),
            ("without a member", "records.payload", lambda tree: tree["payload"]["usage"].pop("output") and None),
        ):
            yield file.mutant("usage-snapshot", kind, requirement, file.edited(index, edit), where=_NESTED)


def _more_tokens(member: str, tree: Tree) -> None:
    tree["payload"]["usage"][member] += 1


def _later(tree: Tree) -> None:
    tree["payload"]["request_sequence"] += 1


# Lines


def _lines(file: _File, trees: list[Tree]) -> Iterator[Mutant]:
    """What a line of a session can be beside a record, tried on one that carries facts."""
    if not trees:
        return
    index = next((i for i, tree in enumerate(trees) if tree["event_type"] == "tool_call"), 0)
    line = file.lines[index]

    def mutant(kind: str, requirement: str, lines: Lines) -> Mutant:
        return file.mutant("record-line", kind, requirement, lines)

    yield mutant("cut in the middle", "records.line-json", file.with_line(index, line[: len(line) // 2] + b"\n"))
    yield mutant("the last cut", "records.line-cut", lambda: [*file.lines[:-1], file.lines[-1][:-9]])
    doubled = line.replace(b'"event_type":', b'"event_type":"tool_call","event_type":', 1)
    yield mutant("a member twice", "records.line-duplicate-key", file.with_line(index, doubled))
    yield mutant("no UTF-8", "records.line-utf8", file.with_line(index, line[:20] + b"\xff" + line[20:]))
    yield mutant(
        "NaN", "records.line-json", file.with_line(index, line.replace(b'"payload":{', b'"payload":{"n":NaN,', 1))
    )
    yield mutant("no payload", "records.envelope", file.edited(index, lambda tree: tree.pop("payload") and None))
    yield mutant(
        "of another session", "records.session-id", file.edited(index, lambda tree: tree.update(session_id=_NO_ID))
    )
    if "event_id" in trees[index]:
        taken = trees[0]["event_id"]
        yield mutant(
            "an event id twice", "records.event-id", file.edited(index, lambda tree: tree.update(event_id=taken))
        )
    yield mutant("empty", "records.line-json", file.with_line(index, b"\n", line))
    yield mutant("no lines at all", "acceptance.saved-confirms", list)
    later = file.edited(index, lambda tree: tree.update(timestamp="2030-01-01T00:00:00Z"))
    yield file.mutant("no-fact", "written later", "acceptance.no-substitute", later, equivalent=_TIME)


# Child sessions


def _children(subject: Subject, uncounted: str) -> Iterator[Mutant]:
    """`uncounted`: why no fact counts the calls of children, "" when some do."""
    for member in subject.manifest.children:
        file = _File(subject, member, subject.raw[member].splitlines(keepends=True))
        trees = _trees(file)

        def mutant(kind: str, requirement: str, lines: Lines, why: str = "", file: _File = file) -> Mutant:
            return file.mutant("child-session", kind, requirement, lines, where=_NESTED, equivalent=why)

        lost = partial(subject.with_members, {}, (member,))
        yield Mutant("child-session", "lost", "records.child-file", _NESTED, examine=lost)
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
    return [msgspec.json.encode({**tree, "session_id": _NO_ID}) + b"\n" for tree in trees]


def _payload(members: dict[str, Any], tree: Tree) -> None:
    tree["payload"].update(members)
