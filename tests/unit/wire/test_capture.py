"""A capture is read line by line, says how it ended, and is never read past what it is."""

from __future__ import annotations

import pytest

from harness.model.errors import DecodeError, EvidenceError, HarnessError
from harness.wire import capture
from harness.wire.capture import Direction, Lines, split
from harness.wire.reading import read_capture
from tests.support.wire_frames import line, script_run

FRAME = '{"a":"é"}'


def read(data: bytes) -> tuple[list[capture.Line], Lines]:
    lines = Lines(split(data))
    return list(lines), lines


def test_lines_keep_number_time_direction_and_text() -> None:
    found, ended = read(line(1.5, "to_product", FRAME) + line(2, "from_product", "x") + line(3, "footer", "complete"))

    assert [(one.number, one.at, one.direction, one.text) for one in found] == [
        (1, 1.5, Direction.TO_PRODUCT, FRAME.encode()),
        (2, 2.0, Direction.FROM_PRODUCT, b"x"),
        (3, 3.0, Direction.FOOTER, b"complete"),
    ]
    assert ended.footer is True
    assert ended.cut is False


@pytest.mark.parametrize(
    ("data", "footer", "cut"),
    [
        (b"", False, False),
        (line(1, "from_product", "x"), False, False),
        (line(1, "footer", "complete"), True, False),
        (line(1, "footer", "complete") + line(2, "from_product", "x"), False, False),
        (line(1, "footer", "half"), False, False),
        (line(1, "from_product", "x") + line(2, "footer", "complete")[:-9], False, True),
        (line(1, "from_product", "x") + b'{"at": 1', False, True),
        (line(1, "from_product", "x")[:-1], False, False),
    ],
)
def test_end_of_a_capture_is_told(data: bytes, footer: bool, cut: bool) -> None:
    _, ended = read(data)

    assert (ended.footer, ended.cut) == (footer, cut)


@pytest.mark.parametrize(
    "bad",
    [
        b"\n",
        b"[]\n",
        b"no json\n",
        b'{"at":1,"direction":"from_product"}\n',
        b'{"at":1,"direction":"from_product","line":"x","more":1}\n',
        b'{"at":1,"direction":"sideways","line":"x"}\n',
        b'{"at":true,"direction":"from_product","line":"x"}\n',
        b'{"at":"1","direction":"from_product","line":"x"}\n',
        b'{"at":NaN,"direction":"from_product","line":"x"}\n',
        b'{"at":1e999,"direction":"from_product","line":"x"}\n',
        b'{"at":1,"direction":"from_product","line":5}\n',
        b'{"at":1,"direction":["from_product"],"line":"x"}\n',
        b'{"at":1,"direction":"from_product","line":"x","line":"y"}\n',
        b'{"at":1,"direction":"from_product","line":"\xff"}\n',
        b"[" * 100_000 + b"\n",
        b'{"at":1,"direction":"from_product","line":"' + b"x" * capture.LINE_BYTES + b'"}\n',
    ],
    ids=range(16),
)
def test_a_line_that_is_none_is_damage_and_named(bad: bytes) -> None:
    data = line(1, "from_product", "x") + bad + line(3, "from_product", "x")

    with pytest.raises(DecodeError) as caught:
        read(data)

    assert "line 2" in caught.value.where
    assert caught.value.exit_code == EvidenceError.exit_code
    assert isinstance(caught.value, HarnessError)
    assert len(str(caught.value)) < 300


def test_a_line_without_newline_in_the_middle_is_damage() -> None:
    with pytest.raises(DecodeError, match="line 1"):
        list(Lines([b'{"at": 1', line(2, "from_product", "x")]))


def test_output_that_is_no_utf8_is_the_products_fault_and_not_the_captures() -> None:
    wire = script_run(finish=False)
    data = wire.encode() + b'{"at":2,"direction":"from_product","line":"{\\"a\\":\\"\\udcff\\udcfe\\"}"}\n'

    reading = read_capture(data)

    assert [breach.rule for breach in reading.breaches] == ["wire.frame-json"]
    assert reading.lines == data.count(b"\n")


def test_split_keeps_every_byte() -> None:
    data = b"a\nb\r\n\nc"

    assert list(split(data)) == [b"a\n", b"b\r\n", b"\n", b"c"]
    assert b"".join(split(data)) == data
