"""The places behind one observation's facts, each with an anchor of its own, and the evidence that is shown there.

A reading links to its place. Places of one frame, record or screen stand together: the text or picture is printed
once, and every place is marked in it. Room is limited (`Budget`): what findings cite comes first.
"""

from __future__ import annotations

import msgspec
from markupsafe import Markup

from harness.model.facts import Place
from harness.report.inputs import Excerpts, Pictures, ScreenMark
from harness.report.marks import Mark, marked
from harness.report.svg import drawn, refusal
from harness.report.text import cut, cut_note

EXCERPT_SHOWN = 8_000
"""Characters shown of one frame's or record's text."""
RAW_SHOWN = 600
"""Characters shown of the same text as it is stored, where a finding cites it."""
NO_ROOM = "left out to keep this page small"
NOT_SUPPLIED = "no excerpt was supplied"
NO_PICTURE = "no picture was supplied"


class Budget:
    """Bytes of evidence that the page still has room for. Once something did not fit, nothing does: what is left out
    then is everything after one point, not a puzzling choice."""

    def __init__(self, left: int) -> None:
        self.left = left

    @property
    def spent(self) -> bool:
        return self.left <= 0

    def take(self, size: int) -> bool:
        """Whether there was room; only then it is taken."""
        if size > self.left:
            self.left = 0
            return False
        self.left -= size
        return True


class Cited(msgspec.Struct, kw_only=True):
    """One place: its anchor, what it shows, the anchor of the row that cites it first, and whether a finding does."""

    place: Place
    anchor: str
    label: str
    row: str
    finding: bool

    @property
    def within(self) -> str:
        """Where the place is inside its line or moment."""
        place = self.place
        if place.row is not None:
            at = f"row {place.row}"
            return f"{at}, columns {place.columns[0]}-{place.columns[1]}" if place.columns else at
        parts = (f"byte {place.offset}" if place.offset is not None else "", place.pointer or "")
        return " ".join(part for part in parts if part) or "the whole"


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Evidence at one line of a member: `text` with a mark for each place in it (empty without an excerpt), `raw` the
    same as stored or "", `listed` the places that could not be marked, `note` why there is no text or ""."""

    title: str
    text: Markup
    raw: str
    listed: tuple[Cited, ...]
    note: str


class Screen(msgspec.Struct, frozen=True, kw_only=True):
    """One captured moment: the picture (empty without one) in which the `drawn` places are outlined, the `listed`
    places that are not on it, and `note` why there is no picture or ""."""

    title: str
    svg: Markup
    drawn: tuple[Cited, ...]
    listed: tuple[Cited, ...]
    note: str


class Proofs:
    """All places that one observation's part of the page cites, in order of their first citation."""

    def __init__(self, observation: str, anchor: str) -> None:
        self.observation = observation
        self.anchor = anchor
        self.blocks: tuple[Block, ...] = ()
        self.screens: tuple[Screen, ...] = ()
        self._cited: dict[Place, Cited] = {}

    def __len__(self) -> int:
        return len(self._cited)

    def cite(self, place: Place, label: str, row: str, *, finding: bool = False) -> str:
        """The anchor of a place, made at its first citation."""
        cited = self._cited.get(place)
        if cited is None:
            anchor = f"{self.anchor}p{len(self._cited) + 1}"
            cited = self._cited[place] = Cited(place=place, anchor=anchor, label=label, row=row, finding=finding)
        cited.finding = cited.finding or finding
        return cited.anchor

    def fill(self, excerpts: Excerpts, pictures: Pictures, room: Budget, pixels: Budget, *, findings: bool) -> None:
        """Ask for the evidence of all lines and moments that a finding cites, or of all others.

        `room` is the budget of excerpts, `pixels` that of pictures. What does not fit is listed with a note.
        """
        lines: dict[tuple[str, int], list[Cited]] = {}
        moments: dict[tuple[str, str], list[Cited]] = {}
        for cited in self._cited.values():
            place = cited.place
            if place.row is None and place.marker is None:
                lines.setdefault((place.file, place.line or 0), []).append(cited)
            else:
                moments.setdefault((place.file, place.marker or ""), []).append(cited)
        for (file, line), members in sorted(lines.items(), key=lambda item: item[0]):
            if any(cited.finding for cited in members) is findings:
                title = f"{file}, line {line}" if line else file
                self.blocks += self._blocks(title, members, excerpts, room)
        for (file, marker), members in sorted(moments.items(), key=lambda item: item[0]):
            if any(cited.finding for cited in members) is findings:
                title = f"{file} at “{marker}”" if marker else file
                self.screens += (self._screen(title, members, pictures, pixels),)

    def _blocks(self, title: str, members: list[Cited], excerpts: Excerpts, room: Budget) -> tuple[Block, ...]:
        if room.spent:
            return (_bare(title, members, NO_ROOM),)
        texts: dict[str, list[tuple[Cited, tuple[tuple[int, int], ...]]]] = {}
        raws: dict[str, str] = {}
        without: list[Cited] = []
        for cited in members:
            excerpt = excerpts(self.observation, cited.place)
            if excerpt is None:
                without.append(cited)
                continue
            texts.setdefault(excerpt.formatted, []).append((cited, excerpt.highlight))
            raws.setdefault(excerpt.formatted, excerpt.raw if excerpt.raw != excerpt.formatted else "")
        found: list[Block] = []
        for formatted, entries in texts.items():
            marks = [
                Mark(start=start, end=end, anchor=cited.anchor if first else "", title=cited.label)
                for cited, ranges in entries
                for first, (start, end) in ((at == 0, span) for at, span in enumerate(ranges))
            ]
            text, placed = marked(formatted, marks, EXCERPT_SHOWN)
            raw = raws[formatted] if any(cited.finding for cited, _ in entries) else ""
            head, left_out = cut(raw, RAW_SHOWN)
            raw = f"{head} {cut_note(left_out)}" if left_out else head
            listed = tuple(cited for cited, _ in entries if cited.anchor not in placed)
            if room.take(len(text) + len(raw)):
                found.append(Block(title=title, text=text, raw=raw, listed=listed, note=""))
            else:
                found.append(_bare(title, [cited for cited, _ in entries], NO_ROOM))
        if without:
            found.append(_bare(title, without, "" if found else NOT_SUPPLIED))
        return tuple(found)

    def _screen(self, title: str, members: list[Cited], pictures: Pictures, pixels: Budget) -> Screen:
        marks = [mark for cited in members if (mark := _mark(cited)) is not None]
        picture = None if pixels.spent else pictures(self.observation, members[0].place, marks)
        note, svg = NO_ROOM if pixels.spent else NO_PICTURE, ""
        ids = frozenset(mark.id for mark in marks)
        if picture is not None:
            wrong = refusal(picture.svg, ids)
            note = f"the picture was refused: {wrong}" if wrong else "" if pixels.take(len(picture.svg)) else NO_ROOM
            svg = "" if note else picture.svg
        shown = drawn(svg, ids)
        return Screen(
            title=title,
            svg=Markup(svg),  # noqa: S704 - `refusal` found nothing but drawing in it
            drawn=tuple(cited for cited in members if cited.anchor in shown),
            listed=tuple(cited for cited in members if cited.anchor not in shown),
            note=note,
        )


def _bare(title: str, members: list[Cited], note: str) -> Block:
    return Block(title=title, text=Markup(), raw="", listed=tuple(members), note=note)


def _mark(cited: Cited) -> ScreenMark | None:
    """The place as something to outline, or None when it is no row and columns."""
    place = cited.place
    if place.row is None or place.columns is None:
        return None
    return ScreenMark(id=cited.anchor, row=place.row, first=place.columns[0], last=place.columns[1])
