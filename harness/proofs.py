"""From a place to what stands there: the frame, record, scenario line or screen that a fact was read from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from harness.bundle import Bundle
from harness.examine import turns_before
from harness.formatted import Formatted, Span
from harness.model.facts import Column, Place
from harness.observe import local_agent, mission_control, moments
from harness.report.inputs import EventKind, Excerpt, Picture, ScreenMark, TimelineEvent
from harness.terminal.picture import Mark, svg
from harness.terminal.screen import Snapshot

_AROUND = 3
_PICTURE_ROWS = 3
"""Rows shown around each outlined one: a whole screen is ten times the size, and the cast is in the bundle."""
_CARD_MEMBERS = ("/data/card", "/tool_card")


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


class _Text(NamedTuple):
    """One frame, card or record, raw and for human eyes; parsed once for all the places in it."""

    raw: str
    text: str
    formatted: Formatted | None
    """None for a text that is no JSON."""

    def highlight(self, pointer: str) -> tuple[Span, ...]:
        """Where the value at the pointer stands in `text`; empty when it is the whole or not there."""
        span = self.formatted.span(pointer) if self.formatted is not None and pointer else None
        return (span,) if span is not None else ()


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


Screens = dict[tuple[str, str], Snapshot]
"""What Mission Control showed, by file and marker."""


class Cited(msgspec.Struct, frozen=True, kw_only=True):
    """What of one bundle is known already: some of its screens, the text of some lines by file and 1-based number, and
    its live run, None when nobody has read it."""

    screens: Screens = {}
    lines: dict[tuple[str, int], str] = {}
    timeline: tuple[TimelineEvent, ...] | None = None


def lines_at(content: bytes, file: str, numbers: Iterable[int]) -> dict[int, str]:
    """The lines of a member of these 1-based numbers that there are: in a capture the frame itself, in a session the
    record itself."""
    lines = content.splitlines()
    found = {number: lines[number - 1].decode(errors="replace") for number in numbers if 1 <= number <= len(lines)}
    if file.startswith("local-agent."):
        return {number: str(json.loads(text)["line"]) for number, text in found.items()}
    return found


_NOTHING = Cited()


class Proofs:
    """Reads proofs out of verified bundles, each member unpacked once and each screen drawn once. What is `cited`
    already, by observation, is not read again."""

    def __init__(self, bundles: Mapping[str, Bundle], cited: Mapping[str, Cited] | None = None) -> None:
        self._bundles = bundles
        self._cited = cited or {}
        self._timelines = {name: known.timeline for name, known in self._cited.items() if known.timeline is not None}
        self._contents: dict[tuple[str, str], bytes] = {}
        self._formatted: dict[tuple[str, str, int | None, str], _Text | None] = {}
        self._screens: dict[tuple[str, str], dict[str, Snapshot]] = {}

    def _line(self, observation: str, place: Place) -> str | None:
        """The text of a line-oriented place: the frame itself in a capture, the record itself in a session."""
        if place.line is None:
            return None
        known = self._cited.get(observation, _NOTHING).lines.get((place.file, place.line))
        if known is not None:
            return known
        bundle = self._bundles.get(observation)
        if bundle is None or place.file not in bundle.manifest.files:
            return None
        key = (observation, place.file)
        if key not in self._contents:
            self._contents[key] = bundle.read(place.file)
        return lines_at(self._contents[key], place.file, [place.line]).get(place.line)

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

    def _format(self, observation: str, place: Place, prefix: str) -> _Text | None:
        raw = self._line(observation, place)
        if raw is None:
            return None
        try:
            formatted = Formatted(_member(json.loads(raw), prefix))
        except (ValueError, KeyError, IndexError, TypeError, RecursionError):
            return _Text(raw, raw, None)
        return _Text(raw, formatted.text, formatted)

    def _snapshot(self, observation: str, place: Place) -> Snapshot | None:
        """Mission Control's screen at the moment that a place names."""
        marker = place.marker or ""
        if known := self._cited.get(observation, _NOTHING).screens.get((place.file, marker)):
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
