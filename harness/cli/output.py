"""What commands print: tables and verdicts for people, JSON for scripts, progress on standard error.

Everything that comes from evidence passes `plain`, so that no terminal escape of a recording reaches this terminal.
How much is printed is one of three levels, the same for every command: `say` is the result and always printed, `note`
explains it and is left out by ``--quiet``, `detail` is printed for ``--verbose`` only. `warn` is always printed, on
standard error, so that it is never taken for a result.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from harness.model.verdict import Agreement, Verdict

AGREEMENT_MARKS = {
    Agreement.AGREE: ("=", "green"),
    Agreement.DISAGREE: ("≠", "bold red"),
    Agreement.NOT_COMPARABLE: ("·", "dim"),
}
VERDICT_STYLES = {
    Verdict.ACCEPTED: "bold green",
    Verdict.REJECTED: "bold red",
    Verdict.INSUFFICIENT: "bold yellow",
    Verdict.TAMPERED: "bold magenta",
}
_LONGEST = 400


class Loudness(IntEnum):
    QUIET = 0
    NORMAL = 1
    VERBOSE = 2


_chosen: list[Loudness] = [Loudness.NORMAL]
"""The level of the command line that is being run; one at a time runs in a process."""


def loudness() -> Loudness:
    return _chosen[-1]


def be(level: Loudness) -> None:
    """Print as much as `level` says from now on."""
    _chosen[-1] = level


def console() -> Console:
    """Standard output; plain when it is not a terminal, without colour under ``NO_COLOR``."""
    return Console(soft_wrap=False, highlight=False, markup=False, emoji=False)


def say(text: str) -> None:
    """One line on standard output, as long as it is: lines are data for grep, tables are for eyes."""
    sys.stdout.write(plain(text) + "\n")


def note(text: str) -> None:
    """A line that explains or advises: left out when quiet."""
    if loudness() > Loudness.QUIET:
        say(text)


def detail(text: str) -> None:
    """A line that only ``--verbose`` prints."""
    if loudness() is Loudness.VERBOSE:
        say(text)


def warn(text: str, advice: str, *copied: str) -> None:
    """Something that is no error and probably not meant: a line on standard error, below it what to do, and the lines
    that are to be copied for it, as they are."""
    sys.stdout.flush()
    print(f"harness: warning: {plain(text)}", f"  {plain(advice)}", *map(plain, copied), sep="\n", file=sys.stderr)


def emit(value: object) -> None:
    """One JSON value on one line of standard output."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")


def plain(text: str) -> str:
    """`text` as data: control and direction characters become visible, and overlong text is cut with a note."""
    shown = "".join(
        char if unicodedata.category(char) not in ("Cc", "Cf", "Cs") else f"\\u{ord(char):04x}" for char in text
    )
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}… ({len(shown)} characters)"


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> Table:
    """A table whose strings are taken as data."""
    made = Table(title=title or None, title_justify="left", header_style="bold", show_edge=False, pad_edge=False)
    for name in columns:
        made.add_column(name, overflow="fold")
    for row in rows:
        made.add_row(*(cell if isinstance(cell, Text) else Text(plain(cell)) for cell in row))
    return made


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> None:
    """A table that fits the terminal; where there is none, one unbroken line a row with aligned columns, for grep."""
    screen = console()
    if screen.is_terminal:
        screen.print(table(title, columns, rows))
        return
    cells = [
        list(columns),
        *([cell.plain if isinstance(cell, Text) else plain(cell) for cell in row] for row in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if title:
        say(title)
    for line in cells:
        sys.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n")


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Progress | None]:
    """A progress bar on standard error while the block runs; nothing when that is not a terminal, or when quiet."""
    if not sys.stderr.isatty() or loudness() is Loudness.QUIET:
        yield None
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        bar.add_task(title, total=total)
        yield bar
