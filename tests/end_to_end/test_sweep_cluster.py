"""A real Dask scheduler with two workers on loopback: the same sweep gives the same table, also when a worker dies."""

from __future__ import annotations

import contextlib
import importlib.util
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.model.errors import UsageError
from harness.sweep import cluster
from harness.sweep.archives import opened
from harness.sweep.catalogue import Catalogue
from harness.sweep.rows import Row, Status
from harness.sweep.spread import DIED, cut, in_order
from harness.sweep.sweeping import Plan, sweep
from harness.sweep.table import Table
from harness.sweep.units import Unit, units
from harness.sweep.work import judge_all
from tests.support.clusters import Loopback
from tests.support.sessions import Lines
from tests.support.sweeps import DEADLY, deadly, folder, real, session, swept, tar

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="Dask is not installed"),
    # Dask's own threads and sockets end after the test that used them.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def loopback(tmp_path: Path) -> Iterator[Loopback]:
    place = tmp_path / "cluster"
    place.mkdir()
    running = Loopback(place)
    try:
        running.add_worker()
        running.add_worker()
        yield running
    finally:
        running.stop()


def files(count: int) -> dict[bytes, bytes]:
    made = {b"s%03d.jsonl" % number: session(f"s{number}", total=1 + number % 3) for number in range(count)}
    return made | {b"bad.jsonl": b"", b"cut.jsonl": session("cut")[:-9]}


def table(path: Path, archive: Path, **plan: object) -> bytes:
    with Table(path) as made:
        summary = sweep(Plan(archives=(archive,), **plan), made.add)  # type: ignore[arg-type] # the plan's own members
        made.finish(summary)
    return path.read_bytes()


def test_the_table_is_that_of_one_machine(loopback: Loopback, tmp_path: Path) -> None:
    archive = tar(tmp_path / "t.tar", files(100) | real("0.104.0-mixed-batch") | real("0.104.0-task-of-task"))
    suffix = "parquet" if importlib.util.find_spec("duckdb") else "jsonl"
    here = table(tmp_path / f"here.{suffix}", archive, jobs=1)
    assert len(swept(archive)) == 104
    assert table(tmp_path / f"there.{suffix}", archive, scheduler=loopback.address) == here


def test_a_worker_killed_mid_way_changes_nothing(loopback: Loopback, tmp_path: Path) -> None:
    archive = tar(tmp_path / "t.tar", files(300))
    expected = swept(archive)
    rows: list[Row] = []
    killed: list[int] = []

    def emit(row: Row) -> None:
        rows.append(row)
        if len(rows) == 100:
            victim = loopback.workers[0]
            victim.send_signal(signal.SIGKILL)
            victim.wait()
            killed.append(victim.pid)

    sweep(Plan(archives=(archive,), scheduler=loopback.address), emit)
    assert killed
    assert loopback.workers[1].poll() is None
    assert rows == expected


def test_a_session_that_kills_every_worker_is_one_finding(loopback: Loopback, tmp_path: Path) -> None:
    bad = {b"s003b.jsonl": Lines("bad").user(DEADLY.decode()).bytes()}
    place = folder(tmp_path / "place", files(8) | bad)
    catalogue = Catalogue()
    with opened(place) as archive, contextlib.closing(catalogue):
        catalogue.add(0, archive.members())
        catalogue.ready()
        every: list[Unit] = list(units([("place", archive)], catalogue))
    ended = threading.Event()

    def keep_two_alive() -> None:
        while not ended.wait(0.2):
            if sum(worker.poll() is None for worker in loopback.workers) < 2:
                loopback.add_worker()

    keeper = threading.Thread(target=keep_two_alive)
    keeper.start()
    try:
        with cluster.Cluster(loopback.address, None, deadly) as workers:
            rows = list(in_order(cut(every, units=4), workers))
    finally:
        ended.set()
        keeper.join()
    assert [row.session for row in rows] == [unit.session for unit in every]
    faults = [row for row in rows if row.status is Status.FAULT]
    assert [(row.session, row.findings[0].observed) for row in faults] == [("s003b.jsonl", DIED)]
    others = [unit for unit in every if unit.session != "s003b.jsonl"]
    assert [row for row in rows if row.status is not Status.FAULT] == judge_all(others, None)


def test_a_cluster_without_workers_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "NO_WORKERS_SECONDS", 1.0)
    running = Loopback(tmp_path)
    try:
        with pytest.raises(UsageError, match="no workers"):
            swept(folder(tmp_path / "place", files(2)), scheduler=running.address)
    finally:
        running.stop()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense", "127.0.0.1:x"])
def test_an_address_where_no_scheduler_answers_is_told(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 1.0)
    with pytest.raises(UsageError, match="no Dask scheduler answers"):
        swept(folder(tmp_path / "place", files(2)), scheduler=address)
