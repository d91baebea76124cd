"""What scripts rely on: exit codes, one JSON object a session, and nothing passed for nothing."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from harness.cli import app
from tests.support.sweeps import fake_product, folder, real, session


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = app.run([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_an_archive_in_order_leaves_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = folder(tmp_path / "place", real("0.104.0-mixed-batch"))
    code, out, err = run(capsys, "sweep", place, "--jobs", 1)
    assert (code, err) == (0, "")
    assert "1 sessions in place" in out
    assert "5 cards, 4 child sessions" in out


def test_findings_leave_with_1_and_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = folder(tmp_path / "place", {b"s.jsonl": session("s", total=2), b"bad\x1b[31m.jsonl": b""})
    code, out, _ = run(capsys, "sweep", place, "--jobs", 1)
    assert code == 1
    assert "read 1, unreadable 1" in out
    assert "place/s.jsonl turn1/call1: Total calls: expected 1 as the nested records say, observed 2" in out
    assert "\x1b" not in out


def test_no_session_at_all_can_never_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "sweep", folder(tmp_path / "place", {b"readme.txt": b""}), "--jobs", 1)
    assert code == 3
    assert "0 sessions" in out


def test_json_is_one_object_a_session_and_a_last_one_with_the_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {b"a.jsonl": session("a"), b"b.jsonl": session("b", total=2), b"c.jsonl": b""}
    code, out, err = run(capsys, "sweep", folder(tmp_path / "place", files), "--json", "--jobs", 1)
    lines = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (1, "")
    assert [(line["session"], line["status"]) for line in lines[:-1]] == [
        ("a.jsonl", "read"),
        ("b.jsonl", "read"),
        ("c.jsonl", "unreadable"),
    ]
    assert list(lines[-1]) == ["summary"]
    assert lines[-1]["summary"]["sessions"] == 3
    assert {"id", "requirement", "observation", "surface", "card", "label", "expected", "observed", "kind"} <= set(
        lines[1]["findings"][0]
    )


def test_a_table_is_written_and_a_second_sweep_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = folder(tmp_path / "place", {b"a.jsonl": session("a")})
    out = tmp_path / "made" / "o.jsonl"
    assert run(capsys, "sweep", place, "--out", out, "--jobs", 1)[0] == 0
    first = out.read_bytes()
    (place / "b.jsonl").write_bytes(session("b"))
    assert run(capsys, "sweep", place, "--out", out, "--resume", "--jobs", 1)[0] == 0
    assert out.read_bytes().startswith(first.splitlines()[0])
    assert json.loads(out.read_bytes().splitlines()[-1])["summary"]["sessions"] == 2
    assert sorted(path.name for path in out.parent.iterdir()) == ["o.jsonl", "o.jsonl.state"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing",), "no such folder or archive"),
        (("place", "--out", "o.csv"), "end it in .parquet, .duckdb, .jsonl"),
        (("place", "--resume"), "nothing to resume"),
        (("place", "--product", "/no/such/program"), "no program there"),
        (("place", "--jobs", "-1"), "--jobs"),
        ((), "archives"),
    ],
)
def test_what_cannot_be_done_leaves_with_2_and_says_why(
    arguments: tuple[str, ...],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder(tmp_path / "place", {b"a.jsonl": session("a")})
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "sweep", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["place"]


def test_a_candidate_is_named_in_the_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = folder(tmp_path / "place", {b"a.jsonl": session("a")})
    program = fake_product(tmp_path / "magi-code")
    code, out, _ = run(capsys, "sweep", place, "--product", program, "--jobs", 1)
    assert code == 1
    assert "reopened by 0.0.1" in out
    assert "reopened 1, could not be reopened 0" in out


def test_a_synthetic_archive_is_made_and_called_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = folder(tmp_path / "real", real("0.104.0-mixed-script"))
    made = tmp_path / "made.tar"
    code, out, _ = run(capsys, "synthetic", made, "--from", source, "--sessions", 3)
    assert code == 0
    assert re.fullmatch(rf"3 synthetic sessions of 1 recordings in {re.escape(str(made))}, 0\.\d MB unpacked\n", out)
    code, out, _ = run(capsys, "sweep", made, "--jobs", 1)
    assert code == 0
    assert "3 of them are synthetic" in out
    assert run(capsys, "synthetic", made, "--from", source)[0] == 2


def test_help_needs_none_of_what_a_sweep_needs(capsys: pytest.CaptureFixture[str]) -> None:
    import subprocess  # noqa: PLC0415

    code = "import sys; from harness.cli import app; app.run(['sweep', '--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "harness sweep ~/.magi-code/sessions" in done.stdout
    assert not {"harness.sweep.sweeping", "dask", "duckdb", "deepdiff"} & set(done.stderr.split())
