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
from typing import NamedTuple, TypeVar

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
from harness.selfcheck.attack import Offer, Result, Sort, Target, carry_out, prepare
from harness.selfcheck.classes import CLASSES
from harness.selfcheck.plan import assigned, chosen, cut
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
    """Every mutant's result, by target in order. How the work was cut does not show in them.

    Each process keeps its own bundles between the two steps, so every part has a pool of one. Where no further process
    can be had, this one does everything.
    """
    parts = cut(targets, min(jobs, len(targets)))
    if len(parts) > 1:
        with contextlib.suppress(OSError, BrokenProcessPool), contextlib.ExitStack() as stack:
            pools = [
                stack.enter_context(ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn"))) for _ in parts
            ]
            owners = {target.rank: pool for part, pool in zip(parts, pools, strict=True) for target in part}
            offers = _gathered(
                {owners[target.rank].submit(prepare, target): target for target in targets}, "examining", progress
            )
            sorts = assigned(offers)
            judged = _gathered(
                {owners[target.rank].submit(carry_out, target, sorts[target.rank]): target for target in targets},
                "judging mutants of",
                progress,
            )
            return [Judged(target, results) for target, results in judged]
    return _alone(targets, progress)


def _gathered(futures: dict[Future[T], Target], what: str, progress: Progress) -> list[tuple[Target, T]]:
    done: list[tuple[Target, T]] = []
    for future in as_completed(futures):
        target = futures[future]
        done.append((target, future.result()))
        progress(f"{what} {target.observation}", len(done), len(futures))
    return sorted(done, key=lambda item: item[0].rank)


def _alone(targets: Sequence[Target], progress: Progress) -> list[Judged]:
    offers: list[tuple[Target, Sequence[Offer]]] = []
    for number, target in enumerate(targets, 1):
        progress(f"examining {target.observation}", number, len(targets))
        offers.append((target, prepare(target)))
    sorts: dict[int, tuple[Sort, ...]] = assigned(offers)
    judged = []
    for number, target in enumerate(targets, 1):
        progress(f"judging mutants of {target.observation}", number, len(targets))
        judged.append(Judged(target, carry_out(target, sorts[target.rank])))
    return judged


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
