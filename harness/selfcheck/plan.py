"""Which bundles are mutated, and which of them gives each sort of mutant. Nothing here depends on chance or timing.

Of every observation class the smallest bundle is taken, and every bundle that serves none (imports); of the newest
release the smallest for each driver, and of every run that a class needs. Of those that offer a sort of mutant the one
counts in which something can notice it, then the newer release, then the smaller bundle. Light bundles of the newest
release are given a share of further mutants of facts beside that, so that all classes are attacked and not only the
cheapest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.bundle import Bundle
from harness.scenario.compile import Scenario
from harness.selfcheck.attack import Offer, Sort, Target
from harness.spec.classes import served

SHARED = ("fact-value", "fact-null", "screen-value", "report-member")
SHARE = 53
"""Every so-manieth sort of the shared classes is also tried on a light bundle of the newest release that was not chosen
for it."""
LIGHT = 400_000
"""Bytes of captures and sessions up to which a bundle is light."""
HEAVY = 1_100_000
"""Bytes of captures and sessions from which a bundle is left alone: it has the same facts as lighter ones, in more
frames."""


PIECE = 150
"""Sorts of mutants of one bundle that are judged in one go."""


class Piece(NamedTuple):
    """Sorts of mutants of one bundle, to be judged by whichever process is free."""

    target: Target
    sorts: tuple[Sort, ...]


def _weight(bundle: Bundle) -> int:
    """Bytes to be read: captures and saved sessions."""
    manifest = bundle.manifest
    names = [*(capture.file for capture in manifest.captures), manifest.session, *manifest.children]
    return sum(manifest.files[name].size for name in names if name)


def chosen(bundles: Mapping[str, Sequence[Bundle]], scenarios: Mapping[str, Scenario]) -> tuple[Target, ...]:
    """The bundles to mutate, by release (newest first) and size. `bundles`: by release, newest first."""
    targets: list[Target] = []
    for age, (release, found) in enumerate(bundles.items()):
        light = [bundle for bundle in found if _weight(bundle) < HEAVY] or found
        by_weight = sorted(light, key=lambda bundle: (_weight(bundle), bundle.manifest.observation))
        groups: dict[tuple[str, str], Bundle] = {}
        for bundle in by_weight:
            scenario = scenarios.get(bundle.manifest.scenario)
            names = bundle.manifest.classes or (bundle.manifest.observation,)
            runs = served(scenario.tags).runs if scenario is not None and not age else ()
            driver = "" if age else f" {bundle.manifest.driver}"
            for name in (*(f"{name}{driver}" for name in names), *runs):
                groups.setdefault((release, name), bundle)
        kept = {id(bundle) for bundle in groups.values()}
        for bundle in by_weight:
            if id(bundle) in kept:
                targets.append(
                    Target(
                        folder=Path(bundle.folder),
                        scenario=scenarios.get(bundle.manifest.scenario),
                        release=release,
                        observation=bundle.manifest.observation,
                        rank=len(targets),
                        shares=not age and _weight(bundle) < LIGHT,
                    )
                )
    return tuple(targets)


def assigned(offers: Iterable[tuple[Target, Sequence[Offer]]]) -> dict[int, tuple[Sort, ...]]:
    """By rank of the target the sorts of mutants that it gives."""
    offers = sorted(offers, key=lambda item: item[0].rank)
    best: dict[Sort, tuple[bool, int]] = {}
    for target, of_target in offers:
        for offer in of_target:
            best[offer.sort] = min(best.get(offer.sort, (True, 1 << 30)), (offer.equivalent, target.rank))
    given: dict[int, list[Sort]] = {target.rank: [] for target, _ in offers}
    for target, of_target in offers:
        for number, offer in enumerate(of_target):
            own = best[offer.sort][1] == target.rank
            turn = target.shares and (number + target.rank) % SHARE == 0
            share = turn and offer.sort[0] in SHARED and not offer.equivalent
            if own or share:
                given[target.rank].append(offer.sort)
    return {rank: tuple(sorts) for rank, sorts in given.items()}


def pieces(targets: Iterable[Target], sorts: Mapping[int, Sequence[Sort]]) -> tuple[Piece, ...]:
    """The work to be dealt out: the sorts of each target, at most `PIECE` at a time, in the order of targets."""
    return tuple(
        Piece(target, tuple(sorts[target.rank][at : at + PIECE]))
        for target in targets
        for at in range(0, len(sorts[target.rank]), PIECE)
    )
