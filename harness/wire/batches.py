"""Live batches as they go: whether the snapshots of a batch keep up with the starts and ends of its tasks.

Source: card-facts.md, "Subagent batches", the sentence on live batch snapshots (``batch.live-snapshots``). A task
starts and ends where its base activity says so. After a start some snapshot counts the task in before it ends; after
an end some snapshot no longer counts it as running. Totals never change, and settled tasks stay settled.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from harness.model.facts import CardKind
from harness.wire.breaches import Breach, Key
from harness.wire.capture import Line
from harness.wire.events import ActivityEvent, ToolCard
from harness.wire.factrows import fact_rows, kind_of
from harness.wire.frames import Frame, Request
from harness.wire.locate import Locator
from harness.wire.reading import Reading
from harness.wire.relations import parent_of
from harness.wire.runs import CARD
from harness.wire.shapes import Card

RULE: Final = "batch.live-snapshots"
_SETTLED = ("Tasks done", "Tasks failed", "Tasks cancelled")


class _Event(NamedTuple):
    """A task's base activity starts, or ends. `starts`, `completed`, `failed` count those of its batch up to here."""

    task: str
    state: str
    at: Line
    starts: int
    completed: int
    failed: int

    @property
    def ends(self) -> int:
        return self.completed + self.failed


class _Counts(NamedTuple):
    """One snapshot of a batch with known counts; `pointers` lead to their rows."""

    at: Line
    counts: dict[str, int]
    pointers: dict[str, str]

    @property
    def settled(self) -> int:
        return sum(self.counts[label] for label in _SETTLED)


class _Batch(NamedTuple):
    """`whole`: the run was seen to its end, so that a snapshot which was not seen was not sent."""

    key: Key
    events: list[_Event]
    snapshots: list[_Counts]
    whole: bool


class Batches:
    """Watches a capture: hand `take` to `read_capture` as its watch, then ask `judge` for what is wrong."""

    def __init__(self) -> None:
        self._states: list[tuple[ActivityEvent, Line]] = []
        self._snapshots: dict[Key, list[_Counts]] = {}

    def take(self, line: Line, frame: Request | Frame | None) -> None:
        """Keep what one line says of tasks and batches."""
        if not isinstance(frame, Frame):
            return
        data = frame.data
        if isinstance(data, ToolCard):
            if data.card is not None and data.card.tool_kind == "subagent":
                self._card(Key(data.run_id, data.activity_id), data.card, line)
        elif isinstance(data, ActivityEvent) and data.kind == "subagent":
            self._states.append((data, line))

    def judge(self, reading: Reading) -> tuple[tuple[Breach, ...], int]:
        """What breaks the rule, and on how many starts and ends of tasks it was tried."""
        breaches: list[Breach] = []
        cases = 0
        for batch in self._batches(reading):
            breaches += _unsteady(batch)
            for event in batch.events:
                fault = _unpublished(batch, event)
                if fault is not None and not batch.whole and _end(batch, event) is None:
                    continue  # the capture ends before the snapshot was due
                cases += 1
                if fault is not None:
                    breaches.append(_breach(batch.key, event.state, *fault, at=event.at, pointer="/event"))
        return tuple(breaches), cases

    def _card(self, key: Key, card: Card, line: Line) -> None:
        if kind_of(card) is not CardKind.SUBAGENT_BATCH:
            return
        rows = list(fact_rows(card, CardKind.SUBAGENT_BATCH))
        counts = {row.entry.label: int(row.row.value) for row in rows if row.row.value and _is_count(row.row.value)}
        if {"Tasks total", "Tasks running", *_SETTLED} <= counts.keys():
            pointers = {row.entry.label: f"{CARD}{row.pointer}/value" for row in rows}
            self._snapshots.setdefault(key, []).append(_Counts(line, counts, pointers))

    def _batches(self, reading: Reading) -> Iterator[_Batch]:
        for run in reading.runs:
            parents = {
                activity.id: parent_of(activity.snapshot)
                for activity in run.activities.values()
                if activity.snapshot is not None and kind_of(activity.snapshot.card) is CardKind.TASK
            }
            batches: dict[str, list[_Event]] = {}
            for data, line in self._states:
                parent = parents.get(data.activity_id) if data.run_id == run.id else None
                if parent is not None:
                    events = batches.setdefault(parent, [])
                    events.append(_next(events, data, line))
            for activity, events in batches.items():
                key = Key(run.id, activity)
                yield _Batch(key, events, self._snapshots.get(key, []), run.finished is not None)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _next(events: list[_Event], data: ActivityEvent, line: Line) -> _Event:
    starts, completed, failed = events[-1][3:] if events else (0, 0, 0)
    state = data.state
    return _Event(
        data.activity_id,
        state,
        line,
        starts + (state == "started"),
        completed + (state == "completed"),
        failed + (state == "failed"),
    )


def _end(batch: _Batch, event: _Event) -> int | None:
    """The line in which the task of a start ends: then its snapshot is overdue. None for ends, and when it goes on."""
    if event.state != "started":
        return None
    later = (other for other in batch.events if other.task == event.task and other.state != "started")
    return next((other.at.number for other in later if other.at.number > event.at.number), None)


def _unpublished(batch: _Batch, event: _Event) -> tuple[str, str] | None:
    """What was expected and seen when no snapshot publishes the event; None when one does."""
    end = _end(batch, event)
    seen = "no snapshot of the batch with counts"
    for snapshot in batch.snapshots:
        line = snapshot.at.number
        if line < event.at.number or (end is not None and line > end):
            continue
        before = [other for other in batch.events if other.at.number < line][-1]
        if _publishes(snapshot, event, before):
            return None
        seen = f"{snapshot.counts['Tasks running']} running and {snapshot.settled} settled in the last of its snapshots"
    if event.state == "started":
        return f"a snapshot that counts {event.starts} started tasks before this one ends", seen
    return f"a snapshot that counts {event.ends} ended tasks", seen


def _publishes(snapshot: _Counts, event: _Event, before: _Event) -> bool:
    """Whether a snapshot counts the event in; `before` is the last event that it could know of.

    A task that failed may count as failed, cancelled or unknown, so that it need not be among the settled ones.
    """
    running = snapshot.counts["Tasks running"]
    if event.state == "started":
        return running >= 1 and running + snapshot.settled + before.failed >= event.starts
    return running <= before.starts - before.ends and snapshot.counts["Tasks done"] >= event.completed


def _unsteady(batch: _Batch) -> Iterator[Breach]:
    """Totals that change and settled counts that shrink from one snapshot to the next."""
    for earlier, now in pairwise(batch.snapshots):
        for label in ("Tasks total", *_SETTLED):
            was, is_ = earlier.counts[label], now.counts[label]
            if is_ < was or (label == "Tasks total" and is_ != was):
                expected = f"{was} as before" if label == "Tasks total" else f"at least {was} as before"
                yield _breach(batch.key, label, expected, str(is_), at=now.at, pointer=now.pointers[label])


def _breach(key: Key, label: str, expected: str, observed: str, *, at: Line, pointer: str) -> Breach:
    return Breach(
        rule=RULE,
        key=key,
        label=label,
        expected=expected,
        observed=observed,
        line=at.number,
        pointer=pointer,
        offset=Locator(at.text).offset(pointer),
        times=1,
    )
