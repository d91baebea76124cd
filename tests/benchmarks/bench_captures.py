"""What a card costs when there are many, and what a capture weighs when it is long."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

import pytest

from harness.wire.reading import Reading, fold_capture
from tests.benchmarks.captures import Real
from tests.benchmarks.figures import Record

ROOT = Path(__file__).parents[2]
CARDS = (1_000, 10_000, 100_000)
SNAPSHOTS = (150, 1_500, 15_000)
"""Of one card in one run; a run may have 16,384."""


@pytest.fixture(scope="module")
def real() -> Real:
    return Real()


def test_repeated_runs_break_no_rule_that_one_run_keeps(real: Real) -> None:
    one, many = fold_capture(real.runs(1)), fold_capture(real.runs(20))

    def told(reading: Reading) -> set[str]:
        return {breach.rule for breach in reading.breaches}

    assert told(many) == told(one)
    assert (len(one.runs), len(many.runs)) == (1, 20)
    assert len({run.id for run in many.runs}) == 20


def microseconds(real: Real, cards: int) -> float:
    """Processor time of folding one card among so many, without that of making the capture."""
    runs = round(cards / real.snapshots)
    again = max(1, 10_000 // cards)
    start = time.process_time()
    for _ in range(again):
        deque(real.runs(runs), maxlen=0)
    made = time.process_time()
    for _ in range(again):
        fold_capture(real.runs(runs))
    spent = (time.process_time() - made) - (made - start)
    return spent / (again * runs * real.snapshots) * 1e6


def test_a_card_costs_the_same_among_many(real: Real, figures: Record) -> None:
    rounds = [{cards: microseconds(real, cards) for cards in CARDS} for _ in range(3)]
    figures.at_most(
        "one card of 100,000 / one card of 1,000",
        round(statistics.median(found[CARDS[-1]] / found[CARDS[0]] for found in rounds), 3),
        1.25,
        microseconds={str(cards): round(min(found[cards] for found in rounds), 1) for cards in CARDS},
    )


def test_memory_does_not_grow_with_the_length_of_a_capture(figures: Record) -> None:
    kib = {}
    for times in SNAPSHOTS:
        command = [sys.executable, "-m", "tests.benchmarks.captures", str(times)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        kib[str(times)] = int(done.stdout)
    figures.at_most(
        "memory for a capture of 15,000 snapshots / of 150", round(kib["15000"] / kib["150"], 3), 1.1, peak_kib=kib
    )
