"""What the report asks of its caller beside the judgement: excerpts of evidence, pictures of screens, timelines.

All three are callables over an observation's id, so that a caller reads only what the report has room for. Each may
answer None, and the report then says that nothing was supplied. Everything in them but `Picture.svg` is plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

import msgspec

from harness.model.facts import Place


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """The text around a place in a line-oriented member.

    `raw` is the text as it lies in the bundle (it may already be cut to a window); `formatted` is the same for human
    eyes, for example the card of a frame as indented JSON. Several places of one frame should give the very same
    `formatted` text: the report prints it once and marks each place in it. `highlight` holds 0-based, end-exclusive
    character ranges of the place in `formatted`, in order and without overlap.
    """

    raw: str
    formatted: str
    highlight: tuple[tuple[int, int], ...] = ()


class ScreenMark(msgspec.Struct, frozen=True, kw_only=True):
    """A place that a picture is asked to outline: `id` for the outline's element, the 1-based screen row, the 1-based
    inclusive first and last column."""

    id: str
    row: int
    first: int
    last: int


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """One screen of Mission Control: `svg` is one self-contained ``<svg>`` element of its natural size.

    Each mark that is on the screen is a ``<rect id=… class="mark">``; a mark outside of the screen is left out. No
    other element has an id. Scripts, styles, links and anything external are refused (`harness.report.svg`).
    """

    svg: str


class EventKind(StrEnum):
    """What a timeline can show. The first two are dots too many to name; the others carry a label."""

    FRAME_TO_PRODUCT = "frame_to_product"
    FRAME_FROM_PRODUCT = "frame_from_product"
    SNAPSHOT = "snapshot"
    """A card's snapshot: `lane` is the card's path, `revision` its revision."""
    TASK_START = "task_start"
    """`lane` is the task's card path."""
    TASK_END = "task_end"
    """`lane` is the task's card path, `label` its outcome."""
    TURN_START = "turn_start"
    TURN_END = "turn_end"
    CANCEL = "cancel"
    KILL = "kill"


class TimelineEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One moment of a run: `at_ms` milliseconds since the run's first event, `lane` the card path it belongs to or
    "", `label` a short text, `revision` a snapshot's revision."""

    at_ms: int
    kind: EventKind
    lane: str = ""
    label: str = ""
    revision: int | None = None


Excerpts = Callable[[str, Place], Excerpt | None]
"""(observation id, place of a line-oriented member) to its excerpt."""

Pictures = Callable[[str, Place, Sequence[ScreenMark]], Picture | None]
"""(observation id, a place on a screen, all places there to outline) to the picture of the moment that the place's
file and marker name. Rows that are far from every mark may be folded."""

Timelines = Callable[[str], Sequence[TimelineEvent] | None]
"""Observation id to the events of its run, in time order."""


def no_excerpt(observation: str, place: Place) -> Excerpt | None:  # noqa: ARG001 - the shape of Excerpts
    return None


def no_picture(observation: str, place: Place, marks: Sequence[ScreenMark]) -> Picture | None:  # noqa: ARG001 - likewise
    return None


def no_timeline(observation: str) -> Sequence[TimelineEvent] | None:  # noqa: ARG001 - the shape of Timelines
    return None
