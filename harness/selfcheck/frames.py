"""A local-agent capture as lines that can be changed one at a time, byte for byte the same where nothing is changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

Tree = dict[str, Any]
Edit = Callable[[Tree], None]
"""Changes a decoded frame in place."""


class Frames:
    """The lines of a capture, counted from 1 as in places."""

    def __init__(self, capture: bytes) -> None:
        self.lines = capture.splitlines(keepends=True)
        self._texts: dict[int, str] = {}

    def text(self, number: int) -> str:
        """The text of a frame."""
        if number not in self._texts:
            self._texts[number] = json.loads(self.lines[number - 1])["line"]
        return self._texts[number]

    def tree(self, number: int) -> Tree:
        """A frame decoded anew, members in the order in which they stand; {} when it is no JSON object."""
        try:
            value = msgspec.json.decode(self.text(number))
        except msgspec.DecodeError:
            return {}
        return value if isinstance(value, dict) else {}

    def numbers(self, direction: str = "from_product") -> list[int]:
        """The lines of one direction."""
        mark = f'"direction": "{direction}"'.encode()
        return [number for number, line in enumerate(self.lines, 1) if mark in line[:120]]

    def line(self, number: int, text: str) -> bytes:
        """The line with another frame in it."""
        plain = json.loads(self.lines[number - 1])
        plain["line"] = text
        return json.dumps(plain).encode() + b"\n"

    def replaced(self, changed: Mapping[int, Sequence[bytes]]) -> bytes:
        """The capture with some lines replaced by others: none drops a line, two add one."""
        parts: list[bytes] = []
        for number, line in enumerate(self.lines, 1):
            if number in changed:
                parts.extend(changed[number])
            else:
                parts.append(line)
        return b"".join(parts)

    def edited(self, number: int, edit: Edit) -> bytes:
        """The capture with one frame changed, and with it the same page of a history wherever it was read again: what
        the product published differs, not what it answered the second time."""
        changed = {}
        for twin in self.twins(number):
            tree = self.tree(twin)
            edit(tree)
            changed[twin] = [self.line(twin, encoded(tree))]
        return self.replaced(changed)

    def twins(self, number: int) -> tuple[int, ...]:
        """The line, and every other one that answers with the very same page."""
        if '"entries":' not in self.text(number):
            return (number,)
        page = self.tree(number).get("result")
        pages = (one for one in self.numbers() if one != number and '"entries":' in self.text(one))
        return (number, *(one for one in pages if self.tree(one).get("result") == page))

    def edited_once(self, number: int, edit: Edit) -> bytes:
        """The capture with this one frame changed, whatever else says the same."""
        tree = self.tree(number)
        edit(tree)
        return self.replaced({number: [self.line(number, encoded(tree))]})

    def retexted(self, number: int, text: str) -> bytes:
        return self.replaced({number: [self.line(number, text)]})


def encoded(tree: Tree) -> str:
    """Compact JSON, members in their order."""
    return msgspec.json.encode(tree).decode()


def at(tree: Any, pointer: str) -> Any:
    """The value at a JSON pointer."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        tree = tree[int(name)] if isinstance(tree, list) else tree[name]
    return tree
