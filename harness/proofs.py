"""From a place to what stands there: the frame, record, scenario line or screen that a fact was read from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from harness.bundle import Bundle
from harness.model.facts import Column, Place
from harness.observe import local_agent, mission_control
from harness.report.inputs import Excerpt, Picture, TimelineEvent
from harness.terminal.picture import picture_of
from harness.wire.locate import Locator

_LINE_WIDTH = 110
_AROUND = 3
_CARD_MEMBERS = ("/data/card", "/tool_card")


def pretty(value: object, indent: int = 0) -> str:
    """JSON for human eyes: whatever fits on a line stands on one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= _LINE_WIDTH or not isinstance(value, dict | list) or not value:
        return flat
    pad, end = " " * (indent + 2), " " * indent
    if isinstance(value, dict):
        inner = [f"{pad}{json.dumps(name, ensure_ascii=False)}: {pretty(item, indent + 2)}" for name, item in value.items()]
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


def _highlight(text: str, pointer: str) -> tuple[tuple[int, int], ...]:
    content = text.encode()
    offset = Locator(content).offset(pointer)
    if offset is None or not pointer:
        return ()
    start = len(content[:offset].decode())
    _, end = json.JSONDecoder().raw_decode(text, start)
    return ((start, end),)


class Proofs:
    """Reads proofs out of verified bundles, each member unpacked once and each screen drawn once."""

    def __init__(self, bundles: Mapping[str, Bundle]) -> None:
        self._bundles = bundles
        self._lines: dict[tuple[str, str], list[bytes]] = {}
        self._screens: dict[tuple[str, str], dict[str, mission_control.Snapshot]] = {}

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
        raw = self._line(observation, place)
        if raw is None:
            return None
        pointer = place.pointer or ""
        try:
            whole = json.loads(raw)
            prefix = _card_prefix(pointer)
            formatted = pretty(_member(whole, prefix))
        except (ValueError, KeyError, IndexError, TypeError):
            return Excerpt(raw=raw, formatted=raw)
        return Excerpt(raw=raw, formatted=formatted, highlight=_highlight(formatted, pointer[len(prefix) :]))

    def _snapshots(self, observation: str, file: str) -> dict[str, mission_control.Snapshot]:
        key = (observation, file)
        if key not in self._screens:
            content = self._bundles[observation].read(file)
            self._screens[key] = {snapshot.marker: snapshot for snapshot in mission_control.screens(content)}
        return self._screens[key]

    def picture(self, observation: str, marker: str) -> Picture | None:
        """Mission Control's screen at a marker, as ``<file>#<marker>`` names it."""
        file, _, name = marker.partition("#")
        bundle = self._bundles.get(observation)
        if bundle is None or file not in bundle.manifest.files:
            return None
        snapshot = self._snapshots(observation, file).get(name)
        return None if snapshot is None else picture_of(snapshot)

    def timeline(self, observation: str) -> Sequence[TimelineEvent] | None:
        """The live run as the local agent reported it; None when Mission Control drove."""
        bundle = self._bundles.get(observation)
        for capture in bundle.manifest.captures if bundle else ():
            if bundle is not None and capture.column is Column.LOCAL_AGENT_LIVE:
                return local_agent.timeline(bundle.read(capture.file))
        return None

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
        snapshot = self._snapshots(observation, place.file).get(place.marker or "")
        if snapshot is None or place.row is None or place.columns is None:
            yield "(the screen is not in the bundle)"
            return
        rows = snapshot.rows
        for number in range(max(place.row - _AROUND, 1), min(place.row + _AROUND, len(rows)) + 1):
            yield f"{number:4} {rows[number - 1].rstrip()}"
            if number == place.row:
                first, last = place.columns
                yield " " * (4 + first) + "^" * (last - first + 1)
