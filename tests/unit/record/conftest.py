"""A fake product per test, and the proof after each test that no process of it is left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from harness.model.errors import HarnessError
from harness.model.stimulus import Reply, Stimulus, Turn
from harness.record.processes import belonging
from harness.record.recorder import RecordedRun, record
from harness.record.timing import Deadlines

FAKE = Path(__file__).parents[2] / "support" / "fake_product.py"


class Lab:
    """Records on fake products. `deadlines` are beyond what a working fake takes on the most crowded machine; a test
    of a stuck one shortens the deadline that it is to reach."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "acceptance"
        self.deadlines = Deadlines(ready=30.0, answer=30.0, turn=30.0, moment=30.0, close=30.0, lease=30.0)

    def product(self, vice: str = "") -> Path:
        """A program with one vice ("" for none)."""
        program = self.folder / f"magi-code-{vice or 'well'}"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{FAKE}" "{vice or "well"}" "$@"\n')
        program.chmod(0o755)
        return program

    def shorten(self, **seconds: float) -> None:
        self.deadlines = msgspec.structs.replace(self.deadlines, **seconds)

    def run(
        self,
        stimulus: Stimulus,
        driver: str,
        vice: str = "",
        *,
        reopener: Path | None = None,
        progress: Callable[[str], None] = lambda _line: None,
    ) -> RecordedRun:
        return record(
            stimulus,
            observation="fake-run",
            scenario="fake.feature::Fake",
            classes=("agreement",),
            release="0.0.1",
            driver=driver,
            product=self.product(vice),
            reopener=reopener,
            root=self.root,
            deadlines=self.deadlines,
            progress=progress,
        )

    def refused(self, stimulus: Stimulus, driver: str, vice: str = "") -> HarnessError:
        """The error of a recording that must fail; its place must be gone."""
        with pytest.raises(HarnessError) as caught:
            self.run(stimulus, driver, vice)
        assert not (self.root / "fake-run").exists(), "the place of a failed recording stays behind"
        return caught.value


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """Fails the test when a process of a recording outlives it."""
    lab = Lab(tmp_path)
    yield lab
    left = belonging(lab.root.resolve())
    for process in left:
        process.kill()  # type: ignore[no-untyped-call]  # psutil publishes no types
    assert left == [], "a process outlived its recording"


STIMULUS = Stimulus(
    files={"folder/a.txt": "alpha\n"},
    lanes={"main": (Reply(text="Done."),)},
    turns=(Turn(prompt="Do it."),),
    terminal=(80, 24),
)


@pytest.fixture
def one_turn() -> Stimulus:
    return STIMULUS


@pytest.fixture(scope="module")
def whole_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RecordedRun]:
    """One run of the well-behaved fake per driver."""
    lab = Lab(tmp_path_factory.mktemp("whole"))
    runs = {driver: lab.run(STIMULUS, driver) for driver in ("local-agent", "mission-control")}
    assert list(lab.root.iterdir()) == [lab.root / ".fake-run.lock"], "nothing but the lock stays"
    return runs
