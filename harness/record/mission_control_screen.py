"""Where things stand on Mission Control's screen: what the driver must find to know what to press and to click.

Pure functions over a grid: one string per screen row, one character per column. They know frames and positions only;
what the facts on the screen say is read elsewhere, from the evidence. All rows and columns are 1-based.
"""

from __future__ import annotations

import re

import msgspec

READY = "Mission Control ready"
SESSION_IN_USE = "another magi-code process is using it"
_CANCEL_HINT = "[Alt-C] to"
_TREE_TITLE = "┌Activity Tree"
_MODAL_TITLE = "┌ Selected Activity Detail"
_TREE_ROW = re.compile(
    r" (?:\d\d:\d\d:\d\d )?(?P<indent>(?:  )*)(?P<mark>[▾▸•]) (?P<glyph>\S) (?P<label>.*?)\s*[↑↓┃│]?\s*"
)
_TASK = re.compile(r"agent • g(?P<number>\d+)(?: |$)")
_CHIP = re.compile(r"\[g(?P<number>\d+)[ \]]")
_INDENT = 2
_THUMB = "┃"
_TRACK_ENDS = "↑↓"

Grid = list[str]


class TreeRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the activity tree. `column` is a place to click on, `depth` starts at 0, `label` may be cut short.

    `folded`: the row has children that are not shown. `task`: number of the delegated task that the row is, or None.
    """

    row: int
    column: int
    depth: int
    folded: bool
    label: str
    task: int | None

    @property
    def tool(self) -> str:
        """The tool's name, "" for rows that are no tool call."""
        word = self.label.split(" ", 1)[0]
        return "" if word == "agent" else word


class Pane(msgspec.Struct, frozen=True, kw_only=True):
    """A framed pane with a scroll bar. `at_start`, `at_end`: the first, the last of its content shows."""

    top: int
    bottom: int
    left: int
    right: int
    at_start: bool
    at_end: bool

    @property
    def whole(self) -> bool:
        """Whether all of the content shows."""
        return self.at_start and self.at_end


class Chip(msgspec.Struct, frozen=True, kw_only=True):
    """The button of one task on a batch's card."""

    row: int
    column: int
    task: int


def status(grid: Grid) -> str:
    """The text at the head of the prompt's frame, "" while there is none."""
    for row in reversed(grid):
        if row.startswith("┌"):
            return re.split(r"─| \[Alt-[MT]\]", row[1:], maxsplit=1)[0].strip()
    return ""


def ready(grid: Grid) -> bool:
    return status(grid).startswith(READY)


def running(grid: Grid) -> bool:
    """Whether a turn is under way: then, and only then, the prompt's frame offers to cancel."""
    return _CANCEL_HINT in status(grid)


def tree(grid: Grid) -> Pane | None:
    """The activity tree's pane, None while it is not open."""
    return _pane(grid, _TREE_TITLE)


def tree_rows(grid: Grid, pane: Pane) -> tuple[TreeRow, ...]:
    """The rows that show in the activity tree, top down."""
    found = []
    for row in range(pane.top + 1, pane.bottom):
        match = _TREE_ROW.fullmatch(grid[row - 1][pane.left : pane.right - 1])
        if match is None:
            continue
        task = _TASK.match(match["label"])
        found.append(
            TreeRow(
                row=row,
                column=pane.left + 1 + match.start("label"),
                depth=len(match["indent"]) // _INDENT,
                folded=match["mark"] == "▸",
                label=match["label"],
                task=int(task["number"]) if task else None,
            )
        )
    return tuple(found)


def modal(grid: Grid) -> Pane | None:
    """The pane of *Selected Activity Detail*, None while it is not open."""
    return _pane(grid, _MODAL_TITLE)


def metadata_toggle(grid: Grid, pane: Pane) -> tuple[int, int, bool] | None:
    """Row, column and openness of the line that shows or hides an activity's metadata; None without such a line."""
    for row in range(pane.top + 1, pane.bottom):
        inside = grid[row - 1][pane.left : pane.right - 1]
        for mark, is_open in (("▸", False), ("▾", True)):
            if inside.startswith(f" {mark} Metadata"):
                return row, pane.left + 2, is_open
    return None


def output_heading(grid: Grid, pane: Pane) -> bool:
    """Whether the heading shows that follows an activity's metadata."""
    return any("Sanitized Output" in grid[row - 1][pane.left : pane.right - 1] for row in range(pane.top, pane.bottom))


def transcript(grid: Grid) -> Pane | None:
    """The transcript's pane, None while it is covered or another page shows."""
    return _pane(grid, "┌Transcript")


def chips(grid: Grid) -> tuple[tuple[Chip, ...], ...]:
    """The task buttons of every batch card that shows, top down.

    Buttons of one card stand in one row or, when they are many, in rows without another between them, in the order
    in which the tasks started.
    """
    cards: list[list[Chip]] = []
    for number, row in enumerate(grid, start=1):
        found = [Chip(row=number, column=match.start() + 2, task=int(match["number"])) for match in _CHIP.finditer(row)]
        if found and cards and cards[-1][-1].row == number - 1:
            cards[-1] += found
        elif found:
            cards.append(found)
    return tuple(tuple(card) for card in cards)


def _pane(grid: Grid, title: str) -> Pane | None:
    for number, text in enumerate(grid, start=1):
        start = text.find(title)
        if start < 0:
            continue
        end = text.find("┐", start)
        bottom = next((row for row in range(number + 1, len(grid) + 1) if grid[row - 1][start : start + 1] == "└"), 0)
        if end < 0 or not bottom:
            return None
        track = _track(grid, number, bottom, start, end)
        return Pane(
            top=number,
            bottom=bottom,
            left=start + 1,
            right=end + 1,
            at_start=not track or track[0] == _THUMB,
            at_end=not track or track[-1] == _THUMB,
        )
    return None


def _track(grid: Grid, top: int, bottom: int, left: int, right: int) -> str:
    """The scroll bar's track between its arrows, top down; "" for a pane without a bar."""
    for column in range(right - 1, max(left, right - 4), -1):
        bar = "".join(grid[row - 1][column : column + 1] or " " for row in range(top + 1, bottom))
        begin, end = bar.find(_TRACK_ENDS[0]), bar.rfind(_TRACK_ENDS[1])
        if 0 <= begin < end:
            return bar[begin + 1 : end]
    return ""
