"""Defaults, times and files of the command line: what is written is whole or not there, what is no time is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import places
from harness.model.errors import UsageError
from harness.report import ELSEWHERE


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-11-30", "2026-11-30T00:00:00Z"),
        ("2026-11-30T12:00:00Z", "2026-11-30T12:00:00Z"),
        ("2026-11-30T12:00:00+02:00", "2026-11-30T10:00:00Z"),
    ],
)
def test_a_time_with_an_offset_is_not_taken_for_utc(text: str, meant: str) -> None:
    assert places.parse_time(text) == meant


@pytest.mark.parametrize("text", ["", "tomorrow", "2026-13-01", "2026-02-30T00:00:00Z", "2026-11-30 12:00", "20261130"])
def test_text_that_is_no_time_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        places.parse_time(text)
    assert "is not a time" in str(caught.value)
    assert caught.value.exit_code == 2


def test_no_report_is_told_a_path_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for absolute in (tmp_path / "recorded", Path("/"), Path.home()):
        assert places.in_reports(absolute) == ELSEWHERE
    for leading_out in (Path("..") / tmp_path.name, Path("x") / ".." / "recorded"):
        assert places.in_reports(leading_out) == ELSEWHERE
    assert places.in_reports(Path("recorded") / "again") == "recorded/again"


def test_evidence_that_commands_find_by_themselves_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the committed reports would be others when somebody names the bundled folder."""
    bundled = Path(__file__).parents[3] / "evidence"
    monkeypatch.chdir(tmp_path)
    assert places.in_reports(None) == places.in_reports(bundled) == ""
    (tmp_path / "evidence").mkdir()
    assert places.in_reports(Path("evidence")) == places.in_reports(tmp_path / "evidence") == ""
    assert places.in_reports(bundled) == ELSEWHERE


def test_a_write_that_fails_leaves_the_old_file_and_no_staging_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "verdict.json"
    target.write_bytes(b"old")

    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(UsageError, match="No space"):
        places.write_file(target, b"new")
    monkeypatch.undo()
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["verdict.json"]


def test_a_passphrase_is_none_when_the_variable_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(places.PASSPHRASE, "")
    assert places.passphrase() is None
    monkeypatch.setenv(places.PASSPHRASE, "x")
    assert places.passphrase() == b"x"


def test_a_place_that_cannot_be_written_to_is_the_callers_mistake_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    for path in (tmp_path / "file" / "report.html", tmp_path / "file" / "deep" / "report.html"):
        with pytest.raises(UsageError, match="cannot be written") as caught:
            places.write_file(path, b"new")
        assert caught.value.where == str(path)
        assert caught.value.hint
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="cannot be written"):
        places.write_file(tmp_path / "folder", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
    assert (tmp_path / "file").read_text() == "here"
