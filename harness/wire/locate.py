"""Where in a JSON text a value begins: RFC 6901 pointers to byte offsets, found only when a place is asked for."""

from __future__ import annotations

import functools
import json
import re

import tree_sitter_json
from tree_sitter import Language, Node, Parser

_LANGUAGE = Language(tree_sitter_json.language())
_INDEX = re.compile(r"/\d+(?=/|$)")


def pointer(*steps: str | int) -> str:
    """The RFC 6901 pointer of these member names and array indices."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def pattern(where: str) -> str:
    """The pointer with every array index as ``*``: one name for the same member of every element."""
    return _INDEX.sub("/*", where)


class Locator:
    """Offsets in one text. The text is parsed once, however many pointers are asked for."""

    def __init__(self, text: bytes) -> None:
        self._nodes: dict[str, Node | None] = {}
        self._members: dict[str, dict[str, Node]] = {}
        self._tree = Parser(_LANGUAGE).parse(text)
        values = [node for node in self._tree.root_node.named_children if node.type not in ("comment", "ERROR")]
        self._nodes[""] = values[0] if values else None

    def offset(self, where: str) -> int | None:
        """0-based byte offset at which the value at the pointer begins; None when there is no such value. Of several
        members of one name the last counts, as for most decoders."""
        node = self._node(where)
        return None if node is None else node.start_byte

    def _node(self, where: str) -> Node | None:
        if where not in self._nodes:
            above, slash, step = where.rpartition("/")
            self._nodes[where] = self._step(above, step) if slash else None
        return self._nodes[where]

    def _step(self, above: str, step: str) -> Node | None:
        holder = self._node(above)
        if holder is None or holder.type not in ("object", "array"):
            return None
        if above not in self._members:
            self._members[above] = _members(holder)
        return self._members[above].get(step.replace("~1", "/").replace("~0", "~"))


@functools.lru_cache(maxsize=32)
def locator(text: bytes) -> Locator:
    """A locator of the text; the frames that were asked about last keep theirs."""
    return Locator(text)


def _members(holder: Node) -> dict[str, Node]:
    children = [node for node in holder.named_children if node.type not in ("comment", "ERROR")]
    if holder.type == "array":
        return {str(index): node for index, node in enumerate(children)}
    members = {}
    for pair in children:
        name, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if name is not None and value is not None and name.text is not None:
            members[_name(name.text)] = value
    return members


def _name(text: bytes) -> str:
    if b"\\" not in text:
        return text[1:-1].decode("utf-8", "replace")
    try:
        name = json.loads(text)
    except ValueError:
        return ""
    return name if isinstance(name, str) else ""


def locate(text: bytes, where: str) -> int | None:
    """`Locator(text).offset(where)`, for a single place."""
    return Locator(text).offset(where)
