"""How things are timed against each other, and where the figures go."""

from __future__ import annotations

import gc
import importlib.metadata
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

ROUNDS = 9
_RIVALS = ("orjson", "msgspec", "jsonschema", "fastjsonschema", "pydantic", "deepdiff", "distributed", "duckdb")


def interleaved(subjects: Mapping[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Seconds of processor time of each subject, round by round: all of them in every round, in turn.

    What else goes on on the machine then weighs on all alike, and a ratio can be taken within each round. (This is why
    these benchmarks do not use pytest-benchmark, which finishes one subject before it begins the next.)
    """
    seconds: dict[str, list[float]] = {name: [] for name in subjects}
    for round_ in range(rounds + 1):
        for name, subject in subjects.items():
            gc.collect()
            start = time.process_time()
            subject()
            spent = time.process_time() - start
            if round_:  # the first round warms up
                seconds[name].append(spent)
    return seconds


def ratio(seconds: Mapping[str, list[float]], ours: str, theirs: str) -> float:
    """How many times as long `ours` takes as `theirs`: the median over the rounds."""
    return round(statistics.median(a / b for a, b in zip(seconds[ours], seconds[theirs], strict=True)), 3)


def peak_kib() -> int:
    """The most memory that this process has had, in KiB. (`getrusage` counts what its parent had before it began.)"""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def machine() -> dict[str, Any]:
    """What the figures were measured on, and nothing that tells whose machine it is."""
    model = ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return {
        "processor": model or platform.processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),  # type: ignore[no-untyped-call] # psutil publishes no types
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load_when_done": round(os.getloadavg()[0], 1),
        "packages": {name: _version(name) for name in _RIVALS},
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


class Record:
    """Takes the figures of one benchmark."""

    def __init__(self, kept: dict[str, Any]) -> None:
        self._kept = kept

    def keep(self, name: str, **values: Any) -> None:
        self._kept[name] = values

    def at_most(self, name: str, value: float, goal: float, **more: Any) -> None:
        """Keeps a ratio and whether it meets its goal. A goal that is missed is a figure, not a failure."""
        self.keep(name, ratio=value, goal=f"at most {goal}", met=value <= goal, **more)

    def at_least(self, name: str, value: float, goal: float, **more: Any) -> None:
        """Keeps a ratio and whether it meets its goal."""
        self.keep(name, ratio=value, goal=f"at least {goal}", met=value >= goal, **more)


class Figures:
    """The pytest plugin that gives benchmarks their record and writes the file at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: dict[str, Any] = {}

    @pytest.fixture
    def figures(self) -> Record:
        return Record(self._kept)

    def pytest_sessionfinish(self) -> None:
        if not self._kept:
            return
        before = json.loads(self._path.read_text())["figures"] if self._path.exists() else {}
        content = {"machine": machine(), "figures": dict(sorted((before | self._kept).items()))}
        self._path.write_text(json.dumps(content, indent=2) + "\n")
        json.dump(self._kept, sys.stdout, indent=2)
        print()
