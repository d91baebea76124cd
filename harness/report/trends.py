"""`trends.html`: what changed over the releases that have evidence, as one offline page in the report's own look."""

from __future__ import annotations

from markupsafe import Markup

from harness.model.history import ClassCell, Display, FactCell, FactLine, History, Step
from harness.report.html import asset, environment, script_digest
from harness.report.text import cut, cut_note, visible_html
from harness.report.views import words

PLACES_SHOWN = 20
ROWS_SHOWN = 400
"""Rows of one table; ``harness trends --json`` has all of them, and the page says how many it left out."""
_TEXT_SHOWN = 200

DISPLAY_GLYPHS = {
    Display.DISPLAYED: "■",
    Display.SOMETIMES: "◧",
    Display.NOT_DISPLAYED: "▭",
    Display.UNREADABLE: "‽",
    Display.ABSENT: "○",
    Display.NOT_CAPTURED: "▢",
}
CHANGE_WORDS = {
    "appeared": "The row is there now, where the card had no such row.",
    "vanished": "The row is there no more.",
    "value": "Another value, null being one.",
    "display": "Displayed now and not before, the other way round, or in another place of the surface.",
    "agreement": "Agrees, disagrees or cannot be compared with the rules, and did otherwise before.",
}
"""In the order of the page; the words of `harness.compare.difference.ChangeKind`."""


_TILE_WORDS = {
    "appeared": "facts appeared",
    "vanished": "facts vanished",
    "value": "values changed",
    "display": "displays changed",
    "agreement": "agreements changed",
}


def trends_html(history: History) -> bytes:
    """The page's bytes, UTF-8. The same history gives the same bytes."""
    script = asset("trends.js")
    text = (
        environment()
        .get_template("trends.html.j2")
        .render(
            history=history,
            page=_Page(history),
            style=asset("report.css") + asset("trends.css"),
            script=script,
            script_digest=script_digest(script),
            change_words=CHANGE_WORDS,
            tile_words=_TILE_WORDS,
            glyphs=DISPLAY_GLYPHS,
            rows_shown=ROWS_SHOWN,
            places_shown=PLACES_SHOWN,
            brief=brief,
        )
    )
    return text.encode("utf-8", "replace")


def brief(text: str, limit: int = _TEXT_SHOWN) -> Markup:
    """A text of evidence, of at most `limit` characters, with a visible note of what was cut."""
    head, left_out = cut(text, limit)
    note = Markup(" <i class=cut>{}</i>").format(cut_note(left_out)) if left_out else Markup("")
    return (visible_html(head) if head else Markup('<em class="s">empty text</em>')) + note


class _Page:
    """What the template says of the history beside its own values."""

    def __init__(self, history: History) -> None:
        self._history = history
        self.first, self.last = history.releases[0].version, history.releases[-1].version
        self.changed = sum(line.changed for line in history.facts)
        self.kinds = [kind for kind in CHANGE_WORDS if any(step.kinds.get(kind) for step in history.steps)]

    @property
    def span(self) -> str:
        """``0.100.0 to 0.104.0``."""
        return self.first if self.first == self.last else f"{self.first} to {self.last}"

    def total(self, kind: str) -> int:
        return sum(step.kinds.get(kind, 0) for step in self._history.steps)

    def appeared(self) -> int:
        return sum(len(step.appeared) for step in self._history.steps)

    def resolved(self) -> int:
        return sum(len(step.resolved) for step in self._history.steps)

    def quiet(self, step: Step) -> bool:
        """Whether nothing changed from one release to the next."""
        return not (step.facts or step.members or step.appeared or step.resolved or step.only_before or step.only_after)

    def kinds_of(self, line: FactLine) -> str:
        """Every kind of change of a fact, once, for the filters."""
        return " ".join(kind for kind in CHANGE_WORDS if any(kind in step for step in line.changes))

    def state(self, line: FactLine) -> str:
        """``disagree`` when the newest release has a disagreement, ``agree`` when it only agrees, else ``""``."""
        last = line.cells[-1]
        return "disagree" if last.disagree else "agree" if last.agree else "not_comparable"

    def display(self, cell: FactCell) -> str:
        """In words, with how many cards of how many where it is not the same on all."""
        if cell.display is not Display.SOMETIMES:
            return words(cell.display)
        read = cell.displayed + cell.not_displayed + cell.absent + cell.unreadable
        return f"displayed on {cell.displayed} of {read} cards"

    def covered(self, cell: ClassCell) -> str:
        if not cell.runs:
            return "no run"
        return "not covered" if cell.missing else "covered"
