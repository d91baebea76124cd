"""One try of a structural rule: what was held against it and, when that breaks it, how.

Whoever checks a rule yields a try for every thing that the rule is about, kept or broken. So a rule that nothing was
tried on is never taken for one that holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from harness.model.facts import CardFacts, Fact, Place, Problem


class Tried(NamedTuple):
    """`requirement` is the id of the rule. `problem` is None when the rule was kept. `ordinal` and `detail` tell the
    findings of one card and label apart, as in `harness.compare.findings.finding`."""

    requirement: str
    problem: Problem | None = None
    ordinal: int = 0
    detail: str = ""


def kept(requirement: str, times: int = 1) -> Iterable[Tried]:
    """As many tries that the rule stood."""
    return (Tried(requirement),) * times


def broken(requirement: str, card: CardFacts, fact: Fact | None, expected: str, observed: str) -> Problem:
    """A problem of one fact of a card, or of the whole card."""
    place: Place | None = card.place if fact is None or fact.place is None else fact.place
    return Problem(
        requirement=requirement,
        card=card.path,
        label="" if fact is None else fact.label,
        expected=expected,
        observed=observed,
        place=place,
    )
