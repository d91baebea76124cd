"""Work without Python's collector of cycles.

What is judged and rendered are frozen values without cycles: the collector takes a fifth of the time of walking over
them again and again, and finds next to nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector, which takes up its work again afterwards. May be nested."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
