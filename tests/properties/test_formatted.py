"""JSON for human eyes says what the value is, and every pointer leads to the text of its own value."""

from __future__ import annotations

import json
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from harness.formatted import Formatted
from harness.wire.locate import pointer

_NAMES = st.text(alphabet='ab/~01é"\\ ', max_size=6)
_TEXTS = st.text(max_size=40)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXTS,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(_NAMES, inner, max_size=6),
    max_leaves=40,
)


def _inside(value: object, *steps: str | int) -> Iterator[tuple[str, object]]:
    yield pointer(*steps), value
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in members:
        yield from _inside(item, *steps, step)


@given(value=_VALUES)
def test_every_pointer_leads_to_its_value(value: object) -> None:
    formatted = Formatted(value)
    assert json.loads(formatted.text) == value
    for where, expected in _inside(value):
        span = formatted.span(where)
        assert span is not None
        assert json.loads(formatted.text[slice(*span)]) == expected


@given(value=_VALUES, where=st.lists(_NAMES, min_size=1, max_size=3).map(lambda steps: pointer(*steps)))
def test_a_pointer_to_nothing_leads_nowhere(value: object, where: str) -> None:
    there = dict(_inside(value))
    assert (Formatted(value).span(where) is None) is (where not in there)
    assert Formatted(value).span("no slash") is None


def test_what_fits_on_a_line_stands_on_one_and_nothing_else_does() -> None:
    short, long = {"a": [1, 2]}, {"a": "x" * 60, "b": [{"c": "y" * 60, "d": ["z" * 50, 1]}]}
    assert Formatted(short).text == '{"a": [1, 2]}'
    assert Formatted(long).text.splitlines() == [
        "{",
        f'  "a": "{"x" * 60}",',
        '  "b": [',
        "    {",
        f'      "c": "{"y" * 60}",',
        f'      "d": ["{"z" * 50}", 1]',
        "    }",
        "  ]",
        "}",
    ]
