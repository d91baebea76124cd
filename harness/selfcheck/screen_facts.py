"""Mutants of what Mission Control shows: digits, words, labels, marks, rows, and colours, drawn where they are read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pyte.screens import Char

from harness.model.facts import CardFacts, Column, Fact, Place
from harness.model.values import State, Value
from harness.model.verdict import FactRow
from harness.observe.mission_control.panes import find_detail, find_transcript
from harness.selfcheck.mutant import Baseline, Mutant, OnScreen
from harness.selfcheck.screens import Drawing, Screens, redraw, scrolled_away
from harness.selfcheck.subject import Subject
from harness.selfcheck.values import NUMBERS, OFF, repairs, says, undecidable
from harness.spec.facts import FactSpec, FactType, facts_of
from harness.terminal import Snapshot

MISSION_CONTROL = (Column.MISSION_CONTROL_LIVE, Column.MISSION_CONTROL_REOPEN)
_CHIPS = {"success": "✓", "failure": "✗", "cancelled": "⊘", "running": "●"}
_NO_OUTCOME = "○"
_NULLS = {"row": ("not reported", "unavailable"), "metadata": ("null", "null")}
"""How a row on a card and one in a window, and a member of the metadata, spell that a value is not known."""
_WORDS = {
    "SUCCESS": "FAILED",
    "FAILED": "SUCCESS",
    "CANCELED": "SUCCESS",
    "INTERRUPTED": "SUCCESS",
    "RUNNING": "FAILED",
}
_SUMMARIES = {
    "Script completed": "Script failed",
    "Script failed": "Script completed",
    "Script canceled": "Script completed",
    "Script interrupted": "Script completed",
}
_COLOUR = "ff005f"
_COLOUR_ONLY = "a colour is no fact"
_SETTLED = "a batch's title counts settled tasks: display progress, no authoritative count (batch.progress-block)"
_GAP = 3
_EMPTY = (" ", "─")
"""So many of these end what stands in one piece on a row."""


class _Spot(NamedTuple):
    """One reading, with the row of cells that it was read from. `first`, `last`: 1-based columns of its text there."""

    subject: Subject
    screens: Screens
    moment: int
    column: Column
    card: CardFacts
    fact: Fact
    row: FactRow
    place: Place
    screen: Snapshot
    line: int
    first: int
    last: int

    @property
    def cells(self) -> tuple[Char, ...]:
        return self.screen.cells[self.line - 1]

    @property
    def shown(self) -> str:
        return "".join(cell.data for cell in self.cells[self.first - 1 : self.last])

    @property
    def entry(self) -> FactSpec:
        return facts_of(self.card.kind)[self.fact.label]

    def mutant(self, class_: str, kind: str, requirement: str, drawing: Drawing | None, equivalent: str = "") -> Mutant:
        value = self.fact.value
        return Mutant(
            class_=class_,
            kind=kind,
            requirement=requirement,
            where=self.column.value,
            card=self.card.path,
            label=self.fact.label,
            ordinal=self.fact.ordinal,
            card_kind=self.card.kind.value,
            state=f"{self.fact.via} {value.state.value if isinstance(value, Value) else ''}",
            equivalent=equivalent,
            drawn=None if drawing is None else OnScreen(self.subject.captures[self.column], self.moment, drawing),
        )


def screen_facts(subject: Subject, baseline: Baseline) -> Iterator[Mutant]:
    """Every mutant of every reading on both columns of Mission Control."""
    for column in MISSION_CONTROL:
        capture = subject.captures.get(column)
        facts = baseline.examined.columns.get(column)
        if capture is None or facts is None or not facts.cards:
            continue
        screens = subject.screens(capture)
        if not screens.markers:
            continue
        spots: list[_Spot] = []
        for card in facts.cards:
            for fact in card.facts:
                row = baseline.rows.get((card.path, fact.label, fact.ordinal))
                if row is None or not says(fact.value) or fact.place is None:
                    continue
                if (spot := _spot(subject, screens, column, (card, fact, row), fact.place)) is not None:
                    spots.append(spot)
        outcomes = [spot for spot in spots if spot.fact.label == "Task outcome" and spot.fact.via == "metadata"]
        for spot in spots:
            for mutant in (*_of_spot(spot), *_counted(spot, outcomes)):
                if mutant.drawn is not None:
                    yield mutant


def _spot(
    subject: Subject, screens: Screens, column: Column, what: tuple[CardFacts, Fact, FactRow], place: Place
) -> _Spot | None:
    moment = screens.index(place.marker or "")
    if moment is None or place.row is None or place.columns is None:
        return None
    card, fact, row = what
    return _Spot(
        subject=subject,
        screens=screens,
        moment=moment,
        column=column,
        card=card,
        fact=fact,
        row=row,
        place=place,
        screen=screens.shown[moment].screen,
        line=place.row,
        first=place.columns[0],
        last=place.columns[1],
    )


def _of_spot(spot: _Spot) -> Iterator[Mutant]:
    text = spot.fact.value.text if isinstance(spot.fact.value, Value) else None
    state = spot.fact.value.state if isinstance(spot.fact.value, Value) else State.ABSENT
    entry = spot.entry
    if state is State.ABSENT:
        return
    if spot.fact.via == "chip" and spot.fact.label == "Task outcome":
        yield from _chip(spot, text)
    elif spot.fact.via == "metadata" and entry.card.value == "subagent_batch":
        pass  # counted over the printed tasks: attacked there, task by task
    else:
        yield from _values(spot, entry, text)
    yield from _label(spot)
    if spot.fact.via in ("row", "metadata", "line", "summary", "title"):
        blank = spot.cells[spot.last :][:1] or spot.cells[:1]
        row = _blanked(spot, blank[0])
        yield spot.mutant("screen-row", "blanked", entry.requirement, row)
        yield spot.mutant("screen-row", "scrolled away", entry.requirement, _scrolled(spot))
    cells = [cell._replace(fg=_COLOUR) if cell.data else cell for cell in spot.cells[spot.first - 1 : spot.last]]
    if spot.shown.strip() and not spot.shown.endswith(" "):
        drawing = redraw(spot.screen, spot.line, spot.first, cells)
        yield spot.mutant("no-fact", "another colour", "general.surface-agreement", drawing, _COLOUR_ONLY)
    if spot.fact.label == "Tasks total" and spot.fact.via == "title":
        yield spot.mutant("no-fact", "settled tasks", "batch.progress-block", _settled(spot), _SETTLED)


def _values(spot: _Spot, entry: FactSpec, text: str | None) -> Iterator[Mutant]:
    """Other values, drawn in place of the one that is shown."""
    if text is None:
        yield from _invented(spot, entry)
        return
    whole = entry.type is not FactType.TEXT or spot.shown.strip('"') == text
    if spot.fact.via in _NULLS and whole:
        outer = 0 if spot.card.kind.value != "task" else 1
        yield from _other(spot, "null", None, _NULLS[spot.fact.via][outer], "screen-null")
    if entry.type in NUMBERS and spot.shown == text:
        yield from _numbers(spot, text)
    elif entry.type is FactType.TEXT:
        yield from _letter(spot, entry, text)
    elif spot.shown in ("true", "false"):
        flipped = "false" if spot.shown == "true" else "true"
        value = _QUALIFIERS[flipped] if entry.label == "Change count qualifier" and text in _QUALIFIED else flipped
        yield from _other(spot, "the other word", value, flipped)
    elif spot.shown.strip('"') == text and entry.type is FactType.ENUMERATION:
        for word in entry.members:
            if word != text:
                yield from _other(spot, f"member {word}", word, spot.shown.replace(text, word))
    elif (other := (_WORDS | _SUMMARIES).get(spot.shown)) is not None:
        yield spot.mutant("screen-value", "another word", entry.requirement, written(spot, other))


_QUALIFIERS = {"true": "at_least", "false": "exact"}
_QUALIFIED = tuple(_QUALIFIERS.values())


def _other(spot: _Spot, kind: str, value: str | None, drawn: str, class_: str = "screen-value") -> Iterator[Mutant]:
    if not repairs(spot.row, spot.column, value):
        why = undecidable(spot.row, spot.column, value)
        yield spot.mutant(class_, kind, spot.entry.requirement, written(spot, drawn), why)


def _invented(spot: _Spot, entry: FactSpec) -> Iterator[Mutant]:
    """Values where the surface says that there is none, and has a place for one."""
    if spot.fact.via not in _NULLS:
        return
    if entry.type in NUMBERS:
        yield from _other(spot, "a number instead of null", str(OFF), str(OFF), "screen-null")
        yield from _other(spot, "zero instead of null", "0", "0", "screen-null")
    elif entry.type is FactType.TEXT:
        drawn = '"some"' if spot.fact.via == "metadata" else "some"
        yield from _other(spot, "text instead of null", "some", drawn, "screen-null")
    elif entry.type is FactType.BOOLEAN:
        yield from _other(spot, "true instead of null", "true", "true", "screen-null")
    elif spot.fact.via == "row":
        yield from _other(spot, "a member instead of null", entry.members[0], entry.members[0], "screen-null")


def _numbers(spot: _Spot, text: str) -> Iterator[Mutant]:
    number = int(text) if text.isascii() and text.isdecimal() else 0
    digit = text[:-1] + str((int(text[-1]) + 3) % 10)
    yield from _other(spot, "another digit", digit, digit)
    yield from _other(spot, "one more", str(number + 1), str(number + 1))
    if number:
        yield from _other(spot, "one less", str(number - 1), str(number - 1))
        yield from _other(spot, "zeroed", "0", "0")
    if spot.fact.via in ("row", "title", "summary"):
        zeroed = written(spot, f"0{text}")
        yield spot.mutant("screen-value", "leading zero", "general.count-spelling", zeroed)


def _letter(spot: _Spot, entry: FactSpec, text: str) -> Iterator[Mutant]:
    """One letter of a text changed, the last that is shown on its first row."""
    index = next((at for at in range(spot.last, spot.first - 1, -1) if spot.cells[at - 1].data.isalnum()), None)
    if index is None or not spot.cells[index - 1].data.isascii():
        return
    cell = spot.cells[index - 1]
    changed = cell._replace(data="y" if cell.data == "x" else "x")
    why = undecidable(spot.row, spot.column, f"{text[:-1]}\0")
    drawing = redraw(spot.screen, spot.line, index, [changed])
    yield spot.mutant("screen-value", "another letter", entry.requirement, drawing, why)


def _chip(spot: _Spot, text: str | None) -> Iterator[Mutant]:
    """A task's mark exchanged for that of another outcome."""
    cell = spot.cells[spot.first - 1]
    for outcome, mark in _CHIPS.items():
        if outcome == text or repairs(spot.row, spot.column, outcome):
            continue
        why = undecidable(spot.row, spot.column, outcome)
        drawing = redraw(spot.screen, spot.line, spot.first, [cell._replace(data=mark)])
        yield spot.mutant("screen-chip", f"mark of {outcome}", "task.task-outcome", drawing, why)
    none = redraw(spot.screen, spot.line, spot.first, [cell._replace(data=_NO_OUTCOME)])
    yield spot.mutant("screen-chip", "mark of no outcome", "task.task-outcome", none)


_COUNTED = {
    "Tasks done": "success",
    "Tasks failed": "failure",
    "Tasks running": "running",
    "Tasks unknown": "unknown",
    "Tasks cancelled": "cancelled",
}


def _counted(spot: _Spot, outcomes: Sequence[_Spot]) -> Iterator[Mutant]:
    """A batch's counts, where they are counted over the tasks that the metadata print: one task ends otherwise."""
    word = _COUNTED.get(spot.fact.label)
    if word is None or spot.fact.via != "metadata":
        return
    tasks = [task for task in outcomes if task.card.path.rpartition("/task")[0] == spot.card.path]
    for task in tasks:
        ended = task.fact.value.text if isinstance(task.fact.value, Value) else None
        if ended is None:
            continue
        other = word if ended != word else ("failure" if word == "success" else "success")
        kind = "one more" if ended != word else "one less"
        drawn = written(task, f'"{other}"')
        yield spot.mutant("screen-value", kind, spot.entry.requirement, drawn)._replace(
            drawn=None if drawn is None else OnScreen(spot.subject.captures[spot.column], task.moment, drawn)
        )


def _label(spot: _Spot) -> Iterator[Mutant]:
    """A letter of what names the value: the label before it, or the words after a count."""
    requirement = "general.exact-labels" if spot.fact.via == "row" else spot.entry.requirement
    before = spot.first - 1
    if spot.fact.via in ("row", "metadata"):
        at = next((column for column in range(before, 0, -1) if spot.cells[column - 1].data.isalpha()), None)
    elif spot.fact.via in ("title", "summary") and spot.shown.isdecimal():
        end = min(spot.last + 3, spot.screen.columns)
        at = next((column for column in range(spot.last + 1, end) if spot.cells[column - 1].data.isalpha()), None)
        if at is None and spot.cells[before - 1].data.isalpha():
            at = before
    else:
        return
    if at is None or before - at > 6:
        return
    cell = spot.cells[at - 1]
    changed = cell._replace(data="z" if cell.data != "z" else "q")
    kind = f"a letter of the {'label' if spot.fact.via in ('row', 'metadata') else 'words'}"
    yield spot.mutant("screen-label", kind, requirement, redraw(spot.screen, spot.line, at, [changed]))


def written(spot: _Spot, text: str) -> Drawing | None:
    """A drawing of other text in the place of the reading's; what follows on the row is moved. None without room."""
    cells = spot.cells
    style = cells[spot.first - 1]
    tail_end = _end_of_piece(cells, spot.last)
    tail = cells[spot.last : tail_end]
    new = [style._replace(data=char) for char in text]
    grown = len(new) - (spot.last - spot.first + 1)
    blank = cells[tail_end] if tail_end < len(cells) else style._replace(data=" ")
    if grown > 0:
        room = cells[tail_end : tail_end + grown]
        if len(room) < grown or any(cell.data not in _EMPTY for cell in room):
            return None
        return redraw(spot.screen, spot.line, spot.first, [*new, *tail])
    return redraw(spot.screen, spot.line, spot.first, [*new, *tail, *[blank] * -grown])


def _end_of_piece(cells: Sequence[Char], start: int) -> int:
    """Index where the text from `start` on ends: at the first gap, or at the end of the row."""
    blanks = 0
    for index in range(start, len(cells)):
        blanks = blanks + 1 if cells[index].data in _EMPTY else 0
        if blanks == _GAP:
            return index - _GAP + 1
    return len(cells)


_BORDERS = re.compile(r"[│┃╭╮╰╯┌┐└┘↑↓]")


def _blanked(spot: _Spot, blank: Char) -> Drawing:
    """The whole row between the frames that it stands in, without its text."""
    left = next((at for at in range(spot.first - 1, 0, -1) if _BORDERS.match(spot.cells[at - 1].data)), 0)
    end = len(spot.cells)
    right = next((at for at in range(spot.last + 1, end) if _BORDERS.match(spot.cells[at - 1].data)), end)
    empty = blank._replace(data=" ")
    return redraw(spot.screen, spot.line, left + 1, [empty] * (right - left - 1))


def _scrolled(spot: _Spot) -> Drawing | None:
    """The row gone from its pane, the rows below one higher."""
    pane = find_detail(spot.screen) or find_transcript(spot.screen)
    if pane is None or not pane.top <= spot.line < pane.bottom:
        return None
    return scrolled_away(spot.screen, spot.line, pane.bottom)


def _settled(spot: _Spot) -> Drawing | None:
    """In ``3/4 settled``: the 3 replaced."""
    at = spot.first - 2
    if at < 1 or spot.cells[at].data != "/" or not spot.cells[at - 1].data.isdecimal():
        return None
    cell = spot.cells[at - 1]
    return redraw(spot.screen, spot.line, at, [cell._replace(data=str((int(cell.data) + 1) % 10))])
