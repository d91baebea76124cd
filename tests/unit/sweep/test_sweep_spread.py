"""Rows that depend on how work was cut, who did it, or who died doing it, are not the archive's."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import psutil
import pytest

from harness.sweep import spread
from harness.sweep.archives import opened
from harness.sweep.catalogue import Catalogue
from harness.sweep.rows import Row, Status
from harness.sweep.spread import InProcess, Processes, Slots, cut, in_order
from harness.sweep.units import Unit, units
from harness.sweep.work import judge_all
from tests.support.sessions import Lines
from tests.support.sweeps import DEADLY, deadly, folder, once_deadly, session, swept


def gathered(path: Path) -> list[Unit]:
    catalogue = Catalogue()
    with opened(path) as archive:
        catalogue.add(0, archive.members())
        catalogue.ready()
        return list(units([(path.name, archive)], catalogue))


@pytest.fixture
def many(tmp_path: Path) -> list[Unit]:
    files = {b"s%02d.jsonl" % number: session(f"s{number}", total=1 + number % 3) for number in range(20)}
    return gathered(folder(tmp_path / "many", files))


@pytest.mark.parametrize("most", [1, 3, 20, 100])
@pytest.mark.parametrize("size", [1, 5_000, 1 << 20])
def test_how_work_is_cut_does_not_show(most: int, size: int, many: list[Unit]) -> None:
    expected = judge_all(many, None)
    batches = list(cut(many, units=most, size=size))
    assert [unit for batch in batches for unit in batch.units] == many
    assert all(len(batch.places) <= most and (batch.size <= size or len(batch.places) == 1) for batch in batches)
    assert list(in_order(batches, InProcess(None))) == expected


def test_rows_that_are_known_keep_their_places(many: list[Unit]) -> None:
    rows = judge_all(many, None)
    places: list[Unit | Row] = [rows[n] if n % 3 else many[n] for n in range(len(many))]
    assert list(in_order(cut(places, units=4), InProcess(None))) == rows
    assert list(in_order(cut(rows, units=4), InProcess(None))) == rows


class Slow:
    """Workers that finish only when asked; remembers how much was under way."""

    count = 2

    def __init__(self) -> None:
        self.under_way = 0
        self.most = 0

    def submit(self, units: list[Unit], *, alone: bool) -> Future[list[Row]]:
        assert not alone
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        future: Future[list[Row]] = Future()
        future.set_result(judge_all(units, None))
        return future

    def rows(self, future: Future[list[Row]]) -> list[Row]:
        self.under_way -= 1
        return future.result()


def test_no_more_is_under_way_than_the_window_holds(many: list[Unit], monkeypatch: pytest.MonkeyPatch) -> None:
    workers = Slow()
    assert len(list(in_order(cut(many, units=1), workers))) == 20
    assert workers.most == spread.WINDOW_BATCHES * workers.count
    monkeypatch.setattr(spread, "WINDOW_BYTES", 2 * max(unit.size for unit in many))
    workers = Slow()
    assert len(list(in_order(cut(many, units=1), workers))) == 20
    assert workers.most == 2


def test_an_archive_is_not_read_ahead_of_its_rows(many: list[Unit]) -> None:
    read = 0

    def reading() -> Iterator[Unit]:
        nonlocal read
        for unit in many:
            read += 1
            yield unit

    rows = in_order(cut(reading(), units=1), Slow())
    next(rows)
    assert read <= spread.WINDOW_BATCHES * Slow.count + 2


def test_processes_give_the_rows_of_one_process(tmp_path: Path) -> None:
    files = {b"s%02d.jsonl" % number: session(f"s{number}", total=1 + number % 3) for number in range(40)}
    place = folder(tmp_path / "place", files | {b"bad.jsonl": b""})
    assert swept(place, jobs=2) == swept(place, jobs=1)


def test_a_session_that_kills_its_worker_is_one_finding(many: list[Unit], tmp_path: Path) -> None:
    bad = gathered(folder(tmp_path / "bad", {b"bad.jsonl": Lines("bad").user(DEADLY.decode()).bytes()}))
    mixed = [*many[:7], *bad, *many[7:]]
    with Processes(2, None, deadly) as workers:
        rows = list(in_order(cut(mixed, units=4), workers))
    assert [row.session for row in rows] == [unit.session for unit in mixed]
    assert [row.status for row in rows] == [Status.READ] * 7 + [Status.FAULT] + [Status.READ] * 13
    (found,) = rows[7].findings
    assert (found.requirement, found.observed) == ("sweep.worker-survives", spread.DIED)
    assert rows[:7] + rows[8:] == judge_all(many, None)


def test_a_worker_that_dies_once_leaves_no_trace(many: list[Unit], tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    once = gathered(folder(tmp_path / "once", {b"once.jsonl": Lines("once").user(f"remember:{marker}").bytes()}))
    mixed = [*many[:7], *once, *many[7:]]
    with Processes(2, None, once_deadly) as workers:
        rows = list(in_order(cut(mixed, units=4), workers))
    assert marker.exists()
    assert rows == judge_all(mixed, None)


def test_a_worker_killed_from_outside_costs_nothing(many: list[Unit]) -> None:
    repeated = many * 10

    def kill_one() -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for child in psutil.Process().children():  # type: ignore[no-untyped-call] # psutil publishes no types
                if "spawn_main" in " ".join(child.cmdline()):
                    os.kill(child.pid, signal.SIGKILL)
                    return
            time.sleep(0.01)

    with Processes(2, None) as workers:
        rows = in_order(cut(repeated, units=2), workers)
        first = next(rows)
        killer = threading.Thread(target=kill_one)
        killer.start()
        killer.join()
        assert [first, *rows] == judge_all(repeated, None)


def test_slots_fill_in_order(many: list[Unit]) -> None:
    rows = judge_all(many[:3], None)
    slots = Slots(places=(many[0], rows[1], many[2]))
    assert list(slots.filled([rows[0], rows[2]])) == rows
