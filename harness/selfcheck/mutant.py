"""One mutant: what is changed where, which rule that attacks, and what it takes to say that it was noticed."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from harness.examine import Examined
from harness.model.errors import HarnessError
from harness.model.facts import SURFACES, Column
from harness.model.manifest import Capture
from harness.model.values import ABSENT
from harness.model.verdict import Agreement, Cell, FactRow
from harness.selfcheck.screens import Drawing
from harness.selfcheck.values import says


class Signal(StrEnum):
    """How a judgement shows that it has noticed a mutant."""

    FINDING = "finding"
    """A finding that was not there, or one that says other things: of a value, a rule, a card, a saved record."""
    UNREADABLE = "unreadable"
    """A capture or session that cannot be read at all: the bundle is damaged, the verdict is tampered."""
    NOTHING_COMPARED = "nothing_compared"
    """Nothing on the surface is comparable any more: every run that needs it is missing, the verdict insufficient."""
    COMPARISON_LOST = "comparison_lost"
    """A fact that agreed or disagreed there is not comparable there any more, and the reason is said."""
    READING_LOST = "reading_lost"
    """One of several places where the surface shows the fact is not read any more; the report shows the others only."""
    DAMAGED = "damaged"
    """The bundle does not verify."""
    STALE = "stale"
    """The bundle counts no more, because its stimulus is not its scenario's."""
    REFUSED = "refused"
    """The bundle is not authorized any more, and the reason is said."""


class OnScreen(NamedTuple):
    """A drawing on the screens of one capture: at which moment, and what."""

    capture: Capture
    moment: int
    drawing: Drawing


class Mutant(NamedTuple):
    """One thing changed.

    `kind` says how, `where` is the surface column, derivation or member that was changed; `card`, `label` name the fact
    that was, if it was one, `card_kind` the card's kind. `state` tells apart mutants that are otherwise of one sort.
    `equivalent` is why nothing can notice it, "" when something must. Exactly one of `examine`, `drawn` and `probe`
    says how it is judged: the bundle with the change, the change on the screen, or a check that is no examination and
    gives its signal.
    """

    class_: str
    kind: str
    requirement: str
    where: str
    card: str = ""
    label: str = ""
    ordinal: int = 0
    card_kind: str = ""
    state: str = ""
    equivalent: str = ""
    examine: Callable[[], Examined] | None = None
    drawn: OnScreen | None = None
    probe: Callable[[], Signal | None] | None = None

    @property
    def sort(self) -> tuple[str, ...]:
        """Mutants of one sort attack the same check in the same way: one of them is enough."""
        label = "" if self.class_ == "no-fact" or self.kind in _OF_ANY_LABEL else self.label
        state = "" if self.class_ in _OF_ANY_STATE else self.state
        if self.class_ in ("screen-label", "screen-row"):
            state = state.partition(" ")[0]  # how it was read, whatever was read
        return (self.class_, self.kind, self.where, self.card_kind, label, state)


_OF_ANY_LABEL = frozenset(
    ("scrolled away", "foreign member", "without its value", "label in small letters", "success", "partial")
)
"""Kinds whose check does not look at the label."""
_OF_ANY_STATE = frozenset(("fact-row", "row-outcome", "fact-spelling"))
"""Classes whose checks do not look at the value that was there."""


class Baseline:
    """What was judged of a bundle as it is, ready to be held against what is judged of its mutants."""

    def __init__(self, examined: Examined) -> None:
        self.examined = examined
        self.findings = _said(examined)
        self.rows = rows_of(examined)

    def noticed(self, mutant: Mutant, judged: Callable[[], Examined]) -> Signal | None:
        """The strongest signal that the judgement of a mutant gives, None when it is as if nothing had been changed."""
        try:
            examined = judged()
        except HarnessError:
            return Signal.UNREADABLE
        if _said(examined) - self.findings:
            return Signal.FINDING
        return self._lost(mutant, examined)

    def _lost(self, mutant: Mutant, examined: Examined) -> Signal | None:
        if mutant.where not in SURFACES:
            return None
        surface = Column(mutant.where)
        if _compared(self.examined, surface) and not _compared(examined, surface):
            return Signal.NOTHING_COMPARED
        if not mutant.label:
            return None
        key = (mutant.card, mutant.label, mutant.ordinal)
        column = surface
        before = self.rows.get(key)
        after = next((row for row in examined.compared.rows if (row.card, row.label, row.ordinal) == key), None)
        if before is None:
            return None
        if before.cells[column].agreement is not Agreement.NOT_COMPARABLE and (
            after is None or after.cells[column].agreement is Agreement.NOT_COMPARABLE
        ):
            return Signal.COMPARISON_LOST
        lost = _read(before.cells[column]) > (_read(after.cells[column]) if after is not None else 0)
        return Signal.READING_LOST if lost else None


def _compared(examined: Examined, surface: Column) -> int:
    count = examined.compared.surfaces[surface]
    return count.agree + count.disagree


def rows_of(examined: Examined) -> dict[tuple[str, str, int], FactRow]:
    return {(row.card, row.label, row.ordinal): row for row in examined.compared.rows}


_HOW_OFTEN = re.compile(r" \(\d+ times, the first is shown\)|, and on \d+ more cards")


def _said(examined: Examined) -> set[tuple[str, str, str]]:
    """What the findings say, but for how often: one more of what was wrong anyway notices nothing."""
    return {(found.id, found.expected, _HOW_OFTEN.sub("", found.observed)) for found in examined.compared.findings}


def _read(cell: Cell) -> int:
    """How often a column shows the fact; that a row is absent is no showing."""
    return sum(1 for fact in cell.readings if says(fact.value) and fact.value != ABSENT)
