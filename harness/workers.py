"""Processes beside this one. They are forked from a server that has imported what they need, so that each starts at
once; the server imports it while this process is still busy with its own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import forkserver, get_all_start_methods, get_context
from typing import Any

_WORTH_A_POOL = 8
"""Pieces of work from which starting further processes takes less time than it saves."""
_PRELOADED = ["harness.examine_all", "deepdiff"]
"""The latter is needed only where cards disagree, and takes as long to import as the former."""
_FORKED = "forkserver" in get_all_start_methods()


def prepare() -> None:
    """Let the server start. Without it, or where there can be none, processes start later and slower."""
    if _FORKED and (os.cpu_count() or 1) > 1:
        get_context("forkserver").set_forkserver_preload(_PRELOADED)
        with contextlib.suppress(OSError):
            forkserver.ensure_running()


@contextlib.contextmanager
def workers(
    jobs: int, pieces: int, first: Callable[..., object], given: tuple[Any, ...]
) -> Iterator[ProcessPoolExecutor | None]:
    """`jobs` processes (0: one a core), in each of which `first` is called with what is `given`.

    None where `pieces` of work are too few to need any, and where no further process can be had.
    """
    jobs = jobs or os.cpu_count() or 1
    pool = None
    if jobs > 1 and pieces >= _WORTH_A_POOL:
        prepare()
        context = get_context("forkserver" if _FORKED else "spawn")
        with contextlib.suppress(OSError):
            pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=first, initargs=given)
    try:
        yield pool
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)  # of a run that was stopped by hand, too
