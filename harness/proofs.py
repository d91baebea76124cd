"""From a place to what stands there: the frame, record, scenario line or screen that a fact was read from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from harness.bundle import Bundle
from harness.examine import turns_before
from harness.model.facts import Column, Place
from harness.observe import local_agent, mission_control, moments
from harness.report.inputs import EventKind, Excerpt, Picture, ScreenMark, TimelineEvent
from harness.terminal.picture import Mark, svg
from harness.terminal.screen import Snapshot
from harness.wire.locate import Locator

_LINE_WIDTH = 110
_AROUND = 3
_PICTURE_ROWS = 3
"""Rows shown around each outlined one: a whole screen is ten times the size, and the cast is in the bundle."""
_CARD_MEMBERS = ("/data/card", "/tool_card")


_spelled = json.JSONEncoder(ensure_ascii=False).encode
"""Made once: `json.dumps` makes another one for each value, and a report has fifty thousand."""


def pretty(value: object, indent: int = 0) -> str:
    """JSON for human eyes: whatever fits on a line stands on one line."""
    flat = _spelled(value)
    if len(flat) + indent <= _LINE_WIDTH or not isinstance(value, dict | list) or not value:
        return flat
    pad, end = " " * (indent + 2), " " * indent
    if isinstance(value, dict):
        inner = [f"{pad}{_spelled(name)}: {pretty(item, indent + 2)}" for name, item in value.items()]
        return "{\n" + ",\n".join(inner) + f"\n{end}}}"
    return "[\n" + ",\n".join(pad + pretty(item, indent + 2) for item in value) + f"\n{end}]"


def _card_prefix(pointer: str) -> str:
    """The pointer of the card inside a frame that `pointer` leads into, or "" for the whole text."""
    for member in _CARD_MEMBERS:
        start = pointer.find(member)
        if start >= 0:
            return pointer[: start + len(member)]
    return ""


def _member(value: object, pointer: str) -> object:
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]  # type: ignore[index] # a decoded pointer
    return value


class _Formatted:
    """One frame, card or record, raw and for human eyes; parsed once for all the places in it."""

    def __init__(self, raw: str, text: str) -> None:
        self.raw = raw
        self.text = text
        self._content = text.encode()
        self._locator: Locator | None = None

    def highlight(self, pointer: str) -> tuple[tuple[int, int], ...]:
        """Where the value at the pointer stands in `text`; empty when it is the whole or not there."""
        self._locator = self._locator or Locator(self._content)
        offset = self._locator.offset(pointer)
        if offset is None or not pointer:
            return ()
        start = len(self._content[:offset].decode())
        _, end = json.JSONDecoder().raw_decode(self.text, start)
        return ((start, end),)


def live_timeline(bundle: Bundle, known: Sequence[Sequence[moments.TimelineEvent]] = ()) -> tuple[TimelineEvent, ...]:
    """The live run as the local agent reported it; empty when Mission Control drove. `known`: what is known of its
    captures already, in their order; the others are read."""
    parts = [item for item in bundle.manifest.captures if item.column is Column.LOCAL_AGENT_LIVE]
    events: list[TimelineEvent] = []
    for number, capture in enumerate(parts):
        before = turns_before(bundle.stimulus, number)
        start = events[-1].at_ms if events else 0
        shown = (
            known[number]
            if number < len(known)
            else local_agent.timeline(bundle.read(capture.file), turns_before=before)
        )
        events.extend(
            TimelineEvent(
                at_ms=start + round(event.at * 1000),
                kind=EventKind(event.kind),
                lane=event.path,
                label=event.text,
                revision=event.revision,
            )
            for event in shown
        )
        if not capture.complete and events:
            events.append(TimelineEvent(at_ms=events[-1].at_ms, kind=EventKind.KILL, label=capture.note))
    return tuple(events)


class Proofs:
    """Reads proofs out of verified bundles, each member unpacked once and each screen drawn once.

    `timelines` and `screens` (by file and marker) are those that are known already, by observation.
    """

    def __init__(
        self,
        bundles: Mapping[str, Bundle],
        timelines: Mapping[str, Sequence[TimelineEvent]] | None = None,
        screens: Mapping[str, Mapping[tuple[str, str], Snapshot]] | None = None,
    ) -> None:
        self._bundles = bundles
        self._known = screens or {}
        self._timelines: dict[str, Sequence[TimelineEvent]] = dict(timelines or {})
        self._lines: dict[tuple[str, str], list[bytes]] = {}
        self._formatted: dict[tuple[str, str, int | None, str], _Formatted | None] = {}
        self._screens: dict[tuple[str, str], dict[str, Snapshot]] = {}

    def _line(self, observation: str, place: Place) -> str | None:
        """The text of a line-oriented place: the frame itself in a capture, the record itself in a session."""
        bundle = self._bundles.get(observation)
        if bundle is None or place.line is None or place.file not in bundle.manifest.files:
            return None
        key = (observation, place.file)
        if key not in self._lines:
            self._lines[key] = bundle.read(place.file).splitlines()
        lines = self._lines[key]
        if not 1 <= place.line <= len(lines):
            return None
        text = lines[place.line - 1].decode(errors="replace")
        if place.file.startswith("local-agent."):
            return str(json.loads(text)["line"])
        return text

    def excerpt(self, observation: str, place: Place) -> Excerpt | None:
        """The frame or record at `place`, raw and formatted, with the fact's value marked."""
        pointer = place.pointer or ""
        prefix = _card_prefix(pointer)
        key = (observation, place.file, place.line, prefix)
        if key not in self._formatted:
            self._formatted[key] = self._format(observation, place, prefix)
        formatted = self._formatted[key]
        if formatted is None:
            return None
        return Excerpt(
            raw=formatted.raw, formatted=formatted.text, highlight=formatted.highlight(pointer[len(prefix) :])
        )

    def _format(self, observation: str, place: Place, prefix: str) -> _Formatted | None:
        raw = self._line(observation, place)
        if raw is None:
            return None
        try:
            return _Formatted(raw, pretty(_member(json.loads(raw), prefix)))
        except (ValueError, KeyError, IndexError, TypeError, RecursionError):
            return _Formatted(raw, raw)

    def _snapshot(self, observation: str, place: Place) -> Snapshot | None:
        """Mission Control's screen at the moment that a place names."""
        marker = place.marker or ""
        if known := self._known.get(observation, {}).get((place.file, marker)):
            return known
        key = (observation, place.file)
        if key not in self._screens:
            self._screens[key] = dict(mission_control.screens(self._bundles[observation].read(place.file)))
        return self._screens[key].get(marker)

    def picture(self, observation: str, place: Place, marks: Sequence[ScreenMark]) -> Picture | None:
        """Mission Control's screen at the moment that `place` names, with the marked cells outlined."""
        bundle = self._bundles.get(observation)
        if bundle is None or place.file not in bundle.manifest.files:
            return None
        snapshot = self._snapshot(observation, place)
        if snapshot is None:
            return None
        inside = [
            Mark(id=mark.id, row=mark.row, first=mark.first, last=mark.last)
            for mark in marks
            if 1 <= mark.row <= snapshot.height and 1 <= mark.first <= mark.last <= snapshot.columns
        ]
        return Picture(svg=svg(snapshot, inside, title=f"Mission Control at {place.marker}", context=_PICTURE_ROWS))

    def timeline(self, observation: str) -> Sequence[TimelineEvent] | None:
        """The live run as the local agent reported it; None when Mission Control drove."""
        if observation not in self._timelines and observation in self._bundles:
            self._timelines[observation] = live_timeline(self._bundles[observation])
        return self._timelines.get(observation) or None

    def lines(self, observation: str, place: Place) -> Iterator[str]:
        """What `harness show` prints for a place."""
        if place.row is not None:
            yield from self._screen_lines(observation, place)
            return
        excerpt = self.excerpt(observation, place)
        if excerpt is None:
            yield "(the place is not in the bundle: it is the scenario's own text)"
            return
        start, end = excerpt.highlight[0] if excerpt.highlight else (-1, -1)
        position = 0
        for line in excerpt.formatted.splitlines(keepends=True):
            marked = start < position + len(line) and end > position
            yield f"{'>' if marked else ' '} {line.rstrip()}"
            position += len(line)

    def _screen_lines(self, observation: str, place: Place) -> Iterator[str]:
        snapshot = self._snapshot(observation, place)
        if snapshot is None or place.row is None or place.columns is None:
            yield "(the screen is not in the bundle)"
            return
        rows = snapshot.text
        for number in range(max(place.row - _AROUND, 1), min(place.row + _AROUND, len(rows)) + 1):
            yield f"{number:4} {rows[number - 1].rstrip()}"
            if number == place.row:
                first, last = place.columns
                yield " " * (4 + first) + "^" * (last - first + 1)
