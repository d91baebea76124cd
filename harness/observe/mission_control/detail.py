"""*Selected Activity Detail*: a tool's status and metadata, or a task's rows, put together from one page or several.

The window scrolls; pages are joined where their rows overlap. A tool's metadata is JSON, wrapped at the window's
width without regard to words; a task's rows are wrapped between words, which loses the blanks at line ends.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from pyte.screens import Char

from harness.model.facts import CardKind
from harness.observe.mission_control.cast import Shown
from harness.observe.mission_control.jsontext import Json, NotJsonError, parse
from harness.observe.mission_control.panes import find_detail
from harness.observe.mission_control.text import (
    EMPTY,
    Area,
    Joined,
    Text,
    concatenate,
    ends_with_filler,
    unwrap,
)
from harness.spec.bounds import TASK_ACTIVITY_ENTRIES
from harness.spec.facts import facts_of

_OPEN = "▾ Metadata / Params"
_CLOSED = "▸ Metadata / Params"
_TOOL_KINDS = {"code_mode": CardKind.CODE_MODE, "subagents": CardKind.SUBAGENT_BATCH}
_STATUS = re.compile(r"Status: (?P<word>[A-Z]+)")
_TASK_STATUS = re.compile(r"status: \S+ (?P<word>[A-Z]+)")
_TOOL = re.compile(r"Tool • (?P<name>\S+) • ")
_TASK_TYPE = "type: subagent task"
_WRAPPED_BETWEEN_WORDS = "wrapped between words: how many blanks stand at a line's end is not shown"
_NO_CHANCE = 4
"""So many rows are common to two pages only because the window scrolled by less than its height."""
_STRING_PART = re.compile(r'"|\\.?', re.DOTALL)


class Page(NamedTuple):
    """One moment of the window. `blank` is a cell outside of any text."""

    head: list[Text]
    scrolled: Area
    blank: Char

    def body(self, rows: int | None = None) -> list[Text]:
        """What scrolls: all of it, or its first rows."""
        area = self.scrolled
        if rows is not None:
            area = area._replace(bottom=min(area.bottom, area.top + rows - 1))
        return area.rows()


class Metadata(NamedTuple):
    """The JSON under *Metadata / Params*. `text` is its text, `doubts` indexes into it of blanks that may be filler."""

    value: Json
    text: Text
    doubts: tuple[int, ...]


class Detail(NamedTuple):
    """What the window says. `kind` is None when it is no governed card's.

    `status` is the word after *Status*. `metadata` is None when there is none to read; `reason` then says why, and
    `damaged` whether it is there but cannot be read. `rows` are a task's rows by label, each with all its values;
    `body` the first of what scrolls below them: as many rows as a task may have activity entries.
    """

    kind: CardKind | None
    status: Text
    metadata: Metadata | None
    reason: str
    damaged: bool
    rows: dict[str, list[Joined]]
    body: list[Text]


def read_page(shown: Shown) -> Page | None:
    """The window on a screen, or None when it is not open there."""
    window = find_detail(shown.screen)
    if window is None:
        return None
    area = Area(shown.marker, shown.screen, window.top, window.bottom, window.left, window.right)
    blank = shown.screen.cells[window.top - 1][window.left - 2]
    head = area._replace(bottom=window.body - 1).rows()
    return Page(head=head, scrolled=area._replace(top=window.body), blank=blank)


def read_detail(pages: Sequence[Page]) -> Detail:
    """The window from its pages in order, first one first. There must be one at least."""
    first = pages[0]
    head = [row.rstrip() for row in first.head]
    status = next((row.group(match, "word") for row in head if (match := _STATUS.match(row.string))), EMPTY)
    tool = next((match["name"] for row in head if (match := _TOOL.match(row.string))), None)
    if tool is not None:
        metadata, reason, damaged = _metadata(pages)
        return Detail(_TOOL_KINDS.get(tool), status, metadata, reason, damaged, {}, [])
    if any(row.string == _TASK_TYPE for row in head):
        status = next((row.group(match, "word") for row in head if (match := _TASK_STATUS.match(row.string))), EMPTY)
        return Detail(
            CardKind.TASK,
            status,
            None,
            "a task's detail has no metadata",
            False,
            _rows(first),
            first.body(TASK_ACTIVITY_ENTRIES),
        )
    return Detail(None, EMPTY, None, "the detail of something else is open", False, {}, [])


def _metadata(pages: Sequence[Page]) -> tuple[Metadata | None, str, bool]:
    """The metadata, or why there is none and whether it is damaged."""
    body = pages[0].body()
    blank = pages[0].blank
    best = _parse_body(body, blank)
    for number, page in enumerate(pages[1:], 2):
        if isinstance(best, Metadata) and not best.value.cut:
            break
        attempts = _attempts(body, page.body(), blank)
        if len(attempts) != 1:
            why = f"page {number} of the detail cannot be joined to the one before it without doubt"
            return (best, why, False) if isinstance(best, Metadata) else (None, why, False)
        ((best, body),) = attempts
    if isinstance(best, Metadata):
        return best, "", False
    return None, best.reason, best.damaged


class _Unread(NamedTuple):
    reason: str
    damaged: bool


def _attempts(body: list[Text], below: list[Text], blank: Char) -> list[tuple[Metadata, list[Text]]]:
    """Every way to join a page to the rows above it that gives readable JSON in which no member stands twice.

    Few common rows may be common by chance; many may not, so they rule out that the pages only touch.
    """
    found: dict[str, tuple[int, Metadata, list[Text]]] = {}
    for overlap in _overlaps(body, below):
        rows = body + below[overlap:]
        attempt = _parse_body(rows, blank)
        if isinstance(attempt, Metadata) and not _repeats(attempt.value):
            found.setdefault(attempt.text.string, (overlap, attempt, rows))
    if any(overlap >= _NO_CHANCE for overlap, _, _ in found.values()):
        found = {key: value for key, value in found.items() if value[0] > 0}
    return [(metadata, rows) for _, metadata, rows in found.values()]


def _repeats(value: Json) -> bool:
    return bool(value.twice) or any(_repeats(part) for part in (*value.members.values(), *value.items))


def _overlaps(above: list[Text], below: list[Text]) -> list[int]:
    """How many rows may be common to the end of one page and the beginning of the next, most first."""
    strings = [row.string for row in above], [row.string for row in below]
    longest = min(len(above), len(below))
    return [size for size in range(longest, -1, -1) if strings[0][len(above) - size :] == strings[1][:size]]


def _parse_body(body: list[Text], blank: Char) -> Metadata | _Unread:
    start = next((index for index, row in enumerate(body) if row.string.startswith((_OPEN, _CLOSED))), None)
    if start is None:
        return _Unread("the detail shows no metadata", False)
    if body[start].string.startswith(_CLOSED):
        return _Unread("Metadata / Params was not opened", False)
    text, doubts = _json_text(body[start + 1 :], blank)
    try:
        value = parse(text.string)
    except NotJsonError as error:
        return _Unread(f"the metadata is not readable as JSON: {error}", True)
    return Metadata(value, text, doubts)


def _json_text(rows: list[Text], blank: Char) -> tuple[Text, tuple[int, ...]]:
    """Rows of pretty-printed JSON as its text, down to the ruler below it; and where a blank may be filler.

    JSON strings hold no line breaks, so a row that ends inside of a string goes on in the next.
    """
    parts: list[Text] = []
    doubts: list[int] = []
    length = 0
    inside = escaped = False
    for row, following in itertools.zip_longest(rows, rows[1:], fillvalue=EMPTY):
        if not inside and _is_ruler(row.string):
            break
        inside, escaped = _after(row.string, inside, escaped)
        part = row
        if not inside:
            part = row.rstrip()
        elif (filler := ends_with_filler(row, following, blank)) is None:
            doubts.append(length + len(row.string) - 1)
        elif filler:
            part = row.cut(0, -1)
        parts.append(part)
        length += len(part.string)
        if not inside and part.string and len(part.string) < len(row.string):
            parts.append(Text("\n", part.spots[-1:]))
            length += 1
    return concatenate(parts), tuple(doubts)


def _is_ruler(string: str) -> bool:
    return bool(string) and not string.strip("─")


def _after(string: str, inside: bool, escaped: bool) -> tuple[bool, bool]:
    """Whether a JSON string is open after a row, and whether its last character escapes the next row's first."""
    at = 1 if escaped else 0
    escaped = False
    for match in _STRING_PART.finditer(string, at):
        if match.group() == '"':
            inside = not inside
        elif inside:
            escaped = match.group() == "\\"
    return inside, escaped


def _rows(page: Page) -> dict[str, list[Joined]]:
    """A task's rows: each label with everything printed for it."""
    labels = [f"{label}: " for label in facts_of(CardKind.TASK)]
    groups: list[tuple[str, list[Text]]] = []
    for row in page.head:
        label = next((label for label in labels if row.string.startswith(label)), None)
        if label is not None:
            groups.append((label[:-2], [row.cut(len(label))]))
        elif groups:
            groups[-1][1].append(row)
    rows: dict[str, list[Joined]] = {}
    for name, parts in groups:
        joined = unwrap(parts)
        if len(parts) > 1:
            joined = joined._replace(doubt=_WRAPPED_BETWEEN_WORDS)
        rows.setdefault(name, []).append(joined)
    return rows
