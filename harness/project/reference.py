"""The reference: fact by fact the host's report where it says anything, else the independent derivation.

The two columns are compared with each other elsewhere; this only decides which word counts, and keeps where it came
from (`Fact.via`).
"""

from __future__ import annotations

from harness.model.facts import CardFacts, ColumnFacts, Fact
from harness.model.values import Value
from harness.spec.facts import facts_of


def merged(report: CardFacts, nested: CardFacts) -> CardFacts:
    """One card's reference from its two derivations, in catalogue order.

    The rows of a repeated label come from one derivation together: from the report unless it says nothing of them.
    Where neither says anything the second one's reason stands, which tells why the first could not be made up for.
    """
    facts: list[Fact] = []
    for label in facts_of(report.kind):
        ours = [fact for fact in report.facts if fact.label == label]
        theirs = [fact for fact in nested.facts if fact.label == label]
        says = not ours or any(isinstance(fact.value, Value) for fact in ours)
        facts.extend(ours if says else theirs)
    return CardFacts(
        path=report.path, kind=report.kind, facts=tuple(facts), children=report.children, place=report.place
    )


def reference(report: ColumnFacts, nested: ColumnFacts) -> tuple[CardFacts, ...]:
    """The reference of every card, in transcript order. Both columns must be of the same run."""
    others = {card.path: card for card in nested.cards}
    return tuple(merged(card, others[card.path]) for card in report.cards)
