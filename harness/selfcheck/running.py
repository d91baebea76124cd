"""The whole selfcheck: choose bundles, mutate them on several processes, and add up what was caught."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from harness import __version__
from harness.acceptance import bundle_folders, load_scenarios, read_all, releases
from harness.bundle import Bundle
from harness.model.errors import EvidenceError, UsageError
from harness.model.selfcheck import (
    SELFCHECK_SCHEMA,
    Attacked,
    Equivalent,
    Measured,
    MutantClass,
    Selfcheck,
    Survivor,
)
from harness.selfcheck.attack import Result, Target, carry_out, forget, prepare
from harness.selfcheck.classes import CLASSES
from harness.selfcheck.plan import assigned, chosen, pieces
from harness.selfcheck_file import code_digest, feature_digests

T = TypeVar("T")
Progress = Callable[[str, int, int], None]
"""What is being done, and how much of how much."""


def _quiet(what: str, done: int, total: int) -> None:
    """Progress that nobody looks at."""


def selfcheck(
    *, evidence: Path, features: Path, release: str = "", jobs: int = 0, progress: Progress = _quiet
) -> Selfcheck:
    """Mutate the bundles of `release` (empty: of all releases in `evidence`) and judge every mutant by itself.

    `jobs` processes (0: one a core). Raises UsageError when there is nothing to mutate, EvidenceError when a bundle
    does not verify.
    """
    names = (release,) if release else tuple(reversed(releases(evidence)))
    scenarios = {scenario.id: scenario for scenario in load_scenarios(features)}
    bundles = {name: _verified(evidence, name) for name in names}
    targets = chosen(bundles, scenarios)
    if not targets:
        raise UsageError("no bundle could be mutated", where=str(evidence))
    results = _results(targets, jobs or os.cpu_count() or 1, progress)
    measured = tuple(
        Measured(
            release=name,
            manifests={bundle.manifest.observation: bundle.manifest_sha256 for bundle in found},
            mutated=tuple(sorted(target.observation for target in targets if target.release == name)),
        )
        for name, found in bundles.items()
    )
    return summed(results, measured=measured, code=code_digest(), features=feature_digests(features))


def _verified(evidence: Path, release: str) -> list[Bundle]:
    bundles, damaged = read_all(bundle_folders(evidence, release))
    if damaged:
        first = damaged[0]
        raise EvidenceError(
            f"{first.bundle}: {first.reasons[0]}",
            where=str(evidence / release),
            hint="harness verify says more",
            reasons=first.reasons,
        )
    return bundles


class Judged(NamedTuple):
    target: Target
    results: tuple[Result, ...]


def _results(targets: Sequence[Target], jobs: int, progress: Progress) -> list[Judged]:
    """Every mutant's result, by target in order. How the work was dealt out does not show in them.

    Where no further process can be had, this one does everything.
    """
    if jobs > 1 and len(targets) > 1:
        with (
            contextlib.suppress(OSError, BrokenProcessPool),
            ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn")) as pool,
        ):
            return _judged(targets, pool.submit, progress)
    try:
        return _judged(targets, _at_once, progress)
    finally:
        forget()


Submit = Callable[..., Future[Any]]


def _at_once(work: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Done by this process, before anything else."""
    future: Future[Any] = Future()
    future.set_result(work(*arguments))
    return future


def _judged(targets: Sequence[Target], submit: Submit, progress: Progress) -> list[Judged]:
    """Examine all bundles, then judge the mutants that each of them gives; the larger pieces of work first."""
    offers = _gathered([(target, submit(prepare, target)) for target in targets], "examining", progress)
    work = pieces(targets, assigned(offers))
    order = sorted(range(len(work)), key=lambda at: (-len(work[at].sorts), at))
    running = {at: submit(carry_out, work[at].target, work[at].sorts) for at in order}
    done = _gathered([(piece.target, running[at]) for at, piece in enumerate(work)], "judging mutants of", progress)
    return [Judged(target, results) for target, results in done]


def _gathered(futures: Sequence[tuple[Target, Future[T]]], what: str, progress: Progress) -> list[tuple[Target, T]]:
    """Every result with its target, in order; progress as they come."""
    owners = {future: target for target, future in futures}
    for number, future in enumerate(as_completed(owners), 1):
        progress(f"{what} {owners[future].observation}", number, len(futures))
    return [(target, future.result()) for target, future in futures]


# Sums


def summed(
    judged: Sequence[Judged], *, measured: tuple[Measured, ...], code: str, features: dict[str, str]
) -> Selfcheck:
    """Everything added up. `code`, `features`, `measured`: what it was measured with and on."""
    results = [result for one in judged for result in one.results]
    survivors = tuple(_survivors(judged))
    classes = tuple(_class_rows(results))
    return Selfcheck(
        schema=SELFCHECK_SCHEMA,
        harness=__version__,
        code=code,
        features=features,
        measured=measured,
        mutants=len(results),
        caught=sum(row.caught for row in classes),
        equivalent=sum(item.mutants for row in classes for item in row.equivalent),
        survivors=survivors,
        classes=classes,
        attacked=tuple(_attacked(results)),
    )


def _survivors(judged: Iterable[Judged]) -> Iterator[Survivor]:
    for one in judged:
        for result in one.results:
            if result.survived:
                yield result.survivor(one.target)


def _class_rows(results: Sequence[Result]) -> Iterator[MutantClass]:
    for entry in CLASSES:
        own = [result for result in results if result.class_ == entry.id]
        if not own:
            continue
        alone = [result for result in own if result.alone]
        caught = [result for result in own if result.caught]
        reasons = Counter(result.equivalent for result in alone)
        yield MutantClass(
            id=entry.id,
            text=entry.text,
            requirements=tuple(sorted({result.requirement for result in own})),
            mutants=len(own),
            caught=len(caught),
            survivors=len(own) - len(caught) - len(alone),
            equivalent=tuple(Equivalent(reason=reason, mutants=reasons[reason]) for reason in sorted(reasons)),
            signals=dict(sorted(Counter(result.signal for result in caught).items())),
            kinds=dict(sorted(Counter(result.kind for result in own).items())),
            harmless=entry.harmless,
        )


def _attacked(results: Iterable[Result]) -> Iterator[Attacked]:
    counts = Counter(
        (result.card_kind, result.label, result.where) for result in results if result.label and not result.equivalent
    )
    for (card, label, column), mutants in sorted(counts.items()):
        yield Attacked(card=card, label=label, column=column, mutants=mutants)
