"""Whoever has the product records a scenario again with one command and gets the same facts and findings."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.acceptance import load_scenarios
from harness.bundle import read_bundle
from harness.cli.app import run
from harness.compare import Compared
from harness.examine import examine
from harness.model.values import State, Value
from harness.record import products
from harness.spec.facts import FactType, fact

ROOT = Path(__file__).parents[2]
CANDIDATE = "0.104.0"
VARYING = {"Response token estimate"}
"""Besides measured times: the estimate counts the digits of such a time."""


def examined(folder: Path) -> Compared:
    bundle = read_bundle(folder)
    scenarios = {scenario.id: scenario for scenario in load_scenarios(ROOT / "features")}
    return examine(bundle, scenarios[bundle.manifest.scenario]).compared


def facts(compared: Compared) -> dict[tuple[str, str, int, str], list[str]]:
    """Every known or null value of every column, but those that only a run can know."""
    return {
        (row.card, row.label, row.ordinal, column.value): [str(item.value) for item in cell.readings]
        for row in compared.rows
        for column, cell in row.cells.items()
        if fact(row.kind, row.label).type is not FactType.MILLISECONDS and row.label not in VARYING
        if all(isinstance(item.value, Value) and item.value.state is not State.NOT_DISPLAYED for item in cell.readings)
    }


@pytest.mark.parametrize("driver", ["local-agent", "mission-control"])
@pytest.mark.parametrize("scenario", ["mixed-script", "handled-failure"])
def test_a_second_recording_with_other_facts_is_noticed(scenario: str, driver: str, tmp_path: Path) -> None:
    if not products.available(CANDIDATE):
        pytest.skip(f"magi-code {CANDIDATE} is not on this machine; `harness product {CANDIDATE}` builds it")
    recording = ["record", "--product", CANDIDATE, "--driver", driver, "--out", str(tmp_path / "evidence"), scenario]
    assert run([*recording, "--root", str(tmp_path / "acceptance")]) == 0
    name = f"{scenario}.{driver}"
    again = examined(tmp_path / "evidence" / CANDIDATE / name)
    bundled = examined(ROOT / "evidence" / CANDIDATE / name)
    assert {found.id for found in again.findings} == {found.id for found in bundled.findings}
    workspaces = {str(tmp_path / "acceptance" / name): f"/tmp/acceptance/{name}"}  # noqa: S108 # the neutral path
    moved = {
        key: [text.replace(here, there) for text in texts for here, there in workspaces.items()]
        for key, texts in facts(again).items()
    }
    assert moved == facts(bundled)
