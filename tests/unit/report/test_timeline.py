"""The picture of a run: places on the time axis worked out by hand."""

from __future__ import annotations

from harness.report.inputs import EventKind, TimelineEvent
from harness.report.timeline import BINS, DOTS_SHOWN, LANES_SHOWN, LEFT, RIGHT, timeline

SPAN = RIGHT - LEFT


def event(at_ms: int, kind: EventKind, lane: str = "", label: str = "", revision: int | None = None) -> TimelineEvent:
    return TimelineEvent(at_ms=at_ms, kind=kind, lane=lane, label=label, revision=revision)


def test_no_events_no_picture() -> None:
    assert timeline([]) is None


def test_bars_run_from_start_to_end_and_an_unseen_end_stays_open() -> None:
    drawn = timeline(
        [
            event(0, EventKind.TURN_START),
            event(250, EventKind.TASK_START, "t1"),
            event(750, EventKind.TASK_END, "t1", "failure"),
            event(500, EventKind.TASK_START, "t2"),
            event(1000, EventKind.KILL),
        ]
    )
    assert drawn is not None
    first, second = drawn.lanes
    assert (first.name, first.bars[0].x, first.bars[0].width) == ("t1", LEFT + SPAN / 4, SPAN / 2)
    assert (first.bars[0].text, first.bars[0].open) == ("failure", False)
    assert (second.bars[0].x, second.bars[0].open, second.bars[0].text) == (LEFT + SPAN / 2, True, "end not seen")
    assert [(line.x, line.kind) for line in drawn.lines] == [(LEFT, "turn"), (RIGHT, "cut")]
    assert drawn.lines[1].text == "☠ killed"


def test_snapshots_keep_their_revisions_and_too_many_are_said() -> None:
    snapshots = [event(at, EventKind.SNAPSHOT, "c", revision=at + 1) for at in range(DOTS_SHOWN + 30)]
    drawn = timeline(snapshots)
    assert drawn is not None
    (lane,) = drawn.lanes
    assert len(lane.dots) == DOTS_SHOWN
    assert lane.dots[4].text == "revision 5"
    assert lane.note == "30 further snapshots not drawn"


def test_frames_become_a_density_of_bounded_size() -> None:
    frames = [event(at, EventKind.FRAME_FROM_PRODUCT) for at in range(30_000)]
    drawn = timeline([*frames, event(29_999, EventKind.FRAME_TO_PRODUCT)])
    assert drawn is not None
    assert len(drawn.from_product) <= BINS
    assert max(height for _, height in drawn.from_product) == 1
    assert [round(x) for x, _ in drawn.to_product] == [round(RIGHT - SPAN / BINS)]
    assert drawn.summary == "30.0 s, 30,001 frames"
    assert drawn.listed == ()


def test_more_cards_than_lanes_are_counted() -> None:
    drawn = timeline([event(at, EventKind.TASK_START, f"t{at}") for at in range(LANES_SHOWN + 5)])
    assert drawn is not None
    assert len(drawn.lanes) == LANES_SHOWN
    assert drawn.summary.endswith("5 further cards not drawn")


def test_events_as_text_say_the_same_in_order() -> None:
    drawn = timeline([event(1500, EventKind.CANCEL), event(500, EventKind.SNAPSHOT, "turn1/call1", revision=3)])
    assert drawn is not None
    assert drawn.listed == ("0.000 s · turn1/call1 · snapshot revision 3", "1.000 s · cancel")


def test_one_moment_is_no_division_by_zero() -> None:
    drawn = timeline([event(7, EventKind.TURN_START, label="\x1b[2J")])
    assert drawn is not None
    assert drawn.lines[0].x == LEFT
    assert drawn.lines[0].text == "turn starts «ESC»[2J"


def test_neighbouring_moments_do_not_cover_each_other() -> None:
    drawn = timeline(
        [
            event(0, EventKind.TURN_START),
            event(900, EventKind.CANCEL),
            event(990, EventKind.TURN_END),
            event(1000, EventKind.SNAPSHOT, "c"),
        ]
    )
    assert drawn is not None
    start, cancel, end = drawn.lines
    assert (start.y, cancel.y) == (13.0, 13.0)
    assert end.y > cancel.y
    assert (start.anchor, end.anchor) == ("start", "end")
