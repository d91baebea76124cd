"""Byte offsets must be of bytes, of the very value, and must not be guessed."""

from __future__ import annotations

import pytest

from harness.wire.locate import Locator, locate, pattern, pointer

TEXT = '{"é":"ß", "a/b":{"m~n":[10,{"x":null},"z"]},"dup":1,"dup":22}'.encode()


@pytest.mark.parametrize(
    ("where", "begins"),
    [
        ("", b'{"'),
        ("/é", '"ß"'.encode()),
        ("/a~1b", b'{"m~n"'),
        ("/a~1b/m~0n", b"[10"),
        ("/a~1b/m~0n/0", b"10,"),
        ("/a~1b/m~0n/1/x", b"null"),
        ("/a~1b/m~0n/2", b'"z"'),
        ("/dup", b"22"),
    ],
)
def test_offset_is_the_byte_where_the_value_begins(where: str, begins: bytes) -> None:
    offset = locate(TEXT, where)

    assert offset is not None
    assert TEXT[offset:].startswith(begins)


@pytest.mark.parametrize(
    "where", ["/nothing", "/a~1b/m~0n/3", "/a~1b/m~0n/-1", "/é/x", "no-slash", "/a/b", "/a~1b/m~0n/00"]
)
def test_no_value_has_no_offset(where: str) -> None:
    assert locate(TEXT, where) is None


def test_escaped_member_names_are_found_by_what_they_mean() -> None:
    assert locate(rb'{"\u0061":1}', "/a") == 10


@pytest.mark.parametrize("text", [b"", b"   ", b"}{", b'{"a":', b"\xff\xfe", b'{"a" 1}'])
def test_broken_text_is_answered_with_none_or_an_offset_inside(text: bytes) -> None:
    offset = locate(text, "/a")

    assert offset is None or 0 <= offset < len(text)


def test_one_locator_answers_many_pointers_alike() -> None:
    locator = Locator(TEXT)
    places = ["/a~1b/m~0n/1", "/dup", "", "/a~1b/m~0n/1", "/nothing", "/a~1b"]

    assert [locator.offset(where) for where in places] == [locate(TEXT, where) for where in places]


def test_pointers_are_escaped_and_generalised() -> None:
    assert pointer("a/b", "m~n", 2) == "/a~1b/m~0n/2"
    assert pointer() == ""
    assert pattern("/blocks/12/rows/3/label") == "/blocks/*/rows/*/label"
    assert pattern("/2nd/4") == "/2nd/*"
