"""Sweeps of synthetic archives: how they scale over workers, what they weigh, and what one process has to do alone."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.sweep.archives import opened
from harness.sweep.catalogue import Catalogue
from harness.sweep.spread import InProcess, Processes, Workers, cut, in_order
from harness.sweep.units import Unit, units
from tests.benchmarks.figures import Record
from tests.benchmarks.sweeps import ROOT, archive
from tests.support.clusters import Loopback

SESSIONS = (100, 1_000, 10_000)
TIMED = 1_000
ROUNDS = 3


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return archive(tmp_path_factory.mktemp("timed") / "a.tar", TIMED)


@contextlib.contextmanager
def gathered(path: Path) -> Iterator[Iterator[Unit]]:
    with opened(path) as source, contextlib.closing(Catalogue()) as catalogue:
        catalogue.add(0, source.members())
        catalogue.ready()
        yield units([("a", source)], catalogue)


def rate(path: Path, workers: Workers) -> float:
    """Sessions a second, from the first byte that is read to the last row; the workers are there already."""
    start = time.monotonic()
    with gathered(path) as source:
        rows = sum(1 for _ in in_order(cut(source), workers))
    assert rows == TIMED
    return rows / (time.monotonic() - start)


def test_two_workers_against_one(timed: Path, figures: Record) -> None:
    one, two = [], []
    with Processes(1, None) as single, Processes(2, None) as double:
        rate(timed, single), rate(timed, double)  # starts the workers
        for _ in range(ROUNDS):
            one.append(rate(timed, single))
            two.append(rate(timed, double))
    figures.keep(
        "sweep on two processes / on one",
        ratio=round(statistics.median(b / a for a, b in zip(one, two, strict=True)), 2),
        sessions_a_second={"one": round(max(one)), "two": round(max(two))},
    )


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="Dask is not installed")
def test_a_cluster_of_two_workers_against_one_and_against_processes(
    timed: Path, figures: Record, tmp_path: Path
) -> None:
    from harness.sweep.cluster import Cluster  # noqa: PLC0415

    found: dict[int, list[float]] = {1: [], 2: []}
    here: list[float] = []
    loopback = Loopback(tmp_path)
    try:
        with Processes(2, None) as processes:
            rate(timed, processes)
            here.extend(rate(timed, processes) for _ in range(ROUNDS))
        for count, rates in found.items():
            loopback.add_worker()
            with Cluster(loopback.address, None) as cluster:
                cluster.wait_for(count)
                rate(timed, cluster)
                rates.extend(rate(timed, cluster) for _ in range(ROUNDS))
    finally:
        loopback.stop()
    figures.keep(
        "sweep on a cluster of two workers / of one",
        ratio=round(max(found[2]) / max(found[1]), 2),
        sessions_a_second={str(count): round(max(rates)) for count, rates in found.items()},
    )
    figures.keep("sweep on a cluster of two workers / on two processes", ratio=round(max(found[2]) / max(here), 2))


def test_what_the_sweeping_process_does_alone(timed: Path, figures: Record) -> None:
    """Listing, reading and cutting is not shared with any worker: its rate is where more workers stop helping."""
    reading, judging = [], []
    for _ in range(ROUNDS):
        start = time.process_time()
        with gathered(timed) as source:
            count = sum(len(batch.units) for batch in cut(source))
        read = time.process_time()
        rate(timed, InProcess(None))
        reading.append(read - start)
        judging.append(time.process_time() - read)
    assert count == TIMED
    figures.keep(
        "reading a session / judging it",
        ratio=round(statistics.median(a / (b - a) for a, b in zip(reading, judging, strict=True)), 3),
        milliseconds={
            "reading": round(min(reading) / TIMED * 1e3, 3),
            "judging": round(min(b - a for a, b in zip(reading, judging, strict=True)) / TIMED * 1e3, 3),
        },
    )


def test_memory_does_not_grow_with_the_archive(figures: Record, tmp_path: Path) -> None:
    peaks: dict[str, dict[str, int]] = {"sweeping": {}, "largest worker": {}}
    for count in SESSIONS:
        made = archive(tmp_path / f"{count}.tar", count)
        command = [sys.executable, "-m", "tests.benchmarks.sweeps", str(made), "2", str(tmp_path / "o.jsonl")]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        assert found["sessions"] == count
        peaks["sweeping"][str(count)] = found["sweeping_kib"]
        peaks["largest worker"][str(count)] = found["largest_worker_kib"]
        made.unlink()
    for who, kib in peaks.items():
        figures.at_most(
            f"memory of the {who} process, 10,000 sessions / 1,000",
            round(kib["10000"] / kib["1000"], 3),
            1.1,
            peak_kib=kib,
        )
