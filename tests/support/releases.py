"""Two releases' runs of one observation, small enough to be held against each other by hand."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from harness.compare.difference import Difference, Side, difference
from harness.model.facts import CardFacts, Column, Problem
from harness.model.values import NotComparable
from harness.model.verdict import CaptureRow
from tests.support.columns import held, observation

Shows = Mapping[Column, CardFacts | tuple[CardFacts, ...]]


def side(
    release: str,
    shows: Shows,
    reference: CardFacts | tuple[CardFacts, ...] = (),
    *,
    name: str = "seen",
    cut: tuple[Column, ...] = (),
    problems: Mapping[Column, tuple[Problem, ...]] | None = None,
    unavailable: Mapping[Column, NotComparable] | None = None,
    workspace: str = "",
    varying: tuple[str, ...] = (),
) -> Side:
    """A release with one observation; surfaces that are not named were not captured."""
    compared = held(shows, reference, cut=cut, problems=problems, unavailable=dict(unavailable or {}))
    seen = msgspec.structs.replace(
        observation(name, release=release),
        rows=compared.rows,
        cards=compared.cards,
        surfaces=compared.surfaces,
        unavailable=compared.unavailable,
        captures=tuple(
            CaptureRow(column=column, file=column.value, version=release, complete=column not in cut, note="", size=1)
            for column in shows
        ),
        findings=tuple(found.id for found in compared.findings),
    )
    return Side(
        release=release,
        observations=(seen,),
        findings=tuple(msgspec.structs.replace(found, observation=name) for found in compared.findings),
        workspaces={name: workspace},
        varying={name: varying},
    )


def both(*sides: Side) -> Side:
    """One release with the observations of several sides."""
    return Side(
        release=sides[0].release,
        observations=tuple(item for one in sides for item in one.observations),
        findings=tuple(item for one in sides for item in one.findings),
        workspaces={name: path for one in sides for name, path in one.workspaces.items()},
        varying={name: labels for one in sides for name, labels in one.varying.items()},
    )


def changed(before: Shows, after: Shows, *, reference: CardFacts | tuple[CardFacts, ...] = ()) -> Difference:
    """What changed from what 0.100.0 shows to what 0.104.0 shows."""
    return difference(side("0.100.0", before, reference), side("0.104.0", after, reference))
