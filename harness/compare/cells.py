"""The cells of one card in one column: every reading held against what the fact must be."""

from __future__ import annotations

from collections import Counter

from harness.compare.readings import comparable, differing
from harness.compare.relative import is_reduced, leaves_references_out, recomputed, says_omitted
from harness.compare.run import DERIVATIONS, LOCAL_AGENT, MISSION_CONTROL, NOT_STATED, Run
from harness.model.facts import CardFacts, CardKind, Column, Fact, Problem
from harness.model.patterns import matches
from harness.model.values import ABSENT, NULL, NotComparable, Reading, Reason, State, Value
from harness.model.verdict import Agreement, Cell, FindingKind
from harness.spec.facts import FactSpec, facts_of

Key = tuple[str, int]
"""Label and ordinal."""

Truth = tuple[Reading, str]
"""What a fact is held against, and where that comes from (`FactRow.source`)."""


Readings = dict[Key, list[Fact]]


def _readings(card: CardFacts) -> Readings:
    found: Readings = {}
    for fact in card.facts:
        found.setdefault((fact.label, fact.ordinal), []).append(fact)
    return found


def _missing_reading(column: Column, entry: FactSpec, own: Readings, *, omitted: bool) -> Reading:
    """What it means that a column shows this card without this row. `omitted`: the card says that it left rows out."""
    if column is Column.EXPECTED:
        return NOT_STATED
    first = own.get((entry.label, 0))
    if entry.repeated and first and comparable(first[0].value) is not None:
        return first[0].value
    if column in DERIVATIONS and not entry.repeated:
        return NotComparable(reason=Reason.NOT_DERIVABLE, detail="this derivation has no source for it")
    if not entry.core and omitted:
        return NotComparable(reason=Reason.NOT_DISPLAYED, detail="the card omits optional rows and says so")
    return ABSENT


def truth_of(run: Run, path: str, kind: CardKind, key: Key) -> Truth:
    """What this fact is held against, and where that comes from."""
    stated = run.card(Column.EXPECTED, path, kind)
    if stated is not None:
        for fact in stated.facts:
            if (fact.label, fact.ordinal) == key and fact.via == "table":
                return fact.value, "expected"
    projected = run.reference.get(path)
    if projected is None:
        return NotComparable(reason=Reason.NOT_RECORDED, detail="no saved record of this card"), ""
    for fact in projected.facts:
        if (fact.label, fact.ordinal) == key:
            return fact.value, fact.via
    if facts_of(kind)[key[0]].repeated:
        return ABSENT, "rule"
    return NotComparable(reason=Reason.NOT_DERIVABLE, detail="no record this fact could be derived from"), ""


def _problem(entry: FactSpec, path: str, fact: Fact, expected: str, observed: str) -> Problem:
    return Problem(
        requirement=entry.requirement,
        card=path,
        label=entry.label,
        expected=expected,
        observed=observed,
        place=fact.place,
    )


def _details(readings: list[Fact]) -> list[str]:
    """How each reading was made, numbered where several were made alike: it tells their findings apart."""
    counts: Counter[str] = Counter()
    details = []
    for fact in readings:
        details.append(f"{fact.via}{counts[fact.via] or ''}")
        counts[fact.via] += 1
    return details


def _misfits(pattern: str, value: Reading) -> bool:
    """Whether a comparable value is not of the pattern."""
    if not isinstance(value, Value) or comparable(value):
        return False
    return value.text is None or not matches(pattern, value.text)


def _pattern_cell(run: Run, path: str, entry: FactSpec, fact: Fact, truth: Reading) -> Cell:
    """The author's pattern against the derived reference."""
    reason = comparable(truth)
    if reason is not None:
        return Cell(readings=(fact,), agreement=Agreement.NOT_COMPARABLE, reason=reason)
    pattern = str(fact.value)
    if not _misfits(pattern, truth):
        return Cell(readings=(fact,), agreement=Agreement.AGREE)
    says = (
        column
        for column in DERIVATIONS
        for card in [run.cards.get(column, {}).get(path)]
        if card and any(reading.label == entry.label and reading.value == truth for reading in card.facts)
    )
    problem = _problem(entry, path, fact, pattern, str(truth))
    run.report(FindingKind.EXPECTATION, next(says, Column.REPORT), problem, ordinal=fact.ordinal)
    return Cell(readings=(fact,), agreement=Agreement.DISAGREE)


def _omits(card: CardFacts, own: Readings, truths: dict[Key, Truth]) -> bool:
    """Whether the card says that it left out as many optional rows as it lacks."""
    entries = facts_of(card.kind)
    lacks = sum(
        1
        for key, (truth, _) in truths.items()
        if key not in own and not entries[key[0]].core and comparable(truth) is None and truth != ABSENT
    )
    return says_omitted(card, "rows", at_least=lacks) or says_omitted(card, "blocks")


def _filled(column: Column, card: CardFacts, truths: dict[Key, Truth]) -> Readings:
    """The card's readings of every fact; a fact that it does not show has one reading that says so."""
    own = _readings(card)
    omitted = _omits(card, own, truths)
    filled = {}
    for label, ordinal in truths:
        value = _missing_reading(column, facts_of(card.kind)[label], own, omitted=omitted)
        missing = Fact(label=label, ordinal=ordinal, via="row", value=value, place=card.place)
        filled[label, ordinal] = own.get((label, ordinal), [missing])
    return filled


_UNCOUNTED = NotComparable(
    reason=Reason.NOT_DERIVABLE, detail="how many references Mission Control itself displays cannot be counted"
)


def _held_against(column: Column, card: CardFacts, truths: dict[Key, Truth]) -> dict[Key, Reading]:
    """What each fact of this very card must be: on the local agent, relative facts are recomputed.

    An author's own value stands against that, unless the card says that it was reduced: authors think of whole cards.
    """
    totals = {label: reading for (label, _), (reading, _) in truths.items()}
    held = {}
    for key, (truth, source) in truths.items():
        entry = facts_of(card.kind)[key[0]]
        # Null says that there is no total to count from, whatever the card displays.
        own = recomputed(entry, card, totals) if column in LOCAL_AGENT and truth != NULL else None
        held[key] = own if own is not None and (source != "expected" or is_reduced(entry, card)) else truth
        if column in MISSION_CONTROL and leaves_references_out(entry, truth):
            held[key] = _UNCOUNTED
    return held


def _wrong(readings: Readings, held: dict[Key, Reading]) -> dict[Key, set[int]]:
    """Indices of the readings that differ from what they are held against, by one deepdiff over all comparable ones."""
    left: dict[str, Value] = {}
    right: dict[str, Value] = {}
    names: dict[str, tuple[Key, int]] = {}
    for key, facts in readings.items():
        truth = held[key]
        for index, fact in enumerate(facts):
            if (
                isinstance(truth, Value)
                and isinstance(fact.value, Value)
                and not (comparable(truth) or comparable(fact.value))
            ):
                name = f"{key[0]}#{key[1]}#{index}"
                names[name], left[name], right[name] = (key, index), truth, fact.value
    wrong: dict[Key, set[int]] = {key: set() for key in readings}
    for name in differing(left, right):
        key, index = names[name]
        wrong[key].add(index)
    return wrong


def _cell(facts: list[Fact], wrong: set[int], undecided: NotComparable | None) -> Cell:
    """`undecided`: why there is nothing to hold the readings against, or None when there is."""
    if wrong:
        return Cell(readings=tuple(facts), agreement=Agreement.DISAGREE)
    reasons = [comparable(fact.value) for fact in facts]
    if undecided is None and None in reasons:
        return Cell(readings=tuple(facts), agreement=Agreement.AGREE)
    reason = next((reason for reason in reasons if reason), undecided)
    return Cell(readings=tuple(facts), agreement=Agreement.NOT_COMPARABLE, reason=reason)


def _patterns(run: Run, path: str, kind: CardKind) -> dict[Key, str]:
    """The author's patterns for one card."""
    card = run.card(Column.EXPECTED, path, kind)
    facts = card.facts if card else ()
    return {(fact.label, fact.ordinal): str(fact.value) for fact in facts if fact.via == "pattern"}


def _is_unreadable(value: Reading) -> bool:
    return isinstance(value, Value) and value.state is State.UNREADABLE


def compare_card(run: Run, column: Column, path: str, *, kind: CardKind, truths: dict[Key, Truth]) -> dict[Key, Cell]:
    """One column's cells for one card. Where nothing else decides, the author's pattern does.

    Disagreements of a derivation with the reference are no findings yet: both derivations must be known to tell which.
    """
    card = run.card(column, path, kind)
    if card is None:
        gap = run.gap(column, path)
        return {key: Cell(readings=(), agreement=Agreement.NOT_COMPARABLE, reason=gap) for key in truths}
    readings = _filled(column, card, truths)
    held = _held_against(column, card, truths)
    wrong = _wrong(readings, held)
    patterns = _patterns(run, path, kind)
    cells: dict[Key, Cell] = {}
    for key, facts in readings.items():
        entry = facts_of(kind)[key[0]]
        expected, undecided = str(held[key]), comparable(held[key])
        if key in patterns and column is Column.EXPECTED:
            cells[key] = _pattern_cell(run, path, entry, facts[0], held[key])
            continue
        if key in patterns and undecided:
            expected, undecided = patterns[key], None
            wrong[key] = {index for index, fact in enumerate(facts) if _misfits(expected, fact.value)}
        cells[key] = _cell(facts, wrong[key], undecided)
        if not wrong[key] and not any(_is_unreadable(fact.value) for fact in facts):
            continue
        for index, detail in enumerate(_details(facts)):
            value = facts[index].value
            if index in wrong[key] and (column not in DERIVATIONS or truths[key][1] == "expected"):
                kind_ = FindingKind.EXPECTATION if column in DERIVATIONS else FindingKind.VALUE
                problem = _problem(entry, path, facts[index], expected, str(value))
                run.report(kind_, column, problem, ordinal=key[1], detail=detail)
            if isinstance(value, Value) and value.state is State.UNREADABLE:
                problem = _problem(entry, path, facts[index], expected, value.reason)
                run.report(FindingKind.UNREADABLE, column, problem, ordinal=key[1], detail=detail)
    return cells
