"""One bundle, looked at whole: reference projection, both surfaces, and all columns held against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from harness import whole_run
from harness.bundle import Bundle
from harness.compare import Compared, compare
from harness.compare.structure import try_cards
from harness.model.facts import SURFACES, CardFacts, Column, ColumnFacts, Fact
from harness.model.manifest import Capture
from harness.model.stimulus import Stimulus
from harness.model.values import NotComparable, Reason, not_displayed
from harness.observe import local_agent, mission_control
from harness.project import Projection, project
from harness.scenario.compile import Scenario
from harness.scenario.expected import expected_column
from harness.spec.facts import facts_of


class Examined(msgspec.Struct, frozen=True, kw_only=True):
    """Everything derived from one bundle; nothing of it is stored."""

    columns: dict[Column, ColumnFacts]
    reference: tuple[CardFacts, ...]
    compared: Compared


def _unavailable(column: Column, detail: str) -> ColumnFacts:
    return ColumnFacts(column=column, unavailable=NotComparable(reason=Reason.NOT_CAPTURED, detail=detail))


def child_id(member: str) -> str:
    """The child session's id in a member name: ``children/<id>.jsonl.gz``."""
    return member.rpartition("/")[2].partition(".")[0]


Layout = tuple[mission_control.ExpectedCard, ...] | None
"""The cards that Mission Control should show, in transcript order; None when nothing says which there are."""


class Stages:
    """The stages that read bytes. Whoever examines many variants of one bundle keeps what they have in common; whoever
    needs members or screens afterwards keeps those."""

    def read(self, bundle: Bundle, name: str) -> bytes:
        """The content of a member."""
        return bundle.read(name)

    def sight(self, file: str) -> mission_control.Sight:  # noqa: ARG002 - for those who keep what they see, by file
        """How the screens of a capture are looked at."""
        return mission_control.Sight()

    def project(self, bundle: Bundle) -> Projection:
        """The reference projection of a bundle that has a session."""
        manifest = bundle.manifest
        return project(
            self.read(bundle, manifest.session),
            {child_id(name): self.read(bundle, name) for name in manifest.children},
            file=manifest.session,
            child_files={child_id(name): name for name in manifest.children},
        )

    def observe(self, bundle: Bundle, capture: Capture, part: int, layout: Layout) -> ColumnFacts:
        """What the `part`-th (from 0) capture of a column shows."""
        content = self.read(bundle, capture.file)
        match capture.column:
            case Column.LOCAL_AGENT_LIVE:
                before = turns_before(bundle.stimulus, part)
                return local_agent.live(content, file=capture.file, complete=capture.complete, turns_before=before)
            case Column.LOCAL_AGENT_REOPEN:
                return local_agent.reopen(content, file=capture.file, complete=capture.complete)
            case column if layout is None:
                return _unavailable(column, "neither records nor the local agent say which cards are on the screen")
            case column:
                return mission_control.observe(
                    content,
                    column=column,
                    file=capture.file,
                    release=capture.product.version,
                    layout=layout,
                    complete=capture.complete,
                    sight=self.sight(capture.file),
                )


def _references(bundle: Bundle, stages: Stages) -> tuple[dict[Column, ColumnFacts], Projection | None]:
    """The two derivations of a bundle; no projection when it holds no session."""
    if not bundle.manifest.session:
        detail = "no saved session is there"
        return {column: _unavailable(column, detail) for column in (Column.REPORT, Column.NESTED)}, None
    projection = stages.project(bundle)
    return {Column.REPORT: projection.report, Column.NESTED: projection.nested}, projection


FINAL_SNAPSHOT = "wire.final-snapshot"
_LIVE = (Column.LOCAL_AGENT_LIVE, Column.MISSION_CONTROL_LIVE)
_MISSION_CONTROL = (Column.MISSION_CONTROL_LIVE, Column.MISSION_CONTROL_REOPEN)


def turns_before(stimulus: Stimulus, part: int) -> int:
    """Turns that were run before the `part`-th (from 0) live capture: each kill ends one capture."""
    kills = [
        number
        for number, turn in enumerate(stimulus.turns, start=1)
        if turn.interruption is not None and turn.interruption.action == "kill"
    ]
    return kills[part - 1] if 0 < part <= len(kills) else 0


def _comparable(bundle: Bundle, capture: Capture, facts: ColumnFacts) -> ColumnFacts:
    """What of a capture can be held against the saved records.

    A release that is not under test recorded it: nothing. The product was killed: the cards that had ended by then;
    what the others showed was true at that moment only, and is held against the wire rules alone.
    """
    if capture.product.version != bundle.manifest.release:
        return _unavailable(facts.column, f"recorded by release {capture.product.version}, which is not under test")
    if capture.column is Column.LOCAL_AGENT_LIVE and facts.complete:
        unfinished = _unfinished(facts)
        cards = tuple(_without_facts(card) if card.path in unfinished else card for card in facts.cards)
        return msgspec.structs.replace(facts, cards=cards)
    if capture.column not in _LIVE or facts.complete:
        return facts
    ended = tuple(card for card in facts.cards if card.outcome is not None)
    return msgspec.structs.replace(facts, cards=ended)


def _unfinished(facts: ColumnFacts) -> frozenset[str]:
    """Cards that their run left running: that is what is wrong with them, and what they said was true at the time."""
    return frozenset(problem.card for problem in facts.problems if problem.requirement == FINAL_SNAPSHOT)


def _without_facts(card: CardFacts) -> CardFacts:
    value = not_displayed("the run ended with this card still running")
    facts = tuple(Fact(label=label, value=value, via="row") for label in facts_of(card.kind))
    return msgspec.structs.replace(card, facts=facts, omissions=())


def _joined(parts: list[ColumnFacts]) -> ColumnFacts:
    """Captures of one surface that was killed and started again, as one column: the last word on every card counts."""
    if len(parts) == 1:
        return parts[0]
    cards = {card.path: card for part in parts for card in part.cards}
    return ColumnFacts(
        column=parts[0].column,
        cards=tuple(cards.values()),
        problems=tuple(problem for part in parts for problem in part.problems),
        unavailable=next((part.unavailable for part in parts if part.unavailable is not None and not part.cards), None)
        if not cards
        else None,
        complete=all(part.complete for part in parts),
        cases=dict(sum((Counter(part.cases) for part in parts), Counter())),
    )


def _layout(cards: Iterable[CardFacts]) -> Layout:
    return tuple(mission_control.ExpectedCard(path=card.path, kind=card.kind) for card in cards)


def _captured(bundle: Bundle, wanted: Iterable[Column], layout: Layout, stages: Stages) -> dict[Column, ColumnFacts]:
    """The wanted columns that the bundle has captures of."""
    parts: dict[Column, list[ColumnFacts]] = {}
    for capture in bundle.manifest.captures:
        if capture.column in wanted:
            earlier = parts.setdefault(capture.column, [])
            earlier.append(_comparable(bundle, capture, stages.observe(bundle, capture, len(earlier), layout)))
    return {column: _joined(found) for column, found in parts.items()}


def _surfaces(bundle: Bundle, layout: Layout, stages: Stages) -> dict[Column, ColumnFacts]:
    """What the surfaces showed. Without a layout the local agent's own cards tell which Mission Control should show."""
    columns = _captured(bundle, [column for column in SURFACES if column not in _MISSION_CONTROL], layout, stages)
    whole = [column for column in columns.values() if column.cards and column.complete]
    shown = _layout(whole[-1].cards) if layout is None and whole else layout
    columns |= _captured(bundle, _MISSION_CONTROL, shown, stages)
    driver = bundle.manifest.driver
    for column in _LIVE:
        if column not in columns:
            drove = column.value.startswith(driver)
            detail = "the run itself was not captured" if drove else f"the run was driven by {driver.replace('-', ' ')}"
            columns[column] = _unavailable(column, detail)
    return columns


def examine(bundle: Bundle, scenario: Scenario | None, stages: Stages | None = None) -> Examined:
    """Derive every column of `bundle` and compare them. Without a scenario nothing is expected but by the reference.

    `stages` read the bytes, in the ordinary way when None. Raises DecodeError when a capture or session cannot be
    read at all.
    """
    stages = stages or Stages()
    columns, projection = _references(bundle, stages)
    reference = projection.reference if projection is not None else ()
    stated: tuple[CardFacts, ...] = ()
    if scenario is not None:
        expected = expected_column(scenario.expected, file=scenario.feature, workspace=bundle.manifest.workspace)
        columns[Column.EXPECTED] = expected
        stated = expected.cards
    known = bool(bundle.manifest.session) or scenario is not None
    columns |= _surfaces(bundle, _layout(reference or stated) if known else None, stages)
    live = columns[Column.LOCAL_AGENT_LIVE]
    if Column.EXPECTED in columns and _unfinished(live):
        detail = "the run ended before its cards did: it did not take the course that the author wrote down"
        columns[Column.EXPECTED] = _unavailable(Column.EXPECTED, detail)
    contexts = projection.contexts if projection is not None else {}
    tries = (*try_cards(columns, reference), *whole_run.tries(bundle, columns, reference, contexts))
    compared = compare(columns, reference, observation=bundle.manifest.observation, tries=tries)
    return Examined(columns=columns, reference=reference, compared=compared)
