"""Text with marked ranges: each mark is a target of its own, and marks may nest."""

from __future__ import annotations

import msgspec
from markupsafe import Markup, escape

from harness.report.text import block_html, cut_note

_BEFORE = 400
"""Characters kept before the first mark when a long text has to begin later than at its start."""


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A 0-based, end-exclusive character range. `anchor` becomes the element's id, "" for none; `title` its tooltip."""

    start: int
    end: int
    anchor: str
    title: str


def marked(text: str, marks: list[Mark], limit: int) -> tuple[Markup, frozenset[str]]:
    """At most `limit` characters of `text` as HTML, and the anchors that are in it.

    Ranges outside the text or the shown part, and ranges that overlap another without lying inside it, are left out;
    their anchors are then not in the answer. What is cut is said at both ends.
    """
    inside = sorted(
        (mark for mark in marks if 0 <= mark.start < mark.end <= len(text)), key=lambda mark: (mark.start, -mark.end)
    )
    begin = 0
    if len(text) > limit and inside and inside[0].end > limit:
        begin = max(0, inside[0].start - min(_BEFORE, limit // 4))
    end = min(len(text), begin + limit)
    parts: list[Markup] = [_note(begin)] if begin else []
    placed: set[str] = set()
    ends: list[int] = []
    at = begin

    def run_to(position: int) -> None:
        nonlocal at
        while ends and ends[-1] <= position:
            parts.append(block_html(text[at : ends[-1]]))
            at = ends.pop()
            parts.append(Markup("</mark>"))
        parts.append(block_html(text[at:position]))
        at = position

    for mark in inside:
        if mark.start < begin or mark.end > end or any(mark.start < outer < mark.end for outer in ends):
            continue
        run_to(mark.start)
        parts.append(_open(mark, placed))
        ends.append(mark.end)
    run_to(end)
    if end < len(text):
        parts.append(_note(len(text) - end))
    return Markup("").join(parts), frozenset(placed)


def _open(mark: Mark, placed: set[str]) -> Markup:
    if not mark.anchor or mark.anchor in placed:
        return Markup("<mark>")
    placed.add(mark.anchor)
    return Markup('<mark id={} title="{}">').format(mark.anchor, escape(mark.title))


def _note(left_out: int) -> Markup:
    return Markup("<i class=cut>{}</i>").format(cut_note(left_out))
