"""Where the governed cards stand in the transcript: their titles, and the rows, boxes and lines between two titles.

A card is found by the shape of its title row (optional outcome mark, the card's name as text or as two rows of block
letters, figures, time of day), and it ends where the next title of any card begins.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from harness.model.facts import CardKind
from harness.observe.mission_control.cast import Shown
from harness.observe.mission_control.panes import Transcript, find_transcript
from harness.observe.mission_control.text import EMPTY, Area, Joined, Text, read, unwrap

MARKS = "✓✗⚠⊘●○"
"""The product's outcome marks: success, failure, warnings, cancelled, running, none yet."""
_NAMES = {CardKind.CODE_MODE: "Code Mode", CardKind.SUBAGENT_BATCH: "Subagents"}
_LETTERS = {
    CardKind.CODE_MODE: ("█▀▀ █▀█ █▀▄ █▀▀   █▀▄▀█ █▀█ █▀▄ █▀▀", "█▄▄ █▄█ █▄▀ ██▄   █ ▀ █ █▄█ █▄▀ ██▄"),
    CardKind.SUBAGENT_BATCH: ("█▀▀ █ █ █▄▄ ▄▀█ █▀▀ █▀▀ █▄ █ ▀█▀ █▀▀", "▄▄█ █▄█ █▄█ █▀█ █▄█ ██▄ █ ▀█  █  ▄▄█"),
}
_BEFORE_TITLE = re.compile(r" {0,4}(?:\S )?")
_AFTER_TITLE = re.compile(r"(?P<figures>(?: • [^•]*?[^• ])*)(?P<time>  +\d\d:\d\d:\d\d)? *")
_TIME_AT_END = re.compile(r"(?:^|  )\d\d:\d\d:\d\d {1,2}$")
_TIME_AT_START = re.compile(r"^ {0,3}\d\d:\d\d:\d\d \| ")
_BLOCKS = re.compile(r"[█▀▄ ]*[█▀▄][█▀▄ ]{6,}")
_FULL_ROW_BLANKS = 1
"""A wrapped row leaves at most one cell blank at its end: a blank of the text, or no room for a wide glyph."""


class Title(NamedTuple):
    """A card's title. `figures` are the parts after the name; `tokens` stands in the lower row of block letters."""

    kind: CardKind
    height: int
    name: Text
    figures: tuple[Text, ...]
    tokens: Text

    @property
    def string(self) -> str:
        return " • ".join([_NAMES[self.kind], *(figure.string for figure in self.figures)])


class Box(NamedTuple):
    """A frame in a card: the text in its upper border, its rows whole, and whether its lower border is there."""

    title: Text
    rows: tuple[Text, ...]
    closed: bool


class Card(NamedTuple):
    """One governed card on one screen, from top to bottom. `lines` are unwrapped texts outside of boxes; `cut`: the
    window ends inside of the card."""

    title: Title
    boxes: tuple[Box, ...]
    lines: tuple[Joined, ...]
    cut: bool


def find_cards(shown: Shown, starts: Callable[[str], bool]) -> tuple[Transcript, list[Card]] | None:
    """The governed cards of a screen in transcript order, or None when no transcript is open to view.

    `starts` says whether a row's text begins a line of its own rather than continuing a wrapped one.
    """
    pane = find_transcript(shown.screen)
    if pane is None or pane.covered:
        return None
    area = Area(shown.marker, shown.screen, pane.top, pane.bottom, pane.left, pane.right)
    strings = area.strings()
    titles: list[tuple[int, Title]] = []
    ends: list[int] = []
    for index, row in enumerate(strings):
        title = _title(area, index, strings)
        if title is not None:
            titles.append((index + title.height, title))
        if title is not None or _any_title(row, strings[index + 1] if index + 1 < len(strings) else ""):
            ends.append(index)
    cards = []
    for first, title in titles:
        end = next((index for index in ends if index >= first), len(strings))
        rows = [area.row(area.top + index) if strings[index].strip() else EMPTY for index in range(first, end)]
        cards.append(_card(area, title, rows, end == len(strings) and pane.below, starts))
    return pane, cards


def _title(area: Area, index: int, strings: list[str]) -> Title | None:
    string = strings[index]
    for kind, name in _NAMES.items():
        top, bottom = _LETTERS[kind]
        for letters in (top, name):
            at = string.find(letters)
            if at < 0 or not _BEFORE_TITLE.fullmatch(string[:at]):
                continue
            blocks = letters is top
            if blocks and strings[index + 1 : index + 2] and strings[index + 1][at : at + len(bottom)] != bottom:
                continue
            after = _AFTER_TITLE.fullmatch(string, at + len(letters))
            if after is None or (not blocks and after["time"] is None):
                continue
            row = area.row(area.top + index)
            lower = area.row(area.top + index + 1) if blocks and index + 1 < len(strings) else EMPTY
            return Title(
                kind=kind,
                height=2 if blocks else 1,
                name=row.cut(at, after.end("figures")),
                figures=tuple(split(row.group(after, "figures"), " • ")[1:]),
                tokens=lower.cut(at + len(bottom)).strip(),
            )
    return None


def split(text: Text, separator: str) -> list[Text]:
    """`str.split` for text that knows its cells."""
    parts: list[Text] = []
    at = 0
    for part in text.string.split(separator):
        parts.append(text.cut(at, at + len(part)))
        at += len(part) + len(separator)
    return parts


def _any_title(row: str, following: str) -> bool:
    if _TIME_AT_END.search(row) or _TIME_AT_START.search(row):
        return True
    return bool(_BLOCKS.match(row.strip()) and _BLOCKS.match(following.strip()))


def _card(area: Area, title: Title, rows: list[Text], cut: bool, starts: Callable[[str], bool]) -> Card:
    contents = [row.strip() for row in rows]
    left = _indent(contents, area.left)
    boxes: list[Box] = []
    runs: list[list[Text]] = [[]]
    index = 0
    while index < len(rows):
        content = contents[index]
        if content.string.startswith("╭") and content.string.endswith("╮"):
            box, index = _box(area, rows, index)
            boxes.append(box)
            runs.append([])
            continue
        if content.string:
            first = content.spots[0]  # wrapped lines go on further left than they begin
            runs[-1].append(read(area.marker, area.screen, first.row, min(left, first.first), area.right - 2))
        else:
            runs.append([])
        index += 1
    lines = tuple(line for run in runs for line in _lines(run, starts))
    return Card(title=title, boxes=tuple(boxes), lines=lines, cut=cut)


def _indent(contents: list[Text], default: int) -> int:
    """The column at which most rows of a card's body begin."""
    columns = Counter(content.spots[0].first for content in contents if content.spots)
    return min(columns, key=lambda column: (-columns[column], column), default=default)


def _box(area: Area, rows: list[Text], top: int) -> tuple[Box, int]:
    border = rows[top].strip()
    left, right = border.spots[0].first, border.spots[-1].last
    inner: list[Text] = []
    index = top + 1
    closed = False
    while index < len(rows):
        content = rows[index].strip()
        if content.string.startswith("╰"):
            closed = True
            index += 1
            break
        if not content.string.startswith("│"):
            break
        inner.append(read(area.marker, area.screen, content.spots[0].row, left + 2, right - 2))
        index += 1
    end = len(border.string[:-1].rstrip("─"))
    return Box(title=border.cut(1, end).strip(), rows=tuple(inner), closed=closed), index


def _lines(rows: list[Text], starts: Callable[[str], bool]) -> list[Joined]:
    """Rows of one run as the lines that were wrapped: a row goes on when it is full and the next begins no line."""
    groups: list[list[Text]] = []
    for row in rows:
        goes_on = groups and _is_full(groups[-1][-1]) and not starts(row.string)
        if goes_on:
            groups[-1].append(row)
        else:
            groups.append([row])
    return [unwrap(group) for group in groups]


def _is_full(row: Text) -> bool:
    return len(row.string) - len(row.string.rstrip(" ")) <= _FULL_ROW_BLANKS


def boxed(box: Box) -> Joined:
    """The text in a box. Blanks at the end of its last row are not text."""
    rows = list(box.rows)
    while rows and not rows[-1].string.strip():
        rows.pop()
    return unwrap(rows)
