"""Facts that a card must recompute from what it displays itself: omitted counts and child references.

card-facts.md, "Code Mode" and "Reduction": omission counts are totals minus the rows that the very card shows, so a
card that was reduced has other counts than a full one and is right. Mission Control shares the selectors but prints
no rows to count, so its numbers are held against the unreduced card.
"""

from __future__ import annotations

from harness.model.facts import CardFacts
from harness.model.values import Reading, Value, known
from harness.spec.facts import FactSpec, Relative

_TOTAL = {
    Relative.WARNING_ROWS: "Warnings",
    Relative.PATH_ROWS: "Changed paths",
    Relative.ACTIVITY_ROWS: "Task activity count",
}
_ROWS = {
    Relative.WARNING_ROWS: "Warning",
    Relative.PATH_ROWS: "Changed path",
    Relative.ACTIVITY_ROWS: "Task activity",
}
_CHILD_TOTALS = ("Total calls", "Tasks total")


_DROPPED_NOTHING = ("missing_source", "not_recorded")
"""Reasons that say of a row that its value is null, not that the row was left out."""


def says_omitted(card: CardFacts, subject: str, *, at_least: int = 0) -> bool:
    """Whether the card says that it left out things of that kind: `at_least` so many, or without a number."""
    return any(
        omission.subject == subject
        and omission.reason not in _DROPPED_NOTHING
        and (omission.omitted_count is None or omission.omitted_count >= at_least)
        for omission in card.omissions
    )


def is_reduced(entry: FactSpec, card: CardFacts) -> bool:
    """Whether the card says that it shows less than a whole card would of what the relative fact `entry` counts."""
    if entry.relative in _ROWS:
        return says_omitted(card, "rows") or says_omitted(card, "blocks")
    return says_omitted(card, "children") or says_omitted(card, "blocks")


def _known_count(reading: Reading | None) -> int | None:
    if isinstance(reading, Value) and reading.text is not None and reading.text.isdecimal():
        return int(reading.text)
    return None


def recomputed(entry: FactSpec, card: CardFacts, totals: dict[str, Reading]) -> Value | None:
    """What `card` must say for the relative fact `entry`, given the reference's `totals` by label.

    None when the total is not known or the card's display cannot be counted: then the unreduced reference stands.
    """
    if entry.relative is None:
        return None
    if entry.relative in _ROWS:
        total = _known_count(totals.get(_TOTAL[entry.relative]))
        if total is None:
            return None
        shown = sum(1 for fact in card.facts if fact.label == _ROWS[entry.relative] and fact.via == "row")
        return known(max(total - shown, 0))
    total = next((count for label in _CHILD_TOTALS if (count := _known_count(totals.get(label))) is not None), None)
    if total is None or card.children is None:
        return None
    if entry.relative is Relative.CHILD_REFERENCES_COMPLETE:
        return known(total == len(card.children))
    return known(max(total - len(card.children), 0))


def leaves_references_out(entry: FactSpec, truth: Reading) -> bool:
    """Whether `truth`, which is of a card of the local agent, speaks of references that this card leaves out.

    Another surface may display more of them, and then says something else and is right.
    """
    text = truth.text if isinstance(truth, Value) else None
    if entry.relative is Relative.CHILD_REFERENCES_COMPLETE:
        return text == "false"
    return entry.relative is Relative.CHILD_REFERENCES and text not in (None, "0")
