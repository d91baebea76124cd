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

from harness.bundle import Bundle, read_bundle
from harness.collector import uncollected
from harness.compare import Compared
from harness.examine import Layout, Stages, examine, turns_before
from harness.model.errors import HarnessError
from harness.model.facts import Column, ColumnFacts
from harness.model.manifest import Capture
from harness.observe import local_agent, moments
from harness.observe.mission_control import Sight
from harness.observe.mission_control.cards import Card
from harness.observe.mission_control.cast import Shown
from harness.observe.mission_control.detail import Page
from harness.observe.mission_control.panes import Transcript
from harness.proofs import live_timeline
from harness.report.inputs import TimelineEvent
from harness.scenario.compile import Scenario
from harness.terminal import Snapshot

_WORTH_A_POOL = 8
"""Bundles from which starting further processes takes less time than it saves."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """One bundle to look at; small enough to be handed to another process."""

    folder: Path
    scenario: Scenario | None
    weight: int
    """Bytes of all members."""


Screens = dict[tuple[str, str], Snapshot]
"""What Mission Control showed, by file and marker."""


class Looked(NamedTuple):
    """What one bundle shows, its live run, and the screens that findings cite."""

    compared: Compared
    timeline: tuple[TimelineEvent, ...]
    screens: Screens


class _Keeping(Sight):
    def __init__(self, file: str, screens: Screens) -> None:
        self._file = file
        self._screens = screens

    def cards(self, shown: Shown) -> tuple[Transcript, list[Card]] | None:
        self._screens[self._file, shown.marker] = shown.screen
        return super().cards(shown)

    def page(self, shown: Shown) -> Page | None:
        self._screens[self._file, shown.marker] = shown.screen
        return super().page(shown)


class _Stages(Stages):
    """Stages that keep what is needed afterwards and would have to be read again: screens that were looked at, and
    live runs in time."""

    def __init__(self) -> None:
        self.screens: Screens = {}
        self.timelines: list[tuple[moments.TimelineEvent, ...]] = []

    def sight(self, file: str) -> Sight:
        return _Keeping(file, self.screens)

    def observe(self, bundle: Bundle, capture: Capture, part: int, layout: Layout) -> ColumnFacts:
        if capture.column is not Column.LOCAL_AGENT_LIVE:
            return super().observe(bundle, capture, part, layout)
        before = turns_before(bundle.stimulus, part)
        live = local_agent.Live(bundle.read(capture.file), turns_before=before, timed=True)
        self.timelines.append(live.timeline())
        return live.facts(file=capture.file, complete=capture.complete)


def examine_bundle(work: Work) -> Looked | str:
    """The comparison of one bundle and its live run, or why a capture or session in it cannot be read at all."""
    try:
        with uncollected():
            bundle = read_bundle(work.folder)
            stages = _Stages()
            compared = examine(bundle, work.scenario, stages).compared
            cited = {(found.place.file, found.place.marker) for found in compared.findings if found.place is not None}
            screens = {key: screen for key, screen in stages.screens.items() if key in cited}
            return Looked(compared, live_timeline(bundle, stages.timelines), screens)
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
