"""Children of a recording: started apart from the recorder, and certainly gone when it ends.

Whatever a product starts may outlive it: a shell command that left its process group, a task of a killed agent. They
all inherit a home below the run's own folder or work in it, and that is how they are found again.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import psutil

from harness.model.errors import HarnessError, ProductError

_GONE_WITHIN = 10.0
"""Seconds that killed processes get to disappear."""


def start(argv: Sequence[str], *, folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Starts a child with three pipes, in its own session, with exactly this environment.

    Raises ProductError when the program cannot be started at all.
    """
    try:
        return subprocess.Popen(
            list(argv),
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except OSError as error:
        raise ProductError(f"the product does not start: {error.strerror}", where=Path(argv[0]).name) from error


def belonging(folder: Path) -> list[psutil.Process]:
    """All live processes whose home or working folder lies in `folder`."""
    inside = f"{folder}/"
    found = []
    for process in psutil.process_iter():  # type: ignore[no-untyped-call]  # psutil publishes no types
        with contextlib.suppress(psutil.Error):
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            home = process.environ().get("HOME", "")
            if f"{home}/".startswith(inside) or f"{process.cwd()}/".startswith(inside):
                found.append(process)
    return found


def kill_all(folder: Path) -> int:
    """Kills every process that belongs to `folder` and waits for their end; returns how many there were.

    Raises HarnessError when one cannot be ended.
    """
    killed: set[int] = set()
    deadline = time.monotonic() + _GONE_WITHIN
    while left := belonging(folder):
        for process in left:
            killed.add(process.pid)
            with contextlib.suppress(psutil.Error):
                process.kill()  # type: ignore[no-untyped-call]  # psutil publishes no types
        psutil.wait_procs(left, timeout=1)  # type: ignore[no-untyped-call]  # psutil publishes no types
        if time.monotonic() > deadline:
            raise HarnessError(f"{len(left)} processes of the recording could not be ended", where=str(folder))
    return len(killed)


@contextlib.contextmanager
def cleaned_up(folder: Path) -> Iterator[None]:
    """Ends every process that belongs to `folder` at the end of the block, whatever way it is left."""
    try:
        yield
    finally:
        kill_all(folder)
