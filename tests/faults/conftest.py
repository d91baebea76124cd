"""A machine for each test, and the proof after each test that no process of a product is left on it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import faults
from tests.support.faults import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path)
    yield machine
    assert machine.processes() == 0, "a process of the product is left"


@pytest.fixture(scope="session")
def _runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both runs of the fake product, recorded once."""
    machine = Machine(tmp_path_factory.mktemp("faults"))
    assert machine.run(machine.record()) == 0, machine.said()
    assert set(machine.bundles()) == set(faults.OBSERVATIONS)
    return machine.evidence


@pytest.fixture
def recorded(machine: Machine, _runs: Path) -> Machine:
    """A machine on which both runs were recorded before."""
    shutil.copytree(_runs, machine.evidence)
    return machine
