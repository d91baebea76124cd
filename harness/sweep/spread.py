"""Units out, rows back in the order of units, whoever does the work and however it was cut.

Units travel in batches, and only so many of them are under way that memory stays flat. What a batch contains decides
nothing: a batch whose worker died is done again unit by unit, so that a session that kills its worker is found out and
takes no other with it.
"""

from __future__ import annotations

import gc
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Final, Protocol

import msgspec

from harness.sweep.reopen import Candidate
from harness.sweep.rows import Row
from harness.sweep.rules import TRIES
from harness.sweep.units import Unit
from harness.sweep.work import failed, judge_all

BATCH_UNITS: Final = 32
"""Units of a batch: enough that sending costs little beside judging, few enough that all workers end together."""
BATCH_REOPENINGS: Final = 2
"""Units of a batch when each starts a process of the candidate, which takes some tenths of a second."""
BATCH_BYTES: Final = 4 << 20
"""Bytes of a batch; one larger unit is a batch of its own."""
WINDOW_BATCHES: Final = 4
"""Batches under way for each worker: one that works, and enough that none waits while the oldest one is slow."""
WINDOW_BYTES: Final = 512 << 20
"""Bytes under way in all, beyond which nothing is read: two of the largest sessions with their children."""

DIED: Final = f"the worker process died each of {TRIES} times that it was given this session"

Work = Callable[[list[Unit], "Candidate | None"], list[Row]]
"""What a worker does with a batch; `judge_all` but in tests."""


class Slots(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of the archive in order: units to be judged, and rows that are known already."""

    places: tuple[Unit | Row, ...]

    @property
    def units(self) -> list[Unit]:
        return [place for place in self.places if isinstance(place, Unit)]

    @property
    def size(self) -> int:
        return sum(unit.size for unit in self.units)

    def filled(self, rows: Iterable[Row]) -> Iterator[Row]:
        """All rows of the stretch, with `rows` in the places of its units."""
        judged = iter(rows)
        for place in self.places:
            yield place if isinstance(place, Row) else next(judged)


def cut(places: Iterable[Unit | Row], *, units: int = BATCH_UNITS, size: int = BATCH_BYTES) -> Iterator[Slots]:
    """Cuts a sequence into stretches of at most so many places and bytes."""
    held: list[Unit | Row] = []
    bytes_held = 0
    for place in places:
        more = place.size if isinstance(place, Unit) else 0
        if held and (len(held) >= units or bytes_held + more > size):
            yield Slots(places=tuple(held))
            held, bytes_held = [], 0
        held.append(place)
        bytes_held += more
    if held:
        yield Slots(places=tuple(held))


class Died(Exception):  # noqa: N818 # what happened to a worker, told to who sent it the work
    """The worker that had this batch is gone, or was taken for the cause of others' deaths."""


class Workers(Protocol):
    """Something that judges batches elsewhere. Used as a context manager."""

    @property
    def count(self) -> int:
        """How many work at the same time."""

    def submit(self, units: list[Unit], *, alone: bool) -> Future[list[Row]]:
        """Begins a batch. `alone`: on a worker that no other batch can take down, and that takes no other down."""

    def rows(self, future: Future[list[Row]]) -> list[Row]:
        """Waits for a batch. Raises Died when its worker did not survive."""


class InProcess:
    """No workers at all: everything happens here. What kills the process ends the sweep."""

    count = 1

    def __init__(self, candidate: Candidate | None) -> None:
        self._candidate = candidate

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass

    def submit(self, units: list[Unit], *, alone: bool) -> Future[list[Row]]:  # noqa: ARG002 # nobody else is here
        future: Future[list[Row]] = Future()
        future.set_result(judge_all(units, self._candidate))
        return future

    def rows(self, future: Future[list[Row]]) -> list[Row]:
        return future.result()


class Processes:
    """Processes of this machine, started afresh (never forked), and again when one of them has died."""

    def __init__(self, count: int, candidate: Candidate | None, work: Work = judge_all) -> None:
        self.count = count
        self._candidate = candidate
        self._work = work
        self._many: ProcessPoolExecutor | None = None
        self._single: ProcessPoolExecutor | None = None

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *exc_info: object) -> None:
        for pool in (self._many, self._single):
            if pool is not None:
                pool.shutdown(wait=True, cancel_futures=True)

    def submit(self, units: list[Unit], *, alone: bool) -> Future[list[Row]]:
        try:
            return self._pool(alone).submit(self._work, units, self._candidate)
        except BrokenProcessPool as error:
            future: Future[list[Row]] = Future()
            future.set_exception(error)
            return future

    def rows(self, future: Future[list[Row]]) -> list[Row]:
        try:
            return future.result()
        except BrokenProcessPool:
            self._forget_broken()
            raise Died from None

    def _pool(self, alone: bool) -> ProcessPoolExecutor:
        if alone:
            self._single = self._single or _pool(1)
            return self._single
        self._many = self._many or _pool(self.count)
        return self._many

    def _forget_broken(self) -> None:
        """A broken pool never works again; which of the two is, its own futures tell."""
        for pool in (self._many, self._single):
            if pool is not None and _broken(pool):
                pool.shutdown(wait=False, cancel_futures=True)
                if pool is self._many:
                    self._many = None
                else:
                    self._single = None


def _pool(count: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(max_workers=count, mp_context=get_context("spawn"), initializer=_begin)


def _begin() -> None:
    """What a worker does first. An interruption from the keyboard is left to the process that sends the work; values of
    a session form trees that die young, so that looking for cycles among them is worth less often (a tenth of all)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()
    gc.set_threshold(50_000)


def _broken(pool: ProcessPoolExecutor) -> bool:
    try:
        pool.submit(int).cancel()
    except BrokenProcessPool:
        return True
    return False


def in_order(batches: Iterable[Slots], workers: Workers) -> Iterator[Row]:
    """The rows of all batches, in order. At most `WINDOW_BYTES`, or one batch, are under way."""
    waiting: deque[tuple[Slots, Future[list[Row]] | None]] = deque()
    held = 0
    for batch in batches:
        while waiting and (len(waiting) >= WINDOW_BATCHES * workers.count or held + batch.size > WINDOW_BYTES):
            done = waiting.popleft()
            held -= done[0].size
            yield from _collected(*done, workers)
        units = batch.units
        waiting.append((batch, workers.submit(units, alone=False) if units else None))
        held += batch.size
    while waiting:
        yield from _collected(*waiting.popleft(), workers)


def _collected(batch: Slots, future: Future[list[Row]] | None, workers: Workers) -> Iterator[Row]:
    if future is None:
        return batch.filled(())
    try:
        return batch.filled(workers.rows(future))
    except Died:
        return batch.filled([_alone(unit, workers) for unit in batch.units])


def _alone(unit: Unit, workers: Workers) -> Row:
    """The row of one unit whose batch lost its worker, perhaps through it."""
    for _ in range(TRIES):
        try:
            return workers.rows(workers.submit([unit], alone=True))[0]
        except Died:
            continue
    return failed(unit, "sweep.worker-survives", DIED)
