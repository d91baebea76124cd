"""The host's report held against the nested records, counted; and whether the full comparison can find anything.

Nearly all sessions are in order, and for those the full comparison, which serves all columns of a bundle, would do
nothing but agree. What is found always comes from it; here is only decided, on the safe side, when it need not run.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from harness.compare.readings import comparable
from harness.compare.rules import card_problems
from harness.model.facts import CardFacts, ColumnFacts, Fact
from harness.model.values import ABSENT, NotComparable, Reading, Reason
from harness.spec.facts import facts_of
from harness.sweep.rows import Counts

_SILENT = NotComparable(reason=Reason.NOT_DERIVABLE)


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """`quiet`: nothing differs, no card breaks a rule, no source has a problem, so that there can be no finding."""

    counts: Counts
    quiet: bool


def held(report: ColumnFacts, nested: ColumnFacts) -> Held:
    """The two derivations of one run. Both columns have the same cards, as a projection makes them."""
    agree = disagree = total = 0
    quiet = not report.problems and not nested.problems
    theirs = {card.path: card for card in nested.cards}
    quiet = quiet and len(theirs) == len(nested.cards) == len(report.cards) == len({card.path for card in report.cards})
    for card in report.cards:
        other = theirs.get(card.path)
        if other is None or other.kind is not card.kind:
            quiet = False
            continue
        same, different, facts = _counted(card, other)
        agree, disagree, total = agree + same, disagree + different, total + facts
        quiet = quiet and not different and not any(_broken(one) or _mixed(one) for one in (card, other))
    return Held(counts=Counts(agree=agree, disagree=disagree, not_comparable=total - agree - disagree), quiet=quiet)


def _broken(card: CardFacts) -> bool:
    return next(card_problems(card, ended=True), None) is not None


def _mixed(card: CardFacts) -> bool:
    """Whether a derivation says something of some rows of a label and nothing of others. None does so today."""
    says: dict[str, bool] = {}
    for fact in card.facts:
        if says.setdefault(fact.label, comparable(fact.value) is None) != (comparable(fact.value) is None):
            return True
    return False


def _counted(report: CardFacts, nested: CardFacts) -> tuple[int, int, int]:
    """Facts that agree, that differ, and all of them: each label of the catalogue, each row of a repeated one."""
    agree = disagree = total = 0
    ours, theirs = _by_label(report), _by_label(nested)
    for label, entry in facts_of(report.kind).items():
        left, right = ours.get(label, {}), theirs.get(label, {})
        rows = max([0, *left, *right]) + 1
        total += rows
        for row in range(rows):
            one, two = _said(left, row, repeated=entry.repeated), _said(right, row, repeated=entry.repeated)
            if comparable(one) is None and comparable(two) is None:
                if one == two:
                    agree += 1
                else:
                    disagree += 1
    return agree, disagree, total


def _by_label(card: CardFacts) -> dict[str, dict[int, Fact]]:
    found: dict[str, dict[int, Fact]] = {}
    for fact in card.facts:
        found.setdefault(fact.label, {}).setdefault(fact.ordinal, fact)
    return found


def _said(facts: Mapping[int, Fact], row: int, *, repeated: bool) -> Reading:
    """What a derivation says of one row. A row that is not there is absent, unless the derivation says nothing of any
    row of the label, or of this fact at all."""
    if row in facts:
        return facts[row].value
    if not repeated:
        return _SILENT
    return facts[0].value if 0 in facts and comparable(facts[0].value) is not None else ABSENT
