"""Times are compared as text: whatever does not sort like time, or is not in the calendar, is refused."""

from __future__ import annotations

import pytest

from harness.authorize.times import time_error

REAL = [
    "2026-11-30T00:00:00Z",
    "2024-02-29T23:59:59Z",
    "2000-02-29T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
]
UNREAL = [
    "2026-13-45T99:99:99Z",
    "2026-00-01T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-11-30T24:00:00Z",
    "2026-11-30T00:60:00Z",
    "2026-12-31T23:59:60Z",
    "0000-01-01T00:00:00Z",
]
MISSPELT = [
    "",
    "now",
    "2026-11-30",
    "2026-11-30T00:00Z",
    "2026-11-30T00:00:00",
    "2026-11-30 00:00:00Z",
    "2026-11-30t00:00:00z",
    "2026-11-30T00:00:00.5Z",
    "2026-11-30T00:00:00+00:00",
    "2026-11-30T00:00:00Z\n",
    " 2026-11-30T00:00:00Z",
    "2026-11-30T00:00:00ZZ",
    "+2026-1-30T00:00:00Z",
    "٢٠٢٦-11-30T00:00:00Z",
    "\uff12\uff10\uff12\uff16-11-30T00:00:00Z",
    "2026-1-130T00:00:00Z",
]


@pytest.mark.parametrize("text", REAL)
def test_time_of_the_calendar_is_none_to_complain_of(text: str) -> None:
    assert time_error(text) is None


@pytest.mark.parametrize("text", [*UNREAL, *MISSPELT])
def test_time_outside_the_calendar_or_the_spelling_is_refused(text: str) -> None:
    problem = time_error(text)
    assert problem is not None
    assert problem.startswith(f"{text!r} is no RFC 3339 UTC time")


def test_text_order_is_time_order() -> None:
    assert sorted(REAL) == [REAL[3], REAL[2], REAL[1], REAL[0], REAL[4]]
