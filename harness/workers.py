"""Processes beside this one. They are forked from a server that has imported what they need, so that each starts at
once; the server imports it while this process is still busy with its own."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import forkserver, get_all_start_methods, get_context, parent_process
from multiprocessing.connection import wait
from typing import Any

_WORTH_A_POOL = 8
"""Pieces of work from which starting further processes takes less time than it saves."""
_PRELOADED = ["harness.examine_all", "deepdiff"]
"""The latter is needed only where cards disagree, and takes as long to import as the former."""
_FORKED = "forkserver" in get_all_start_methods()


def prepare() -> None:
    """Let the server start. Without it, or where there can be none, processes start later and slower."""
    if _FORKED and _cores() > 1:
        get_context("forkserver").set_forkserver_preload(_PRELOADED)
        with contextlib.suppress(OSError), _interrupted_later():
            forkserver.ensure_running()


@contextlib.contextmanager
def workers(
    jobs: int, pieces: int, first: Callable[..., object], given: tuple[Any, ...]
) -> Iterator[ProcessPoolExecutor | None]:
    """`jobs` processes (0: one a core), in each of which `first` is called with what is `given`.

    None where `pieces` of work are too few to need any, and where no further process can be had. No process outlives
    this one, however it ends.
    """
    jobs = jobs or _cores()
    pool = None
    if jobs > 1 and pieces >= _WORTH_A_POOL:
        prepare()
        context = get_context("forkserver" if _FORKED else "spawn")
        with contextlib.suppress(OSError, BrokenProcessPool), _interrupted_later():
            pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(first, given))
            for _ in range(jobs):
                pool.submit(_start)
    try:
        yield pool
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)  # of a run that was stopped by hand, too


def _cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def _interrupted_later() -> Iterator[None]:
    """An interruption from the keyboard waits; processes that are started meanwhile leave it to this one for good."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(first: Callable[..., object], given: tuple[Any, ...]) -> None:
    """A process of the pool waits for work from a queue that it holds open itself: only the end of its parent tells it
    that none will come."""
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    first(*given)


def _start() -> None:
    """What each is sent first, so that all of them start at once, and none while somebody interrupts."""


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
