"""Killed at any instant: what was there stays whole, what is there verifies, and the same command goes through anew."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from random import Random

import pytest

from harness.cli.app import run
from tests.support import faults, sessions, sweeps
from tests.support.faults import Machine

KILLS = int(os.environ.get("HARNESS_KILLS", "0"))
"""How often each command is killed: ``HARNESS_KILLS=40 uv run pytest tests/faults/test_killed.py`` takes minutes."""


def instants(*few: float) -> tuple[float, ...]:
    """Parts of the time that the whole command takes at which it is killed: these, or as many as were asked for."""
    random = Random(KILLS)  # noqa: S311 # chance for tests
    return tuple(random.uniform(0.02, 1.05) for _ in range(KILLS)) or few


def took(machine: Machine, arguments: list[str], *codes: int) -> float:
    started = time.monotonic()
    assert machine.run(arguments) in codes, machine.said()
    return time.monotonic() - started


@pytest.mark.parametrize(
    ("driver", "kills"), [("local-agent", instants(0.1, 0.5, 0.8, 0.95)), ("mission-control", instants(0.1, 0.8))]
)
def test_a_killed_recorder_leaves_whole_bundles_and_no_process_and_can_be_started_again(
    machine: Machine, driver: str, kills: tuple[float, ...]
) -> None:
    observation = f"plain-answer.{driver}"
    seconds = took(machine, machine.record("--driver", driver), 0)
    older = machine.bundles()
    assert set(older) == {observation}
    codes = []
    for instant in kills:
        child = machine.start(machine.record("--driver", driver, "--replace"))
        codes.append(faults.killed(child, instant * seconds))
        assert set(machine.bundles()) == {observation}, "an older bundle is gone, or half of a new one is there"
        assert machine.processes() == 0, "a product outlives the recorder that drove it"
    assert -signal.SIGKILL in codes
    assert set(codes) <= {-signal.SIGKILL, 0}

    assert machine.run(machine.record("--driver", driver, "--replace")) == 0, machine.said()
    assert machine.bundles()[observation] != older[observation]
    assert machine.hidden() == []
    assert not any(path.is_dir() for path in machine.root.iterdir()), "the place of a killed recording is still there"


def test_a_recorder_killed_in_an_empty_folder_leaves_nothing_that_counts(machine: Machine) -> None:
    child = machine.start(machine.record())
    deadline = time.monotonic() + 30
    while not list(machine.root.glob("*/ws/a.txt")) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert faults.killed(child, 0.0) == -signal.SIGKILL
    assert machine.bundles() == {}
    assert run(machine.accept(machine.folder / "reports")) == 2, "nothing was recorded, and that is not a verdict"


def test_a_killed_judge_leaves_each_report_old_or_new(recorded: Machine) -> None:
    machine = recorded
    fresh = machine.folder / "fresh"
    seconds = took(machine, machine.accept(fresh), 3)
    new = faults.tree(fresh)
    evidence = faults.tree(machine.evidence)
    reports = machine.folder / "reports"
    reports.mkdir()
    codes = []
    for instant in instants(0.1, 0.5, 0.9, 0.96, 0.98):
        for name in new:
            (reports / name).write_bytes(b"old")
        codes.append(faults.killed(machine.start(machine.accept(reports)), instant * seconds))
        left = faults.tree(reports)
        assert all(left[name] in (b"old", new[name]) for name in new), "a report is neither"
        assert all(name in new or name.startswith(".") for name in left)
    assert -signal.SIGKILL in codes
    assert faults.tree(machine.evidence) == evidence, "judging changed evidence"

    assert machine.run(machine.accept(reports)) == 3
    assert faults.tree(reports) == new, "what a killed judge left beside the reports is still there"


def test_a_killed_authorization_leaves_no_envelope_or_a_whole_one(recorded: Machine, tmp_path: Path) -> None:
    machine = recorded
    keys = tmp_path / "keys"
    assert run(["authority", "new", str(keys)]) == 0
    private = next(path for path in keys.iterdir() if b"PRIVATE" in path.read_bytes())
    targets = [str(machine.evidence / "0.0.1" / name) for name in faults.OBSERVATIONS]
    arguments = ["authorize", *targets, "--key", str(private), "--reason", "r", "--expires", "2027-11-30"]
    folder = machine.evidence / "authorizations"
    arguments += ["--out", str(folder), "--yes"]
    there = faults.folder(machine.folder)
    started = time.monotonic()
    assert machine.run(arguments, there) == 0, machine.said()
    seconds = time.monotonic() - started
    for path in folder.iterdir():
        path.unlink()
    for instant in instants(0.5, 0.8, 0.95):
        faults.killed(machine.start(arguments, there), instant * seconds)
        assert all(path.name.startswith(".") or path.read_bytes().endswith(b"}\n") for path in folder.iterdir())
    assert machine.run(arguments, there) == 0, machine.said()
    assert machine.run(["verify", str(machine.evidence), "--evidence", str(machine.evidence)], there) == 3
    assert list(folder.glob("*.dsse.json"))
    assert machine.hidden() == []


def test_a_killed_sweep_goes_on_and_ends_with_the_same_table(machine: Machine, tmp_path: Path) -> None:
    session, _ = sessions.load("0.104.0-mixed-script")
    files = {f"s{number:03}.jsonl".encode(): session for number in range(60)}
    archive = sweeps.tar(tmp_path / "archive.tar", files)
    fresh, table = tmp_path / "fresh.jsonl", tmp_path / "table.jsonl"

    def arguments(out: Path, *more: str) -> list[str]:
        return ["sweep", str(archive), "--out", str(out), "--jobs", "1", *more]

    started = time.monotonic()
    assert machine.run(arguments(fresh)) in (0, 1), machine.said()
    seconds = time.monotonic() - started
    whole = fresh.read_bytes()
    codes = []
    for instant in instants(0.1, 0.5, 0.9):
        codes.append(faults.killed(machine.start(arguments(table, "--resume")), instant * seconds))
        assert not table.exists() or table.read_bytes() == whole, "half a table under its name"
    assert -signal.SIGKILL in codes
    assert machine.run(arguments(table, "--resume")) in (0, 1), machine.said()
    assert table.read_bytes() == whole


def test_a_killed_import_leaves_no_bundle_or_a_whole_one(machine: Machine, tmp_path: Path) -> None:
    from tests.support.foreign import lay  # noqa: PLC0415 # reads the test data

    lay(tmp_path / "captures" / "killed-script", "killed-script")
    out = tmp_path / "imported"
    arguments = ["import", str(tmp_path / "captures"), "--product-version", "0.104.0", "--out", str(out), "--replace"]
    seconds = took(machine, arguments, 0)
    whole = faults.tree(out)
    for instant in instants(0.6, 0.9):
        faults.killed(machine.start(arguments), instant * seconds)
        left = {name: content for name, content in faults.tree(out).items() if "/." not in f"/{name}"}
        assert left == whole
    assert machine.run(arguments) == 0
    assert faults.tree(out) == whole
