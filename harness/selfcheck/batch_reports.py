"""Mutants of the report that the host saved of a subagent batch: its tasks, their members and their usage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec

from harness.model.facts import CardKind
from harness.model.verdict import FactRow
from harness.project.telemetry import TELEMETRY
from harness.selfcheck.frames import Tree
from harness.selfcheck.mutant import Baseline, Mutant
from harness.selfcheck.saved_session import REPORT, Edit, SavedSession, label_of
from harness.spec import bounds
from harness.spec.facts import facts_of

_USAGE = ("effective_input", "output", "cache_read", "cache_known")
At = Callable[[Edit, Tree], None]


def batch_report(file: SavedSession, index: int, report: dict[str, Any], baseline: Baseline) -> Iterator[Mutant]:
    """Mutants of the telemetry `report` in the metadata of the result on line `index`, 0-based."""

    def at(edit: Edit, tree: Tree) -> None:
        edit(tree["payload"]["result"]["metadata"][TELEMETRY])

    def shape(kind: str, requirement: str, edit: Edit) -> Mutant:
        return file.mutant("report-shape", kind, requirement, file.edited(index, partial(at, edit)), where=REPORT)

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
    yield file.mutant("report-shape", "no telemetry", "batch.telemetry-stored", lost, where=REPORT)
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


def _task_member(
    file: SavedSession, index: int, what: tuple[int, str, Any], at: At, baseline: Baseline
) -> Iterator[Mutant]:
    number, member, value = what
    label = label_of(CardKind.TASK, member)
    entry = facts_of(CardKind.TASK).get(label)
    rule = entry.requirement if entry else "task.report-validation"

    def mutant(kind: str, new: object, requirement: str = rule, equivalent: str = "") -> Mutant:
        edit = partial(at, lambda it: it["tasks"][number].update({member: new}))
        said = {"where": REPORT, "label": label, "card_kind": CardKind.TASK.value, "equivalent": equivalent}
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
    said = {"where": REPORT, "label": label, "card_kind": CardKind.TASK.value, "state": member}
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


def _task_usage(file: SavedSession, index: int, number: int, usage: dict[str, Any], at: At) -> Iterator[Mutant]:
    def mutant(kind: str, member: str, edit: Edit, requirement: str = "") -> Mutant:
        label = label_of(CardKind.TASK, f"usage.{member}")
        rule = requirement or (facts_of(CardKind.TASK)[label].requirement if label else "task.usage-round-trip")
        said = {"where": REPORT, "label": label, "card_kind": CardKind.TASK.value, "state": member}
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

    said = {"where": REPORT, "label": "Usage provenance", "card_kind": CardKind.TASK.value}
    lines = file.edited(index, partial(at, no_usage))
    yield file.mutant("report-member", "null", "task.usage-provenance", lines, state="usage", **said)


def _tokens(of: Callable[[Any], Any], part: str, report: Any) -> Any:
    return of(report)[part]


def _lose(of: Callable[[Any], Any], member: str, report: Any) -> None:
    del of(report)[member]


def _update(of: Callable[[Any], Any], members: dict[str, Any], report: Any) -> None:
    of(report).update(members)
