"""JSON for human eyes, whatever fits on a line on one line, and where in it the value at a pointer stands."""

from __future__ import annotations

import json
from collections.abc import Iterator

_LINE_WIDTH = 110
_spelled = json.JSONEncoder(ensure_ascii=False).encode
"""Made once: `json.dumps` makes another one for each value, and a report has fifty thousand."""

Span = tuple[int, int]
"""0-based, end-exclusive characters."""


class Formatted:
    """A JSON value as `text`."""

    def __init__(self, value: object) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._known: dict[str, tuple[Span, object]] = {}
        """Values that begin on a line of their own, by pointer, and the whole."""
        self._write(value, "", 0)
        self.text = "".join(self._parts)

    def span(self, pointer: str) -> Span | None:
        """Where the value at an RFC 6901 pointer stands in the text; None when there is no such value."""
        above, rest = pointer, ""
        while above not in self._known:
            above, slash, step = above.rpartition("/")
            if not slash:
                return None
            rest = f"/{step}{rest}"
        span, value = self._known[above]
        for step in rest.split("/")[1:]:
            inside = {name: (place, item) for name, place, item in _members(value, span[0])}
            if _unescaped(step) not in inside:
                return None
            span, value = inside[_unescaped(step)]
        return span

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _write(self, value: object, pointer: str, indent: int) -> None:
        start = self._length
        flat = _spelled(value)
        if len(flat) + indent <= _LINE_WIDTH or not isinstance(value, dict | list) or not value:
            self._put(flat)
        else:
            named = isinstance(value, dict)
            members = value.items() if isinstance(value, dict) else enumerate(value)
            pad = "{\n" if named else "[\n"
            for name, item in members:
                self._put(f"{pad}{' ' * (indent + 2)}{_spelled(name) + ': ' if named else ''}")
                self._write(item, f"{pointer}/{_escaped(str(name))}", indent + 2)
                pad = ",\n"
            self._put(f"\n{' ' * indent}{'}' if named else ']'}")
        self._known[pointer] = (start, self._length), value


def _members(value: object, start: int) -> Iterator[tuple[str, Span, object]]:
    """The members of an object or array that stands on one line from `start` on: name or index, place and value."""
    at = start + 1
    if isinstance(value, dict):
        for name, item in value.items():
            at += len(_spelled(name)) + 2
            end = at + len(_spelled(item))
            yield name, (at, end), item
            at = end + 2
    elif isinstance(value, list):
        for index, item in enumerate(value):
            end = at + len(_spelled(item))
            yield str(index), (at, end), item
            at = end + 2


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")
