"""A judge with helpers, killed or stopped by hand: none of its processes goes on, and nothing but one line is said."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]
PROCESSES = 4
"""The server, what tracks its semaphores, and at least two that work."""
pytestmark = pytest.mark.skipif(os.cpu_count() == 1, reason="one core: no further process is started")


def alive(process: psutil.Process) -> bool:
    """Whether it still does anything: a dead one may wait for whoever started it to ask how it ended."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)  # type: ignore[no-untyped-call] # psutil has no types
    except psutil.NoSuchProcess:
        return False


def until(found: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while not found():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_helper_outlives_the_judge(how: signal.Signals, tmp_path: Path) -> None:
    arguments = ["accept", "--evidence", str(ROOT / "evidence"), "--reports", str(tmp_path / "reports"), "-q"]
    default = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import harness.__main__ as m; "
    code = f"{default} import sys; sys.argv[1:] = {arguments}; m.main()"
    judge = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    helpers: list[psutil.Process] = []

    def working() -> bool:
        helpers[:] = psutil.Process(judge.pid).children(recursive=True)  # type: ignore[no-untyped-call] # likewise
        return len(helpers) >= PROCESSES or judge.poll() is not None

    assert until(working)
    assert judge.poll() is None, "it was over before anything could be done to it"
    judge.send_signal(how)
    _, said = judge.communicate(timeout=60)
    assert judge.returncode == (130 if how is signal.SIGINT else -how)
    assert until(lambda: not any(map(alive, helpers))), [helper for helper in helpers if alive(helper)]
    if how is signal.SIGINT:
        assert said == b"harness: stopped\n", said.decode()
    assert not (tmp_path / "reports").exists()
