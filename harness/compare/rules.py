"""Rules that one card must obey by itself, on whatever column it stands, and what live and saved cards must share.

These hold without any reference, so they also judge foreign captures that have no saved session.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.model.facts import CardFacts, CardKind, Fact, Problem
from harness.model.values import State, Value
from harness.spec.facts import FactType, fact

_BATCH_PARTS = ("Tasks done", "Tasks failed", "Tasks running", "Tasks unknown", "Tasks cancelled")
_SCRIPT_PARTS = ("Successful calls", "Failed calls", "Unknown calls", "Running calls")
_ALWAYS = {
    "Completed actions remain applied": "true",
    "Rollback": "false",
    "External effects may be untracked": "true",
}


def _counts(card: CardFacts) -> dict[str, tuple[int, Fact]]:
    """First known count of each label."""
    found: dict[str, tuple[int, Fact]] = {}
    for reading in card.facts:
        value = reading.value
        if (
            isinstance(value, Value)
            and value.state is State.KNOWN
            and value.text is not None
            and value.text.isdecimal()
            and fact(card.kind, reading.label).type in (FactType.COUNT, FactType.MILLISECONDS)
        ):
            found.setdefault(reading.label, (int(value.text), reading))
    return found


def _problem(requirement: str, card: CardFacts, reading: Fact, expected: str, observed: str) -> Problem:
    return Problem(
        requirement=requirement,
        card=card.path,
        label=reading.label,
        expected=expected,
        observed=observed,
        place=reading.place,
    )


def _partition(card: CardFacts, total: str, parts: tuple[str, ...], requirement: str) -> Iterator[Problem]:
    counts = _counts(card)
    if total not in counts or any(part not in counts for part in parts):
        return
    whole = sum(counts[part][0] for part in parts)
    if whole != counts[total][0]:
        yield _problem(
            requirement,
            card,
            counts[total][1],
            f"{' + '.join(parts)} = {total}",
            f"{' + '.join(str(counts[part][0]) for part in parts)} = {whole}, {total} {counts[total][0]}",
        )


def card_problems(card: CardFacts) -> Iterator[Problem]:
    """Everything in which `card` contradicts itself or a rule that holds for every card of its kind."""
    if card.kind is CardKind.SUBAGENT_BATCH:
        yield from _partition(card, "Tasks total", _BATCH_PARTS, "batch.partition")
    if card.kind is CardKind.CODE_MODE:
        yield from _partition(card, "Total calls", _SCRIPT_PARTS, "code-mode.total-calls")
        for reading in card.facts:
            always = _ALWAYS.get(reading.label)
            if always and isinstance(reading.value, Value) and reading.value.text not in (None, always):
                requirement = fact(card.kind, reading.label).requirement
                yield _problem(requirement, card, reading, always, str(reading.value))
    outcomes: dict[str, Fact] = {}
    for reading in card.facts:
        if isinstance(reading.value, Value) and reading.value.state is State.KNOWN and not reading.ordinal:
            earlier = outcomes.setdefault(reading.label, reading)
            if earlier.value != reading.value and not fact(card.kind, reading.label).repeated:
                yield _problem(
                    fact(card.kind, reading.label).requirement,
                    card,
                    reading,
                    f"{earlier.value} as in its {earlier.via}",
                    f"{reading.value} in its {reading.via}",
                )


_SAME_REASON = {"missing_source": "not_recorded"}
"""A live card says that the source is missing where the saved card says that it was not recorded."""


def live_saved_differences(live: CardFacts, saved: CardFacts) -> Iterator[Problem]:
    """What the final live card and the saved card of one run must share beyond their rows: outcome, changes and
    omissions (by subject, count and reason)."""

    def differ(label: str, expected: str, observed: str) -> Problem:
        return Problem(
            requirement="wire.saved-equals-live",
            card=live.path,
            label=label,
            expected=expected,
            observed=observed,
            place=saved.place,
        )

    if live.outcome != saved.outcome:
        yield differ("card outcome", f"{live.outcome} as live", str(saved.outcome))
    if live.changes != saved.changes:
        yield differ("card changes", f"{live.changes} as live", str(saved.changes))
    ours = {(item.subject, _SAME_REASON.get(item.reason, item.reason), item.omitted_count) for item in live.omissions}
    theirs = {
        (item.subject, _SAME_REASON.get(item.reason, item.reason), item.omitted_count) for item in saved.omissions
    }
    for subject, reason, count in sorted(ours - theirs, key=str):
        yield differ("omissions", f"{subject}: {reason}, {count} as live", "not omitted so in the saved card")
    for subject, reason, count in sorted(theirs - ours, key=str):
        yield differ("omissions", "not omitted so live", f"{subject}: {reason}, {count} in the saved card")
