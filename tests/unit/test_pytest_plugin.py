"""What the feature tests hold of all runs: a difference between surfaces that no finding tells must not pass."""

from __future__ import annotations

import msgspec
import pytest

from harness.acceptance import accept
from harness.cli.places import default_folder
from harness.model.facts import Column
from harness.model.verdict import Acceptance, Agreement
from harness.pytest_plugin import _hold_agreement


@pytest.fixture(scope="module")
def acceptance() -> Acceptance:
    return accept(
        evidence=default_folder("evidence"), features=default_folder("features"), release="", at="2026-11-30T00:00:00Z"
    ).acceptance


def test_the_bundled_runs_hide_no_difference(acceptance: Acceptance) -> None:
    _hold_agreement(acceptance)


def test_a_difference_without_a_finding_fails(acceptance: Acceptance) -> None:
    differing = [
        row
        for item in acceptance.observations
        for row in item.rows
        if {row.cells[Column.LOCAL_AGENT_REOPEN].agreement, row.cells[Column.MISSION_CONTROL_REOPEN].agreement}
        == {Agreement.AGREE, Agreement.DISAGREE}
    ]
    assert differing, "the bundled runs have such differences"
    with pytest.raises(AssertionError, match="untold"):
        _hold_agreement(msgspec.structs.replace(acceptance, findings=()))


def test_a_run_in_which_nothing_was_compared_on_both_surfaces_fails(acceptance: Acceptance) -> None:
    blind = msgspec.structs.replace(acceptance.observations[0], rows=())
    with pytest.raises(AssertionError, match="nothing of"):
        _hold_agreement(msgspec.structs.replace(acceptance, observations=(blind,)))
