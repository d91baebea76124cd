"""JSON that was read off a screen: parsed with offsets, and readable up to the point where the window cuts it."""

from __future__ import annotations

import re
from typing import NamedTuple

import jiter
import tree_sitter_json
from tree_sitter import Language, Node, Parser

from harness.spec.bounds import JSON_DEPTH

_PARSER = Parser(Language(tree_sitter_json.language()))
_DEPTH = 2 * JSON_DEPTH
"""Deepest nesting read; the product bounds its own frames at half of it."""
_STRING_END = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NO_BLANK = re.compile(r"[^ \n]")
_SCALAR = re.compile(r"[^\s,:\[\]{}\"]+")
_CLOSERS = {"{": "}", "[": "]"}


class Json(NamedTuple):
    """One value. `start`, `end`: where it stands in the text. `kind`: ``object``, ``array``, ``string``, ``number``,
    ``true``, ``false`` or ``null``. `members` is empty unless it is an object, `items` unless it is an array; `text` is
    a string's value or a scalar's spelling. `cut`: the text ends inside of it, so it may have more. `twice`: members
    that stand more than once; the first is kept."""

    kind: str
    start: int
    end: int
    text: str = ""
    members: dict[str, Json] = {}  # noqa: RUF012  # never changed: a NamedTuple's default is as frozen as its users are
    items: tuple[Json, ...] = ()
    cut: bool = False
    twice: frozenset[str] = frozenset()


class NotJsonError(ValueError):
    """Text that is no JSON, not even the beginning of one. The message says where."""


def parse(text: str) -> Json:
    """The value that `text` is, or begins with. Raises NotJsonError."""
    whole, length = _completed(text)
    encoded = whole.encode()
    root = _PARSER.parse(encoded).root_node
    children = root.named_children
    if root.has_error or len(children) != 1:
        raise NotJsonError(f"not JSON near character {_error_at(root)}")
    offsets = _Offsets(encoded)
    return _value(children[0], offsets, length)


class _Offsets:
    """Byte offsets to character offsets."""

    def __init__(self, encoded: bytes) -> None:
        self.encoded = encoded
        self._ascii = encoded.isascii()
        self._characters: list[int] = []
        if not self._ascii:
            count = -1
            for byte in encoded:
                count += byte & 0xC0 != 0x80
                self._characters.append(count)
            self._characters.append(count + 1)

    def __call__(self, byte: int) -> int:
        return byte if self._ascii else self._characters[byte]


def _completed(text: str) -> tuple[str, int]:
    """The text up to its last whole value with every open bracket closed, and how much of it is really there."""
    stack: list[str] = []
    safe, closers = 0, ""
    at = 0
    after_colon = key = False
    while (at := _after_blanks(text, at)) < len(text):
        char = text[at]
        whole = False
        if char in "{[":
            stack.append(char)
            if len(stack) > _DEPTH:
                raise NotJsonError(f"nested deeper than {_DEPTH}")
            at += 1
            after_colon = False
            safe, closers = at, _closers(stack)
        elif char in "}]":
            if not stack or _CLOSERS[stack.pop()] != char:
                raise NotJsonError(f"{char!r} closes nothing at character {at}")
            at += 1
            whole = True
        elif char == '"':
            match = _STRING_END.match(text, at + 1)
            if match is None:
                break
            key = bool(stack) and stack[-1] == "{" and not after_colon
            at = match.end()
            whole = not key
        elif char in ",:":
            after_colon = char == ":"
            at += 1
        else:
            match = _SCALAR.match(text, at)
            if match is None:
                raise NotJsonError(f"{char!r} at character {at}")
            at = match.end()
            whole = at < len(text) or not stack  # at the very end it may go on beyond the cut
        if whole:
            after_colon = False
            safe, closers = at, _closers(stack)
            if not stack:
                return text, len(text)
    return text[:safe] + closers, safe


def _after_blanks(text: str, at: int) -> int:
    match = _NO_BLANK.search(text, at)
    return match.start() if match else len(text)


def _closers(stack: list[str]) -> str:
    return "".join([_CLOSERS[char] for char in reversed(stack)])


def _error_at(node: Node) -> int:
    while True:
        bad = next((child for child in node.children if child.has_error or child.is_error or child.is_missing), None)
        if bad is None:
            return node.start_byte
        node = bad


def _value(node: Node, offsets: _Offsets, length: int) -> Json:
    """`length`: characters that are really there; what ends beyond it was closed by us."""
    start, end = offsets(node.start_byte), offsets(node.end_byte)
    cut = end > length
    end = min(end, length)
    match node.type:
        case "object":
            members: dict[str, Json] = {}
            twice: set[str] = set()
            for pair in node.named_children:
                key_node, value_node = pair.named_children
                key = _string(key_node, offsets)
                if key in members:
                    twice.add(key)
                else:
                    members[key] = _value(value_node, offsets, length)
            return Json("object", start, end, members=members, cut=cut, twice=frozenset(twice))
        case "array":
            items = tuple(_value(item, offsets, length) for item in node.named_children)
            return Json("array", start, end, items=items, cut=cut)
        case "string":
            return Json("string", start, end, text=_string(node, offsets))
        case kind:
            return Json(kind, start, end, text=offsets.encoded[node.start_byte : node.end_byte].decode())


def _string(node: Node, offsets: _Offsets) -> str:
    raw = offsets.encoded[node.start_byte : node.end_byte]
    try:
        value = jiter.from_json(raw)
    except ValueError as error:
        raise NotJsonError(f"not a JSON string at character {offsets(node.start_byte)}: {error}") from error
    if not isinstance(value, str):
        raise NotJsonError(f"a member's name at character {offsets(node.start_byte)} is no string")
    return value
