"""`harness stability`: a recording that is none, or the same one twice, and is taken for a second one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.cli.app import run
from harness.stability_file import FILE

ROOT = Path(__file__).parents[3]
RELEASE = "0.104.0"
NAME = "fatal-failure.local-agent"


def copied(folder: Path) -> Path:
    shutil.copytree(ROOT / "evidence" / RELEASE / NAME, folder / RELEASE / NAME)
    return folder


def test_a_recording_is_not_held_against_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = copied(tmp_path / "first")
    assert run(["stability", str(first), "--evidence", str(first)]) == 2
    assert "against itself" in capsys.readouterr().err
    again = copied(tmp_path / "again")
    assert run(["stability", str(again), str(again), "--evidence", str(first)]) == 2
    assert not (first / FILE).exists()


def test_a_copy_is_no_second_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, again = copied(tmp_path / "first"), copied(tmp_path / "again")
    assert run(["stability", str(again), "--evidence", str(first)]) == 2
    assert "no other recording" in capsys.readouterr().err
    assert not (first / FILE).exists()


def test_another_release_and_a_damaged_bundle_leave_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, again = copied(tmp_path / "first"), copied(tmp_path / "again")
    assert run(["stability", str(again), "--evidence", str(first), "--release", "0.1.0"]) == 2
    assert "0.1.0" in capsys.readouterr().err
    (again / RELEASE / NAME / "stimulus.json").write_bytes(b"{}")
    assert run(["stability", str(again), "--evidence", str(first)]) == 4
    assert NAME in capsys.readouterr().err
    assert not (first / FILE).exists()


def test_a_file_that_cannot_be_read_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, again = copied(tmp_path / "first"), copied(tmp_path / "again")
    (first / FILE).write_text("mine")
    assert run(["stability", str(again), "--evidence", str(first)]) == 4
    assert FILE in capsys.readouterr().err
    assert (first / FILE).read_text() == "mine"


def test_a_folder_that_is_not_there_is_not_mistaken_for_the_evidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = copied(tmp_path / "first")
    assert run(["stability", str(tmp_path / "gone"), "--evidence", str(first)]) == 2
    said = capsys.readouterr().err
    assert f"{tmp_path / 'gone'}: there is no such folder" in said
    assert f"harness record --product VERSION --out {tmp_path / 'gone'}" in said
    assert "name it with --evidence" not in said
    assert run(["stability"]) == 2
    assert "Missing argument 'FOLDER'" in capsys.readouterr().err
    assert not (first / FILE).exists()
