"""The same inputs and time give the same bytes on two machines, whatever else of these differs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUNS = ("handled-failure.local-agent", "mixed-batch.mission-control", "killed-in-a-call.local-agent")
AT = "2026-11-30T12:00:00Z"
NAMES = ("verdict.json", "report.md", "report.html", "junit.xml", "ctrf.json", "trends.html")
HERE = {
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "1",
    "COLUMNS": "80",
    "USER": "ann",
}
ELSEWHERE = {
    "TZ": "Asia/Kathmandu",
    "LC_ALL": "C",
    "LANG": "de_DE",
    "PYTHONHASHSEED": "4242",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONIOENCODING": "latin-1",
    "COLUMNS": "200",
    "NO_COLOR": "1",
    "USER": "bob",
    "SOURCE_DATE_EPOCH": "0",
}


def rendered(machine: Path, variables: dict[str, str], *, reverse: bool) -> dict[str, bytes]:
    """All that accept and trends write on one machine, for which everything is laid in its own folder."""
    evidence, reports = machine / "some where" / "evidence", machine / "out"
    # The order in which files are created is the order in which some file systems list them.
    for release in sorted(("0.100.0", "0.104.0"), reverse=reverse):
        for name in sorted(RUNS, reverse=reverse):
            shutil.copytree(ROOT / "evidence" / release / name, evidence / release / name)
    for name in ("trust-policy.toml", "waivers.toml"):
        shutil.copy(ROOT / "evidence" / name, evidence / name)
    (evidence / "authorizations").mkdir()
    (evidence / "authorizations" / "broken.dsse.json").write_bytes(b"{}")
    features = machine / "features"
    shutil.copytree(ROOT / "features", features)
    (machine / "home").mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(machine / "home"),
        "PYTHONPATH": str(ROOT),
        **variables,
    }
    options = ["--evidence", str(evidence), "--features", str(features), "--reports", str(reports), "--at", AT]
    for command, codes in (("accept", {3}), ("trends", {0})):
        done = subprocess.run(
            [sys.executable, "-m", "harness", command, *options],
            cwd=machine,
            env=environment,
            capture_output=True,
            check=False,
            timeout=300,
        )
        assert done.returncode in codes, done.stderr.decode()
        assert done.stderr == b""
    return {path.name: path.read_bytes() for path in sorted(reports.iterdir())}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], dict[str, bytes]]:
    return (
        rendered(tmp_path_factory.mktemp("here"), HERE, reverse=False),
        rendered(tmp_path_factory.mktemp("elsewhere") / "deep" / "down", ELSEWHERE, reverse=True),
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_report_has_the_same_bytes(name: str, both: tuple[dict[str, bytes], dict[str, bytes]]) -> None:
    here, elsewhere = both
    assert here[name] == elsewhere[name]
    assert len(here[name]) > 1_000


def test_nothing_else_is_written_and_nothing_names_a_machine(both: tuple[dict[str, bytes], dict[str, bytes]]) -> None:
    here, elsewhere = both
    assert set(here) == set(elsewhere) == set(NAMES)
    for content in (*here.values(), *elsewhere.values()):
        for trace in (b"some where", b"elsewhere", b"Kathmandu", b"pytest-of"):
            assert trace not in content
