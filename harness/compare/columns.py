"""All columns of one run against each other: every fact of every card gets a row, every disagreement a finding.

What the others are held against is the value that the scenario's author worked out by hand, where the scenario states
one; else what the reference projection derived from the saved records. The projection's two derivations are also held
against each other, and surfaces against each other where no reference can decide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from harness.compare.cells import compare_card, truth_of
from harness.compare.readings import comparable
from harness.compare.rules import SAVED_EQUALS_LIVE, card_problems, live_saved_differences
from harness.compare.run import DERIVATIONS, LOCAL_AGENT, Run
from harness.compare.tried import Tried
from harness.model.facts import SURFACES, CardFacts, CardKind, Column, ColumnFacts, Fact, Problem
from harness.model.values import NotComparable
from harness.model.verdict import Agreement, CardRow, FactRow, Finding, FindingKind, SurfaceCount
from harness.spec.facts import FactSpec, facts_of

_LIVE = (Column.LOCAL_AGENT_LIVE, Column.MISSION_CONTROL_LIVE)


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for one run. `surfaces` counts rows per surface; `cases` counts, by rule id, what structural rules
    were tried on, in the sources and here."""

    rows: tuple[FactRow, ...]
    cards: tuple[CardRow, ...]
    findings: tuple[Finding, ...]
    surfaces: dict[Column, SurfaceCount]
    unavailable: dict[Column, NotComparable]
    cases: dict[str, int] = {}


def path_order(path: str) -> tuple[tuple[str, int], ...]:
    """Sort key of card paths: transcript order, ``call10`` after ``call9``."""
    return tuple((match[1], int(match[2])) for match in re.finditer(r"([a-z]+)(\d+)", path))


def _between(run: Run, entry: FactSpec, row: FactRow) -> None:
    """The two derivations against each other, and surfaces against each other where no reference decides."""

    def first(column: Column) -> Fact | None:
        return next((fact for fact in row.cells[column].readings if comparable(fact.value) is None), None)

    def differ(kind: FindingKind, column: Column, fact: Fact, expected: str) -> None:
        problem = Problem(
            requirement=entry.requirement,
            card=row.card,
            label=entry.label,
            expected=expected,
            observed=str(fact.value),
            place=fact.place,
        )
        run.report(kind, column, problem, ordinal=row.ordinal)

    report, nested = first(Column.REPORT), first(Column.NESTED)
    if report and nested and report.value != nested.value:
        differ(FindingKind.DERIVATION, Column.REPORT, report, f"{nested.value} as the nested records say")
    elif row.source != "expected":
        for column, fact in ((Column.REPORT, report), (Column.NESTED, nested)):
            if fact and row.cells[column].agreement is Agreement.DISAGREE:
                differ(FindingKind.VALUE, column, fact, str(row.reference))
    if comparable(row.reference) is None or entry.relative is not None:
        return
    shown = [(column, fact) for column in SURFACES if (fact := first(column))]
    for column, fact in shown[1:]:
        if fact.value != shown[0][1].value:
            differ(FindingKind.SURFACES, column, fact, f"{shown[0][1].value} as on {shown[0][0].value}")


def _card_row(run: Run, path: str, kind: CardKind) -> CardRow:
    held = {column: cards[path] for column, cards in run.cards.items() if path in cards}
    return CardRow(
        path=path,
        kind=kind,
        title=next((card.title for card in held.values() if card.title), ""),
        shown={column: run.card_state(column, path) for column in Column},
        outcomes={column: card.outcome for column, card in held.items() if card.outcome is not None},
        changes={column: card.changes for column, card in held.items() if card.changes is not None},
        omissions={column: held[column].omissions for column in LOCAL_AGENT if column in held},
    )


def _card_problem(card: str, expected: str, observed: str, column: ColumnFacts, shown: CardFacts | None) -> Problem:
    near = shown or (column.cards[-1] if column.cards else None)
    return Problem(
        requirement="general.surface-agreement",
        card=card,
        label="",
        expected=expected,
        observed=observed,
        place=near.place if near else None,
    )


def _surface_card(run: Run, column: Column, path: str, kind: CardKind) -> None:
    """A surface must show the card exactly where there is one."""
    shown = run.cards.get(column, {}).get(path)
    wanted, seen = f"a {kind.value} card", f"a {shown.kind.value} card" if shown else "no card there"
    if shown is None and run.card_state(column, path) != "missing":
        return
    if shown is None or shown.kind is not kind:
        run.report(FindingKind.CARD, column, _card_problem(path, wanted, seen, run.columns[column], shown))
    elif run.has_records and path not in run.reference:
        run.report(FindingKind.CARD, column, _card_problem(path, "no card there", seen, run.columns[column], shown))


def _stated_card(run: Run, path: str, stated: CardFacts) -> None:
    """The saved records must know the card that the scenario's author worked out."""
    recorded = run.reference.get(path)
    if run.has_records and (recorded is None or recorded.kind is not stated.kind):
        wanted = f"a {stated.kind.value} card, as the scenario states"
        seen = f"a {recorded.kind.value} card" if recorded else "no saved record of it"
        problem = _card_problem(path, wanted, seen, run.columns[Column.EXPECTED], stated)
        run.report(FindingKind.CARD, Column.REPORT, problem)


def _cards(run: Run) -> list[tuple[str, CardKind]]:
    """Every card that any column knows, in transcript order; missing and mistaken ones become findings."""
    kinds: dict[str, CardKind] = {}
    stated_cards = run.cards.get(Column.EXPECTED, {})
    for known_cards in (run.reference, stated_cards, *run.cards.values()):
        for path, card in known_cards.items():
            kinds.setdefault(path, card.kind)
    for path, kind in kinds.items():
        for column in SURFACES:
            _surface_card(run, column, path, kind)
        if stated := stated_cards.get(path):
            _stated_card(run, path, stated)
    for column, facts in run.columns.items():
        for path, count in Counter(card.path for card in facts.cards).items():
            if count > 1:
                problem = _card_problem(path, "one card there", f"{count} cards there", facts, run.cards[column][path])
                run.report(FindingKind.CARD, column, problem, detail="twice")
    return sorted(kinds.items(), key=lambda item: path_order(item[0]))


def _rows(run: Run, path: str, kind: CardKind) -> list[FactRow]:
    catalogue = facts_of(kind)
    held = [run.reference.get(path), *(cards.get(path) for cards in run.cards.values())]
    highest = dict.fromkeys(catalogue, 0)
    for card in held:
        for fact in card.facts if card else ():
            if fact.label in highest:
                highest[fact.label] = max(highest[fact.label], fact.ordinal)
    truths = {
        (label, ordinal): truth_of(run, path, kind, (label, ordinal))
        for label in catalogue
        for ordinal in range(highest[label] + 1)
    }
    cells = {column: compare_card(run, column, path, kind=kind, truths=truths) for column in Column}
    rows = []
    for (label, ordinal), (reference, source) in truths.items():
        row = FactRow(
            card=path,
            kind=kind,
            label=label,
            ordinal=ordinal,
            requirement=catalogue[label].requirement,
            reference=reference,
            source=source,
            cells={column: cells[column][label, ordinal] for column in Column},
        )
        _between(run, catalogue[label], row)
        rows.append(row)
    return rows


def _card_rules(run: Run, path: str) -> None:
    for column in (*SURFACES, *DERIVATIONS):
        if card := run.cards.get(column, {}).get(path):
            ended = column not in _LIVE or run.columns[column].complete
            for ordinal, detail, problem in card_problems(card, ended=ended):
                run.report(FindingKind.RULE, column, problem, ordinal=ordinal, detail=detail)
    live = run.cards.get(Column.LOCAL_AGENT_LIVE, {}).get(path)
    saved = run.cards.get(Column.LOCAL_AGENT_REOPEN, {}).get(path)
    if live and saved and run.columns[Column.LOCAL_AGENT_LIVE].complete:
        run.cases[SAVED_EQUALS_LIVE] += 1
        for column, detail, problem in live_saved_differences(live, saved):
            run.report(FindingKind.SURFACES, column, problem, detail=detail)


def _structure(run: Run, tries: Iterable[tuple[Column | None, Tried]]) -> None:
    """What structural rules were tried on: cases are counted, and what broke a rule becomes a finding."""
    for column, tried in tries:
        run.cases[tried.requirement] += 1
        if tried.problem is not None:
            run.report(FindingKind.RULE, column, tried.problem, ordinal=tried.ordinal, detail=tried.detail)


_EXACT_MEMBERS = "wire.exact-members"


def _once_a_member(problems: Sequence[Problem]) -> Iterator[Problem]:
    """Problems, but an extra member of one kind of block once a capture: it stands on every card that has the block.

    It is told of the first card in transcript order; which card's frame came first is chance among concurrent tasks.
    """
    cards: dict[str, list[Problem]] = {}
    for problem in problems:
        if problem.requirement == _EXACT_MEMBERS:
            cards.setdefault(problem.label, []).append(problem)
    for problem in problems:
        if problem.requirement != _EXACT_MEMBERS:
            yield problem
        elif problem.label in cards:
            same = cards.pop(problem.label)
            first = min(same, key=lambda one: path_order(one.card))
            others = len({one.card for one in same}) - 1
            also = f", and on {others} more cards" if others else ""
            yield msgspec.structs.replace(first, observed=first.observed + also)


def compare(
    columns: Mapping[Column, ColumnFacts],
    reference: tuple[CardFacts, ...],
    *,
    observation: str,
    tries: Iterable[tuple[Column | None, Tried]] = (),
) -> Compared:
    """Hold all columns of one run against each other.

    `columns` may lack columns that were not captured; the expected column's facts come ``via`` ``table`` (literal) or
    ``pattern``. `tries` are those of structural rules, each with the column that it is of, or None. Findings come in
    the order of cards, then labels; then those of `tries`; problems that a source found in itself come last.
    """
    run = Run(observation, columns, reference)
    rows: list[FactRow] = []
    cards: list[CardRow] = []
    for path, kind in _cards(run):
        rows.extend(_rows(run, path, kind))
        cards.append(_card_row(run, path, kind))
        _card_rules(run, path)
    _structure(run, tries)
    for column, facts in columns.items():
        run.cases.update(facts.cases)
        told: Counter[tuple[str, str, str]] = Counter()
        for problem in _once_a_member(facts.problems):
            rule = (problem.requirement, problem.card, problem.label)
            told[rule] += 1
            run.report(FindingKind.RULE, column, problem, detail=f"source {told[rule]}")
    return Compared(
        rows=tuple(rows),
        cards=tuple(cards),
        findings=tuple(run.findings.values()),
        surfaces={column: _count(rows, column) for column in SURFACES},
        unavailable={
            column: run.gap(column, "")
            for column in Column
            if column not in columns or columns[column].unavailable is not None
        },
        cases={rule: run.cases[rule] for rule in sorted(run.cases) if run.cases[rule]},
    )


def _count(rows: list[FactRow], column: Column) -> SurfaceCount:
    outcomes = [row.cells[column].agreement for row in rows]
    return SurfaceCount(
        agree=outcomes.count(Agreement.AGREE),
        disagree=outcomes.count(Agreement.DISAGREE),
        not_comparable=outcomes.count(Agreement.NOT_COMPARABLE),
    )
