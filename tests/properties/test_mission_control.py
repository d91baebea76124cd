"""Readings of anything a terminal may show: what was wrapped comes out as it went in, or it is not read at all."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyte.screens import Char

from harness.model.errors import DecodeError
from harness.model.values import NotComparable, known
from harness.observe.mission_control import text
from harness.observe.mission_control.cast import decode
from harness.observe.mission_control.jsontext import Json, parse
from harness.terminal import Snapshot
from tests.support.mission_control import (
    SCRIPT,
    batch,
    box,
    card,
    cast,
    read,
    readings,
    split,
    stored,
    title,
    transcript,
    window,
    wrap,
)

_WORDS = st.text(st.sampled_from([*'ab  "\\/·•✓│─é', "漢", "、", "🙂", "ß"]), min_size=1, max_size=120).map(str.strip)
_TEXTS = _WORDS.filter(bool)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 10**18) | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=120, deadline=None)
@given(intent=_TEXTS)
def test_a_boxed_intent_comes_out_as_it_went_in_or_is_not_read(intent: str) -> None:
    rows = wrap(f"Intent: {intent}", 52)
    (fact,) = readings(
        card(read(cast(("card", transcript([title("Code Mode • 1 call"), "", *box(rows)], height=12))))),
        "Code Mode intent",
    )
    if isinstance(fact.value, NotComparable):
        assert any(row.endswith(" ") for row in rows[:-1]), "doubt only where a row ends with a blank"
    else:
        assert fact.value == known(intent)


@settings(max_examples=120, deadline=None)
@given(intent=_TEXTS, agent=_TEXTS, cut=st.integers(1, 30))
def test_metadata_texts_survive_any_wrapping_and_paging(intent: str, agent: str, cut: int) -> None:
    task = {"agent": agent, "index": 0, "intent": intent, "outcome": "success"}
    text = json.dumps({"metadata": {"subagent_telemetry": {"tasks": [task]}}}, indent=2, ensure_ascii=False)
    rows = [row for line in text.split("\n") for row in split(line, 32)]
    body = ["▾ Metadata / Params", *rows, "─" * 32, "Sanitized Output:"]
    head = ["Status: SUCCESS", "Tool • subagents • subagents · 1"]
    cut = min(cut, len(body) - 1)
    column = read(
        cast(
            ("detail:turn1/call1", window(head, body[:cut], width=32)),
            ("detail:turn1/call1:2", window(head, body[cut:], width=32)),
        ),
        batch("turn1/call1", 1),
    )
    facts = card(column, "turn1/call1/task1")
    for label, value in (("Task intent", intent), ("Task agent", agent)):
        (fact,) = readings(facts, label)
        assert fact.value == known(value) or isinstance(fact.value, NotComparable), label
    if cut > 1:
        (fact,) = readings(facts, "Task outcome")
        assert fact.value == known("success") or isinstance(fact.value, NotComparable)


def _agrees(read_value: Json, value: object) -> bool:
    """Whether a value read from a beginning is a beginning of the value."""
    match value:
        case dict():
            return read_value.kind == "object" and all(
                name in value and _agrees(member, value[name]) for name, member in read_value.members.items()
            )
        case list():
            return read_value.kind == "array" and all(
                _agrees(item, value[index]) for index, item in enumerate(read_value.items)
            )
        case None:
            return read_value.kind == "null"
        case bool():
            return read_value.kind == str(value).lower()
        case _:
            return read_value.text == str(value)


@settings(max_examples=200, deadline=None)
@given(value=st.dictionaries(_TEXTS, _VALUES, max_size=4), data=st.data())
def test_any_beginning_of_json_is_read_as_a_beginning_of_the_value(
    value: dict[str, object], data: st.DataObject
) -> None:
    text = json.dumps(value, indent=2, ensure_ascii=False)
    length = data.draw(st.integers(1, len(text)))
    found = parse(text[:length])
    assert _agrees(found, value)
    assert found.cut is (length < len(text))


@settings(max_examples=150, deadline=None)
@given(junk=st.binary(max_size=80), at=st.integers(0, 4000), length=st.integers(0, 40))
def test_a_damaged_cast_is_refused_or_read_but_never_fails(junk: bytes, at: int, length: int) -> None:
    whole = cast(
        ("card", transcript([title("Code Mode • 1 call"), "", "  ✓ 1 succeeded"], height=10)),
        ("detail:turn1/call1", window(["Status: SUCCESS", "Tool • code_mode • x"], ["▾ Metadata / Params", "{}"])),
    )
    at %= len(whole)
    damaged = whole[:at] + junk + whole[at + length :]
    try:
        decode(damaged)
    except DecodeError:
        with pytest.raises(DecodeError, match="line"):
            read(damaged)
    else:
        column = read(damaged)
        assert column.unavailable is not None or all(facts.path == SCRIPT.path for facts in column.cards)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_real_capture_cut_after_any_line_never_fails(data: st.DataObject) -> None:
    lines = stored("0.104.0-small-terminal").splitlines(keepends=True)
    count = data.draw(st.integers(1, len(lines)))
    column = read(b"".join(lines[:count]))
    if any(b', "m", ' in line for line in lines[:count]):
        assert column.complete is any(b'"m", "end"' in line for line in lines[:count])


@st.composite
def _rows_of_cells(draw: st.DrawFn) -> tuple[Char, ...]:
    """A screen row: plain, combined and wide glyphs; a wide one is followed by its empty half."""
    cells: list[Char] = []
    for glyph in draw(st.lists(st.sampled_from(["a", " ", "│", "e\u0301", "漢"]), min_size=1, max_size=9)):
        cells += [Char(glyph), Char("")] if glyph == "漢" else [Char(glyph)]
    return tuple(cells)


@settings(max_examples=400, deadline=None)
@given(cells=_rows_of_cells(), first=st.integers(-1, 12), last=st.integers(-1, 20))
def test_text_between_columns_is_every_whole_glyph_there_with_its_own_cells(
    cells: tuple[Char, ...], first: int, last: int
) -> None:
    wide = [number for number, cell in enumerate(cells, start=1) if cell.data == "漢"]
    glyphs = [
        (cell.data, number, number + (number in wide), cell)
        for number, cell in enumerate(cells, start=1)
        if cell.data and first <= number <= last and not (number in wide and number == last)
    ]
    plain = "".join(cell.data for cell in cells)
    got = text.read("m", Snapshot(len(cells), 1, (cells,), (plain,)), 1, first, last)
    assert got.string == "".join(data for data, *_ in glyphs)
    spots = [text.Spot("m", 1, left, right, cell) for data, left, right, cell in glyphs for _ in data]
    assert list(got.spots) == spots
    assert all(type(spot) is text.Spot for spot in got.spots)
    for start, end in itertools.combinations(range(-len(spots) - 1, len(spots) + 2), 2):
        assert list(got.cut(start, end).spots) == spots[start:end]
    twice = text.concatenate([got, got.cut(1), got])
    assert list(twice.spots) == spots + spots[1:] + spots
    assert list(twice.cut(1, -1).spots) == (spots + spots[1:] + spots)[1:-1]
