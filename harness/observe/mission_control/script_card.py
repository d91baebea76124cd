"""A Code Mode card on the transcript: its title, intent box, summary, fact rows and lines as readings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.model.facts import CardKind
from harness.model.values import NULL, Reading, known, not_displayed
from harness.observe.mission_control.cards import MARKS, Card, boxed, split
from harness.observe.mission_control.seen import Seen, count, printed
from harness.observe.mission_control.text import Joined, Text
from harness.spec.facts import facts_of

FACTS = facts_of(CardKind.CODE_MODE)
NOT_KNOWN = "not reported"
INTENT = "Intent: "
_CALLS = re.compile(r"(\d+) calls?")
_MILLISECONDS = re.compile(r"(\d+) ms")
_SECONDS = re.compile(r"\d+\.\d+s")
_ESTIMATE = re.compile(r"≈(?P<count>[0-9.]+[kMGTPE]?) in")
_RESPONSE = re.compile(r"Model response: (?:≈(?P<count>\d+) tokens|token estimate unavailable)")
_TRACKED = re.compile(r"(?P<bound>at least )?(?P<count>\d+) tracked files? changed")
_UNTRACKED = "Tracked change count unavailable"
_APPLIED = re.compile(r"⚠ (?P<applied>Completed actions remain applied); (?P<rollback>no rollback)")
_MORE_WARNINGS = re.compile(r"⚠ \d+ more warnings; inspect activity details")
_WARNING = "⚠ "
_OUTCOMES = {
    "Script completed": "success",
    "Script failed": "failure",
    "Script canceled": "cancelled",
    "Script interrupted": "interrupted",
    "Script outcome unavailable": "unknown",
    "Script outcome and call counts unavailable": "unknown",
}
_NO_COUNTS = re.compile(r"(?:(?P<outcome>Script \w+) • )?call counts unavailable", re.IGNORECASE)
_PARTS = (
    ("Successful calls", re.compile(r"(\d+) succeeded")),
    ("Failed calls", re.compile(r"(\d+) failed")),
    ("Unknown calls", re.compile(r"(\d+) unknown outcomes?")),
)
_PROGRESS = re.compile(r"\d+ calls? completed")
_LINE_STARTS = re.compile(
    rf"[{MARKS}] |  |… |Model response: |at least \d|\d+ tracked file|Tracked change count|Script |\S+ \u00d7\d"
)


def starts_line(row: str) -> bool:
    """Whether a row of a card's body begins a line of its own."""
    return bool(_LINE_STARTS.match(row)) or any(row.startswith(f"{label} • ") for label in FACTS)


def card_facts(card: Card) -> Iterator[Seen]:
    """Every reading of the card, in the order in which it stands there."""
    yield from _title(card)
    summary: Joined | None = None
    for box in card.boxes:
        text = boxed(box)
        if not box.title.string and text.text.string.startswith(INTENT):
            value = Joined(text.text.cut(len(INTENT)), text.doubt)
            yield Seen("Code Mode intent", printed(FACTS["Code Mode intent"], value, ""), "line", value.text)
        elif box.title.string and summary is None:
            summary = Joined(box.title, "")
            yield from _summary(box.title)
    rows: dict[str, int] = {}
    warnings = 0
    for line in card.lines:
        string = line.text.string
        label = next((label for label in FACTS if string.startswith(f"{label} • ")), None)
        if label is not None:
            value = Joined(line.text.cut(len(label) + 3), line.doubt)
            yield Seen(label, printed(FACTS[label], value, NOT_KNOWN), "row", value.text, rows.get(label, 0))
            if FACTS[label].repeated:
                rows[label] = rows.get(label, 0) + 1
        elif summary is None and _is_summary(string):
            summary = line
            yield from _summary(line.text)
        elif (known_line := list(_line(line.text))) or _MORE_WARNINGS.fullmatch(string):
            yield from known_line
        elif string.startswith(_WARNING):
            value = Joined(line.text.cut(len(_WARNING)), line.doubt)
            yield Seen("Warning", printed(FACTS["Warning"], value, ""), "line", value.text, warnings)
            warnings += 1


def _title(card: Card) -> Iterator[Seen]:
    for figure in card.title.figures:
        if match := _CALLS.fullmatch(figure.string):
            yield Seen("Total calls", known(match[1]), "title", figure.group(match, 1))
        elif match := _MILLISECONDS.fullmatch(figure.string):
            yield Seen("Elapsed milliseconds", known(match[1]), "title", figure.group(match, 1))
        elif _SECONDS.fullmatch(figure.string):
            value = not_displayed(f"shown only rounded, as {figure.string}")
            yield Seen("Elapsed milliseconds", value, "title", figure)
    if match := _ESTIMATE.search(card.title.tokens.string):
        value_text = card.title.tokens.group(match, "count")
        yield Seen("Response token estimate", count(match["count"]), "title", value_text)


def _bare(string: str) -> str:
    """A summary without its outcome mark."""
    return string[2:] if string[:1] in MARKS and string[1:2] == " " else string


def _is_summary(string: str) -> bool:
    first = _bare(string).split(" · ", maxsplit=1)[0]
    if first in _OUTCOMES or _NO_COUNTS.fullmatch(first) or _PROGRESS.fullmatch(first):
        return True
    return string.startswith("✓ ") and bool(_PARTS[0][1].fullmatch(first))


def _summary(text: Text) -> Iterator[Seen]:
    bare = text.cut(len(text.string) - len(_bare(text.string)))
    parts = split(bare, " · ")
    first = parts[0].string
    unavailable = _NO_COUNTS.fullmatch(first)
    outcome = _OUTCOMES.get(first) or (_OUTCOMES.get(unavailable["outcome"] or "") if unavailable else None)
    if outcome is None and _PARTS[0][1].fullmatch(first) and text.string.startswith("✓ "):
        outcome = "success"
    if outcome is None and _PROGRESS.fullmatch(first):
        outcome = "running"
    if outcome is not None:
        yield Seen("Script outcome", known(outcome), "summary", parts[0])
    if unavailable or first.endswith("call counts unavailable"):
        yield from (Seen(label, NULL, "summary", parts[0]) for label, _ in _PARTS)
    for part in parts:
        for label, pattern in _PARTS:
            if match := pattern.fullmatch(part.string):
                yield Seen(label, known(match[1]), "summary", part.group(match, 1))


def _line(text: Text) -> Iterator[Seen]:
    """Readings of a line that the product words itself."""
    if match := _APPLIED.fullmatch(text.string):
        yield Seen("Completed actions remain applied", known(True), "line", text.group(match, "applied"))
        yield Seen("Rollback", known(False), "line", text.group(match, "rollback"))
    elif match := _RESPONSE.fullmatch(text.string):
        value: Reading = known(match["count"]) if match["count"] else NULL
        yield Seen("Response token estimate", value, "line", text.group(match, "count") if match["count"] else text)
    elif match := _TRACKED.fullmatch(text.string):
        yield Seen("Changed paths", known(match["count"]), "line", text.group(match, "count"))
        if match["bound"]:
            yield Seen("Change count qualifier", known("at_least"), "line", text.group(match, "bound").rstrip())
    elif text.string == _UNTRACKED:
        yield Seen("Changed paths", NULL, "line", text)
