"""Mission Control, driven by keys and clicks as a person would, with a marker at every screen worth reading.

Markers: ``card`` the transcript at the end of a run, or at its kill; ``task:<path>`` a batch card with that task
selected; ``tree`` the activity tree; ``detail:<path>`` the *Selected Activity Detail* of a card or task; ``end`` when
the reading was finished. What does not fit goes on under the same name with ``:2``, ``:3`` and so on: details page
down, the transcript pages back. Paths are those of `harness.model.facts`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

from harness.model.errors import UsageError
from harness.record import mission_control_screen as layout
from harness.record.mission_control_screen import Grid, Pane
from harness.record.navigation import BATCH_TOOL, Card, cards, governed_paths
from harness.record.terminal_session import END_MARKER, TerminalSession
from harness.record.timing import Clock, Deadlines

ENTER = "\r"
ESCAPE = "\x1b"
PAGE_DOWN = "\x1b[6~"
RIGHT = "\x1b[C"
CTRL_D = "\x04"
CTRL_J = "\n"
CTRL_T = "\x14"
ALT_C = "\x1bc"
_QUIET = 0.04
"""Seconds without change, after what was waited for has come, until a screen counts as finished."""
_NO_CHANGE = 0.25
"""Seconds after which a key that need not change anything has had its time; frames follow keys within 0.03."""
_NEXT_PAGE = 5.0
"""Seconds after which a page that should follow is taken not to come: on a busy machine frames follow late."""
_QUIET_AFTER_TURN = 0.25
_QUIET_AFTER_ESCAPE = 0.1
"""Escape and a key right after it would be one key to the program."""
_COMMANDS = ("/", "!")
_PAGES_LIMIT = 60
WHEEL_UP = 64
WHEEL_DOWN = 65
_LINES_PER_TURN = 3
_OVERLAP = 6


class MissionControl:
    """A running Mission Control; use as a context manager, the process is gone afterwards.

    Every method raises ProductError when the program ends, or does not show within its deadline what the keys ask for.
    """

    def __init__(
        self,
        product: Path,
        *,
        arguments: Sequence[str] = (),
        folder: Path,
        environment: Mapping[str, str],
        size: tuple[int, int],
        deadlines: Deadlines,
        clock: Clock,
        watch: Callable[[], None] = lambda: None,
    ) -> None:
        self._deadlines = deadlines
        self.terminal = TerminalSession(
            [str(product), *arguments], folder=folder, environment=environment, size=size, clock=clock, watch=watch
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.terminal.kill()

    # running

    def wait_ready(self) -> None:
        """Waits until a prompt can be given, with the saved session, if one is resumed, on screen."""
        self.terminal.wait_for(layout.ready, self._deadlines.ready, layout.READY)
        self.terminal.settle(_QUIET, self._deadlines.answer)

    def refused_session_in_use(self) -> bool:
        """Whether the program has ended because another process holds the session's lease."""
        return self.terminal.ended and any(layout.SESSION_IN_USE in row for row in self.terminal.grid())

    def prompt(self, text: str, asked: Callable[[], int]) -> None:
        """Types a prompt, submits it and waits for its turn to begin; `asked` counts the model's requests.

        Raises UsageError for a text that Mission Control takes for a command.
        """
        if text.lstrip().startswith(_COMMANDS):
            raise UsageError(f"Mission Control takes {text[:40]!r} for a command", hint="begin the prompt with a word")
        before, shown = asked(), layout.status(self.terminal.grid())
        self.terminal.press(text.replace("\n", CTRL_J))
        self.terminal.settle(_QUIET, self._deadlines.answer)
        # A text that ends like a file or a tag opens suggestions, which would take the Enter.
        self.terminal.press(ESCAPE)
        self.terminal.settle(_QUIET_AFTER_ESCAPE, self._deadlines.answer)
        self.terminal.press(ENTER)
        self.terminal.wait_for(
            lambda grid: layout.running(grid) or asked() > before or layout.status(grid) not in ("", shown),
            self._deadlines.answer,
            "the turn to begin",
        )

    def cancel(self) -> None:
        """Asks for cancellation of the running turn."""
        self.terminal.press(ALT_C)

    def wait_over(self, saved: Callable[[], bool]) -> None:
        """Waits until the turn is over: the frame offers no cancellation, `saved` says so too, nothing moves."""
        deadline = time.monotonic() + self._deadlines.turn
        while True:
            left = deadline - time.monotonic()
            self.terminal.wait_for(
                lambda grid: layout.status(grid) != "" and not layout.running(grid) and saved(),
                max(left, 0.0),
                "the end of the turn",
            )
            self.terminal.settle(_QUIET_AFTER_TURN, self._deadlines.answer)
            if not layout.running(self.terminal.grid()):
                return

    # reading

    def read(self, turns: Sequence[Sequence[str]]) -> None:
        """Shows every card and marks each screen; `turns` are the names of the tools called in each turn."""
        self._read_transcript(turns)
        if governed_paths(turns):
            self._read_details(turns)
        self.terminal.mark(END_MARKER)

    def quit(self) -> None:
        """Leaves by the product's own key. Raises ProductError when it does not end."""
        self.terminal.press(CTRL_D)
        if not self.terminal.wait_end(self._deadlines.close):
            raise self.terminal.error("the program does not end when it is asked to")

    def _read_transcript(self, turns: Sequence[Sequence[str]]) -> None:
        grid = self.terminal.settle(_QUIET, self._deadlines.answer)
        self.terminal.mark("card")
        pane = layout.transcript(grid)
        if pane is not None and not pane.whole:
            self._page_back()
        batches = [path for path, tool in governed_paths(turns) if tool == BATCH_TOOL]
        for path, buttons in zip(batches, layout.chips(self.terminal.grid()), strict=False):
            for chip in sorted(buttons, key=lambda chip: chip.task):
                before = self.terminal.grid()
                self.terminal.click(chip.row, chip.column)
                self.terminal.wait_change(before, _NO_CHANGE)
                self.terminal.settle(_QUIET, self._deadlines.answer)
                self.terminal.mark(f"task:{path}/task{chip.task}")

    def _page_back(self) -> None:
        """Marks the earlier pages of a transcript that does not fit, then shows its end again."""
        for page in range(2, _PAGES_LIMIT):
            pane = self._scroll(WHEEL_UP)
            self.terminal.mark(f"card:{page}")
            if pane is None or pane.at_start:
                break
        for _ in range(_PAGES_LIMIT):
            pane = self._scroll(WHEEL_DOWN)
            if pane is None or pane.at_end:
                break

    def _scroll(self, wheel: int) -> Pane | None:
        """Turns the wheel over the transcript for a page, less an overlap of a few lines."""
        grid = self.terminal.grid()
        pane = layout.transcript(grid)
        if pane is None:
            return None
        turns = max((pane.bottom - pane.top - _OVERLAP) // _LINES_PER_TURN, 1)
        self.terminal.press(f"\x1b[<{wheel};{pane.left + 2};{pane.top + 2}M" * turns)
        self.terminal.wait_change(grid, _NO_CHANGE)
        return layout.transcript(self.terminal.settle(_QUIET_AFTER_TURN, self._deadlines.answer))

    def _read_details(self, turns: Sequence[Sequence[str]]) -> None:
        self.terminal.press(CTRL_T)
        self.terminal.wait_for(lambda grid: layout.tree(grid) is not None, self._deadlines.answer, "the activity tree")
        grid = self.terminal.settle(_QUIET, self._deadlines.answer)
        pane = self._tree(grid)
        if not pane.whole:
            pane = self._fold(turns)
        self.terminal.mark("tree")
        for card in cards(layout.tree_rows(self.terminal.grid(), pane), turns):
            self._read_detail(card)
        self.terminal.press(ESCAPE)
        self.terminal.wait_for(lambda grid: layout.tree(grid) is None, self._deadlines.answer, "the tree to close")

    def _fold(self, turns: Sequence[Sequence[str]]) -> Pane:
        """Folds a tree that does not fit, so that top-level cards can be reached, then unfolds its batches."""
        grid = self._press_and_see(ALT_C)
        pane = self._tree(grid)
        for batch in reversed(cards(layout.tree_rows(grid, pane), turns)):
            if batch.row.tool == BATCH_TOOL and batch.row.folded:
                self._open_detail(batch)
                self._close_detail()
                self._press_and_see(RIGHT)
        return self._tree(self.terminal.grid())

    def _press_and_see(self, key: str) -> Grid:
        """Presses a key that changes the screen, and waits for that: on a busy machine a quiet screen may be an old
        one."""
        before = self.terminal.grid()
        self.terminal.press(key)
        self.terminal.wait_change(before, _NEXT_PAGE)
        return self.terminal.settle(_QUIET, self._deadlines.answer)

    def _read_detail(self, card: Card) -> None:
        self._open_detail(card)
        self._show_metadata()
        self.terminal.mark(f"detail:{card.path}")
        for page in range(2, _PAGES_LIMIT):
            grid = self.terminal.grid()
            pane = layout.modal(grid)
            if pane is None or pane.at_end or layout.output_heading(grid, pane):
                break
            self.terminal.press(PAGE_DOWN)
            if not self.terminal.wait_change(grid, _NEXT_PAGE):
                break
            self.terminal.settle(_QUIET, self._deadlines.answer)
            self.terminal.mark(f"detail:{card.path}:{page}")
        self._close_detail()

    def _open_detail(self, card: Card) -> None:
        self.terminal.click(card.row.row, card.row.column)
        self._wait_modal(lambda pane: pane is not None, f"the detail of {card.path}")
        self.terminal.settle(_QUIET, self._deadlines.answer)

    def _close_detail(self) -> None:
        self.terminal.press(ESCAPE)
        self._wait_modal(lambda pane: pane is None, "the detail to close")
        self.terminal.settle(_QUIET, self._deadlines.answer)

    def _show_metadata(self) -> None:
        """Unfolds the metadata, where the activity has any."""
        grid = self.terminal.grid()
        pane = layout.modal(grid)
        toggle = layout.metadata_toggle(grid, pane) if pane is not None else None
        if toggle is None or toggle[2]:
            return
        self.terminal.click(toggle[0], toggle[1])

        def unfolded(grid: Grid) -> bool:
            pane = layout.modal(grid)
            found = layout.metadata_toggle(grid, pane) if pane is not None else None
            return found is not None and found[2]

        self.terminal.wait_for(unfolded, self._deadlines.answer, "the metadata to unfold")
        self.terminal.settle(_QUIET, self._deadlines.answer)

    def _wait_modal(self, condition: Callable[[Pane | None], bool], what: str) -> None:
        self.terminal.wait_for(lambda grid: condition(layout.modal(grid)), self._deadlines.answer, what)

    def _tree(self, grid: Grid) -> Pane:
        pane = layout.tree(grid)
        if pane is None:
            raise self.terminal.error("the activity tree is not open")
        return pane
