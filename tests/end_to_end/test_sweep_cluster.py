"""A real Dask scheduler with two workers on loopback: the same sweep gives the same table, also when a worker dies."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
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
from tests.support.sessions import Lines
from tests.support.sweeps import DEADLY, deadly, folder, real, session, swept, tar

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="Dask is not installed"),
    # Dask's own threads and sockets end after the test that used them.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
ROOT = Path(__file__).parents[2]
_WITHIN = 90.0


class Loopback:
    """A scheduler and its workers as processes of their own, without nannies: a worker that is killed stays dead."""

    def __init__(self, place: Path) -> None:
        self._file = place / "scheduler.json"
        self._place = place
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start(
            "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-jupyter"
        )
        deadline = time.monotonic() + _WITHIN
        while not self._file.exists():
            assert self.scheduler.poll() is None, "the scheduler ended"
            assert time.monotonic() < deadline, "the scheduler did not start"
            time.sleep(0.1)
        self.address = str(json.loads(self._file.read_text())["address"])

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
            "PYTHONWARNINGS": "ignore",
        }
        command = [sys.executable, "-m", module, *arguments, "--scheduler-file", str(self._file)]
        with (self._place / "log").open("ab") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=self._place)

    def add_worker(self) -> None:
        self.workers.append(
            self._start(
                "distributed.cli.dask_worker", "--host", "127.0.0.1", "--no-nanny", "--nthreads", "1", "--no-dashboard"
            )
        )

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


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
