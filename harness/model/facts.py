"""Facts as they stand on cards, and columns of cards: the common shape of every source that is compared.

Cards are matched across sources by where they stand, never by id or title. A card's `path` says where, for example
``turn1/call1`` (first tool call of the first turn), ``turn1/call1/task2`` (second declared task of that batch),
``turn1/call1/task2/call1`` (first tool call made by that task) and ``turn1/call1/call3`` (third call made inside that
Code Mode script). All numbers start at 1 and count every tool call in transcript order, whatever its kind.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from harness.model.values import Reading


class CardKind(StrEnum):
    """The cards that card-facts.md governs."""

    CODE_MODE = "code_mode"
    SUBAGENT_BATCH = "subagent_batch"
    TASK = "task"


class Column(StrEnum):
    """The sources held against each other for every fact."""

    EXPECTED = "expected"
    """What the scenario's author worked out by hand."""
    REPORT = "report"
    """Reference projection from the host's stored report."""
    NESTED = "nested"
    """Reference projection from nested records and child sessions, not trusting the report."""
    LOCAL_AGENT_LIVE = "local-agent-live"
    LOCAL_AGENT_REOPEN = "local-agent-reopen"
    MISSION_CONTROL_LIVE = "mission-control-live"
    MISSION_CONTROL_REOPEN = "mission-control-reopen"


SURFACES = (
    Column.LOCAL_AGENT_LIVE,
    Column.LOCAL_AGENT_REOPEN,
    Column.MISSION_CONTROL_LIVE,
    Column.MISSION_CONTROL_REOPEN,
)
"""The four columns that are a surface of the product; the other three are references."""


class Place(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where in a bundle something was read.

    `file` is the bundle member. In line-oriented members `line` is the 1-based line and `offset` the 0-based byte
    offset inside that line's frame text (local-agent captures) or record text (session files); `pointer` is the RFC
    6901 JSON pointer there. On a screen `marker` names the captured moment, `row` is the 1-based screen row and
    `columns` the 1-based inclusive first and last column.
    """

    file: str
    line: int | None = None
    offset: int | None = None
    pointer: str | None = None
    marker: str | None = None
    row: int | None = None
    columns: tuple[int, int] | None = None

    def __str__(self) -> str:
        if self.row is not None and self.columns is not None:
            at = f" at {self.marker!r}" if self.marker else ""
            return f"{self.file}{at}, row {self.row}, columns {self.columns[0]}-{self.columns[1]}"
        parts = [self.file]
        if self.line is not None:
            parts.append(f"line {self.line}")
        if self.offset is not None:
            parts.append(f"byte {self.offset}")
        if self.pointer is not None:
            parts.append(self.pointer)
        return ", ".join(parts)


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of one label.

    `label` is an exact label of the fact catalogue. `ordinal` is 0 for single rows and counts repeated preview rows
    (`Warning`, `Changed path`, `Task activity`) from 0. `via` says how it was read: ``row``, ``title``, ``summary``,
    ``chip``, ``line``, ``metadata`` on a surface; ``report``, ``nested``, ``child``, ``call``, ``rule`` in a
    derivation; ``table`` in a scenario.
    """

    label: str
    value: Reading
    via: str
    ordinal: int = 0
    place: Place | None = None


class Omission(msgspec.Struct, frozen=True, kw_only=True):
    """A collection the card says it shortened: subject, reason and count (null when the count is not known)."""

    subject: str
    reason: str
    omitted_count: int | None


class CardFacts(msgspec.Struct, frozen=True, kw_only=True):
    """All facts that one source gives of one card.

    A label may be read several times on one surface (card and detail); each reading is its own `Fact`. `outcome`,
    `changes` are the card's own members on the local agent, and None where the source has no such member.
    `children` are the paths of displayed child references in display order. `place` is the card itself.
    """

    path: str
    kind: CardKind
    facts: tuple[Fact, ...]
    title: str | None = None
    outcome: str | None = None
    changes: str | None = None
    omissions: tuple[Omission, ...] = ()
    children: tuple[str, ...] | None = None
    place: Place | None = None


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that the source itself breaks (wire order, bounds, malformed records), found while reading it.

    `requirement` is the id of the broken rule in the requirement catalogue or of a wire rule (``wire.…``). `card` is a
    card path or "" when the problem is not of one card. `expected` and `observed` are short texts.
    """

    requirement: str
    card: str
    label: str
    expected: str
    observed: str
    place: Place | None = None


class ColumnFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one source says about one run.

    `unavailable` is None when the source could be read; otherwise the reason why no card of it can be compared, and
    `cards` is empty. `complete` is False when the capture ends early: cards that are not there are then not absent
    but cut. `cases` counts, by rule id (as in `Problem.requirement`), the things of this source that were held against
    a rule while it was read; a rule that is not named was never tried.
    """

    column: Column
    cards: tuple[CardFacts, ...] = ()
    problems: tuple[Problem, ...] = ()
    unavailable: Reading | None = None
    complete: bool = True
    cases: dict[str, int] = {}
