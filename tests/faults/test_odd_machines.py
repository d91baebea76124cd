"""Locales, time zones, tiny terminals, missing services of other machines: the verdict is the same, byte for byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support import faults

ROOT = Path(__file__).parents[2]
BUNDLES = ("handled-failure.local-agent",)

_TINY_TERMINAL = {"COLUMNS": "20", "LINES": "2", "FORCE_COLOR": "1", "TERM": "dumb"}
_REFUSED = """
import multiprocessing.forkserver as f, multiprocessing.synchronize as s
def refused(*_, **__): raise OSError(38, "Function not implemented")
{} = refused
import harness.workers; harness.workers._WORTH_A_POOL = 1
from harness.cli.app import run
import sys; sys.exit(run(sys.argv[1:]))
"""
_NO_SEMAPHORES = _REFUSED.format("s.SemLock.__init__")
"""What a machine without /dev/shm does to whoever wants to share anything between processes."""
_NO_SERVER = _REFUSED.format("f.ensure_running = f._forkserver.ensure_running = f._forkserver.connect_to_new_process")
"""What one without a folder for sockets does."""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odd") / "evidence"
    for name in BUNDLES:
        shutil.copytree(ROOT / "evidence" / "0.104.0" / name, folder / "0.104.0" / name)
    return folder


def accepted(evidence: Path, reports: Path, start: list[str], **environment: str) -> dict[str, bytes]:
    """The reports of one run on such a machine."""
    arguments = ["accept", "--evidence", str(evidence), "--reports", str(reports), "--at", "2026-11-30"]
    done = faults.python([*start, *arguments], environment)
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    assert done.returncode == 3, said
    assert "Traceback" not in said
    assert done.stdout.strip(), "nothing was said"
    return faults.tree(reports)


@pytest.fixture(scope="module")
def usual(evidence: Path) -> dict[str, bytes]:
    return accepted(evidence, evidence.parent / "usual", ["-m", "harness"], LC_ALL="C.UTF-8", TZ="UTC")


def test_a_machine_without_letters_gives_the_same_reports(
    evidence: Path, usual: dict[str, bytes], tmp_path: Path
) -> None:
    environment = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "TZ": "Pacific/Chatham"}
    assert accepted(evidence, tmp_path / "reports", ["-m", "harness"], **environment) == usual


@pytest.mark.parametrize("start", [_NO_SEMAPHORES, _NO_SERVER])
def test_a_turkish_machine_with_a_tiny_terminal_that_starts_no_processes_gives_the_same_reports(
    start: str, evidence: Path, usual: dict[str, bytes], tmp_path: Path
) -> None:
    environment = {"LC_ALL": "tr_TR.UTF-8", "TZ": "America/St_Johns", "PYTHONHASHSEED": "77", **_TINY_TERMINAL}
    assert accepted(evidence, tmp_path / "reports", ["-c", start], **environment) == usual


@pytest.mark.parametrize("command", [["facts"], ["verify", "."], ["accept", "--help"]])
def test_a_terminal_that_knows_no_letters_is_told_all_the_same(command: list[str], evidence: Path) -> None:
    if command[0] == "verify":
        command = ["verify", str(evidence), "--evidence", str(evidence)]
    environment = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "COLUMNS": "20"}
    done = faults.python(["-m", "harness", *command], environment)
    assert done.returncode in (0, 3), done.stderr
    assert b"Traceback" not in done.stderr
    assert done.stdout
