"""Strict decoding refuses what lenient decoders let pass, and says where."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import pytest
from msgspec import UNSET, Meta, UnsetType

from harness.model.errors import DecodeError
from harness.wire.strict import Strict, WireError, check_utf8, depth, parse


class Leaf(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="leaf"):
    size: Annotated[int, Meta(ge=0)]


class Twig(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="twig"):
    leaves: tuple[Leaf, ...]
    note: str | None = None


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    parts: tuple[Leaf | Twig, ...]
    loose: Any | UnsetType = UNSET


decode = Strict(Tree)


def test_a_canonical_text_is_decoded_and_complete() -> None:
    value, beyond = decode(b'{"parts":[{"size":3,"type":"leaf"},{"leaves":[],"note":null,"type":"twig"}]}')

    assert value == Tree(parts=(Leaf(size=3), Twig(leaves=(), note=None)))
    assert beyond == ()


@pytest.mark.parametrize(
    "text",
    [
        b'{ "parts" : [ {"type":"leaf", "size":3} ] }',
        b'{"parts":[{"type":"leaf","size":3}]}',
        b'{"loose":{"b":1,"a":[1.50]},"parts":[{"size":3,"type":"leaf"}]}',
        rb'{"loose":"\u00e9","parts":[{"size":3,"type":"leaf"}]}',
    ],
)
def test_other_spellings_of_the_same_are_no_breach(text: bytes) -> None:
    value, beyond = decode(text)

    assert value.parts == (Leaf(size=3),)
    assert beyond == ()


def test_members_beyond_the_shape_are_listed_at_every_depth() -> None:
    text = b'{"parts":[{"leaves":[{"size":1,"type":"leaf","hue":"red"}],"type":"twig","a/b":1}],"root":{"deep":[]}}'

    _, beyond = decode(text, "/data")

    assert sorted(beyond) == ["/data/parts/0/a~1b", "/data/parts/0/leaves/0/hue", "/data/root"]
    assert Strict(Tree, closed=False)(text)[1] == ()


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        (b'{"parts":[],"parts":[]}', 20),
        (b'{"parts":[{"size":1,"type":"leaf","size":1}]}', 41),
        (b'{"parts":[],"loose":{"a":1,"a":2}}', 31),
        ('{"loose":"é","parts":[],"parts":[]}'.encode(), 33),
    ],
)
def test_a_member_that_stands_twice_is_refused_where_it_stands(text: bytes, offset: int) -> None:
    with pytest.raises(WireError, match="uplicate") as caught:
        decode(text)

    assert caught.value.rule == "wire.frame-json"
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        (b'{"parts":[{"size":-1,"type":"leaf"}]}', "/data/parts/0/size", ">= 0"),
        (b'{"parts":[{"size":1.5,"type":"leaf"}]}', "/data/parts/0/size", "float"),
        (b'{"parts":[{"type":"leaf"}]}', "/data/parts/0", "size"),
        (b'{"parts":[{"type":"bush"}]}', "/data/parts/0/type", "bush"),
        (b'{"parts":null}', "/data/parts", "null"),
        (b"[]", "/data", "array"),
    ],
)
def test_a_misfit_names_the_field(text: bytes, path: str, message: str) -> None:
    with pytest.raises(WireError, match=message) as caught:
        decode(text, "/data")

    assert caught.value.rule == "wire.schema"
    assert caught.value.path == path
    assert isinstance(caught.value, DecodeError)


@pytest.mark.parametrize(
    ("text", "offset"),
    [(b'{"parts":[}', 10), (b'{"parts":[', 10), (b"{} x", 3), (b"", 0)],
)
def test_broken_json_names_the_byte(text: bytes, offset: int) -> None:
    with pytest.raises(WireError) as caught:
        parse(text) if b"} x" in text else decode(text)

    assert caught.value.rule == "wire.frame-json"
    assert caught.value.offset == offset


def test_bytes_that_are_no_utf8_are_refused_wherever_they_stand() -> None:
    assert check_utf8("é".encode()) == "é".encode()
    with pytest.raises(WireError) as caught:
        check_utf8(b'{"unknown":"\xff"}')

    assert caught.value.rule == "wire.frame-json"
    assert caught.value.offset == 12


@pytest.mark.parametrize(
    "text", [b"[" * 50_000, b'{"loose":' * 10_000, b'{"loose":' + b"[" * 300 + b"]" * 300 + b',"parts":[]}']
)
def test_deep_nesting_is_refused_without_a_crash(text: bytes) -> None:
    with pytest.raises(WireError) as caught:
        parse(text)

    assert caught.value.rule == "wire.json-depth"


@pytest.mark.parametrize(("value", "levels"), [(1, 0), ([], 1), ({"a": 1}, 1), ([[], {"a": [{}]}], 4), ({}, 1)])
def test_depth_counts_containers(value: object, levels: int) -> None:
    assert depth(value) == levels
