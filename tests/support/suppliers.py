"""Synthetic excerpts, pictures and timelines that fit `tests.support.acceptances`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from xml.sax.saxutils import escape

from harness.model.facts import Place
from harness.report import EventKind, Excerpt, Picture, ScreenMark, TimelineEvent

CELL_WIDTH, CELL_HEIGHT, COLUMNS, ROWS = 8, 16, 100, 60


@cache
def _card(line: int) -> tuple[str, str, tuple[tuple[int, int], ...]]:
    """A frame as text and formatted, with the range of every row's value."""
    rows = [{"label": f"Label {at}", "value": str(at * 7), "outcome": "unknown"} for at in range(32)]
    card = {"tool_kind": "code_mode", "title": "\u001b[31m<b>card</b>", "blocks": [{"rows": rows, "type": "results"}]}
    raw = json.dumps({"event": "tool.card", "seq": line, "data": {"card": card}})
    formatted = json.dumps(card, indent=1)
    spans, at = [], 0
    for row in rows:
        text = f'"value": "{row["value"]}"'
        at = formatted.index(text, at) + len('"value": ')
        spans.append((at, at + len(f'"{row["value"]}"')))
    return raw, formatted, tuple(spans)


def excerpts(observation: str, place: Place) -> Excerpt | None:
    """The frame of a local-agent place with its row marked; nothing for session records."""
    if place.pointer is None or not place.file.startswith("local-agent"):
        return None
    raw, formatted, spans = _card(place.line or 0)
    row = int(place.pointer.split("/")[-2])
    return Excerpt(raw=raw, formatted=formatted, highlight=(spans[row],) if row < len(spans) else ())


def pictures(observation: str, place: Place, marks: Sequence[ScreenMark]) -> Picture | None:
    """A dark screen with text in every row, hostile text among it, and an outline for every mark that is on it."""
    width, height = COLUMNS * CELL_WIDTH, ROWS * CELL_HEIGHT
    lines = "".join(
        f'<text x="8" y="{row * CELL_HEIGHT - 4}" fill="#cfe">{row:>3} {escape(text)}</text>'
        for row in range(1, ROWS + 1)
        for text in ("<script>window.hurt=3</script> │ ✓ 2 succeeded · 1 failed" if row == 14 else "│ Total calls • 3",)
    )
    outlines = "".join(
        f'<rect id="{mark.id}" class="mark" x="{(mark.first - 1) * CELL_WIDTH}" y="{(mark.row - 1) * CELL_HEIGHT}" '
        f'width="{(mark.last - mark.first + 1) * CELL_WIDTH}" height="{CELL_HEIGHT}" fill="none" stroke="#f36"/>'
        for mark in marks
        if mark.row <= ROWS
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="monospace" font-size="13"><title>{escape(str(place.marker))}</title>'
        f'<rect width="{width}" height="{height}" fill="#0b1f14"/>{lines}{outlines}</svg>'
    )
    return Picture(svg=svg)


def timelines(observation: str) -> Sequence[TimelineEvent] | None:
    """A batch of four tasks that end out of order, cut short when the observation says so."""
    batch = "turn1/call1"
    events = [TimelineEvent(at_ms=0, kind=EventKind.TURN_START, label="1")]
    events += [TimelineEvent(at_ms=at * 17, kind=EventKind.FRAME_FROM_PRODUCT) for at in range(180)]
    events += [TimelineEvent(at_ms=at * 700, kind=EventKind.FRAME_TO_PRODUCT) for at in range(5)]
    events += [
        TimelineEvent(at_ms=200 + at * 330, kind=EventKind.SNAPSHOT, lane=batch, revision=at + 1) for at in range(8)
    ]
    for task, (start, end, outcome) in enumerate(
        ((210, 2400, "success"), (230, 900, "failure"), (260, 1800, "success"), (1000, 0, "")), 1
    ):
        lane = f"{batch}/task{task}"
        events.append(TimelineEvent(at_ms=start, kind=EventKind.TASK_START, lane=lane))
        events.append(TimelineEvent(at_ms=start + 40, kind=EventKind.SNAPSHOT, lane=lane, revision=1))
        if end:
            events.append(TimelineEvent(at_ms=end, kind=EventKind.TASK_END, lane=lane, label=outcome))
    cut = {"cancelled": EventKind.CANCEL, "killed": EventKind.KILL}.get(observation)
    if cut is not None:
        events.append(TimelineEvent(at_ms=2600, kind=cut))
    events.append(TimelineEvent(at_ms=3100, kind=EventKind.TURN_END, label="1"))
    return events
