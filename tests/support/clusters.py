"""A Dask cluster on loopback for tests and benchmarks, as processes that can be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

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
