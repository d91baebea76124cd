"""A whole capture, read line by line: what it showed and which wire rules it broke."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from harness.wire.breaches import Breach, Breaches
from harness.wire.capture import Line, Lines, split
from harness.wire.frames import Frame, Request
from harness.wire.order import Conversation, Refusal
from harness.wire.pages import History
from harness.wire.runs import Run

Watch = Callable[[Line, Request | Frame | None], None]
"""Called for every line with the frame that it holds, None when it holds none that can be read."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a capture showed. `runs` in order of admission with their folded cards; `histories` in order of paging.

    `footer`: our own recorder finished the capture. `cut`: its last line is not whole. `negotiated`: the product
    agreed to send cards, None when the capture does not say. `lines` counts all lines.
    """

    runs: tuple[Run, ...]
    histories: tuple[History, ...]
    breaches: tuple[Breach, ...]
    refusals: tuple[Refusal, ...]
    methods: frozenset[str]
    negotiated: bool | None
    footer: bool
    cut: bool
    lines: int


def fold_capture(lines: Iterable[bytes], watch: Watch | None = None) -> Reading:
    """Read the lines of a capture (bytes with their newlines). Holds the folded cards in memory, never all lines.

    Raises DecodeError when a line is no line of a capture; frames that the product should not have sent are breaches.
    """
    breaches = Breaches()
    conversation = Conversation(breaches)
    source = Lines(lines)
    count = 0
    for line in source:
        count += 1
        frame = conversation.take(line)
        if watch is not None:
            watch(line, frame)
    conversation.close()
    return Reading(
        runs=tuple(conversation.runs),
        histories=tuple(conversation.histories),
        breaches=breaches.all(),
        refusals=tuple(conversation.refusals),
        methods=frozenset(conversation.methods),
        negotiated=conversation.negotiated,
        footer=source.footer,
        cut=source.cut,
        lines=count,
    )


def read_capture(capture: bytes, watch: Watch | None = None) -> Reading:
    """`fold_capture` over the lines of a capture that is in memory as a whole."""
    return fold_capture(split(capture), watch)
