"""Rules that one card must obey by itself, on whatever column it stands, and what live and saved cards must share.

These hold without any reference, so they also judge foreign captures that have no saved session.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.model.facts import CardFacts, CardKind, Column, Fact, Omission, Problem
from harness.model.values import NULL, Reading, State, Value
from harness.spec.facts import facts_of

_BATCH_PARTS = ("Tasks done", "Tasks failed", "Tasks running", "Tasks unknown", "Tasks cancelled")
_SCRIPT_PARTS = ("Successful calls", "Failed calls", "Unknown calls", "Running calls")
_ALWAYS = {
    "Completed actions remain applied": "true",
    "Rollback": "false",
    "External effects may be untracked": "true",
}
_LABELS = "general.exact-labels"
_LABELLED = ("row", "metadata")
"""Where a value stands under its own label; marks, titles and other lines are held against those."""
SAVED_EQUALS_LIVE = "wire.saved-equals-live"
"""The one wire rule that needs two captures, a live and a saved one; `live_saved_differences` holds it."""
SAVED_EQUALS_LIVE_TEXT = "the final live card and the saved card of an activity have one outcome, changes and omissions"

Broken = tuple[int, str, Problem]
"""Ordinal of the row, what tells the problem apart from others of its label, and the problem."""


def _problem(requirement: str, card: CardFacts, reading: Fact, expected: str, observed: str) -> Problem:
    return Problem(
        requirement=requirement,
        card=card.path,
        label=reading.label,
        expected=expected,
        observed=observed,
        place=reading.place,
    )


def _says(reading: Reading) -> bool:
    """Whether a row is there and says something, if only null."""
    return isinstance(reading, Value) and reading.state in (State.KNOWN, State.NULL)


def _first(card: CardFacts, via: str = "") -> dict[str, Fact]:
    """The first reading of each label that says something; `via`: of those that were made so."""
    found: dict[str, Fact] = {}
    for reading in card.facts:
        if _says(reading.value) and via in ("", reading.via):
            found.setdefault(reading.label, reading)
    return found


def _count(reading: Fact | None) -> int | None:
    text = reading.value.text if reading is not None and isinstance(reading.value, Value) else None
    return int(text) if text is not None and text.isascii() and text.isdecimal() else None


def _sum_problem(card: CardFacts, requirement: str, total: Fact, parts: tuple[str, ...], counts: list[int]) -> Problem:
    added = f"{' + '.join(map(str, counts))} = {sum(counts)}"
    return _problem(
        requirement,
        card,
        total,
        f"{' + '.join(parts)} = {total.label}",
        f"{added}, {total.label} {total.value}",
    )


def _batch_problems(card: CardFacts, *, ended: bool) -> Iterator[Broken]:
    """``batch.partition`` and ``batch.terminal-unfinished``."""
    for via in dict.fromkeys(reading.via for reading in card.facts):
        yield from _partition(_first(card, via), card, "" if via == "row" else f" {via}")
    running = _first(card).get("Tasks running")
    if ended and running and _count(running):
        expected = "0 in a batch that has ended"
        yield 0, "ended", _problem("batch.terminal-unfinished", card, running, expected, str(running.value))


def _partition(own: dict[str, Fact], card: CardFacts, where: str) -> Iterator[Broken]:
    """Counts that stand in one place of a card: a title of another moment is told apart from a report."""
    total = own.get("Tasks total")
    counted = [own[label] for label in ("Tasks total", *_BATCH_PARTS) if label in own]
    nulls = [reading.label for reading in counted if reading.value == NULL]
    if nulls and len(nulls) < len(counted):
        known = next(reading for reading in counted if reading.value != NULL)
        expected, observed = "counts that are all known or all null", f"{', '.join(nulls)} null, others known"
        yield 0, f"nulls{where}", _problem("batch.partition", card, known, expected, observed)
    counts = [count for label in _BATCH_PARTS if (count := _count(own.get(label))) is not None]
    if total and len(counts) == len(_BATCH_PARTS) and _count(total) not in (None, sum(counts)):
        yield 0, f"sum{where}", _sum_problem(card, "batch.partition", total, _BATCH_PARTS, counts)


def _script_problems(card: CardFacts) -> Iterator[Broken]:
    """``code-mode.total-calls``: every call has one of the outcomes. Null running calls are none that is known."""
    own = _first(card)
    total, running = own.get("Total calls"), own.get("Running calls")
    known_parts = [part for part in _SCRIPT_PARTS if _count(own.get(part)) is not None]
    counts = [count for part in known_parts if (count := _count(own.get(part))) is not None]
    whole = _count(total)
    if total is None or whole is None or not set(_SCRIPT_PARTS[:3]) <= set(known_parts):
        return
    if sum(counts) > whole or (_count(running) is not None and sum(counts) < whole):
        yield 0, "sum", _sum_problem(card, "code-mode.total-calls", total, tuple(known_parts), counts)


def _row_problems(card: CardFacts) -> Iterator[Broken]:
    """Labels that the card cannot have, nulls and values that no rule allows, readings that contradict each other."""
    entries = facts_of(card.kind)
    told: dict[tuple[str, int], Fact] = {}
    for reading in sorted(card.facts, key=lambda one: one.via not in _LABELLED):
        if _says(reading.value):
            told.setdefault((reading.label, reading.ordinal), reading)
    for reading in card.facts:
        entry = entries.get(reading.label)
        if entry is None:
            expected = f"a label of {card.kind.value} cards"
            yield reading.ordinal, "label", _problem(_LABELS, card, reading, expected, repr(reading.label))
            continue
        if reading.ordinal and not entry.repeated:
            observed = f"row {reading.ordinal + 1}: {reading.value}"
            yield reading.ordinal, "single", _problem(_LABELS, card, reading, "one row", observed)
        if not _says(reading.value):
            continue
        always = _ALWAYS.get(reading.label, "a value in every case" if not entry.nullable else None)
        if always and (reading.value == NULL or (reading.label in _ALWAYS and str(reading.value) != always)):
            problem = _problem(entry.requirement, card, reading, always, str(reading.value))
            yield reading.ordinal, f"always {reading.via}", problem
        earlier = told[reading.label, reading.ordinal]
        if earlier.value != reading.value:
            expected = f"{earlier.value} as in its {earlier.via}"
            observed = f"{reading.value} in its {reading.via}"
            problem = _problem(entry.requirement, card, reading, expected, observed)
            yield reading.ordinal, f"{earlier.via} {reading.via}", problem


def card_problems(card: CardFacts, *, ended: bool) -> Iterator[Broken]:
    """Everything in which `card` contradicts itself or a rule that holds for every card of its kind.

    `ended`: the run had ended when the card was shown.
    """
    if card.kind is CardKind.SUBAGENT_BATCH:
        yield from _batch_problems(card, ended=ended)
    if card.kind is CardKind.CODE_MODE:
        yield from _script_problems(card)
    yield from _row_problems(card)


LIVE, SAVED = Column.LOCAL_AGENT_LIVE, Column.LOCAL_AGENT_REOPEN
_FOR_WANT_OF_ROOM = "budget_limit"
_SAME_REASON = {"missing_source": "not_recorded"}
"""A live card says that the source is missing where the saved card says that it was not recorded."""


def _omitted(omissions: tuple[Omission, ...]) -> dict[tuple[str, str], list[str]]:
    """Subject and reason to the counts given for them."""
    found: dict[tuple[str, str], list[str]] = {}
    for item in omissions:
        key = (item.subject, _SAME_REASON.get(item.reason, item.reason))
        found.setdefault(key, []).append("null" if item.omitted_count is None else str(item.omitted_count))
    return {key: sorted(counts) for key, counts in found.items()}


def live_saved_differences(live: CardFacts, saved: CardFacts) -> Iterator[tuple[Column, str, Problem]]:
    """What the final live card and the saved card of one run must share beyond their rows: outcome, changes and
    omissions (by subject, reason and count); each with the surface that is wrong and what tells it apart from others of
    its label.

    A live card that never finished was no final one. One that was reduced for want of room in its run omits what the
    saved card, which has another budget, need not. Where the live card does not know how many were left
    out and the saved one does, the live one is wrong: the count could be known.
    """
    if live.outcome is None:
        return

    def differ(label: str, expected: str, observed: str, shown: CardFacts = saved) -> Problem:
        return Problem(
            requirement=SAVED_EQUALS_LIVE,
            card=live.path,
            label=label,
            expected=expected,
            observed=observed,
            place=shown.place,
        )

    if live.outcome != saved.outcome:
        yield SAVED, "", differ("card outcome", f"{live.outcome} as live", str(saved.outcome))
    if live.changes != saved.changes:
        yield SAVED, "", differ("card changes", f"{live.changes} as live", str(saved.changes))
    if any(item.reason == _FOR_WANT_OF_ROOM for item in live.omissions):
        return
    ours, theirs = _omitted(live.omissions), _omitted(saved.omissions)
    for key in sorted(ours.keys() | theirs.keys()):
        if ours.get(key) != theirs.get(key):
            subject, reason = key
            then, now = (", ".join(counts.get(key, ["not omitted"])) for counts in (ours, theirs))
            what, detail = f"{subject}, {reason}", f"{subject} {reason}"
            if then == "null" and now.isdecimal():
                yield LIVE, detail, differ("omissions", f"{what}: {now} as saved", f"{what}: {then}", live)
            else:
                yield SAVED, detail, differ("omissions", f"{what}: {then} as live", f"{what}: {now}")
