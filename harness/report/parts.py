"""The parts of the HTML page as the template sees them: plain values, made by `harness.report.page`."""

from __future__ import annotations

import msgspec
from markupsafe import Markup

from harness.model.facts import CardKind, Column
from harness.model.verdict import Finding, Observation, RequirementRow
from harness.report.cells import Notes
from harness.report.gherkin import GherkinLine
from harness.report.groups import Group
from harness.report.issue import Issue
from harness.report.proofs import Proofs
from harness.report.timeline import Timeline
from harness.report.views import Check, Outcome


class RowView(msgspec.Struct, frozen=True, kw_only=True):
    """One fact. `kind` is the class of its agreement (``x``, ``a``, ``n``), `cells` are the ``<td>``s of all columns,
    `reference` is shown where something differs."""

    anchor: str
    kind: str
    label: str
    requirement: str
    cells: tuple[Markup, ...]
    reference: Markup
    source: str


class MemberRow(msgspec.Struct, frozen=True, kw_only=True):
    """One member of the card itself (shown, outcome, changes, omissions) over all columns, as texts."""

    name: str
    values: tuple[str, ...]


class CardView(msgspec.Struct, frozen=True, kw_only=True):
    anchor: str
    path: str
    kind: CardKind
    title: str
    members: tuple[MemberRow, ...]
    rows: tuple[RowView, ...]
    differing: int


class ObservationView(msgspec.Struct, frozen=True, kw_only=True):
    """One observation's part of the page."""

    anchor: str
    id: str
    item: Observation
    outcome: Outcome
    checks: tuple[tuple[Column, Check], ...]
    gherkin: tuple[GherkinLine, ...]
    timeline: Timeline | None
    cards: tuple[CardView, ...]
    notes: Notes
    proofs: Proofs
    findings: tuple[Finding, ...]


class FindingView(msgspec.Struct, frozen=True, kw_only=True):
    """One finding in its group: where it was seen and the anchor of its place ("" without one)."""

    id: str
    item: Finding
    observation: str
    expected: Markup
    observed: Markup
    place: str
    decides: bool


class GroupView(msgspec.Struct, frozen=True, kw_only=True):
    """A probable cause. `classes`, `releases`, `kinds` are those of its observations and cards, for the filters."""

    id: str
    item: Group
    requirement: str
    findings: tuple[FindingView, ...]
    issue: Issue
    classes: tuple[str, ...]
    releases: tuple[str, ...]
    kinds: tuple[str, ...]


class RequirementView(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    row: RequirementRow
    check: Check
