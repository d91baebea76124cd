"""How often each wire rule met something that it is about: a rule that no capture gave a case of was not observed.

A breach says that a rule is broken; its absence says nothing unless there was something to break. What is counted for
a rule is what its check looks at, as the table says: frames, snapshots, cards, blocks, rows, runs, pages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from harness.model.facts import CardKind
from harness.spec.facts import FactType, facts_of
from harness.wire.capture import Direction, Line
from harness.wire.events import ActivityEvent, MessageReconcile, ToolCard
from harness.wire.factrows import kind_of
from harness.wire.fold import Snapshot
from harness.wire.frames import Frame, Request
from harness.wire.reading import Reading
from harness.wire.relations import parent_of
from harness.wire.runs import Run
from harness.wire.shapes import Card, Children, Diff, Progress, Results

_BYTES_BOUNDED = ("Warning", "Task activity")
"""Preview rows whose bytes are bounded; the catalogue's bound of a preview is how many there are."""
_BOUNDED = {
    kind: frozenset(
        label
        for label, entry in facts_of(kind).items()
        if entry.type is FactType.TEXT and (label in _BYTES_BOUNDED if entry.repeated else entry.bound is not None)
    )
    for kind in CardKind
}
_PREVIEWS = {kind: frozenset(label for label, entry in facts_of(kind).items() if entry.repeated) for kind in CardKind}


@dataclass(slots=True, kw_only=True)
class Counted:
    """What a capture held. Frames are those of the product; `cards` are all snapshots, live and saved."""

    requests: int = 0
    initializations: int = 0
    frames: int = 0
    responses: int = 0
    events: int = 0
    activities: int = 0
    message_parts: int = 0
    cards: int = 0
    snapshots: int = 0
    """Of live cards."""
    later_snapshots: int = 0
    """Of live cards that had one before."""
    finished_before: int = 0
    """Snapshots of live cards of which an earlier one was finished."""
    named: int = 0
    """Cards with a text in their metadata."""
    omitting: int = 0
    cores: int = 0
    """Cards that omit their title and blocks: nothing but their core is left."""
    blocks: int = 0
    diff_lines: int = 0
    progress: int = 0
    """Blocks with a known number out of a known total."""
    child_totals: int = 0
    children_left_out: int = 0
    """Blocks whose known total is more than they display."""
    fact_rows: int = 0
    fact_values: int = 0
    fact_texts: int = 0
    """Known values of bounded texts."""
    fact_cards: int = 0
    preview_cards: int = 0
    children: int = 0
    """References of folded cards."""
    parents: int = 0
    """Folded cards with an available parent."""
    runs: int = 0
    runs_with_activity: int = 0
    runs_ended: int = 0
    cards_of_ended_runs: int = 0
    pages: int = 0
    pages_again: int = 0
    entries: int = 0
    saved_activities: int = 0
    saved_cards: int = 0


CASES: Final[dict[str, str]] = {
    "wire.frame-bytes": "frames",
    "wire.frame-json": "frames",
    "wire.json-depth": "frames",
    "wire.envelope": "frames",
    "wire.schema": "events",
    "wire.schema-version": "cards",
    "wire.exact-members": "events",
    "wire.unknown-event": "events",
    "wire.descriptor": "initializations",
    "wire.request": "requests",
    "wire.card-bytes": "cards",
    "wire.core-bytes": "cores",
    "wire.card-identity": "cards",
    "wire.id-grammar": "activities",
    "wire.outcome-state": "cards",
    "wire.parent-state": "cards",
    "wire.detail-reason": "cards",
    "wire.omission-subjects": "omitting",
    "wire.title-bytes": "cards",
    "wire.metadata-bytes": "named",
    "wire.blocks": "cards",
    "wire.block-size": "blocks",
    "wire.text-bytes": "blocks",
    "wire.progress": "progress",
    "wire.children-total": "child_totals",
    "wire.children-omitted": "children_left_out",
    "wire.diff-lines": "diff_lines",
    "wire.fact-outcome": "fact_rows",
    "wire.fact-label": "fact_rows",
    "wire.fact-repeated": "fact_cards",
    "wire.fact-spelling": "fact_values",
    "wire.fact-bytes": "fact_texts",
    "wire.fact-rows": "preview_cards",
    "wire.seq": "frames",
    "wire.one-instance": "frames",
    "wire.response": "responses",
    "wire.admission": "runs",
    "wire.input-first": "runs_with_activity",
    "wire.activity-first": "snapshots",
    "wire.single-part": "snapshots",
    "wire.origin": "cards",
    "wire.revision": "snapshots",
    "wire.finished-stays": "finished_before",
    "wire.facts-stay": "later_snapshots",
    "wire.parent-known": "parents",
    "wire.hierarchy": "parents",
    "wire.task-scope": "parents",
    "wire.children-known": "children",
    "wire.final-snapshot": "cards_of_ended_runs",
    "wire.run-terminal": "runs_ended",
    "wire.message-parts": "message_parts",
    "wire.run-budget": "runs",
    "wire.page-bytes": "pages",
    "wire.page-entries": "pages",
    "wire.page-chain": "pages",
    "wire.page-repeat": "pages_again",
    "wire.entry-parts": "entries",
    "wire.attachment": "saved_activities",
    "wire.saved-card": "saved_cards",
}
"""Wire rule to the member of `Counted` whose things its check looks at."""


class Cases:
    """Counts while a capture is read: hand `take` to `read_capture` as its watch, then ask `of` for the numbers."""

    def __init__(self) -> None:
        self._counted = Counted()
        self._finished: dict[tuple[str, str], bool] = {}
        """Live cards by run and activity: whether a snapshot of them was finished."""
        self._asked: set[bytes] = set()

    def take(self, line: Line, frame: Request | Frame | None) -> None:
        """Count what one line holds."""
        if isinstance(frame, Request):
            self._request(frame)
        elif line.direction is Direction.FROM_PRODUCT:
            self._counted.frames += 1
            if frame is not None and frame.response is not None:
                self._counted.responses += 1
            elif frame is not None:
                self._event(frame)

    def of(self, reading: Reading) -> dict[str, int]:
        """Rule id to the number of its cases in the capture that was read; rules without any are left out."""
        counted = self._counted
        for run in reading.runs:
            self._run(run)
        for history in reading.histories:
            counted.pages += len(history.pages)
            counted.entries += len(history.entries)
            counted.saved_activities += sum(entry.kind == "activity" for entry in history.entries)
            saved = [entry.snapshot for entry in history.entries if entry.snapshot is not None]
            counted.saved_cards += len(saved)
            for snapshot in saved:
                self._card(snapshot.card)
            self._relations(saved)
        found = {rule: int(getattr(counted, name)) for rule, name in CASES.items()}
        return {rule: number for rule, number in found.items() if number}

    def _request(self, request: Request) -> None:
        self._counted.requests += 1
        if request.method == "initialize":
            self._counted.initializations += 1
        elif request.method == "history.page":
            text = bytes(request.params)
            self._counted.pages_again += text in self._asked
            self._asked.add(text)

    def _event(self, frame: Frame) -> None:
        counted, data = self._counted, frame.data
        counted.events += 1
        if isinstance(data, ToolCard):
            if data.card is not None:
                self._snapshot(data, data.card)
        elif isinstance(data, ActivityEvent):
            counted.activities += 1
        elif isinstance(data, MessageReconcile):
            counted.message_parts += 1

    def _snapshot(self, data: ToolCard, card: Card) -> None:
        counted = self._counted
        key = (data.run_id, data.activity_id)
        finished = self._finished.get(key)
        counted.snapshots += 1
        if finished is not None:
            counted.later_snapshots += 1
            counted.finished_before += finished
        if not finished:
            self._finished[key] = card.state == "finished"
        self._card(card)

    def _card(self, card: Card) -> None:
        counted, metadata = self._counted, card.metadata
        counted.cards += 1
        if metadata.tool_name or metadata.resource_path or metadata.working_directory:
            counted.named += 1
        if card.omissions:
            counted.omitting += 1
            counted.cores += {"title", "blocks"} <= {item.subject for item in card.omissions}
        counted.blocks += len(card.blocks)
        kind = kind_of(card)
        labels: list[str] = []
        for block in card.blocks:
            if type(block) is Results:
                if kind is not None:
                    labels += self._rows(block, kind)
            elif type(block) is Children:
                if block.total is not None:
                    counted.child_totals += 1
                    counted.children_left_out += block.total > len(block.children)
            elif type(block) is Diff:
                counted.diff_lines += len(block.lines)
            elif type(block) is Progress:
                counted.progress += block.completed is not None and block.total is not None
        if kind is not None and labels:
            counted.fact_cards += 1
            counted.preview_cards += not _PREVIEWS[kind].isdisjoint(labels)

    def _rows(self, block: Results, kind: CardKind) -> list[str]:
        counted, bounded = self._counted, _BOUNDED[kind]
        known = [row.label for row in block.rows if row.value is not None]
        counted.fact_rows += len(block.rows)
        counted.fact_values += len(known)
        counted.fact_texts += sum(label in bounded for label in known)
        return [row.label for row in block.rows]

    def _run(self, run: Run) -> None:
        counted = self._counted
        snapshots = [activity.snapshot for activity in run.activities.values() if activity.snapshot is not None]
        counted.runs += 1
        counted.runs_with_activity += bool(run.activities)
        if run.finished is not None:
            counted.runs_ended += 1
            counted.cards_of_ended_runs += len(snapshots)
        self._relations(snapshots)

    def _relations(self, snapshots: Iterable[Snapshot]) -> None:
        for held in snapshots:
            self._counted.parents += parent_of(held) is not None
            self._counted.children += sum(
                len(block.children) for block in held.card.blocks if isinstance(block, Children)
            )
