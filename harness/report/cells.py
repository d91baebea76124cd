"""One fact in one column as a table cell: every state and every reason has its own word and glyph, never colour alone.

Cells are by far the most of a page, so their markup is short: one-letter classes whose glyphs come from the style
sheet (with a spoken alternative), and links to places instead of places. Everything here is generated but the texts,
which pass through `visible_html`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import msgspec
from markupsafe import Markup

from harness.model.facts import Column, Fact
from harness.model.values import NotComparable, Reading, Reason, State, Value
from harness.model.verdict import Agreement, FactRow
from harness.model.words import plural
from harness.report.proofs import Proofs
from harness.report.text import cut, cut_note, visible_html
from harness.report.views import words

VALUE_SHOWN = 96
"""Characters of a value in a cell; the whole stands once, at the end of the page."""
WHOLE_SHOWN = 20_000
"""Characters of a long value there."""
WHOLES_ROOM = 1_000_000
"""Characters of all long values of a page."""
_SAME_SHOWN = 16
"""Characters kept before the first difference when both values are long."""

_STATES = {State.NULL: "z", State.ABSENT: "b", State.NOT_DISPLAYED: "h", State.UNREADABLE: "u"}
_REASONS = {
    Reason.NOT_DERIVABLE: "d",
    Reason.NOT_RECORDED: "r",
    Reason.NOT_CAPTURED: "k",
    Reason.NOT_REACHABLE: "y",
    Reason.NOT_STATED: "e",
    Reason.CAPTURE_CUT: "t",
    Reason.NOT_DISPLAYED: "h",
    Reason.UNREADABLE: "u",
}
AGREEMENT_CLASS = {Agreement.AGREE: "a", Agreement.DISAGREE: "x", Agreement.NOT_COMPARABLE: "n"}
_TERM = re.compile(r"<em class=(?P<kind>[a-z])>(?P<word>[a-z ]+)</em>")
"""A state or reason that has no link yet: then it can share the element around it."""
DIFFERS = Markup("<b>✗ differs</b>")


def _made(*parts: str) -> Markup:
    """Parts that are markup already, or made here of anchors and classes: much faster than formatting each."""
    return Markup("".join(parts))  # noqa: S704 - no part of it is evidence that `visible_html` has not seen


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """A long value in full: `note` says what was cut even here, or ""."""

    anchor: str
    text: str
    length: int
    note: str


class Wholes:
    """Long values: each distinct one stands once on the page, wherever it is shown shortened."""

    def __init__(self, room: int = WHOLES_ROOM) -> None:
        self._room = room
        self._found: dict[str, Whole] = {}

    @property
    def found(self) -> tuple[Whole, ...]:
        return tuple(self._found.values())

    def link(self, text: str) -> Markup:
        """A link to the whole value, with its length."""
        whole = self._found.get(text)
        if whole is None:
            shown, left_out = cut(text, min(WHOLE_SHOWN, max(self._room, VALUE_SHOWN)))
            self._room -= len(shown)
            note = cut_note(left_out) if left_out else ""
            anchor = f"w{len(self._found) + 1}"
            whole = self._found[text] = Whole(anchor=anchor, text=shown, length=len(text), note=note)
        return Markup("<a class=w href=#{}>… all {}</a>").format(whole.anchor, plural(whole.length, "character"))

    def value(self, text: str, limit: int = VALUE_SHOWN, *, beside: str = "") -> Markup:
        """A value of at most `limit` characters. When it and `beside` are long and begin alike, what is shown begins
        shortly before their first difference, and says how much is the same before."""
        if len(text) <= limit:
            return visible_html(text) if text else Markup("<em class=s>empty text</em>")
        same = _common(text, beside) if beside else 0
        start = same - _SAME_SHOWN if same > limit // 2 else 0
        before = Markup("<i class=cut>{} the same …</i>").format(plural(start, "character")) if start else Markup("")
        return before + visible_html(text[start : start + limit]) + " " + self.link(text)


class Notes:
    """Why readings could not be compared: numbered notes of one observation, each reason and detail once.

    `known` are details that the page says elsewhere, and that need no note.
    """

    def __init__(self, anchor: str, known: Collection[str] = ()) -> None:
        self._anchor = anchor
        self._known = known
        self._found: dict[tuple[str, str], str] = {}

    @property
    def found(self) -> tuple[tuple[str, str, str], ...]:
        """(anchor, class, text) of each note."""
        return tuple((anchor, kind, text) for (kind, text), anchor in self._found.items())

    def term(self, kind: str, word: str, detail: str) -> Markup:
        """A state or reason as a word, linked to its note when there is more to say."""
        if not detail or detail in self._known or kind == _REASONS[Reason.NOT_STATED]:
            return _made(f"<em class={kind}>{word}</em>")
        anchor = self._found.setdefault((kind, f"{word}: {detail}"), f"{self._anchor}n{len(self._found) + 1}")
        return _made(f"<a class={kind} href=#{anchor}>{word}</a>")


class CellWriter:
    """Writes the cells of one observation; cites places, notes and long values as it goes.

    `stated` has the anchors of the scenario text's table rows by their line in the feature file: what is expected leads
    there, to the sentence of its author, and needs no excerpt.
    """

    def __init__(self, proofs: Proofs, notes: Notes, wholes: Wholes, stated: Mapping[int, str] | None = None) -> None:
        self._stated = stated or {}
        self._proofs = proofs
        self._notes = notes
        self._wholes = wholes

    def reading(self, reading: Reading, *, beside: str = "") -> Markup:
        """A value or the word of its state or reason."""
        if isinstance(reading, NotComparable):
            return self._notes.term(_REASONS[reading.reason], words(reading.reason), reading.detail)
        if reading.text is not None:
            return self._wholes.value(reading.text, beside=beside)
        return self._notes.term(_STATES[reading.state], words(reading.state), reading.reason)

    def cell(self, row: FactRow, column: Column, anchor: str) -> Markup:
        """One ``<td>``, without its end tag. `anchor` is the row's."""
        cell = row.cells.get(column)
        if cell is None:
            return _made(f'<td class="n k">{words(Reason.NOT_CAPTURED)}')
        differs = cell.agreement is Agreement.DISAGREE
        beside = str(row.reference) if differs and isinstance(row.reference, Value) else ""
        if column is Column.EXPECTED and (link := self._stated_link(cell.readings)):
            return _made(f"<td class={AGREEMENT_CLASS[cell.agreement]}>", DIFFERS if differs else "", link)
        shown = [self._fact(facts, anchor, differs=differs, beside=beside) for facts in _same(cell.readings)]
        # A reading that is its own reason (not displayed, not stated) is not said twice.
        if cell.reason is not None and cell.reason.reason not in map(_own_reason, cell.readings):
            shown.append(self.reading(cell.reason))
        kind = AGREEMENT_CLASS[cell.agreement]
        if kind == "n" and len(shown) == 1 and (word := _TERM.fullmatch(shown[0])):
            return _made(f'<td class="n {word["kind"]}">{word["word"]}')
        return _made(f"<td class={kind}>", DIFFERS if differs else "", "<br>".join(shown))

    def _stated_link(self, readings: Sequence[Fact]) -> str:
        """The one value that the author states, linked to its row in the scenario's text; "" when there is no row."""
        if len(readings) != 1 or (place := readings[0].place) is None:
            return ""
        target = self._stated.get(place.line or 0)
        if target is None:
            return ""
        value = self.reading(readings[0].value)
        if word := _TERM.fullmatch(value):
            return f"<a class={word['kind']} href=#{target}>{word['word']}</a>"
        return value if "<a " in value else f"<a href=#{target}>{value}</a>"

    def _fact(self, facts: Sequence[Fact], anchor: str, *, differs: bool, beside: str) -> Markup:
        """One value that was read at one or several places: it links to the first, their ways of reading to others."""
        value = self.reading(facts[0].value, beside=beside)
        # Where nothing is said there is nothing to look at: such a reading's place is only the card's.
        silent = _own_reason(facts[0]) not in (None, Reason.UNREADABLE)
        places = [(fact, fact.place) for fact in facts if fact.place is not None and not silent]
        if places and "<a " not in value:
            (fact, place), *places = places
            target = self._proofs.cite(place, fact.label, anchor, finding=differs)
            if word := _TERM.fullmatch(value):
                value = _made(f"<a class={word['kind']} href=#{target}>{word['word']}</a>")
            else:
                value = _made(f"<a href=#{target}>", value, "</a>")
        links = [
            _made(
                f"<a class=v href=#{self._proofs.cite(place, fact.label, anchor, finding=differs)}>",
                visible_html(fact.via or "place"),
                "</a>",
            )
            for fact, place in places
        ]
        return _made(value, *(f" {link}" for link in links)) if links else value


def _own_reason(fact: Fact) -> Reason | None:
    """Why a reading alone cannot be compared, or None when it states a value."""
    if isinstance(fact.value, NotComparable):
        return fact.value.reason
    return {State.NOT_DISPLAYED: Reason.NOT_DISPLAYED, State.UNREADABLE: Reason.UNREADABLE}.get(fact.value.state)


def _same(facts: Sequence[Fact]) -> list[list[Fact]]:
    """Readings with the same value together, in order of first appearance."""
    found: list[list[Fact]] = []
    for fact in facts:
        group = next((group for group in found if group[0].value == fact.value), None)
        if group is None:
            found.append([fact])
        else:
            group.append(fact)
    return found


def _common(one: str, other: str) -> int:
    """Length of the common prefix."""
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return at
    return min(len(one), len(other))
