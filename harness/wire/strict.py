"""Strict decoding: exact types, no member twice, and a list of every member beyond the shape.

Cheap for what it promises: a text that is byte for byte what its decoded value encodes to cannot hold a member twice,
or one that the shape does not know. Only other texts (a foreign member, spaces, another order of members) are parsed
a second time to find out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import jiter
import msgspec
from msgspec import inspect

from harness.model.errors import DecodeError
from harness.spec import bounds
from harness.wire.locate import pointer

T = TypeVar("T")

encode = msgspec.json.Encoder(order="sorted").encode
"""Compact JSON with sorted members, as the product writes it."""
_AT = re.compile(r" - at `\$(?P<path>.*)`$", re.DOTALL)
_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>\d+)\]")
_BYTE = re.compile(r"\(byte (?P<offset>\d+)\)")
_LINE_COLUMN = re.compile(r" at line (?P<line>\d+) column (?P<column>\d+)$")


class WireError(DecodeError):
    """A DecodeError that knows the id of the wire rule which the text breaks."""

    def __init__(self, message: str, *, rule: str, path: str = "", offset: int | None = None) -> None:
        super().__init__(message, path=path, offset=offset)
        self.rule = rule


class Strict(Generic[T]):
    """A strict decoder of one shape. `closed` False: members beyond the shape are allowed and not listed."""

    def __init__(self, shape: type[T], *, closed: bool = True) -> None:
        self._decode = msgspec.json.Decoder(shape).decode
        self._shape = inspect.type_info(shape)
        self._closed = closed

    def __call__(self, text: bytes, base: str = "") -> tuple[T, tuple[str, ...]]:
        """The value, and the pointers of its members beyond the shape.

        `base` is the pointer of `text` inside its frame: it is put before every pointer. Raises WireError for
        anything else that is wrong; its path is a pointer, its offset is inside `text`.
        """
        try:
            value = self._decode(text)
        except msgspec.ValidationError as error:
            raise _misfit(error, base) from None
        except msgspec.DecodeError as error:
            raise _malformed(error, base, text) from None
        except RecursionError:
            raise too_deep(base) from None
        if encode(value) == text:
            return value, ()
        plain = parse(text, base)
        return value, tuple(_beyond(plain, self._shape, base)) if self._closed else ()


def parse(text: bytes, base: str = "") -> Any:
    """Any JSON text, members standing twice refused. Raises WireError."""
    try:
        return jiter.from_json(text, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        if "recursion limit" in str(error):
            raise too_deep(base) from None
        message, offset = str(error), None
        if found := _LINE_COLUMN.search(message):
            before = text.split(b"\n")[: int(found["line"]) - 1]
            offset = sum(len(line) + 1 for line in before) + max(int(found["column"]) - 1, 0)
            message = message[: found.start()]
        raise WireError(message, rule="wire.frame-json", path=base, offset=offset) from None


def check_utf8(text: bytes) -> bytes:
    """The text itself; decoders look only into strings that they hand out. Raises WireError."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise WireError(f"no UTF-8: {error.reason}", rule="wire.frame-json", offset=error.start) from None
    return text


def depth(value: object) -> int:
    """How deeply containers are nested in a parsed value: 0 for a scalar, 1 for a flat list."""
    levels = 0
    level = [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        levels += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return levels


def too_deep(base: str) -> WireError:
    return WireError(f"nested deeper than {bounds.JSON_DEPTH} containers", rule="wire.json-depth", path=base)


def _misfit(error: msgspec.ValidationError, base: str) -> WireError:
    message = str(error)
    path = base
    if found := _AT.search(message):
        steps = _STEP.finditer(found["path"])
        path += pointer(*(step["index"] or step["name"] for step in steps))
        message = message[: found.start()]
    return WireError(message, rule="wire.schema", path=path)


def _malformed(error: msgspec.DecodeError, base: str, text: bytes) -> WireError:
    message, offset = str(error), None
    if found := _BYTE.search(message):
        message, offset = message[: found.start()].strip(), int(found["offset"])
    elif "truncated" in message:
        offset = len(text)
    return WireError(message, rule="wire.frame-json", path=base, offset=offset)


def _beyond(value: object, shape: inspect.Type, at: str) -> Iterator[str]:
    """Pointers of members that `shape` does not know. The value has already been decoded as the shape."""
    match shape:
        case inspect.UnionType():
            yield from _beyond_union(value, shape, at)
        case inspect.StructType() if isinstance(value, dict):
            known = {field.encode_name: field.type for field in shape.fields}
            for name, member in value.items():
                if name in known:
                    yield from _beyond(member, known[name], f"{at}{pointer(name)}")
                elif name != shape.tag_field:
                    yield f"{at}{pointer(name)}"
        case inspect.VarTupleType() if isinstance(value, list):
            for index, item in enumerate(value):
                yield from _beyond(item, shape.item_type, f"{at}/{index}")
        case _:
            return


def _beyond_union(value: object, shape: inspect.UnionType, at: str) -> Iterator[str]:
    structs = [one for one in shape.types if isinstance(one, inspect.StructType)]
    for one in structs:
        if isinstance(value, dict) and (len(structs) == 1 or value.get(one.tag_field or "") == one.tag):
            yield from _beyond(value, one, at)
