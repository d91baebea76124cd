"""Which readings differ is deepdiff's decision and never another one than that of comparing them one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.compare.readings import comparable, differing
from harness.model.values import ABSENT, NULL, NotComparable, Reason, State, Value, known, not_displayed, unreadable

_AWKWARD = (
    "",
    "0",
    "00",
    "true",
    "None",
    "null",
    "(absent)",
    "a\nb",
    "a\nb\nc",
    "\ud800",
    "__x__",
    "é",
    "e\u0301",
    "1e3",
)
_TEXTS = st.text(max_size=20) | st.sampled_from(_AWKWARD)
_VALUES = st.just(NULL) | st.just(ABSENT) | st.builds(known, _TEXTS)
_KEYS = st.text(max_size=12) | st.sampled_from(
    ("Warning#0#0", "__private__", "root['a']", "a'b\"c", "['x']", "", ".", "0", "a.b", "\n")
)
_PAIRS = st.dictionaries(_KEYS, st.tuples(_VALUES, _VALUES), max_size=12)


def _split(pairs: Mapping[str, tuple[Value, Value]]) -> tuple[dict[str, Value], dict[str, Value]]:
    return {key: one for key, (one, _) in pairs.items()}, {key: other for key, (_, other) in pairs.items()}


@settings(max_examples=60, deadline=None)
@given(_PAIRS)
@example({})
@example({"__private__": (known("1"), known("2"))})
@example({"only": (ABSENT, known("1"))})
@example({"only": (known("1"), ABSENT)})
@example({"only": (NULL, ABSENT)})
@example({"a": (known("None"), NULL), "b": (known(""), ABSENT)})
@example({str(number): (known(number), known(number + 1)) for number in range(40)})
def test_exactly_the_readings_that_are_not_equal_differ(pairs: dict[str, tuple[Value, Value]]) -> None:
    left, right = _split(pairs)
    unequal = {key for key, (one, other) in pairs.items() if one != other}
    assert differing(left, right) == unequal
    assert differing(right, left) == unequal


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(_KEYS, _VALUES, max_size=12))
def test_nothing_differs_from_itself(values: dict[str, Value]) -> None:
    assert differing(values, dict(reversed(values.items()))) == set()


@pytest.mark.parametrize("found", [{}, {"values_changed": ["b"]}])
def test_deepdiff_is_asked_and_its_answer_stands(found: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, Any]] = []

    class Change:
        def __init__(self, key: str) -> None:
            self.key = key

        def path(self, *, output_format: str) -> list[str]:
            assert output_format == "list"
            return [self.key]

    def deepdiff(left: Any, right: Any, **_: Any) -> dict[str, list[Change]]:
        asked.append((left, right))
        return {kind: [Change(key) for key in keys] for kind, keys in found.items()}

    monkeypatch.setattr("deepdiff.DeepDiff", deepdiff)
    left = {"a": known("1"), "b": NULL, "c": ABSENT}
    right = {"a": known("2"), "b": NULL, "c": known("3")}
    assert differing(left, right) == {key for keys in found.values() for key in keys}
    assert asked == [({"a": "1", "b": None}, {"a": "2", "b": None, "c": "3"})]


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(State), _TEXTS, st.text(max_size=5))
def test_only_known_null_and_absent_can_be_compared(state: State, text: str, reason: str) -> None:
    value = Value(state=state, text=text if state is State.KNOWN else None, reason=reason)
    why = comparable(value)
    assert (why is None) == (state in (State.KNOWN, State.NULL, State.ABSENT))


@pytest.mark.parametrize(
    ("reading", "reason"),
    [
        (not_displayed("hidden"), Reason.NOT_DISPLAYED),
        (unreadable("smudged"), Reason.UNREADABLE),
        *((NotComparable(reason=reason, detail="so"), reason) for reason in Reason),
    ],
)
def test_what_cannot_be_compared_keeps_its_reason(reading: Value | NotComparable, reason: Reason) -> None:
    why = comparable(reading)
    assert why is not None
    assert why.reason is reason
    assert why.detail
