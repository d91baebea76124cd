"""What changed between two releases: the same observations of both, card by card, fact by fact, surface by surface.

A difference is no finding: it says that two releases publish differently, never which of them is right. Values that
only a run can know (elapsed time, estimates, execution identities) differ between any two runs and are no difference;
a capture that is not there, or cut, says nothing, so that it makes none either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

import msgspec

from harness.compare.columns import path_order
from harness.compare.shown import Shown, capture_of, fact_on, members_of
from harness.model.facts import SURFACES, CardKind, Column
from harness.model.values import State
from harness.model.verdict import FactRow, Finding, Observation
from harness.spec.facts import FACTS, FactType, fact

VARYING: dict[tuple[CardKind, str], str] = {
    (CardKind.CODE_MODE, "Response token estimate"): "estimated from a response that states measured times",
    (CardKind.TASK, "Task execution identity"): "made anew for every execution",
}
"""Facts that differ between two runs of one release, beside all milliseconds and what scenarios say; and why."""


_NOWHERE = {"missing", "not_displayed"}


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One release, judged. By observation id: `workspaces` where the run happened ("" when not known), `varying` the
    labels that the scenario calls varying."""

    release: str
    observations: tuple[Observation, ...]
    findings: tuple[Finding, ...]
    workspaces: Mapping[str, str] = {}
    varying: Mapping[str, tuple[str, ...]] = {}


class ChangeKind(StrEnum):
    """What a difference of one fact on one surface is; several at once are possible."""

    APPEARED = "appeared"
    """The row is there now, known or null, where the card had no such row."""
    VANISHED = "vanished"
    VALUE = "value"
    """Another value, null being one."""
    DISPLAY = "display"
    """Displayed now and not before, or the other way round, or displayed in another place of the surface."""
    AGREEMENT = "agreement"
    """Agrees, disagrees or cannot be compared with the reference of its own release, and did otherwise before."""


class FactChange(msgspec.Struct, frozen=True, kw_only=True):
    """One fact of one card on one surface."""

    observation: str
    card: str
    card_kind: CardKind
    label: str
    ordinal: int
    surface: Column
    kinds: tuple[ChangeKind, ...]
    before: Shown
    after: Shown

    @property
    def varies(self) -> bool:
        """Whether both values are such as only a run can know: they differ, and that is not the change."""
        displayed = self.before.displayed and self.after.displayed
        return displayed and self.before.values != self.after.values and ChangeKind.VALUE not in self.kinds


class CardChange(msgspec.Struct, frozen=True, kw_only=True):
    """A card itself on one surface: `member` is ``shown``, ``kind``, ``outcome``, ``changes`` or ``omissions``."""

    observation: str
    card: str
    surface: Column
    member: str
    before: str
    after: str


class SurfaceChange(msgspec.Struct, frozen=True, kw_only=True):
    """A surface of an observation that one release has a capture of, or a whole one, and the other has not."""

    observation: str
    surface: Column
    before: str
    after: str


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that changed from release `before` to release `after`, in the order of observations, then cards.

    `both`, `only_before` and `only_after` are observation ids. Findings are told only of observations in both, on
    surfaces that both have captures of. `compared` counts facts on surfaces that were held against each other,
    `not_compared` those about which one of the releases says nothing.
    """

    before: str
    after: str
    both: tuple[str, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    surfaces: tuple[SurfaceChange, ...]
    cards: tuple[CardChange, ...]
    facts: tuple[FactChange, ...]
    findings_appeared: tuple[Finding, ...]
    findings_vanished: tuple[Finding, ...]
    compared: int
    not_compared: int

    @property
    def empty(self) -> bool:
        """Whether both releases publish the same, as far as it could be compared."""
        return not (
            self.surfaces
            or self.cards
            or self.facts
            or self.findings_appeared
            or self.findings_vanished
            or self.only_before
            or self.only_after
        )


def difference(before: Side, after: Side) -> Difference:
    """What changed between two sides. The order in which they give their observations and findings has no effect."""
    first = {item.id: item for item in before.observations}
    second = {item.id: item for item in after.observations}
    pairs = [_Pair(first[id_], second[id_], before, after) for id_ in sorted(first.keys() & second.keys())]
    return Difference(
        before=before.release,
        after=after.release,
        both=tuple(pair.id for pair in pairs),
        only_before=tuple(sorted(first.keys() - second.keys())),
        only_after=tuple(sorted(second.keys() - first.keys())),
        surfaces=tuple(change for pair in pairs for change in pair.surfaces()),
        cards=tuple(change for pair in pairs for change in pair.cards()),
        facts=tuple(change for pair in pairs for change in pair.facts),
        findings_appeared=_news(pairs, before.findings, after.findings),
        findings_vanished=_news(pairs, after.findings, before.findings),
        compared=sum(pair.compared for pair in pairs),
        not_compared=sum(pair.not_compared for pair in pairs),
    )


def _news(pairs: Sequence[_Pair], old: Iterable[Finding], new: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings of `new` that `old` has not, where both could have had them."""
    by_id = {pair.id: pair for pair in pairs}
    known = {found.id for found in old}
    news = [
        found
        for found in new
        if found.id not in known and found.observation in by_id and found.surface not in by_id[found.observation].unread
    ]
    return tuple(
        sorted(
            news, key=lambda item: (item.observation, path_order(item.card), item.requirement, item.surface, item.id)
        )
    )


class _Pair:
    """One observation of both releases."""

    def __init__(self, first: Observation, second: Observation, before: Side, after: Side) -> None:
        self.id = first.id
        self._sides = (first, second)
        self._workspaces = (before.workspaces.get(self.id, ""), after.workspaces.get(self.id, ""))
        self._varying = {*before.varying.get(self.id, ()), *after.varying.get(self.id, ())}
        self._cards = tuple({card.path: card for card in side.cards} for side in self._sides)
        self.facts: list[FactChange] = []
        self.compared = 0
        self.not_compared = 0
        self._compare_facts()

    @property
    def unread(self) -> set[str]:
        """Names of the columns on which one of the two releases, or both, could not be read."""
        return {column.value for side in self._sides for column in side.unavailable}

    def surfaces(self) -> Iterator[SurfaceChange]:
        for surface in SURFACES:
            before, after = (capture_of(side, surface) for side in self._sides)
            if before != after:
                yield SurfaceChange(observation=self.id, surface=surface, before=before, after=after)

    def cards(self) -> Iterator[CardChange]:
        for path in sorted(self._cards[0].keys() | self._cards[1].keys(), key=path_order):
            for surface in SURFACES:
                if surface.value not in self.unread:
                    yield from self._card(path, surface)

    def _card(self, path: str, surface: Column) -> Iterator[CardChange]:
        before, after = (members_of(cards.get(path), surface) for cards in self._cards)
        if "cut" in (before["shown"], after["shown"]) or not {before["shown"], after["shown"]} - _NOWHERE:
            return
        shown = before["shown"] == after["shown"] == "shown"
        for member in before if shown else ("shown",):
            if before[member] != after[member]:
                yield CardChange(
                    observation=self.id,
                    card=path,
                    surface=surface,
                    member=member,
                    before=before[member],
                    after=after[member],
                )

    def _compare_facts(self) -> None:
        first, second = ({(row.card, row.label, row.ordinal): row for row in side.rows} for side in self._sides)
        rows = [(first.get(key), second.get(key)) for key in first.keys() | second.keys()]
        for before, after in sorted(rows, key=_row_order):
            row = before or after
            if row is None or any(cards[row.card].kind is not row.kind for cards in self._cards if row.card in cards):
                continue  # a card of another kind stands there: the card itself is the change
            varying = self._is_varying(row, (before, after))
            for surface in SURFACES:
                then, now = self._shown(0, row.card, before, surface), self._shown(1, row.card, after, surface)
                if then.silent or now.silent:
                    self.not_compared += 1
                    continue
                self.compared += 1
                kinds = tuple(_kinds(then, now, varying=varying, rows=before is not None and after is not None))
                if kinds:
                    self.facts.append(
                        FactChange(
                            observation=self.id,
                            card=row.card,
                            card_kind=row.kind,
                            label=row.label,
                            ordinal=row.ordinal,
                            surface=surface,
                            kinds=kinds,
                            before=then,
                            after=now,
                        )
                    )

    def _is_varying(self, row: FactRow, rows: Iterable[FactRow | None]) -> bool:
        return (
            fact(row.kind, row.label).type is FactType.MILLISECONDS
            or (row.kind, row.label) in VARYING
            or row.label in self._varying
            or any(stated.via == "pattern" for one in rows if one for stated in one.cells[Column.EXPECTED].readings)
        )

    def _shown(self, side: int, path: str, row: FactRow | None, surface: Column) -> Shown:
        return fact_on(self._cards[side].get(path), row, surface, self._workspaces[side])


def _kinds(then: Shown, now: Shown, *, varying: bool, rows: bool) -> Iterator[ChangeKind]:
    if now.displayed and then.state == State.ABSENT:
        yield ChangeKind.APPEARED
    elif then.displayed and now.state == State.ABSENT:
        yield ChangeKind.VANISHED
    elif then.displayed and now.displayed:
        known = None not in (*then.values, *now.values)
        if then.values != now.values and not (varying and known):
            yield ChangeKind.VALUE
        if then.via != now.via:
            yield ChangeKind.DISPLAY
    elif then.state != now.state:
        yield ChangeKind.DISPLAY
    if rows and then.agreement is not now.agreement:
        yield ChangeKind.AGREEMENT


_ORDER = {(entry.card, entry.label): number for number, entry in enumerate(FACTS)}


def _row_order(rows: tuple[FactRow | None, FactRow | None]) -> tuple[object, ...]:
    """Cards in transcript order, labels in catalogue order."""
    row = rows[0] or rows[1]
    return (path_order(row.card), row.card, _ORDER[row.kind, row.label], row.ordinal) if row else ()
