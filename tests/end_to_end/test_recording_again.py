"""Whoever has the product records scenarios again with one command and gets the same facts and findings."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from harness.cli.app import run
from harness.record import products

ROOT = Path(__file__).parents[2]
CANDIDATE = "0.104.0"
SCENARIOS = ("mixed-script", "handled-failure")
RUNS = {f"{scenario}.{driver}" for scenario in SCENARIOS for driver in ("local-agent", "mission-control")}


def test_a_second_recording_with_other_facts_is_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if not products.available(CANDIDATE):
        pytest.skip(f"magi-code {CANDIDATE} is not on this machine; `harness product {CANDIDATE}` builds it")
    bundled, again = tmp_path / "bundled", tmp_path / "again"
    for name in RUNS:
        shutil.copytree(ROOT / "evidence" / CANDIDATE / name, bundled / CANDIDATE / name)
    record = ["record", "--product", CANDIDATE, "--out", str(again), "--root", str(tmp_path / "acceptance")]
    assert run([*record, *SCENARIOS]) == 0
    assert {path.name for path in (again / CANDIDATE).iterdir()} == RUNS
    capsys.readouterr()
    code = run(["stability", str(again), "--evidence", str(bundled), "--json"])
    entry = json.loads(capsys.readouterr().out)
    assert entry["variations"] == []
    assert code == 0
    assert entry["recordings"] == 2
    assert {name: len(set(manifests)) for name, manifests in entry["manifests"].items()} == dict.fromkeys(RUNS, 2)
    assert entry["compared"] > 250
    assert json.loads((bundled / "stability.json").read_bytes())["releases"] == [entry]
