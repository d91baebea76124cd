"""The local agent's frames as moments in time: what timelines are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.wire.breaches import Key
from harness.wire.capture import Direction, Line
from harness.wire.events import ActivityEvent, InputPersisted, RunFinished, ToolCard
from harness.wire.frames import Frame, Request
from harness.wire.shapes import Card
from harness.wire.tree import declared


class TimelineEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One moment. `at` is in seconds since the first line of the capture. `kind`: ``frame_to_product``,
    ``frame_from_product``, ``snapshot``, ``task_start``, ``task_end``, ``turn_start``, ``turn_end`` or ``cancel``.
    `path` is the card's path or "", `revision` a snapshot's revision or None, `text` a few words."""

    at: float
    kind: str
    path: str = ""
    revision: int | None = None
    text: str = ""


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """A moment whose card has no path yet: where cards stand is known when the whole capture was read."""

    at: float
    kind: str
    key: Key | None
    revision: int | None
    text: str


def moments_of(line: Line, frame: Request | Frame | None) -> Iterator[Moment]:
    """The moment of one line; none for our recorder's footer."""
    if line.direction is Direction.FOOTER:
        return
    kind, key, revision, text = f"frame_{line.direction.value}", None, None, "unreadable frame"
    match frame:
        case Request(method="turn.cancel" as method):
            kind, text = "cancel", method
        case Request(method=method):
            text = method
        case Frame(data=ToolCard(card=Card() as card) as data):
            kind, key, revision = "snapshot", Key(data.run_id, data.activity_id), card.revision
            text = card.state if card.outcome is None else card.outcome
        case Frame(data=ActivityEvent(kind="subagent") as data) if declared(data.name) is not None:
            kind = "task_start" if data.state == "started" else "task_end"
            key, text = Key(data.run_id, data.activity_id), data.state
        case Frame(data=ActivityEvent() as data):
            key, text = Key(data.run_id, data.activity_id), data.state
        case Frame(data=InputPersisted()):
            kind, text = "turn_start", "input.persisted"
        case Frame(data=RunFinished() as data):
            kind, text = "turn_end", data.outcome
        case Frame():
            text = frame.event or "response"
    yield Moment(at=line.at, kind=kind, key=key, revision=revision, text=text)
