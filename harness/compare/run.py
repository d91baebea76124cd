"""One comparison under way: the columns by card, what each says about a card it does not show, and the findings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from harness.compare.findings import finding
from harness.compare.readings import comparable
from harness.model.facts import CardFacts, CardKind, Column, ColumnFacts, Problem
from harness.model.values import NotComparable, Reason
from harness.model.verdict import Finding, FindingKind

DERIVATIONS = (Column.REPORT, Column.NESTED)
LOCAL_AGENT = (Column.LOCAL_AGENT_LIVE, Column.LOCAL_AGENT_REOPEN)
MISSION_CONTROL = (Column.MISSION_CONTROL_LIVE, Column.MISSION_CONTROL_REOPEN)
NOT_STATED = NotComparable(reason=Reason.NOT_STATED, detail="the scenario states nothing about it")

WHOLE_RUN = "run"
"""`Finding.surface` of what is said of a run as a whole."""

_ROOT_OR_TASK = re.compile(r"turn\d+/call\d+(/task\d+)?")
_IN_A_TASK = re.compile(r"/task\d+/")


class Run:
    """One comparison under way: the columns by card path, the findings so far, and what rules were tried on."""

    def __init__(
        self, observation: str, columns: Mapping[Column, ColumnFacts], reference: tuple[CardFacts, ...]
    ) -> None:
        self.observation = observation
        self.columns = columns
        self.cards = {name: {card.path: card for card in column.cards} for name, column in columns.items()}
        self.reference = {card.path: card for card in reference}
        self.findings: dict[str, Finding] = {}
        self.cases: Counter[str] = Counter()

    @property
    def has_records(self) -> bool:
        """Whether there are saved records, so that a card which is not among them should not be there."""
        return bool(self.reference) or any(self._captured(column) for column in DERIVATIONS)

    def _captured(self, column: Column) -> bool:
        return column in self.columns and self.columns[column].unavailable is None

    def report(
        self, kind: FindingKind, column: Column | None, problem: Problem, *, ordinal: int = 0, detail: str = ""
    ) -> None:
        """Keep one disagreement, of a column or of the run itself; a second one with the same id is the same."""
        surface = WHOLE_RUN if column is None else column.value
        found = finding(
            problem, kind=kind, observation=self.observation, surface=surface, ordinal=ordinal, detail=detail
        )
        self.findings.setdefault(found.id, found)

    def card(self, column: Column, path: str, kind: CardKind) -> CardFacts | None:
        """The card that a column shows there, when it is of that kind."""
        card = self.cards.get(column, {}).get(path)
        return card if card is not None and card.kind is kind else None

    def card_state(self, column: Column, path: str) -> str:
        """``shown``, ``missing``, ``not_captured``, ``cut``, ``not_displayed`` or ``not_stated``."""
        if not self._captured(column):
            return "not_captured"
        if path in self.cards[column]:
            return "shown"
        if not self.columns[column].complete:
            return "cut"
        if column is Column.EXPECTED:
            return "not_stated"
        inner = column in MISSION_CONTROL and not _ROOT_OR_TASK.fullmatch(path)
        of_child = column is Column.LOCAL_AGENT_REOPEN and _IN_A_TASK.search(path)
        return "not_displayed" if inner or of_child else "missing"

    def gap(self, column: Column, path: str) -> NotComparable:
        """Why a column without this card says nothing about its facts."""
        match self.card_state(column, path):
            case "not_captured":
                stated = self.columns[column].unavailable if column in self.columns else None
                reason = comparable(stated) if stated is not None else None
                return reason or NotComparable(reason=Reason.NOT_CAPTURED, detail="the bundle has no such capture")
            case "cut":
                return NotComparable(reason=Reason.CAPTURE_CUT, detail="the capture ends before this card")
            case "not_stated":
                return NOT_STATED
            case "not_displayed":
                own = "Mission Control lists root cards and tasks"
                detail = own if column in MISSION_CONTROL else "a session's history has no cards of its child sessions"
                return NotComparable(reason=Reason.NOT_DISPLAYED, detail=detail)
            case "shown":
                return NotComparable(reason=Reason.NOT_CAPTURED, detail="a card of another kind stands there")
            case _:
                return NotComparable(reason=Reason.NOT_CAPTURED, detail="the card is missing")
