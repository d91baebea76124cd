"""Two recordings at once into one evidence folder: each run is whole, and whoever has to stand back says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import faults
from tests.support.faults import Machine


@pytest.fixture
def other(tmp_path: Path) -> Machine:
    """Whoever records at the same time."""
    (tmp_path / "other").mkdir()
    return Machine(tmp_path / "other")


def both(machines: list[Machine], arguments: list[list[str]]) -> tuple[list[int], list[str]]:
    """How two commands end that run at the same time, and what they say."""
    children = [machine.start(each) for machine, each in zip(machines, arguments, strict=True)]
    codes = [faults.ended(child) for child in children]
    return codes, [machine.said() for machine in machines]


def test_in_one_place_one_of_them_stands_back(machine: Machine, other: Machine) -> None:
    arguments = machine.record("--driver", "local-agent", "--replace")
    codes, said = both([machine, other], [arguments, arguments])
    assert sorted(codes) in ([0, 0], [0, 3]), said
    for code, text in zip(codes, said, strict=True):
        assert (code == 0) or "is being recorded by another process" in text
    assert set(machine.bundles()) == {"plain-answer.local-agent"}
    assert machine.hidden() == []
    assert machine.processes() == 0


def test_in_two_places_both_finish(machine: Machine, other: Machine) -> None:
    arguments = [
        machine.record("--driver", "local-agent", "--replace", root=root) for root in (machine.root, other.root)
    ]
    codes, said = both([machine, other], arguments)
    assert codes == [0, 0], said
    assert set(machine.bundles()) == {"plain-answer.local-agent"}
    assert machine.hidden() == []


def test_without_leave_to_replace_the_first_one_stays(recorded: Machine) -> None:
    before = recorded.bundles()
    assert recorded.run(recorded.record("--driver", "local-agent")) == 2
    assert "already there" in recorded.said()
    assert recorded.bundles() == before
