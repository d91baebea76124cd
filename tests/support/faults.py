"""Commands of the harness in processes of their own, on a machine that fails them, and what they leave behind."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from harness.bundle import read_bundle
from harness.record.processes import belonging

FAKE = Path(__file__).parent / "fake_product.py"
FEATURE = """Feature: Faults
  Scenario: Plain answer
    Given the workspace file "a.txt" holds
      \"\"\"
      alpha
      \"\"\"
    And a terminal of 80 columns and 24 rows
    And the model answers "Done."
    When the prompt "Do it." is run
"""
OBSERVATIONS = ("plain-answer.local-agent", "plain-answer.mission-control")
RELEASE = "0.0.1"
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH, _PR_CAPBSET_DROP = 1, 2, 24
_GONE_WITHIN = 20.0

Fault = Callable[[], None]
"""What goes wrong: called in the process of the command, before it begins."""


def program(folder: Path, vice: str = "well") -> Path:
    """A fake product with one vice."""
    path = folder / f"magi-code-{vice.partition('=')[0]}"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{FAKE}" "{vice}" "$@"\n')
    path.chmod(0o755)
    return path


class Machine:
    """One folder with a fake product, one scenario and an evidence folder, and commands run in it."""

    def __init__(self, folder: Path, vice: str = "well") -> None:
        self.folder = folder
        self.evidence = folder / "evidence"
        self.root = folder / "root"
        self.features = folder / "features"
        self.features.mkdir()
        (self.features / "faults.feature").write_text(FEATURE)
        self.product = program(folder, vice)
        self._output = -1

    def record(self, *more: str, root: Path | None = None) -> list[str]:
        """The arguments that record both runs."""
        places = ["--features", str(self.features), "--out", str(self.evidence), "--root", str(root or self.root)]
        return ["record", "--product", str(self.product), *places, *more]

    def accept(self, reports: Path, *more: str) -> list[str]:
        places = ["--features", str(self.features), "--evidence", str(self.evidence), "--reports", str(reports)]
        return ["accept", *places, "--at", "2026-11-30T12:00:00Z", *more]

    def start(self, arguments: list[str], fault: Fault = lambda: None) -> int:
        """The id of a process that runs a command, with the modules that are loaded here. `said` is what it says."""
        if self._output >= 0:
            os.close(self._output)
        self._output, end = os.pipe()  # no file: a full disk must not keep it from saying so
        child = os.fork()
        if child:
            os.close(end)
            return child
        code = 125
        try:
            for stream in (1, 2):
                os.dup2(end, stream)
            sys.stdout = open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115 # of this process alone
            sys.stderr = open(2, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
            os.setsid()
            fault()
            from harness.cli.app import run  # noqa: PLC0415 # under the fault, as a command would

            code = run(arguments)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)

    def run(self, arguments: list[str], fault: Fault = lambda: None) -> int:
        """The exit code of a command, negative for a signal."""
        return ended(self.start(arguments, fault))

    def said(self) -> str:
        """What the command that was started last has said, once it has ended."""
        os.set_blocking(self._output, False)
        parts = []
        with contextlib.suppress(BlockingIOError):  # a process that it left behind may still hold the pipe
            while part := os.read(self._output, 65_536):
                parts.append(part)
        return b"".join(parts).decode("utf-8", "replace")

    def bundles(self) -> dict[str, str]:
        """Observation to manifest digest of every bundle that shows itself. Each must verify, whatever happened."""
        folder = self.evidence / RELEASE
        names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
        return {name: read_bundle(folder / name).manifest_sha256 for name in names if not name.startswith(".")}

    def hidden(self) -> list[str]:
        """What lies in the evidence folder without being a bundle."""
        folder = self.evidence / RELEASE
        return sorted(path.name for path in folder.glob(".*")) if folder.is_dir() else []

    def processes(self) -> int:
        """How many processes of products are left, once those that are ending had the time to."""
        deadline = time.monotonic() + _GONE_WITHIN
        while (left := belonging(self.root.resolve())) and time.monotonic() < deadline:
            time.sleep(0.05)
        return len(left)


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed(child: int, after: float) -> int:
    """How a process ends that is killed so many seconds from now, if it is still there."""
    deadline = time.monotonic() + after
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    return ended(child)


def tree(folder: Path) -> dict[str, bytes]:
    """Everything below a folder, hidden files too; empty when it is not there."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# Faults


def files_of_at_most(size: int) -> Fault:
    """Every write beyond `size` bytes of a file fails, as on a disk that is full."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def no_overriding() -> None:
    """Permissions hold, also for root: the right to override them is given away for good (capabilities(7))."""
    if os.geteuid() == 0:
        for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
            _drop(capability)


def _drop(capability: int) -> None:
    """Takes a capability from this process and all that it starts."""

    class Header(ctypes.Structure):
        _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))

    class Data(ctypes.Structure):
        _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))

    libc = ctypes.CDLL(None, use_errno=True)
    header, data = Header(0x20080522, 0), (Data * 2)()
    assert libc.capget(ctypes.byref(header), data) == 0
    libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    for name in ("effective", "permitted", "inheritable"):
        setattr(data[0], name, getattr(data[0], name) & ~(1 << capability))
    assert libc.capset(ctypes.byref(header), data) == 0


def folder(path: Path) -> Fault:
    """The folder that a command is given in."""
    return lambda: os.chdir(path)


def variables(**values: str) -> Fault:
    """The environment of a command."""
    return lambda: os.environ.update(values)


@contextlib.contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[bool]:
    """A real file system of so many kilobytes at `folder`; False where this machine does not let one be mounted."""
    folder.mkdir(parents=True, exist_ok=True)
    made = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    try:
        done = subprocess.run(made, capture_output=True, check=False).returncode == 0
    except OSError:
        done = False
    try:
        yield done
    finally:
        if done:
            subprocess.run(["umount", "-l", str(folder)], check=True)  # noqa: S607 # as mount above


def python(arguments: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    """A fresh interpreter: what depends on how one starts cannot be seen in a fork."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=Path(__file__).parents[2],
        env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **environment},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
