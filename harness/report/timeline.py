"""A run as a small picture: when frames passed, when each card's snapshots came, when tasks ran, when it was cut short.

Geometry only; the template draws it. Times are milliseconds since the run's first event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from harness.model.words import plural
from harness.report.inputs import EventKind, TimelineEvent
from harness.report.text import shortened

LEFT, RIGHT, TOP = 150.0, 980.0, 46.0
WIDTH = 1000.0
LANE = 22.0
BINS = 160
LANES_SHOWN = 24
DOTS_SHOWN = 120
EVENTS_LISTED = 200
_FRAMES = (EventKind.FRAME_TO_PRODUCT, EventKind.FRAME_FROM_PRODUCT)
_CUTS = {EventKind.CANCEL: "⊘ cancelled", EventKind.KILL: "☠ killed"}
_TURNS = {EventKind.TURN_START: "turn starts", EventKind.TURN_END: "turn ends"}
_LETTER = 7.0
"""About the width of a letter."""
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000)


class Dot(msgspec.Struct, frozen=True, kw_only=True):
    x: float
    text: str


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of time; `open` when its end was never seen."""

    x: float
    width: float
    text: str
    open: bool


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """One card: the middle line is at `y`; `note` says how many snapshots were left out."""

    name: str
    y: float
    bars: tuple[Bar, ...]
    dots: tuple[Dot, ...]
    note: str


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A moment over all lanes; `kind` is ``turn`` or ``cut``. Its text stands at `y` and begins or ends (`anchor`
    ``start`` or ``end``) at `x`."""

    x: float
    y: float
    text: str
    kind: str
    anchor: str


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """The picture's parts. `frames` are bars of (x, height) for each direction, highest 1; `listed` the events that
    have names as text, with the number of further ones in `unlisted`."""

    height: float
    to_product: tuple[tuple[float, float], ...]
    from_product: tuple[tuple[float, float], ...]
    lanes: tuple[Lane, ...]
    lines: tuple[Line, ...]
    ticks: tuple[Dot, ...]
    summary: str
    listed: tuple[str, ...]
    unlisted: int


def timeline(events: Sequence[TimelineEvent]) -> Timeline | None:
    """The picture of a run, or None when there is no event. Events may come in any order."""
    if not events:
        return None
    events = sorted(events, key=lambda event: event.at_ms)
    first, last = events[0].at_ms, events[-1].at_ms
    scale = (RIGHT - LEFT) / max(last - first, 1)

    def x(at_ms: float) -> float:
        return round(LEFT + (at_ms - first) * scale, 1)

    names = list(dict.fromkeys(event.lane for event in events if event.lane))
    lanes = tuple(
        _lane(name, [event for event in events if event.lane == name], TOP + 52 + LANE * at, x)
        for at, name in enumerate(names[:LANES_SHOWN])
    )
    named = [event for event in events if event.kind not in _FRAMES]
    frames = {kind: [event.at_ms for event in events if event.kind is kind] for kind in _FRAMES}
    summary = f"{(last - first) / 1000:.1f} s, {plural(sum(map(len, frames.values())), 'frame')}"
    if len(names) > LANES_SHOWN:
        summary += f", {plural(len(names) - LANES_SHOWN, 'further card')} not drawn"
    return Timeline(
        height=TOP + 52 + LANE * len(lanes) + 22,
        to_product=_bins([x(at) for at in frames[EventKind.FRAME_TO_PRODUCT]]),
        from_product=_bins([x(at) for at in frames[EventKind.FRAME_FROM_PRODUCT]]),
        lanes=lanes,
        lines=_lines([event for event in events if event.kind in (*_CUTS, *_TURNS)], x),
        ticks=_ticks(last - first, first, x),
        summary=summary,
        listed=tuple(_sentence(event, first) for event in named[:EVENTS_LISTED]),
        unlisted=max(0, len(named) - EVENTS_LISTED),
    )


_X = Callable[[float], float]


def _lane(name: str, events: list[TimelineEvent], y: float, x: _X) -> Lane:
    bars: list[Bar] = []
    start: TimelineEvent | None = None
    for event in events:
        if event.kind is EventKind.TASK_START:
            start = event
        elif event.kind is EventKind.TASK_END and start is not None:
            bars.append(_bar(x(start.at_ms), x(event.at_ms), event.label or "ended", is_open=False))
            start = None
    if start is not None:
        bars.append(_bar(x(start.at_ms), RIGHT, "end not seen", is_open=True))
    snapshots = [event for event in events if event.kind is EventKind.SNAPSHOT]
    dots = tuple(
        Dot(x=x(event.at_ms), text=f"revision {event.revision}" if event.revision is not None else "snapshot")
        for event in snapshots[:DOTS_SHOWN]
    )
    left_out = len(snapshots) - len(dots)
    note = f"{plural(left_out, 'further snapshot')} not drawn" if left_out else ""
    return Lane(name=name, y=y, bars=tuple(bars), dots=dots, note=note)


def _bar(start: float, end: float, label: str, *, is_open: bool) -> Bar:
    return Bar(x=start, width=round(max(end - start, 2), 1), text=shortened(label, 24), open=is_open)


def _bins(at: list[float]) -> tuple[tuple[float, float], ...]:
    """Frames as a density of at most `BINS` bars."""
    width = (RIGHT - LEFT) / BINS
    found = Counter(min(int((position - LEFT) / width), BINS - 1) for position in at)
    most = max(found.values(), default=1)
    return tuple((round(LEFT + bin_ * width, 1), round(number / most, 2)) for bin_, number in sorted(found.items()))


def _ticks(length: int, first: int, x: _X) -> tuple[Dot, ...]:
    step = next((step for step in _STEPS if length / step <= 8), max(length // 8, 1))
    return tuple(
        Dot(x=x(first + at), text=f"{at / 1000:g} s" if step >= 100 else f"{at} ms")
        for at in range(0, length + 1, step)
    )


def _lines(events: list[TimelineEvent], x: _X) -> tuple[Line, ...]:
    """Moments with their texts on two levels, so that neighbours do not cover each other."""
    found: list[Line] = []
    ends = [LEFT - 1.0, LEFT - 1.0]
    for event in events:
        at = x(event.at_ms)
        text = _CUTS.get(event.kind) or shortened(f"{_TURNS[event.kind]} {event.label}".strip(), 40)
        width = _LETTER * len(text)
        begin = at - width if at + width > WIDTH else at
        level = 0 if ends[0] < begin else 1
        ends[level] = begin + width + _LETTER
        anchor = "start" if begin == at else "end"
        kind = "cut" if event.kind in _CUTS else "turn"
        found.append(Line(x=at, y=13.0 + 13 * level, text=text, kind=kind, anchor=anchor))
    return tuple(found)


def _sentence(event: TimelineEvent, first: int) -> str:
    what = event.kind.value.replace("_", " ")
    revision = "" if event.revision is None else f" revision {event.revision}"
    parts = (f"{(event.at_ms - first) / 1000:.3f} s", event.lane, f"{what}{revision}", event.label)
    return shortened(" · ".join(part for part in parts if part), 200)
