"""The bundled features and the folder they stand in."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.acceptance import load_scenarios
from harness.model.errors import UsageError
from harness.spec.classes import RUNS, served
from tests.support.scenarios import RUN, feature

FEATURES = Path(__file__).parents[3] / "features"


def test_the_features_show_every_run_that_a_release_needs_and_no_scenario_is_for_nothing() -> None:
    scenarios = load_scenarios(FEATURES)
    runs = {run for scenario in scenarios for run in served(scenario.tags).runs}
    assert runs == set(RUNS)
    assert all(scenario.expected or not scenario.drivers for scenario in scenarios)
    over_every_run = [scenario for scenario in scenarios if not scenario.drivers]
    assert [(scenario.feature, scenario.stimulus.turns) for scenario in over_every_run] == [("agreement.feature", ())]
    assert {scenario.feature for scenario in scenarios} == {path.name for path in FEATURES.glob("*.feature")}


def test_a_live_run_of_every_class_is_driven_by_both_surfaces() -> None:
    drivers: dict[str, set[str]] = {}
    for scenario in load_scenarios(FEATURES):
        for run in served(scenario.tags).runs:
            drivers.setdefault(run, set()).update(scenario.drivers)
    one_sided = {run for run, by in drivers.items() if len(by) < 2}
    assert all(run.startswith("legacy.") for run in one_sided)


@pytest.mark.parametrize(
    "names", [("Same name", "Same name"), ("Same name", "same: NAME!")], ids=["equal", "equal as a file name"]
)
def test_two_scenarios_that_would_share_their_observations_are_refused(names: tuple[str, str], tmp_path: Path) -> None:
    for number, name in enumerate(names):
        (tmp_path / f"{number}.feature").write_text(feature(RUN, name=name))
    with pytest.raises(UsageError, match="name the same observations") as caught:
        load_scenarios(tmp_path)
    assert f"1.feature::{names[1]}" in caught.value.message
    assert f"0.feature::{names[0]}" in caught.value.message


def test_an_outline_whose_rows_have_one_name_is_refused(tmp_path: Path) -> None:
    outline = """Feature: F
  Scenario Outline: Same
    When the prompt "<n>" is run
    Examples:
      | n |
      | 1 |
      | 2 |
"""
    (tmp_path / "one.feature").write_text(outline)
    with pytest.raises(UsageError, match="name the same observations"):
        load_scenarios(tmp_path)


@pytest.mark.parametrize("tag", ["@overflow.warning", "@legacy"], ids=["misspelt run", "class without a run"])
def test_a_tag_that_covers_nothing_is_refused(tag: str, tmp_path: Path) -> None:
    (tmp_path / "one.feature").write_text(feature(RUN, tags=tag))
    with pytest.raises(UsageError):
        load_scenarios(tmp_path)


def test_a_folder_without_features_and_a_file_that_is_no_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no \.feature files"):
        load_scenarios(tmp_path)
    (tmp_path / "one.feature").write_bytes(b"Feature: \xff\n")
    with pytest.raises(UsageError, match="not UTF-8") as caught:
        load_scenarios(tmp_path)
    assert caught.value.where.endswith("one.feature")
