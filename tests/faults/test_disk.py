"""A disk that is full or may not be written: one readable line, a code that says so, and everything as it was."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from pathlib import Path

import pytest

from harness.cli.app import run
from harness.record.processes import belonging
from tests.support import faults, sessions, sweeps
from tests.support.faults import Machine
from tests.support.foreign import lay

FAULTS = (2, 3, 70)
"""What a machine's fault may end in; an honest verdict and a damaged bundle have other codes."""


def explained(machine: Machine, code: int) -> None:
    """The command failed by the fault of the machine, and said so in words."""
    said = machine.said()
    assert code in FAULTS, said
    assert "Traceback" not in said
    assert "fault of the harness itself" not in said, said
    assert any(words in said for words in ("too large", "No space", "ermission denied", "disk I/O error")), said


@pytest.mark.parametrize("size", [0, 700])
def test_a_recording_that_does_not_fit_leaves_what_was_there(recorded: Machine, size: int) -> None:
    before = faults.tree(recorded.evidence)
    code = recorded.run(recorded.record("--driver", "local-agent", "--replace"), faults.files_of_at_most(size))
    explained(recorded, code)
    assert faults.tree(recorded.evidence) == before
    assert not any(path.is_dir() for path in recorded.root.iterdir()), "the place of the recording is still there"


@pytest.mark.parametrize("size", [0, 80_000])
def test_reports_that_do_not_fit_leave_the_old_ones(recorded: Machine, size: int) -> None:
    reports = recorded.folder / "reports"
    reports.mkdir()
    names = ("report.html", "report.md", "verdict.json", "junit.xml", "ctrf.json")
    for name in names:
        (reports / name).write_bytes(b"old")
    explained(recorded, recorded.run(recorded.accept(reports), faults.files_of_at_most(size)))
    left = faults.tree(reports)
    assert left.keys() == set(names)
    assert b"old" in left.values()
    assert all(content == b"old" or content.endswith((b"\n", b">", b"}")) for content in left.values())


def test_an_import_that_does_not_fit_leaves_nothing(machine: Machine, tmp_path: Path) -> None:
    lay(tmp_path / "captures" / "killed-script", "killed-script")
    arguments = ["import", str(tmp_path / "captures"), "--product-version", "0.104.0"]
    arguments += ["--out", str(machine.evidence)]
    explained(machine, machine.run(arguments, faults.files_of_at_most(1_000)))
    assert faults.tree(machine.evidence) == {}


def test_a_table_that_does_not_fit_is_not_there(machine: Machine, tmp_path: Path) -> None:
    session, _ = sessions.load("0.104.0-mixed-script")
    archive = sweeps.tar(tmp_path / "a.tar", {f"s{number}.jsonl".encode(): session for number in range(9)})
    out = tmp_path / "table" / "table.jsonl"
    arguments = ["sweep", str(archive), "--out", str(out), "--jobs", "1"]
    explained(machine, machine.run(arguments, faults.files_of_at_most(4_096)))
    assert not out.exists()
    assert machine.run([*arguments, "--resume"]) in (0, 1), machine.said()
    assert out.stat().st_size > 0


def test_a_small_disk_holds_no_half_bundle(machine: Machine) -> None:
    """A real file system that is full, where one can be mounted; else files that cannot grow."""
    with faults.small_disk(machine.evidence, 24) as mounted:
        fault = (lambda: None) if mounted else faults.files_of_at_most(1_000)
        for _ in range(12):
            code = machine.run(machine.record("--driver", "local-agent", "--replace"), fault)
            filler = machine.evidence / f"filler-{code}"
            if code or not mounted:
                break
            filler.write_bytes(b"")
            with filler.open("ab", buffering=0) as stream, contextlib.suppress(OSError):
                while stream.write(b"x" * 1024):
                    pass
        explained(machine, code)
        assert set(machine.bundles()) <= {"plain-answer.local-agent"}
        assert machine.hidden() == []


def test_an_evidence_folder_that_may_not_be_written_stays_as_it_is(recorded: Machine) -> None:
    before = faults.tree(recorded.evidence)
    folder = recorded.evidence / "0.0.1"
    folder.chmod(0o555)
    try:
        code = recorded.run(recorded.record("--driver", "local-agent", "--replace"), faults.no_overriding)
    finally:
        folder.chmod(0o755)
    explained(recorded, code)
    assert faults.tree(recorded.evidence) == before
    assert belonging(recorded.root.resolve()) == []


def test_evidence_that_may_only_be_read_is_judged(recorded: Machine, tmp_path: Path) -> None:
    folders = [recorded.evidence, *(path for path in recorded.evidence.rglob("*") if path.is_dir())]
    reports = tmp_path / "reports"
    for folder in folders:
        folder.chmod(0o555)
    try:
        assert recorded.run(recorded.accept(reports), faults.no_overriding) == 3, recorded.said()
    finally:
        for folder in folders:
            folder.chmod(0o755)
    verdict = json.loads((reports / "verdict.json").read_bytes())
    assert len(verdict["observations"]) == 2


def test_reports_that_may_not_be_written_are_said(recorded: Machine) -> None:
    reports = recorded.folder / "reports"
    reports.mkdir(mode=0o555)
    explained(recorded, recorded.run(recorded.accept(reports), faults.no_overriding))
    assert list(reports.iterdir()) == []


def test_a_bundle_that_may_not_be_read_is_damaged_and_not_overlooked(recorded: Machine, tmp_path: Path) -> None:
    member = recorded.evidence / "0.0.1" / "plain-answer.local-agent" / "session.jsonl.gz"
    member.chmod(0)
    assert recorded.run(recorded.accept(tmp_path / "reports"), faults.no_overriding) == 4, recorded.said()
    assert stat.S_IMODE(os.stat(member).st_mode) == 0  # noqa: PTH116 # it is the mode that counts


def test_a_root_that_may_not_be_written_is_said(machine: Machine) -> None:
    machine.root.mkdir(mode=0o555)
    explained(machine, machine.run(machine.record("--driver", "local-agent"), faults.no_overriding))
    assert machine.bundles() == {}


def test_keys_go_nowhere_when_they_do_not_fit(machine: Machine, tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    explained(machine, machine.run(["authority", "new", str(folder)], faults.files_of_at_most(20)))
    assert faults.tree(folder) == {}
    assert run(["authority", "new", str(folder)]) == 0
