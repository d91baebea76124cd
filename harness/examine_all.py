"""Many bundles looked at, each by itself, on as many processes as help: what each shows, and its live run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness.bundle import read_bundle
from harness.collector import uncollected
from harness.compare import Compared
from harness.examine import examine
from harness.model.errors import HarnessError
from harness.proofs import live_timeline
from harness.report.inputs import TimelineEvent
from harness.scenario.compile import Scenario

_WORTH_A_POOL = 8
"""Bundles from which starting further processes takes less time than it saves."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """One bundle to look at; small enough to be handed to another process."""

    folder: Path
    scenario: Scenario | None
    weight: int
    """Bytes of all members."""


class Looked(NamedTuple):
    """What one bundle shows, and its live run."""

    compared: Compared
    timeline: tuple[TimelineEvent, ...]


def examine_bundle(work: Work) -> Looked | str:
    """The comparison of one bundle and its live run, or why a capture or session in it cannot be read at all."""
    try:
        with uncollected():
            bundle = read_bundle(work.folder)
            return Looked(examine(bundle, work.scenario).compared, live_timeline(bundle))
    except HarnessError as error:
        return str(error)


@contextlib.contextmanager
def workers(jobs: int, bundles: int) -> Iterator[ProcessPoolExecutor | None]:
    """`jobs` processes (0: one a core) that are starting already; None where `bundles` are too few to need any, and
    where no further process can be had."""
    jobs = jobs or os.cpu_count() or 1
    with contextlib.ExitStack() as stack:
        pool = None
        if jobs > 1 and bundles >= _WORTH_A_POOL:
            with contextlib.suppress(OSError):
                pool = stack.enter_context(ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn")))
                for _ in range(jobs):
                    pool.submit(_start)
        yield pool


def _start() -> None:
    """A worker's first work: nothing but the imports of this module, while the bundles are being read."""


def examine_all(works: Sequence[Work], pool: ProcessPoolExecutor | None) -> Iterator[Looked | str]:
    """Results in the order of `works`: how the work was cut does not show in them.

    Where no further process can be had (no shared memory, no way to start one), this one does the rest.
    """
    done = 0
    if pool is not None:
        with contextlib.suppress(OSError, BrokenProcessPool):
            heaviest_first = sorted(works, key=lambda work: -work.weight)
            running = {work.folder: pool.submit(examine_bundle, work) for work in heaviest_first}
            for work in works:
                yield running[work.folder].result()
                done += 1
    yield from map(examine_bundle, works[done:])
