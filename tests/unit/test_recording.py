"""The order in which runs are recorded: a long one that starts last holds up the whole recording alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli.record import _select
from harness.model.errors import UsageError
from harness.recording import Task, in_order
from harness.scenario.compile import compile_feature

FEATURE = """Feature: F
  Scenario: Quick
    Given the model answers "A"
    When the prompt "Go." is run

  @slow
  Scenario: Slow
    Given the model answers "A"
    When the prompt "Go." is run

  Scenario: Other
    Given the model answers "A"
    When the prompt "Go." is run
"""


def test_slow_runs_start_first_and_the_others_keep_their_order() -> None:
    tasks = [
        Task(scenario=scenario, driver=driver, product=Path("p"), release="1", root=Path("r"), out=Path("o"))
        for scenario in compile_feature(FEATURE, name="f.feature")
        for driver in scenario.drivers
    ]
    assert [task.observation for task in in_order(tasks)] == [
        "slow.local-agent",
        "slow.mission-control",
        "quick.local-agent",
        "quick.mission-control",
        "other.local-agent",
        "other.mission-control",
    ]


def test_a_scenario_on_request_is_recorded_by_name_only() -> None:
    """Nobody who records everything waits for a run that takes longer than all others together."""
    text = FEATURE.replace("  @slow\n", "  @slow @on-request @release:2\n")
    scenarios = tuple(compile_feature(text, name="f.feature"))
    assert [item.on_request for item in scenarios] == [False, True, False]
    assert [item.name for item in _select(scenarios, [], "2")] == ["Quick", "Other"]
    assert [item.name for item in _select(scenarios, ["slow"], "2")] == ["Slow"]
    with pytest.raises(UsageError, match="named slow"):
        _select(scenarios, ["slow"], "1")
