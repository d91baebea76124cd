"""`harness trends` as it is typed, on the imported captures of two releases."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from harness.cli.app import run
from tests.support.bundles import files
from tests.support.foreign import two_releases

AT = ["--at", "2026-11-30"]


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_releases(tmp_path_factory.mktemp("trends"))


def test_the_page_the_text_and_the_json_agree_with_diff(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(evidence)
    reports = tmp_path / "reports"
    assert run(["trends", "--evidence", str(evidence), "--reports", str(reports), *AT]) == 0
    printed = capsys.readouterr().out
    page = (reports / "trends.html").read_bytes()
    assert run(["trends", "--evidence", str(evidence), "--reports", str(reports), *AT, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["history"]
    assert run(["diff", "0.100.0", "0.104.0", "--evidence", str(evidence), "--json"]) == 0
    diff = json.loads(capsys.readouterr().out)

    (step,) = told["steps"]
    assert sum(len(item["places"]) for item in step["facts"]) == len(diff["facts"])
    assert (step["compared"], step["not_compared"]) == (diff["compared"], diff["not_compared"])
    assert step["only_after"] == ["killed-script.local-agent.imported"]
    assert f"0.100.0 to 0.104.0: {len(diff['facts'])} facts changed" in printed
    assert [item["version"] for item in told["releases"]] == ["0.100.0", "0.104.0"]
    assert {path.name for path in reports.iterdir()} == {"trends.html"}
    assert (reports / "trends.html").read_bytes() == page, "the same evidence and time give the same bytes"
    assert files(evidence) == before


def test_quiet_is_one_line_a_step(evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trends", "--evidence", str(evidence), "--reports", str(tmp_path), *AT, "--quiet"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("0.100.0 to 0.104.0: ")


def test_damage_is_left_out_said_and_the_exit_code(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "evidence"
    shutil.copytree(evidence, copy)
    (copy / "0.104.0" / "killed-script.local-agent.imported" / "session.jsonl.gz").write_bytes(b"")
    assert run(["trends", "--evidence", str(copy), "--reports", str(tmp_path / "r"), *AT]) == 4
    assert "1 damaged and left out" in capsys.readouterr().out
    assert "killed-script.local-agent.imported" in (tmp_path / "r" / "trends.html").read_text()


def test_no_release_is_a_mistake_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "evidence").mkdir()
    for folder in ("evidence", "nowhere"):
        assert run(["trends", "--evidence", str(tmp_path / folder), "--reports", str(tmp_path / "r")]) == 2
        assert "evidence" in capsys.readouterr().err
    assert not (tmp_path / "r").exists()
