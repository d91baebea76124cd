"""How long the recorder waits for each thing before it calls the product stuck."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

Clock = Callable[[], float]
"""Seconds since the epoch."""


class Deadlines(msgspec.Struct, frozen=True, kw_only=True):
    """All in seconds. A deadline is how long nothing may be wrong for, not how long things take: on an idle machine
    everything but a turn happens in a fraction of a second."""

    ready: float = 60.0
    """From start to readiness for a first prompt or request."""
    answer: float = 30.0
    """From a request or a key to its answer."""
    turn: float = 600.0
    """From a prompt to the end of its turn; a thousand writes in one script take 30 alone, 240 on a crowded machine."""
    moment: float = 120.0
    """From a prompt to the moment at which it is to be interrupted."""
    close: float = 15.0
    """From asking the product to end to its end."""
    lease: float = 30.0
    """From the end of one process of a session to another process being able to open it."""
