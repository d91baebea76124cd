"""The cells of one card in one column: every reading held against what the fact must be."""

from __future__ import annotations

from harness.compare.readings import comparable, differing
from harness.compare.relative import recomputed
from harness.compare.run import DERIVATIONS, LOCAL_AGENT, NOT_STATED, Run
from harness.model.facts import CardFacts, CardKind, Column, Fact, Problem
from harness.model.patterns import matches
from harness.model.values import ABSENT, NotComparable, Reading, Reason, State, Value
from harness.model.verdict import Agreement, Cell, FindingKind
from harness.spec.facts import FactSpec, facts_of

Key = tuple[str, int]
"""Label and ordinal."""

Truth = tuple[Reading, str]
"""What a fact is held against, and where that comes from (`FactRow.source`)."""


def _readings(card: CardFacts) -> dict[Key, list[Fact]]:
    found: dict[Key, list[Fact]] = {}
    for fact in card.facts:
        found.setdefault((fact.label, fact.ordinal), []).append(fact)
    return found


def _missing_reading(column: Column, card: CardFacts, entry: FactSpec, own: dict[Key, list[Fact]]) -> Reading:
    """What it means that a column shows this card without this row."""
    if column is Column.EXPECTED:
        return NOT_STATED
    if column in DERIVATIONS:
        if entry.repeated:
            return ABSENT
        return NotComparable(reason=Reason.NOT_DERIVABLE, detail="this derivation has no source for it")
    first = own.get((entry.label, 0))
    if entry.repeated and first and comparable(first[0].value) is not None:
        return first[0].value
    if not entry.core and any(omission.subject == "rows" for omission in card.omissions):
        return NotComparable(reason=Reason.NOT_DISPLAYED, detail="the card omits optional rows and says so")
    return ABSENT


def truth_of(run: Run, path: str, key: Key) -> Truth:
    """What this fact is held against, and where that comes from."""
    stated = run.cards.get(Column.EXPECTED, {}).get(path)
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
    if facts_of(projected.kind)[key[0]].repeated:
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


def _pattern_cell(run: Run, path: str, entry: FactSpec, fact: Fact, truth: Reading) -> Cell:
    """The author's pattern against the derived reference."""
    reason = comparable(truth)
    if reason is not None:
        return Cell(readings=(fact,), agreement=Agreement.NOT_COMPARABLE, reason=reason)
    pattern = str(fact.value)
    if isinstance(truth, Value) and truth.text is not None and matches(pattern, truth.text):
        return Cell(readings=(fact,), agreement=Agreement.AGREE)
    run.report(
        FindingKind.EXPECTATION, Column.REPORT, _problem(entry, path, fact, pattern, str(truth)), ordinal=fact.ordinal
    )
    return Cell(readings=(fact,), agreement=Agreement.DISAGREE)


def _cell(facts: list[Fact], differs: set[int], truth: Reading) -> Cell:
    reasons = [comparable(fact.value) for fact in facts]
    no_truth = comparable(truth)
    if any(index in differs for index in range(len(facts))):
        return Cell(readings=tuple(facts), agreement=Agreement.DISAGREE)
    if no_truth is not None:
        return Cell(
            readings=tuple(facts),
            agreement=Agreement.NOT_COMPARABLE,
            reason=next((reason for reason in reasons if reason), None) or no_truth,
        )
    if all(reason is not None for reason in reasons):
        return Cell(readings=tuple(facts), agreement=Agreement.NOT_COMPARABLE, reason=reasons[0])
    return Cell(readings=tuple(facts), agreement=Agreement.AGREE)


def compare_card(run: Run, column: Column, path: str, *, kind: CardKind, truths: dict[Key, Truth]) -> dict[Key, Cell]:
    """One column's cells for one card, by one deepdiff over all of its comparable readings."""
    card = run.cards.get(column, {}).get(path)
    if card is None:
        gap = run.gap(column, path)
        return {key: Cell(readings=(), agreement=Agreement.NOT_COMPARABLE, reason=gap) for key in truths}
    own = _readings(card)
    catalogue = facts_of(kind)
    totals = {label: reading for (label, _), (reading, _) in truths.items()}
    facts: dict[Key, list[Fact]] = {}
    left: dict[str, Value] = {}
    right: dict[str, Value] = {}
    local: dict[Key, Reading] = {}
    for key in truths:
        entry = catalogue[key[0]]
        facts[key] = own.get(key) or [
            Fact(
                label=key[0],
                ordinal=key[1],
                via="row",
                value=_missing_reading(column, card, entry, own),
                place=card.place,
            )
        ]
        truth = truths[key][0]
        if column in LOCAL_AGENT and truths[key][1] != "expected":
            truth = recomputed(entry, card, totals) or truth
        local[key] = truth
        if comparable(truth) is not None:
            continue
        for index, fact in enumerate(facts[key]):
            if comparable(fact.value) is None and fact.via != "pattern":
                left[f"{key[0]}#{key[1]}#{index}"] = truth  # type: ignore[assignment] # comparable: a Value
                right[f"{key[0]}#{key[1]}#{index}"] = fact.value  # type: ignore[assignment] # likewise
    differs = differing(left, right)
    cells: dict[Key, Cell] = {}
    for key, readings in facts.items():
        entry = catalogue[key[0]]
        if column is Column.EXPECTED and readings[0].via == "pattern":
            cells[key] = _pattern_cell(run, path, entry, readings[0], truths[key][0])
            continue
        wrong = {index for index in range(len(readings)) if f"{key[0]}#{key[1]}#{index}" in differs}
        cells[key] = _cell(readings, wrong, local[key])
        for index in sorted(wrong):
            fact = readings[index]
            run.report(
                FindingKind.EXPECTATION if column in DERIVATIONS else FindingKind.VALUE,
                column,
                _problem(entry, path, fact, str(local[key]), str(fact.value)),
                ordinal=key[1],
                detail=fact.via if index else "",
            )
        for fact in readings:
            if isinstance(fact.value, Value) and fact.value.state is State.UNREADABLE:
                problem = _problem(entry, path, fact, str(local[key]), fact.value.reason)
                run.report(FindingKind.UNREADABLE, column, problem, ordinal=key[1])
    return cells
