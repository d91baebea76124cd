"""Screens as Mission Control frames them, drawn by hand, and casts of them: for readings of what no run shows."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

from wcwidth import wcswidth

from harness.model.facts import CardFacts, CardKind, Column, ColumnFacts, Fact
from harness.observe.mission_control import ExpectedCard, observe

CASTS = Path(__file__).parents[1] / "data" / "casts"
FILE = "mission-control.reopen.cast"
SCRIPT = ExpectedCard(path="turn1/call1", kind=CardKind.CODE_MODE)
_TEXT = "\x1b[32m"
"""Code is drawn in a colour of its own, as the product draws it: filler keeps the window's."""


def stored(name: str) -> bytes:
    """A real capture of tests/data/casts."""
    return gzip.decompress((CASTS / f"{name}.cast.gz").read_bytes())


def batch(path: str, tasks: int) -> list[ExpectedCard]:
    return [
        ExpectedCard(path=path, kind=CardKind.SUBAGENT_BATCH),
        *(ExpectedCard(path=f"{path}/task{number}", kind=CardKind.TASK) for number in range(1, tasks + 1)),
    ]


def read(cast: bytes, layout: Sequence[ExpectedCard] = (SCRIPT,), release: str = "0.104.0") -> ColumnFacts:
    return observe(cast, column=Column.MISSION_CONTROL_REOPEN, file=FILE, release=release, layout=layout)


def card(column: ColumnFacts, path: str = "turn1/call1") -> CardFacts:
    (found,) = [facts for facts in column.cards if facts.path == path]
    return found


def readings(facts: CardFacts, label: str) -> list[Fact]:
    return [fact for fact in facts.facts if fact.label == label]


def said(facts: CardFacts, label: str) -> list[tuple[str, str]]:
    """How and what was read for a label."""
    return [(fact.via, str(fact.value)) for fact in readings(facts, label)]


def reason(fact: Fact) -> str:
    """Why a reading says nothing."""
    return str(getattr(fact.value, "reason", "")) + " " + str(getattr(fact.value, "detail", ""))


def places(facts: CardFacts, label: str) -> list[tuple[str | None, int | None, tuple[int, int] | None]]:
    return [
        (fact.place.marker, fact.place.row, fact.place.columns)
        for fact in readings(facts, label)
        if fact.place is not None
    ]


def pad(text: str, width: int) -> str:
    """Text filled with blanks to so many cells."""
    filled = text + " " * (width - wcswidth(text))
    assert wcswidth(filled) == width, f"{text!r} does not fit into {width} cells"
    return filled


def split(text: str, width: int) -> list[str]:
    """Text wrapped at so many cells regardless of words."""
    rows = [""]
    for char in text:
        if wcswidth(rows[-1] + char) > width:
            rows.append("")
        rows[-1] += char
    return rows


def wrap(text: str, width: int) -> list[str]:
    """`split`, each row filled."""
    return [pad(row, width) for row in split(text, width)]


def transcript(body: Sequence[str], *, width: int = 60, height: int = 30, bar: str = "┃") -> list[str]:
    """The transcript's frame around rows of `width` cells. `bar`: the scrollbar between its arrows, one glyph for all
    rows, or one glyph a row."""
    rows = [*body, *[""] * (height - len(body))]
    glyphs = ["↑", *(bar * (height - 2) if len(bar) == 1 else bar), "↓"]
    inner = [f"│ {pad(row, width)}  {glyph}│" for row, glyph in zip(rows, glyphs, strict=True)]
    return ["Session", "", f"┌{pad('Transcript', width + 4).replace(' ', '─')}┐", *inner, f"└{'─' * (width + 4)}┘"]


def title(text: str, *, mark: str = "✓", width: int = 60) -> str:
    """A card's title row without block letters, as 0.100.0 draws it."""
    return pad(f"{mark} {text}", width - 8) + "11:55:25"


def box(rows: Sequence[str], *, name: str = "", width: int = 56) -> list[str]:
    top = f"╭ {name} " if name else "╭"
    return [
        f"  {top}{'─' * (width - 1 - wcswidth(top))}╮",
        *(f"  │ {pad(row, width - 4)} │" for row in rows),
        f"  ╰{'─' * (width - 2)}╯",
    ]


def window(head: Sequence[str], body: Sequence[str], *, width: int = 40, bar: str = "┃") -> list[str]:
    """*Selected Activity Detail* with a body of rows already split at `width`. Body text is coloured up to its end."""
    top = "┌ Selected Activity Detail " + "─" * (width + 3 - 26) + "┐"
    lines = [top, *(f"│ {pad(row, width)}  │" for row in head)]
    for number, row in enumerate(body):
        glyph = "↑" if number == 0 else "↓" if number == len(body) - 1 else bar
        lines.append(f"│ {_TEXT}{row}\x1b[39m{' ' * (width - wcswidth(row))}{glyph} │")
    return [*lines, "└" + "─" * (width + 3) + "┘"]


def cast(*moments: tuple[str, Sequence[str]], columns: int = 80, rows: int = 50, end: bool = True) -> bytes:
    """A cast that shows one screen after another, each marked."""
    lines = [json.dumps({"version": 2, "width": columns, "height": rows})]
    at = 0.0
    for marker, screen in moments:
        at += 0.5
        drawn = "".join(f"\x1b[{number};1H{row}" for number, row in enumerate(screen, 1))
        lines.append(json.dumps([at, "o", f"\x1b[2J{drawn}"]))
        lines.append(json.dumps([at, "m", marker]))
    if end:
        lines.append(json.dumps([at, "m", "end"]))
    return "\n".join([*lines, ""]).encode()
