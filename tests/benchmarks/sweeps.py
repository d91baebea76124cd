"""Sweeps to measure: synthetic archives of tests/data, and one sweep in a process of its own.

``python -m tests.benchmarks.sweeps ARCHIVE JOBS [OUT]`` sweeps and prints one JSON object: seconds, rows, and the most
memory in KiB of this process and of the largest of its workers.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import psutil

from harness.sweep.rows import Row
from harness.sweep.sweeping import Plan, Progress, sweep
from harness.sweep.synthetic import recordings, write
from harness.sweep.table import Table
from tests.benchmarks.figures import peak_kib

ROOT = Path(__file__).parents[2]
REAL = ROOT / "tests" / "data" / "sessions"


def archive(path: Path, sessions: int) -> Path:
    """A synthetic archive of so many sessions, made of all real ones in tests/data."""
    write(path, recordings([REAL]), sessions=sessions, seed=0, progress=lambda _: None)
    return path


def _workers_kib() -> int:
    peaks = [0]
    for child in psutil.Process().children():  # type: ignore[no-untyped-call] # psutil publishes no types
        status = Path(f"/proc/{child.pid}/status")
        if status.exists():
            lines = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
            peaks.extend(int(line.split()[1]) for line in lines)
    return max(peaks)


def measured(path: Path, jobs: int, out: Path | None) -> dict[str, float]:
    start = time.monotonic()
    workers = 0

    def watch(at: Progress) -> None:
        nonlocal workers
        if at.total and at.done in (at.total // 2, at.total - 1):
            workers = max(workers, _workers_kib())

    with ExitStack() as closing:
        table = closing.enter_context(Table(out)) if out else None

        def emit(row: Row) -> None:
            if table:
                table.add(row)

        summary = sweep(Plan(archives=(path,), jobs=jobs), emit, watch)
        if table:
            table.finish(summary)
    return {
        "seconds": round(time.monotonic() - start, 1),
        "sessions": summary.sessions,
        "children": summary.children,
        "cards": summary.cards,
        "bytes": summary.bytes,
        "findings": summary.findings,
        "sweeping_kib": peak_kib(),
        "largest_worker_kib": workers,
    }


if __name__ == "__main__":
    print(json.dumps(measured(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]) if sys.argv[3:] else None)))
