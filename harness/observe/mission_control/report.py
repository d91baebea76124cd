"""The host's report as *Selected Activity Detail* prints it, member by member, as readings of fact labels.

Only what is printed is read: a member that says ``null`` is null, a member that is not there says nothing. Retained
warnings and paths are storage, not displayed rows, and are left alone. Two things are counted rather than copied,
because the window shows the whole list they count: a batch's tasks by outcome (clause "Subagent batches"), and a
task's activity entries together with its count of omitted ones (clause "Tasks").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from harness.model.facts import CardKind
from harness.model.values import (
    NULL,
    NotComparable,
    Reading,
    Reason,
    known,
    unreadable,
)
from harness.observe.mission_control.detail import Detail, Metadata
from harness.observe.mission_control.jsontext import Json
from harness.observe.mission_control.seen import GARBLED, NOT_DECODED, Seen, number
from harness.observe.mission_control.text import EMPTY, WIDE_DOUBT, Text
from harness.spec.facts import facts_of

_VIA = "metadata"
_EXECUTION = ("metadata", "code_mode_execution")
_TASKS = ("metadata", "subagent_telemetry", "tasks")
_QUALIFIERS = {"true": "at_least", "false": "exact"}
_CACHE_COUNTS = {
    "Usage cache read tokens": ("usage", "whole_run", "cache_known"),
    "Usage latest cache read tokens": ("usage", "latest", "cache_known"),
}
_BATCH_COUNTS = {
    "Tasks done": ("success",),
    "Tasks failed": ("failure",),
    "Tasks running": ("running",),
    "Tasks unknown": ("unknown", ""),
    "Tasks cancelled": ("cancelled",),
}
_OUTCOMES = frozenset(outcome for outcomes in _BATCH_COUNTS.values() for outcome in outcomes)
_SCALARS = frozenset({"string", "number", "true", "false"})
_SCRIPT_STATUS = {
    "SUCCESS": "success",
    "FAILED": "failure",
    "CANCELED": "cancelled",
    "INTERRUPTED": "interrupted",
    "RUNNING": "running",
    "WRITING": "running",
}
_TASK_STATUS = {word: outcome for word, outcome in _SCRIPT_STATUS.items() if outcome != "interrupted"}
_CUT = NotComparable(
    reason=Reason.CAPTURE_CUT, detail="the capture shows the metadata only down to a point before this member"
)


def status_facts(detail: Detail) -> Iterator[Seen]:
    """The outcome that the window's status word says, where it says one."""
    label, words = {
        CardKind.CODE_MODE: ("Script outcome", _SCRIPT_STATUS),
        CardKind.TASK: ("Task outcome", _TASK_STATUS),
    }.get(detail.kind or CardKind.SUBAGENT_BATCH, ("", {}))
    if (outcome := words.get(detail.status.string)) is not None:
        yield Seen(label, known(outcome), "line", detail.status)


def script_facts(metadata: Metadata) -> Iterator[Seen]:
    """Facts of a Code Mode card."""
    for label, entry in facts_of(CardKind.CODE_MODE).items():
        if entry.member:
            yield from _scalar(metadata, label, metadata.value, (*_EXECUTION, entry.member))
    yield from _scalar(
        metadata, "Response token estimate", metadata.value, ("metadata", "code_mode_response_token_estimate")
    )
    yield from _scalar(metadata, "Execution persistence", metadata.value, ("metadata", "telemetry_persistence"))


def batch_facts(metadata: Metadata) -> Iterator[Seen]:
    """Facts of a batch card, counted over the displayed tasks."""
    tasks, whole = _walk(metadata.value, _TASKS)
    labels = ("Tasks total", *_BATCH_COUNTS)
    if tasks is None or tasks.kind != "array" or tasks.cut:
        if tasks is None and whole:
            return
        value: Reading = _CUT if tasks is None or tasks.cut else unreadable(f"tasks is {_a(tasks)}, not a list")
        yield from (Seen(label, value, _VIA) for label in labels)
        return
    place = _text(metadata, tasks)
    outcomes = Counter(_outcome(task) for task in tasks.items)
    yield Seen("Tasks total", known(len(tasks.items)), _VIA, place)
    strange = sorted(outcome for outcome in outcomes if outcome not in _OUTCOMES)
    for label, counted in _BATCH_COUNTS.items():
        value = (
            unreadable(f"a task's outcome is {strange[0]}")
            if strange
            else known(sum(outcomes[outcome] for outcome in counted))
        )
        yield Seen(label, value, _VIA, place)


def task_facts(metadata: Metadata, ordinal: int) -> Iterator[Seen]:
    """Facts of the batch's task with the 1-based `ordinal`."""
    tasks, whole = _walk(metadata.value, _TASKS)
    if tasks is None or tasks.kind != "array" or len(tasks.items) < ordinal:
        if not whole or (tasks is not None and tasks.cut):
            yield from (Seen(label, _CUT, _VIA) for label, entry in facts_of(CardKind.TASK).items() if entry.member)
        return
    task = tasks.items[ordinal - 1]
    for label, entry in facts_of(CardKind.TASK).items():
        if not entry.member:
            continue
        accounting = _walk(task, _CACHE_COUNTS[label])[0] if label in _CACHE_COUNTS else None
        if accounting is not None and accounting.kind == "false":
            yield Seen(label, NULL, _VIA, _text(metadata, accounting))  # a count without accounting is no count
        else:
            yield from _scalar(metadata, label, task, tuple(entry.member.split(".")))
    yield from _activity_count(metadata, task)


def _activity_count(metadata: Metadata, task: Json) -> Iterator[Seen]:
    entries, _ = _walk(task, ("activity",))
    omitted, _ = _walk(task, ("activity_omitted",))
    if entries is None or omitted is None or entries.kind != "array" or entries.cut:
        return
    if omitted.kind == "null":
        yield Seen("Task activity count", NULL, _VIA, _text(metadata, omitted))
    elif omitted.kind == "number" and (count := number(omitted.text)) is not None:
        yield Seen("Task activity count", known(len(entries.items) + count), _VIA, _text(metadata, omitted))


def _outcome(task: Json) -> str:
    """A task's outcome, "" for null; a description of anything that is no outcome."""
    outcome, _ = _walk(task, ("outcome",))
    if outcome is None:
        return "missing"
    if outcome.kind == "null":
        return ""
    return outcome.text if outcome.kind == "string" and outcome.text else _a(outcome)


def _walk(value: Json, path: tuple[str, ...]) -> tuple[Json | None, bool]:
    """The value at a path, or None with whether everything it could have been in is there whole.

    A null on the way is the value: what would be in it is null too. Anything else on the way that holds no members is
    returned as what it is, which no reader takes for a value.
    """
    for name in path:
        if value.kind == "null":
            return value, True
        if value.kind != "object":
            return value._replace(kind=f"{value.kind} where an object belongs"), True
        if name in value.twice:
            return value.members[name]._replace(kind="member that stands twice"), True
        following = value.members.get(name)
        if following is None:
            return None, not value.cut
        value = following
    return value, True


def _scalar(metadata: Metadata, label: str, start: Json, path: tuple[str, ...]) -> Iterator[Seen]:
    value, whole = _walk(start, path)
    if value is None:
        if not whole:
            yield Seen(label, _CUT, _VIA)
        return
    text = _text(metadata, value)
    if value.kind == "null":
        yield Seen(label, NULL, _VIA, text)
    elif value.kind not in _SCALARS:
        yield Seen(label, unreadable(f"{path[-1]} is {_a(value)}"), _VIA, text)
    elif value.kind == "string" and any(value.start <= doubt < value.end for doubt in metadata.doubts):
        yield Seen(label, NotComparable(reason=Reason.UNREADABLE, detail=WIDE_DOUBT), _VIA, text)
    elif GARBLED in value.text:
        yield Seen(label, unreadable(NOT_DECODED), _VIA, text)
    elif label == "Change count qualifier":
        qualifier = _QUALIFIERS.get(value.kind)
        yield Seen(label, known(qualifier) if qualifier else unreadable(f"{path[-1]} is {_a(value)}"), _VIA, text)
    else:
        yield Seen(label, known(value.text), _VIA, text)


def _text(metadata: Metadata, value: Json) -> Text:
    """Where a value stands; of a value on several rows, its first row."""
    text = metadata.text.cut(value.start, value.end)
    return text if text.string else EMPTY


def _a(value: Json) -> str:
    return {"null": "null", "true": "true", "false": "false"}.get(value.kind, f"a JSON {value.kind}")
