"""Drawings: a mutant of a screen must show what real output in the capture would show, and leave no trace."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.model.errors import HarnessError
from harness.observe.mission_control import cast
from harness.observe.mission_control.cast import decode, replay
from harness.selfcheck.screens import Drawing, Screens, redraw, scrolled_away
from harness.terminal import Snapshot

BUNDLE = Path(__file__).parents[3] / "evidence" / "0.104.0" / "mixed-script.mission-control"
CAST = BUNDLE / "mission-control.reopen.cast.gz"


@pytest.fixture(scope="module")
def content() -> bytes:
    return gzip.decompress(CAST.read_bytes())


@pytest.fixture(scope="module")
def screens(content: bytes) -> Screens:
    return Screens(content, complete=True)


def with_output(cast: bytes, moment: int, output: str) -> bytes:
    """The capture in which the product wrote something more, just before a marked moment."""
    lines, seen, at = cast.splitlines(keepends=True), -1, 0
    for number, line in enumerate(lines[1:], 1):
        event = json.loads(line)
        if event[1] == "m" and event[2] != "end":
            seen += 1
            if seen == moment:
                at = number
                break
    time = json.loads(lines[at])[0]
    return b"".join([*lines[:at], json.dumps([time, "o", output]).encode() + b"\n", *lines[at:]])


def row_with(screen: Snapshot, text: str) -> int:
    return next(number for number, row in enumerate(screen.text, 1) if text in row)


def digit(screen: Snapshot) -> Drawing:
    row = row_with(screen, '"inner_calls": 3')
    column = screen.text[row - 1].index('"inner_calls": 3') + len('"inner_calls": ')
    return redraw(screen, row, column + 1, [screen.cells[row - 1][column]._replace(data="8")])


def gone(screen: Snapshot) -> Drawing:
    return scrolled_away(screen, row_with(screen, '"inner_calls": 3'), screen.height - 4)


@pytest.mark.parametrize("draw", [digit, gone])
def test_a_drawing_shows_what_the_same_output_in_the_capture_shows(
    draw: Callable[[Snapshot], Drawing], content: bytes, screens: Screens
) -> None:
    moment = next(number for number, shown in enumerate(screens.shown) if "inner_calls" in "".join(shown.screen.text))
    drawing = draw(screens.shown[moment].screen)
    (drawn,) = screens.drawn([(moment, drawing)])
    replayed = list(replay(decode(with_output(content, moment, drawing.output))))
    assert drawn[moment].screen == replayed[moment].screen
    assert drawn[moment].screen != screens.shown[moment].screen
    others = [number for number in range(len(drawn)) if number != moment]
    assert [drawn[number] for number in others] == [screens.shown[number] for number in others]


def test_every_drawing_begins_from_the_screen_as_it_was_recorded(screens: Screens) -> None:
    moment = next(number for number, shown in enumerate(screens.shown) if "inner_calls" in "".join(shown.screen.text))
    screen = screens.shown[moment].screen
    first, second, third = screens.drawn([(moment, digit(screen)), (moment, gone(screen)), (moment, digit(screen))])
    assert first[moment].screen == third[moment].screen
    assert "8" not in "".join(second[moment].screen.text[row_with(screen, '"inner_calls"') - 1 :][:1])


def test_a_drawing_that_does_not_undo_itself_is_a_fault_of_ours(screens: Screens) -> None:
    leaving = Drawing(lambda: "\x1b[1;1HX", lambda: "")
    with pytest.raises(HarnessError, match="left a trace"):
        list(screens.drawn([(0, leaving)]))


def test_many_drawings_are_no_capture_that_draws_too_much(screens: Screens, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is for captures of unknown origin; reaching it here would end the selfcheck."""
    monkeypatch.setattr(cast, "CELLS_LIMIT", 0)
    moment = next(number for number, shown in enumerate(screens.shown) if "inner_calls" in "".join(shown.screen.text))
    screen = screens.shown[moment].screen
    many = 200
    assert sum(1 for _ in screens.drawn([(moment, gone(screen))] * many)) == many
