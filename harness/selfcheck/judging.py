"""Judges mutants of one bundle, each by itself; those of screens in the order in which one replay comes by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from harness.selfcheck.mutant import Baseline, Mutant, OnScreen, Signal
from harness.selfcheck.subject import Subject


def judged(subject: Subject, baseline: Baseline, mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, Signal | None]]:
    """Every mutant with the signal that noticed it, None when nothing did."""
    drawn: dict[str, list[tuple[Mutant, OnScreen]]] = {}
    for mutant in mutants:
        if mutant.examine is not None:
            yield mutant, baseline.noticed(mutant, mutant.examine)
        elif mutant.probe is not None:
            yield mutant, mutant.probe()
        elif mutant.drawn is not None:
            drawn.setdefault(mutant.drawn.capture.file, []).append((mutant, mutant.drawn))
    for of_capture in drawn.values():
        of_capture.sort(key=lambda item: item[1].moment)
        capture = of_capture[0][1].capture
        screens = subject.screens(capture).drawn([(on.moment, on.drawing) for _, on in of_capture])
        for (mutant, _), shown in zip(of_capture, screens, strict=True):
            yield mutant, baseline.noticed(mutant, partial(subject.with_screens, capture, shown))
