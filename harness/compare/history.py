"""Trends over releases: the pairwise differences of `harness.compare.difference`, and each fact counted per release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec

from harness.compare.difference import Difference, FactChange, Side, difference
from harness.compare.shown import Shown, fact_on
from harness.model.facts import SURFACES, CardKind, Column
from harness.model.history import (
    Change,
    ClassCell,
    ClassLine,
    Display,
    FactCell,
    FactLine,
    History,
    MemberChange,
    Released,
    Step,
)
from harness.model.values import State
from harness.model.verdict import Acceptance, Agreement, Authorization, Observation
from harness.spec.classes import CLASS_IDS
from harness.spec.facts import FACTS

_Key = tuple[CardKind, str, Column]


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """One release, judged, and the same as a side of a difference."""

    acceptance: Acceptance
    side: Side


def history(judged: Sequence[Judged]) -> History:
    """The trends over `judged`, which stand in the order of their releases. Raises ValueError for none."""
    if not judged:
        raise ValueError("no release, no history")
    differences = [difference(before.side, after.side) for before, after in pairwise(judged)]
    last = judged[-1].acceptance
    return History(
        product=last.release.name,
        at=last.at,
        harness=last.harness,
        releases=tuple(_released(item.acceptance) for item in judged),
        steps=tuple(_step(found) for found in differences),
        classes=_classes([item.acceptance for item in judged]),
        facts=_facts([item.side for item in judged], differences),
    )


def _counts(observation: Observation) -> bool:
    return observation.authorization is Authorization.AUTHORIZED and not observation.stale


def _released(acceptance: Acceptance) -> Released:
    return Released(
        version=acceptance.release.version,
        sha256=tuple(sorted(acceptance.release.sha256)),
        verdict=acceptance.verdict,
        observations=len(acceptance.observations),
        counted=sum(map(_counts, acceptance.observations)),
        findings=len(acceptance.findings),
        damaged=acceptance.damaged,
    )


def _classes(acceptances: Sequence[Acceptance]) -> tuple[ClassLine, ...]:
    """Classes in the order of observations.md, others after them by name."""
    names = {name for item in acceptances for run in item.observations for name in run.classes}
    names |= {gap.class_ for item in acceptances for gap in item.missing if gap.class_}
    order = [*CLASS_IDS, *sorted(names - set(CLASS_IDS))]
    return tuple(
        ClassLine(name=name, cells=tuple(_class_cell(item, name) for item in acceptances))
        for name in order
        if name in names
    )


def _class_cell(acceptance: Acceptance, name: str) -> ClassCell:
    runs = [run for run in acceptance.observations if name in run.classes]
    counts = [count for run in runs for count in run.surfaces.values()]
    return ClassCell(
        runs=len(runs),
        counted=sum(map(_counts, runs)),
        agree=sum(count.agree for count in counts),
        disagree=sum(count.disagree for count in counts),
        not_comparable=sum(count.not_comparable for count in counts),
        missing=tuple(gap.reason for gap in acceptance.missing if gap.class_ == name),
    )


# Facts


def _facts(sides: Sequence[Side], differences: Sequence[Difference]) -> tuple[FactLine, ...]:
    """Every label that some release has, surface by surface, in the order of the catalogue."""
    shown = [_shown(side) for side in sides]
    changed: list[dict[_Key, Counter[str]]] = []
    for found in differences:
        counts: dict[_Key, Counter[str]] = {}
        for change in found.facts:
            counts.setdefault((change.card_kind, change.label, change.surface), Counter()).update(
                kind.value for kind in change.kinds
            )
        changed.append(counts)
    seen = {(kind, label) for side in shown for kind, label, _ in side}
    return tuple(
        FactLine(
            kind=entry.card,
            label=entry.label,
            requirement=entry.requirement,
            surface=surface,
            cells=tuple(_fact_cell(side.get((entry.card, entry.label, surface), ())) for side in shown),
            changes=tuple(
                dict(sorted(counts.get((entry.card, entry.label, surface), Counter()).items())) for counts in changed
            ),
        )
        for entry in FACTS
        if (entry.card, entry.label) in seen
        for surface in SURFACES
    )


def _shown(side: Side) -> Mapping[_Key, list[Shown]]:
    found: dict[_Key, list[Shown]] = {}
    for observation in side.observations:
        cards = {card.path: card for card in observation.cards}
        for row in observation.rows:
            for surface in SURFACES:
                found.setdefault((row.kind, row.label, surface), []).append(
                    fact_on(cards.get(row.card), row, surface, side.workspaces.get(observation.id, ""))
                )
    return found


def _fact_cell(shown: Iterable[Shown]) -> FactCell:
    read = [item for item in shown if not item.silent]
    states = Counter(item.state for item in read)
    displayed = sum(item.displayed for item in read)
    agreements = Counter(item.agreement for item in read)
    return FactCell(
        display=_display(len(read), displayed, states),
        displayed=displayed,
        not_displayed=states[State.NOT_DISPLAYED.value],
        absent=states[State.ABSENT.value],
        unreadable=states[State.UNREADABLE.value],
        via=tuple(sorted({via for item in read for via in item.via})),
        agree=agreements[Agreement.AGREE],
        disagree=agreements[Agreement.DISAGREE],
        not_comparable=agreements[Agreement.NOT_COMPARABLE],
    )


def _display(read: int, displayed: int, states: Mapping[str, int]) -> Display:
    if not read:
        return Display.NOT_CAPTURED
    if displayed:
        return Display.DISPLAYED if displayed == read else Display.SOMETIMES
    if states[State.UNREADABLE.value]:
        return Display.UNREADABLE
    return Display.ABSENT if states[State.ABSENT.value] == read else Display.NOT_DISPLAYED


# Steps


def _step(found: Difference) -> Step:
    kinds = Counter(kind.value for change in found.facts for kind in change.kinds)
    return Step(
        before=found.before,
        after=found.after,
        both=found.both,
        only_before=found.only_before,
        only_after=found.only_after,
        kinds=dict(sorted(kinds.items())),
        facts=grouped(found.facts),
        members=tuple(_members(found)),
        appeared=found.findings_appeared,
        resolved=found.findings_vanished,
        compared=found.compared,
        not_compared=found.not_compared,
    )


def said(change: FactChange) -> tuple[str, str]:
    """Both values in words, with their place on the surface and their agreement where these changed."""
    moved = change.before.via != change.after.via
    judged = change.before.agreement is not change.after.agreement
    before, after = (
        " ".join(
            [
                "(varies)" if change.varies else str(shown),
                *([f"[{', '.join(shown.via)}]"] if moved and shown.via else []),
                *([f"({shown.agreement.value.replace('_', ' ')})"] if judged and shown.displayed else []),
            ]
        )
        for shown in (change.before, change.after)
    )
    return before, after


def grouped(changes: Iterable[FactChange]) -> tuple[Change, ...]:
    """One value for all changes that read the same, in the order of the first of each."""
    groups: dict[tuple[CardKind, str, Column, tuple[str, ...], tuple[str, str]], list[str]] = {}
    for change in changes:
        label = change.label + (f" [{change.ordinal + 1}]" if change.ordinal else "")
        kinds = tuple(kind.value for kind in change.kinds)
        places = groups.setdefault((change.card_kind, label, change.surface, kinds, said(change)), [])
        places.append(f"{change.observation} {change.card}")
    return tuple(
        Change(kind=kind, label=label, surface=surface, kinds=kinds, before=before, after=after, places=tuple(places))
        for (kind, label, surface, kinds, (before, after)), places in groups.items()
    )


def _members(found: Difference) -> Iterator[MemberChange]:
    groups: dict[tuple[str, Column, str, str], list[str]] = {}
    for item in found.surfaces:
        groups.setdefault(("capture", item.surface, item.before, item.after), []).append(item.observation)
    for card in found.cards:
        key = (f"card {card.member}", card.surface, card.before or "none", card.after or "none")
        groups.setdefault(key, []).append(f"{card.observation} {card.card}")
    for (what, surface, before, after), places in groups.items():
        yield MemberChange(what=what, surface=surface, before=before, after=after, places=tuple(places))
