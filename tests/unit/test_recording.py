"""The order in which runs are recorded: a long one that starts last holds up the whole recording alone."""

from __future__ import annotations

from pathlib import Path

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
