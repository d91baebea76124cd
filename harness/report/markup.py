"""Evidence text inside GitHub-flavoured Markdown: shown, never interpreted.

Inline evidence stands in ``<code>`` with every character that Markdown could read as syntax written as an entity:
inside ``<code>`` GitHub makes no mention, issue reference or commit link, and an entity is never syntax, so that also
pipes in tables are safe. Blocks stand in a fence longer than any run of backticks in them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.report.text import block, one_line, shortened

_SYNTAX = re.compile(r"[&<>|`*\[\]\\~$@#]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?<=[wW]{3})\.")
_RUNS = re.compile("`+")


def entities(text: str) -> str:
    """The text on one line with entities for all syntax; for titles and sentences outside code."""
    return _escaped(one_line(text))


def inert(text: str) -> str:
    """`entities` for evidence in running text: mentions are broken by an empty comment as well, since GitHub looks
    for them after entities are read."""
    return _unmentioned(entities(text))


def prose(text: str) -> str:
    """A sentence in running text, with what stands between backticks as code."""
    parts = [_escaped(part) for part in one_line(text).split("`")]
    if len(parts) % 2 == 0:
        return inert(text)
    return "".join(f"<code>{part}</code>" if at % 2 else _unmentioned(part) for at, part in enumerate(parts))


def _escaped(line: str) -> str:
    return _SYNTAX.sub(lambda match: f"&#{ord(match.group())};", line)


def _unmentioned(escaped: str) -> str:
    return escaped.replace("&#64;", "&#64;<!-- -->").replace("&#35;", "&#35;<!-- -->")


def code(text: str, limit: int = 160) -> str:
    """Evidence as inline code of at most `limit` characters, with a visible note of a cut."""
    return f"<code>{entities(shortened(text, limit))}</code>" if text else "<code>&nbsp;</code>"


def fenced(text: str, language: str = "") -> str:
    """Evidence as a block; control characters are visible, line breaks stay."""
    shown = block(text).strip("\n")
    ticks = "`" * max(3, 1 + max((len(run) for run in _RUNS.findall(shown)), default=0))
    return f"{ticks}{language}\n{shown}\n{ticks}"


def table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table of cells that are Markdown already. Every cell must be one line without a bare pipe."""
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
