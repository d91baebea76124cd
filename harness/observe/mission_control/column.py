"""A Mission Control capture as a column of facts: what is on its screens, matched to the expected cards by position.

The nth governed card on the transcript is the nth root card of the layout; a task is the chip of its number; a detail
is the card that its marker names. Titles never decide which card is which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from harness.model.facts import CardFacts, CardKind, Column, ColumnFacts, Fact, Place, Problem
from harness.model.values import ABSENT, NotComparable, Reason, Value, not_displayed, unreadable
from harness.observe.mission_control import batch_card, report, script_card
from harness.observe.mission_control.cards import Card, find_cards
from harness.observe.mission_control.cast import CARD, DETAIL, END, Shown, decode, replay
from harness.observe.mission_control.detail import Detail, Page, read_detail, read_page
from harness.observe.mission_control.panes import Transcript
from harness.observe.mission_control.seen import Seen, comparable
from harness.observe.mission_control.task_detail import rows_whole, task_facts
from harness.observe.mission_control.text import Text
from harness.spec.facts import facts_of

REQUIREMENT = "general.surface-agreement"
_CARD_MARKER = re.compile(rf"{CARD}(?::[0-9]+)?")
_TASK_MARKER = re.compile(r"task:(?P<path>\S+)")
_DETAIL_MARKER = re.compile(rf"{DETAIL}:(?P<path>[^\s:]+)(?::(?P<page>[0-9]{{1,4}}))?")
_ROOT = re.compile(r"[^/]+/[^/]+")
_TASK = re.compile(r"(?P<batch>.+)/task(?P<number>[0-9]{1,4})")


class ExpectedCard(msgspec.Struct, frozen=True, kw_only=True):
    """A card that a capture should show: its path (see `harness.model.facts`) and kind."""

    path: str
    kind: CardKind


def observe(
    cast: bytes,
    *,
    column: Column,
    file: str,
    release: str,
    layout: Sequence[ExpectedCard],
    complete: bool = True,
    sight: Sight | None = None,
) -> ColumnFacts:
    """The facts that Mission Control showed in `cast`, an asciicast v2, for the cards of `layout`.

    `layout` lists the cards in transcript order, tasks after their batch; root cards are the ones whose path has two
    parts. `file` is the cast's name for places, `release` the version that drew the screens. `complete` False: the
    manifest says that the capture was cut; a cast with markers says so itself by having no `end`. Every label of a
    card's kind is in the result: with what was read, or else with the reason why nothing was. Cards that are not where
    the layout says are problems, unless the capture was cut. Raises DecodeError for bytes that are no cast.
    """
    decoded = decode(cast)
    markers = decoded.markers
    complete = complete and not decoded.cut and (not markers or END in markers)
    return observe_screens(
        replay(decoded),
        column=column,
        file=file,
        release=release,
        layout=layout,
        complete=complete,
        markers=bool(markers),
        sight=sight,
    )


class Sight:
    """How screens are looked at: the governed cards of one, its open window, and what the pages of a window say."""

    def cards(self, shown: Shown) -> tuple[Transcript, list[Card]] | None:
        return find_cards(shown, _starts_line)

    def page(self, shown: Shown) -> Page | None:
        return read_page(shown)

    def detail(self, pages: Sequence[Page]) -> Detail:
        return read_detail(pages)


def observe_screens(
    screens: Iterable[Shown],
    *,
    column: Column,
    file: str,
    release: str,
    layout: Sequence[ExpectedCard],
    complete: bool,
    markers: bool,
    sight: Sight | None = None,
) -> ColumnFacts:
    """`observe` of a capture that was already replayed. `markers`: its recorder marked the moments."""
    reading = _Reading(file, release, layout, complete, sight or Sight())
    any_screen = False
    for shown in screens:
        any_screen = True
        reading.take(shown)
    if not any_screen or not reading.looked:
        why = "the capture ends before a card was on the screen" if markers else "no screen of the capture shows a card"
        unavailable = NotComparable(reason=Reason.CAPTURE_CUT, detail=why)
        return ColumnFacts(column=column, unavailable=unavailable, complete=complete)
    cards, problems = reading.finish()
    return ColumnFacts(column=column, cards=cards, problems=problems, complete=complete)


class _Reading:
    """Everything read so far, card by card."""

    def __init__(self, file: str, release: str, layout: Sequence[ExpectedCard], complete: bool, sight: Sight) -> None:
        self._sight = sight
        self._file = file
        self._release = release
        self._layout = {card.path: card for card in layout}
        self._roots = [card for card in layout if _ROOT.fullmatch(card.path) and card.kind is not CardKind.TASK]
        self._complete = complete
        self._seen: dict[str, list[Seen]] = {card.path: [] for card in layout}
        self._titles: dict[str, Text] = {}
        self._named: dict[str, str] = {}
        self._problems: list[Problem] = []
        self._pages: dict[str, list[Page]] = {}
        self._silence: dict[str, str] = {}
        self._rows_whole: set[str] = set()
        self._reported: set[str] = set()
        self.looked = False

    def take(self, shown: Shown) -> None:
        """Read one moment. Moments that are not ours to read are passed over."""
        if _CARD_MARKER.fullmatch(shown.marker):
            self._take_cards(shown, None)
        elif match := _TASK_MARKER.fullmatch(shown.marker):
            self._take_cards(shown, match["path"])
        elif shown.marker == DETAIL and self._roots:
            self._take_detail(shown, self._roots[-1].path, 1)
        elif (match := _DETAIL_MARKER.fullmatch(shown.marker)) and match["path"] in self._layout:
            self._take_detail(shown, match["path"], int(match["page"] or 1))

    def finish(self) -> tuple[tuple[CardFacts, ...], tuple[Problem, ...]]:
        for path, pages in self._pages.items():
            if pages:
                self._read_pages(path, self._sight.detail(pages))
        for root in self._roots:
            if root.kind is CardKind.SUBAGENT_BATCH and root.path not in self._reported:
                self._seen[root.path] = [_progress(seen) for seen in self._seen[root.path]]
        cards = [self._card(card) for card in self._layout.values()]
        return tuple(card for card in cards if card is not None), tuple(self._problems)

    # The transcript

    def _take_cards(self, shown: Shown, selected: str | None) -> None:
        found = self._sight.cards(shown)
        if found is None:
            self._problem(
                "", "the transcript open to view", "no transcript", Place(file=self._file, marker=shown.marker)
            )
            return
        self.looked = True
        pane, cards = found
        roots = self._roots
        if len(cards) < len(roots) and (pane.above or pane.below or not self._complete):
            # The window shows a part of the transcript: its first cards, or, scrolled to the end, its last.
            roots = roots[len(roots) - len(cards) :] if pane.above and not pane.below else roots[: len(cards)]
            if pane.above and pane.below:
                return
        for card, root in zip(cards, roots, strict=False):
            self._take_card(card, root, selected)
        if selected is not None:
            return
        for card in cards[len(roots) :]:
            self._problem("", "no further card", card.title.string, card.title.name.place(self._file))
        for root in roots[len(cards) :]:
            where = Place(file=self._file, marker=shown.marker)
            self._problem(root.path, f"a {root.kind.value} card", "no such card on the transcript", where)

    def _take_card(self, card: Card, root: ExpectedCard, selected: str | None) -> None:
        if card.title.kind is not root.kind:
            if selected is None:
                where = card.title.name.place(self._file)
                self._problem(root.path, f"a {root.kind.value} card", f"a {card.title.kind.value} card", where)
            return
        if selected is None:
            self._titles.setdefault(root.path, card.title.name)
            self._named.setdefault(root.path, card.title.string)
            if card.cut:
                self._silence[root.path] = "the window ends inside of the card"
        if root.kind is CardKind.CODE_MODE:
            if selected is None:
                self._take_seen(root.path, script_card.card_facts(card), not card.cut)
            return
        roster = batch_card.card_facts(card)
        if selected is None:
            self._take_seen(root.path, roster.batch, not card.cut)
        for number, seen in roster.tasks.items():
            path = f"{root.path}/task{number}"
            wanted = path == selected and roster.panel == number if selected is not None else True
            if wanted and path in self._seen:
                self._seen[path] += seen
                if seen:
                    self._titles.setdefault(path, seen[0].text)
        match = _TASK.fullmatch(selected) if selected is not None else None
        if match and match["batch"] == root.path and roster.panel != int(match["number"]):
            shows = "no task" if roster.panel is None else f"task {roster.panel}"
            where = card.title.name.place(self._file)
            self._problem(selected or "", f"the panel of task {match['number']}", f"the panel of {shows}", where)

    def _take_seen(self, path: str, seen: Iterable[Seen], whole: bool) -> None:
        """Keep readings. `whole`: all rows of the card or window were there to read."""
        seen = list(seen)
        self._seen[path] += seen
        if whole and any(reading.via == "row" for reading in seen):
            self._rows_whole.add(path)

    # Details

    def _take_detail(self, shown: Shown, path: str, number: int) -> None:
        """Keep a page. A first page begins a new reading of its window; pages after a missing one cannot be joined."""
        where = Place(file=self._file, marker=shown.marker)
        page = self._sight.page(shown)
        if page is None:
            self._problem(path, "Selected Activity Detail", "no such window on the screen", where)
            return
        self.looked = True
        pages = self._pages.setdefault(path, [])
        if number == 1:
            pages.clear()
        if number == len(pages) + 1:
            pages.append(page)
        else:
            self._problem(path, f"page {len(pages) + 1} of the detail", f"page {number}", where)

    def _read_pages(self, path: str, detail: Detail) -> None:
        expected = self._layout[path].kind
        if detail.kind is not expected:
            shows = "no governed card" if detail.kind is None else f"a {detail.kind.value} card"
            self._problem(path, f"the detail of a {expected.value} card", f"the detail of {shows}", None)
            return
        if detail.status.string:
            self._titles.setdefault(path, detail.status)
        self._seen[path] += report.status_facts(detail)
        self._silence.setdefault(path, "")
        if expected is CardKind.TASK:
            self._take_seen(path, task_facts(detail), rows_whole(detail))
            if not rows_whole(detail):
                self._silence[path] = "the window cuts its detail off"
        elif detail.metadata is None:
            self._silence[path] = detail.reason
            if detail.damaged:
                labels = [label for label, entry in facts_of(expected).items() if entry.member]
                self._seen[path] += [Seen(label, unreadable(detail.reason), "metadata") for label in labels]
        elif expected is CardKind.CODE_MODE:
            self._seen[path] += report.script_facts(detail.metadata)
        else:
            counted = list(report.batch_facts(detail.metadata))
            self._seen[path] += counted
            if counted:
                self._reported.add(path)
            for task in self._tasks(path):
                self._seen[task] += report.task_facts(detail.metadata, int(task.rpartition("task")[2]))
        if detail.metadata is not None and detail.reason:
            self._silence[path] = detail.reason

    def _tasks(self, path: str) -> Iterable[str]:
        return [
            task for task in self._layout if (match := _TASK.fullmatch(task)) is not None and match["batch"] == path
        ]

    # The result

    def _card(self, card: ExpectedCard) -> CardFacts | None:
        """One card's facts, or None when the capture shows nothing of it."""
        seen = self._seen[card.path]
        shown = bool(seen) or card.path in self._titles or card.path in self._silence
        if not shown:
            return None
        facts: list[Fact] = []
        for label in facts_of(card.kind):
            readings = [reading for reading in seen if reading.label == label]
            told = [reading for reading in readings if comparable(reading.value) or _is_unreadable(reading)]
            facts += [reading.fact(self._file) for reading in told]
            if not told:
                facts.append(readings[0].fact(self._file) if readings else self._not_there(card, label))

        title = self._titles.get(card.path)
        return CardFacts(
            path=card.path,
            kind=card.kind,
            facts=tuple(facts),
            title=self._named.get(card.path),
            place=title.place(self._file) if title is not None else None,
        )

    def _not_there(self, card: ExpectedCard, label: str) -> Fact:
        """The reason for a label of which nothing was read. Where all rows are printed, it is absent among them."""
        if card.path in self._rows_whole:
            return Fact(label=label, value=ABSENT, via="row")
        silence = self._silence.get(card.path)
        if silence is None:
            reason = f"Mission Control {self._release} does not print it on the card, and no detail was opened"
        elif silence:
            reason = f"Mission Control {self._release} does not print it on the card, and {silence}"
        else:
            reason = f"Mission Control {self._release} prints it neither on the card nor in its detail"
        if silence is None and not self._complete:
            value: Value | NotComparable = NotComparable(
                reason=Reason.CAPTURE_CUT, detail="the capture ends before the card's detail was opened"
            )
        else:
            value = not_displayed(reason)
        return Fact(label=label, value=value, via="row")

    def _problem(self, card: str, expected: str, observed: str, place: Place | None) -> None:
        self._problems.append(
            Problem(requirement=REQUIREMENT, card=card, label="", expected=expected, observed=observed, place=place)
        )


def _starts_line(row: str) -> bool:
    return script_card.starts_line(row) or batch_card.starts_line(row)


def _is_unreadable(reading: Seen) -> bool:
    return isinstance(reading.value, Value) and reading.value.state.value == "unreadable"


def _progress(seen: Seen) -> Seen:
    """A figure of a batch's title where no report backs it: display progress, no authoritative count of outcomes."""
    if seen.via != "title":
        return seen
    value = not_displayed("the title shows progress, and no report is shown that would make it a count of outcomes")
    return seen._replace(value=value)
