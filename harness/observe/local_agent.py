"""The facts that the local agent published: live from the events of its runs, reopened from its saved history.

Fact rows stand in the `results` blocks of cards (card-facts.md, opening paragraph). A row that is not there is not
listed: whoever compares knows which labels a card can have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.model.facts import CardFacts, Column, ColumnFacts, Fact, Omission, Place, Problem
from harness.model.values import NULL, NotComparable, Reason, known
from harness.observe.moments import Moment, TimelineEvent, moments_of
from harness.wire import governed
from harness.wire.batches import RULE as LIVE_SNAPSHOTS
from harness.wire.batches import Batches
from harness.wire.breaches import Breach, Key
from harness.wire.capture import Line
from harness.wire.cases import Cases
from harness.wire.factrows import fact_rows, kind_of
from harness.wire.fold import Snapshot
from harness.wire.frames import Frame, Request
from harness.wire.locate import Locator, locator
from harness.wire.pages import History
from harness.wire.reading import Reading, read_capture
from harness.wire.runs import Run
from harness.wire.shapes import Children
from harness.wire.tree import Standing, declared, paths

UNPLACED = "unplaced"
"""Stands in `CardFacts.children` for a reference to a card that the capture does not show."""


def live(capture: bytes, *, file: str, complete: bool, turns_before: int = 0) -> ColumnFacts:
    """`Live.facts` of a capture that nothing else is asked of."""
    return Live(capture, turns_before=turns_before).facts(file=file, complete=complete)


def timeline(capture: bytes, *, turns_before: int = 0) -> tuple[TimelineEvent, ...]:
    """`Live.timeline` of a capture that nothing else is asked of."""
    return Live(capture, turns_before=turns_before, timed=True).timeline()


class Live:
    """A live capture, read once.

    `turns_before` is the number of turns that the session had before, for a capture that goes on with a session
    without paging its history first. `timed`: keep the moments of which `timeline` is made. Raises DecodeError when
    the bytes are no capture.
    """

    def __init__(self, capture: bytes, *, turns_before: int = 0, timed: bool = False) -> None:
        self._moments: list[Moment] | None = [] if timed else None
        self._watched = _Watched(capture, self._moments)
        self._places = _places(self._watched.reading, turns_before)

    def facts(self, *, file: str, complete: bool) -> ColumnFacts:
        """What the runs published: the final folded card of every activity.

        `file` is the bundle member; `complete` what its manifest says of the capture. History that the same process
        pages afterwards adds no cards, only broken rules.
        """
        watched, places = self._watched, self._places
        reading = watched.reading
        whole = complete and not reading.cut
        endless = [run for run in reading.runs if run.finished is None]
        unavailable = _unavailable(reading, "turn.start", seen=bool(reading.runs))
        return ColumnFacts(
            column=Column.LOCAL_AGENT_LIVE,
            cards=() if unavailable else tuple(_cards(_run_snapshots(reading.runs), places, file)),
            problems=(
                *_problems(watched.breaches, places, file),
                *(_endless(file) for _ in endless if whole and reading.footer),
            ),
            cases=watched.cases,
            unavailable=unavailable,
            complete=whole and not endless,
        )

    def timeline(self) -> tuple[TimelineEvent, ...]:
        """Every frame as a moment, in order. Raises ValueError when the capture was not read for that."""
        if self._moments is None:
            raise ValueError("the moments of this capture were not kept")
        first = self._moments[0].at if self._moments else 0.0
        return tuple(
            TimelineEvent(
                at=round(moment.at - first, 6),
                kind=moment.kind,
                path="" if moment.key is None else self._places.get(moment.key, ""),
                revision=moment.revision,
                text=moment.text,
            )
            for moment in self._moments
        )


def _endless(file: str) -> Problem:
    """``wire.run-terminal``: our own recorder saw the product leave in order, and no end of a run before that."""
    return Problem(
        requirement="wire.run-terminal",
        card="",
        label="",
        expected="run.finished before the product leaves",
        observed="a run without an end",
        place=Place(file=file),
    )


def reopen(capture: bytes, *, file: str, complete: bool) -> ColumnFacts:
    """What the saved history of a capture says, in transcript order: of the revision that was paged last.

    Raises DecodeError when the bytes are no capture.
    """
    watched = _Watched(capture)
    reading = watched.reading
    places = _places(reading, 0)
    history = reading.histories[-1] if reading.histories else None
    snapshots = [entry.snapshot for entry in history.entries if entry.snapshot is not None] if history else []
    unavailable = _unavailable(reading, "history.page", seen=history is not None)
    return ColumnFacts(
        column=Column.LOCAL_AGENT_REOPEN,
        cards=() if unavailable else tuple(_cards(snapshots, places, file)),
        problems=_problems(watched.breaches, places, file),
        cases=watched.cases,
        unavailable=unavailable,
        complete=complete and history is not None and history.read,
    )


class _Watched:
    """A capture that was read with every rule held against it. `breaches`: of the wire rules, of live batches, and of
    what card-facts.md asks of cards by themselves; `cases`: rule id to how often it was tried.
    `moments`, when given, is filled with those of the capture."""

    def __init__(self, capture: bytes, moments: list[Moment] | None = None) -> None:
        cases, batches = Cases(), Batches()

        def watch(line: Line, frame: Request | Frame | None) -> None:
            cases.take(line, frame)
            batches.take(line, frame)
            if moments is not None:
                moments.extend(moments_of(line, frame))

        self.reading = read_capture(capture, watch)
        unpublished, changes = batches.judge(self.reading)
        broken, tried = governed.judge(self.reading)
        self.breaches = (*self.reading.breaches, *unpublished, *broken)
        self.cases = cases.of(self.reading) | tried | ({LIVE_SNAPSHOTS: changes} if changes else {})


# Where cards stand


def _places(reading: Reading, turns_before: int) -> dict[Key, str]:
    found: dict[Key, str] = {}
    for run in reading.runs:
        standings = _run_standings(run)
        turn = turns_before + (run.turn or 0)
        found.update({Key(run.id, activity): path for activity, path in paths(standings, turn).items()})
    for history in reading.histories:
        for turn, standings in enumerate(_history_standings(history)):
            found.update({Key(history.revision, entry): path for entry, path in paths(standings, turn).items()})
    return found


def _run_standings(run: Run) -> list[Standing]:
    """Compaction is an activity, but no tool call, and counts as none."""
    return [
        _standing(activity.id, activity.snapshot, activity.name)
        for activity in sorted(run.activities.values(), key=lambda one: one.order)
        if activity.kind != "compaction"
    ]


def _history_standings(history: History) -> list[list[Standing]]:
    """By turn, 0 being what stands before the first user entry. An activity to which null is attached counts as a call
    at the root: that it was one is all that is known."""
    turns: list[list[Standing]] = [[]]
    for entry in history.entries:
        if entry.kind == "user":
            turns.append([])
        elif entry.kind == "activity":
            turns[-1].append(_standing(entry.message_id, entry.snapshot, ""))
    return turns


def _standing(identity: str, snapshot: Snapshot | None, name: str) -> Standing:
    if snapshot is None:
        return Standing(identity, None, task=declared(name) is not None, name=name)
    card = snapshot.card
    return Standing(
        identity,
        card.parent_activity_id if card.parent_state == "available" else None,
        task=card.tool_kind == "subagent" and card.task_id == identity,
        placed=card.parent_state in ("root", "available"),
        name=name,
    )


# Facts


def _run_snapshots(runs: Iterable[Run]) -> Iterator[Snapshot]:
    for run in runs:
        ordered = sorted(run.activities.values(), key=lambda activity: activity.order)
        yield from (activity.snapshot for activity in ordered if activity.snapshot is not None)


def _cards(snapshots: Iterable[Snapshot], places: dict[Key, str], file: str) -> Iterator[CardFacts]:
    for snapshot in snapshots:
        card = snapshot.card
        kind = kind_of(card)
        if kind is None or snapshot.key not in places:
            continue
        offsets = locator(snapshot.spot.text)

        def place(pointer: str, snapshot: Snapshot = snapshot, offsets: Locator = offsets) -> Place:
            where = snapshot.pointer + pointer
            return Place(file=file, line=snapshot.spot.number, offset=offsets.offset(where), pointer=where)

        yield CardFacts(
            path=places[snapshot.key],
            kind=kind,
            facts=tuple(
                Fact(
                    label=found.entry.label,
                    value=NULL if found.row.value is None else known(found.row.value),
                    via="row",
                    ordinal=found.ordinal,
                    place=place(found.pointer),
                )
                for found in fact_rows(card, kind)
            ),
            title=card.title,
            outcome=card.outcome,
            changes=card.changes,
            omissions=tuple(
                Omission(subject=item.subject, reason=item.reason, omitted_count=item.omitted_count)
                for item in card.omissions
            ),
            children=tuple(
                places.get(Key(snapshot.key.scope, child.activity_id), UNPLACED)
                for block in card.blocks
                if isinstance(block, Children)
                for child in block.children
            ),
            place=place(""),
        )


def _problems(breaches: Iterable[Breach], places: dict[Key, str], file: str) -> tuple[Problem, ...]:
    return tuple(
        breach.problem(file=file, card="" if breach.key is None else places.get(breach.key, "")) for breach in breaches
    )


def _unavailable(reading: Reading, method: str, *, seen: bool) -> NotComparable | None:
    """Why no card of the capture can be compared, or None when what it shows can be."""
    refused = next((one for one in reversed(reading.refusals) if one.method in (method, "session.open")), None)
    if reading.negotiated is False:
        return NotComparable(reason=Reason.NOT_CAPTURED, detail="the product did not agree to send cards")
    if seen:
        return None
    if refused is not None:
        return NotComparable(reason=Reason.NOT_CAPTURED, detail=f"{refused.method} was refused: {refused.code}")
    if method in reading.methods:
        return NotComparable(reason=Reason.CAPTURE_CUT, detail=f"the capture ends before the answer to {method}")
    return NotComparable(reason=Reason.NOT_CAPTURED, detail=f"the capture holds no {method}")
