"""The HTML page as values for its template: what stands where, under which anchor, with which evidence beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeVar

from markupsafe import Markup

from harness.model.facts import SURFACES, CardKind, Column, Omission
from harness.model.verdict import CardRow, FactRow, Finding, Observation
from harness.report.cells import AGREEMENT_CLASS, CellWriter, Notes, Whole, Wholes
from harness.report.gherkin import lines
from harness.report.groups import Group, groups
from harness.report.inputs import Excerpts, Pictures, Timelines
from harness.report.issue import issue
from harness.report.parts import (
    CardView,
    FindingView,
    GroupView,
    MemberRow,
    ObservationView,
    RequirementView,
    RowView,
)
from harness.report.proofs import Budget, Proofs
from harness.report.timeline import Timeline, timeline
from harness.report.views import Outcome, Overview, row_agreement

PAGE_BYTES = 9_000_000
"""What a page with much evidence grows to: a browser opens that in about a second."""
EVIDENCE_BYTES = (400_000, 6_500_000)
"""Least and most room for excerpts and pictures together, whatever the rest of the page takes."""
EXCERPTS_SHARE = 0.6
TIMELINES_DRAWN = 100
"""Runs that get a drawn timeline: those with findings first."""

KIND_WORDS = {CardKind.CODE_MODE: "Code Mode", CardKind.SUBAGENT_BATCH: "Subagent batch", CardKind.TASK: "Task"}
COLUMN_WORDS = {
    Column.EXPECTED: "Expected",
    Column.REPORT: "Report",
    Column.NESTED: "Nested records",
    Column.LOCAL_AGENT_LIVE: "Local agent live",
    Column.LOCAL_AGENT_REOPEN: "Local agent reopened",
    Column.MISSION_CONTROL_LIVE: "Mission Control live",
    Column.MISSION_CONTROL_REOPEN: "Mission Control reopened",
}
_ORDER = {"x": 0, "a": 1, "n": 2}


class Ids:
    """Anchors that stay the same from run to run: a prefix and the thing's own name, made safe and unique."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def made(self, prefix: str, name: str) -> str:
        base = f"{prefix}-{re.sub(r'[^A-Za-z0-9._-]+', '-', name)[:80].strip('-')}"
        candidate, number = base, 1
        while candidate in self._taken:
            number += 1
            candidate = f"{base}-{number}"
        self._taken.add(candidate)
        return candidate


class Page:
    """Everything that the template shows, built once; its attributes are the template's variables."""

    def __init__(self, overview: Overview, excerpts: Excerpts, pictures: Pictures, timelines: Timelines) -> None:
        self.overview = overview
        self.acceptance = overview.acceptance
        self._ids = Ids()
        self._wholes = Wholes()
        self.requirements = tuple(
            RequirementView(id=self._ids.made("requirement", row.id), row=row, check=overview.requirement(row))
            for row in self.acceptance.requirements
        )
        self._requirement_anchors = {view.row.id: view.id for view in self.requirements}
        self._short = {view.row.id: f"q{number}" for number, view in enumerate(self.requirements, 1)}
        self.observations = self._observations(timelines)
        self.groups = tuple(self._group(group) for group in groups(overview))
        self._fill(excerpts, pictures)
        self.classes = overview.classes()
        self.class_names = sorted({name for item in overview.observations for name in item.classes})
        self.missing = _together((item.class_ or "evidence", item) for item in overview.missing)
        self.sections = _together((view.row.section, view) for view in self.requirements)
        self.anchors = {view.item.id: view.anchor for view in reversed(self.observations)}

    @property
    def wholes(self) -> tuple[Whole, ...]:
        return self._wholes.found

    def short(self, requirement: str) -> str:
        """The short anchor of a requirement, or "" when the judgement has no row for it."""
        return self._short.get(requirement, "")

    def value(self, text: str, limit: int = 200) -> Markup:
        """A text of evidence for anywhere but a cell, shortened with a link to the whole."""
        return self._wholes.value(text, limit)

    def _observations(self, timelines: Timelines) -> tuple[ObservationView, ...]:
        by_id: dict[str, list[Finding]] = {}
        for finding in self.overview.findings:
            by_id.setdefault(finding.observation, []).append(finding)
        drawn = sorted(self.overview.observations, key=lambda item: item.id not in by_id)[:TIMELINES_DRAWN]
        names = {item.bundle for item in drawn}
        return tuple(
            self._observation(
                item,
                f"o{number}",
                tuple(by_id.get(item.id, ())),
                timeline(timelines(item.id) or ()) if item.bundle in names else None,
            )
            for number, item in enumerate(self.overview.observations, 1)
        )

    def _observation(
        self, item: Observation, anchor: str, findings: tuple[Finding, ...], drawn: Timeline | None
    ) -> ObservationView:
        proofs = Proofs(item.id, anchor)
        notes = Notes(anchor, frozenset(reason.detail for reason in item.unavailable.values()))
        text = lines(item.gherkin, item.gherkin_lines)
        stated = {line.number: f"{anchor}g{line.number}" for line in text if line.number and line.kind == "table"}
        writer = CellWriter(proofs, notes, self._wholes, stated)
        rows: dict[str, list[tuple[int, FactRow]]] = {}
        for number, row in enumerate(item.rows, 1):
            rows.setdefault(row.card, []).append((number, row))
        heads = {card.path: card for card in item.cards}
        cards = tuple(
            self._card(f"{anchor}c{number}", path, heads.get(path), rows.get(path, []), writer)
            for number, path in enumerate(dict.fromkeys([*heads, *rows]), 1)
        )
        for finding in findings:
            if finding.place is not None:
                proofs.cite(finding.place, finding.label or finding.requirement, anchor, finding=True)
        checks = tuple((column, self.overview.surface(item, column)) for column in SURFACES)
        return ObservationView(
            anchor=anchor,
            id=self._ids.made("observation", item.id),
            item=item,
            outcome=worst(check.outcome for _, check in checks),
            checks=checks,
            gherkin=text,
            timeline=drawn,
            cards=cards,
            notes=notes,
            proofs=proofs,
            findings=findings,
        )

    def _card(
        self, anchor: str, path: str, head: CardRow | None, rows: list[tuple[int, FactRow]], writer: CellWriter
    ) -> CardView:
        base = anchor.partition("c")[0]
        views = [self._row(f"{base}r{number}", row, writer) for number, row in rows]
        kinds = [head.kind] if head else [row.kind for _, row in rows]
        return CardView(
            anchor=anchor,
            path=path,
            kind=kinds[0],
            title=head.title if head else "",
            members=_members(head) if head else (),
            rows=tuple(sorted(views, key=lambda view: _ORDER[view.kind])),
            differing=sum(view.kind == "x" for view in views),
        )

    def _row(self, anchor: str, row: FactRow, writer: CellWriter) -> RowView:
        kind = AGREEMENT_CLASS[row_agreement(cell.agreement for cell in row.cells.values())]
        return RowView(
            anchor=anchor,
            kind=kind,
            label=row.label if not row.ordinal else f"{row.label} {row.ordinal + 1}",
            requirement=self._short.get(row.requirement, ""),
            cells=tuple(writer.cell(row, column, anchor) for column in Column),
            reference=writer.reading(row.reference) if kind == "x" else Markup(""),
            source=row.source,
        )

    def _group(self, group: Group) -> GroupView:
        views = {view.item.id: view for view in reversed(self.observations)}
        items = [views[name].item for name in group.observations if name in views]
        cards = {(item.id, card.path): card.kind for item in items for card in item.cards}
        found = {cards[key] for finding in group.findings if (key := (finding.observation, finding.card)) in cards}
        return GroupView(
            id=self._ids.made("cause", group.id),
            item=group,
            requirement=self._requirement_anchors.get(group.requirement, ""),
            findings=tuple(self._finding(finding, views.get(finding.observation)) for finding in group.findings),
            issue=issue(group, self.overview),
            classes=tuple(sorted({name for item in items for name in item.classes})),
            releases=tuple(sorted({item.release for item in items})),
            kinds=tuple(sorted(kind.value for kind in found)),
        )

    def _finding(self, finding: Finding, view: ObservationView | None) -> FindingView:
        cited = finding.place is not None and view is not None
        return FindingView(
            id=self._ids.made("finding", finding.id),
            item=finding,
            observation=view.anchor if view else "",
            expected=self.value(finding.expected),
            observed=self.value(finding.observed),
            place=view.proofs.cite(finding.place, finding.label, view.anchor)
            if cited and view and finding.place
            else "",
            decides=self.overview.decides(finding),
        )

    def _fill(self, excerpts: Excerpts, pictures: Pictures) -> None:
        least, most = EVIDENCE_BYTES
        left = int(min(max(PAGE_BYTES - self._estimated(), least), most))
        room, pixels = Budget(int(left * EXCERPTS_SHARE)), Budget(left - int(left * EXCERPTS_SHARE))
        for findings in (True, False):
            for view in self.observations:
                view.proofs.fill(excerpts, pictures, room, pixels, findings=findings)

    def _estimated(self) -> int:
        """Bytes of the page without excerpts and pictures, a little more rather than less."""
        size = 300_000
        for view in self.observations:
            size += 12_000 + 130 * len(view.proofs)
            size += sum(150 + sum(map(len, row.cells)) for card in view.cards for row in card.rows)
        return size + 1_500 * len(self.requirements) + 6_000 * len(self.groups) + 600 * len(self.overview.findings)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The outcome that a reader must not miss."""
    found = set(outcomes)
    order = (Outcome.DISAGREES, Outcome.WAIVED, Outcome.AGREES, Outcome.UNSETTLED)
    return next((outcome for outcome in order if outcome in found), Outcome.UNSETTLED)


T = TypeVar("T")


def _together(pairs: Iterable[tuple[str, T]]) -> tuple[tuple[str, list[T]], ...]:
    """Items by name, names in order of first appearance."""
    found: dict[str, list[T]] = {}
    for name, item in pairs:
        found.setdefault(name, []).append(item)
    return tuple(found.items())


def _members(card: CardRow) -> tuple[MemberRow, ...]:
    omissions = {column: "; ".join(map(_omission, found)) or "none" for column, found in card.omissions.items()}
    shown = {column: state.replace("_", " ") for column, state in card.shown.items()}
    return tuple(
        MemberRow(name=name, values=tuple(found.get(column, "") for column in Column))
        for name, found in (
            ("Card", shown),
            ("Card outcome", card.outcomes),
            ("Card changes", card.changes),
            ("Card omissions", omissions),
        )
        if any(found.values())
    )


def _omission(item: Omission) -> str:
    number = "an unknown number" if item.omitted_count is None else str(item.omitted_count)
    return f"{item.subject}: {number} ({item.reason})"
