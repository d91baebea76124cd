"""A task's own detail window: the one place where Mission Control prints every row of a task, label by label."""

from __future__ import annotations

import itertools
import re

from harness.model.facts import CardKind
from harness.model.values import Value, unreadable
from harness.observe.mission_control.detail import Detail
from harness.observe.mission_control.seen import Seen, number, printed
from harness.observe.mission_control.text import Joined, Text
from harness.spec.facts import fact, facts_of

_LAST_ROW = "Usage latest final"
_ENDED = "|".join(word for word in fact(CardKind.TASK, "Task outcome").members if word != "running")
_ENTRY = re.compile(rf"\S+: (?:{_ENDED})")
_UNAVAILABLE = "unavailable"
"""How the window spells null."""


def rows_whole(detail: Detail) -> bool:
    """Whether the window shows the rows to their end; a small one cuts them off."""
    return _LAST_ROW in detail.rows


def task_facts(detail: Detail) -> list[Seen]:
    """A task's rows, and its activity entries: the first rows below them, as many as the rows say are displayed."""
    seen: list[Seen] = []
    entries = facts_of(CardKind.TASK)
    for label, values in detail.rows.items():
        for joined in values:
            value = (
                unreadable("printed more than once")
                if len(values) > 1
                else printed(entries[label], joined._replace(text=joined.text.rstrip()), _UNAVAILABLE)
            )
            seen.append(Seen(label, value, "row", joined.text.rstrip()))
    for ordinal, row in enumerate(_activity(seen, [row.rstrip() for row in detail.body])):
        seen.append(Seen("Task activity", printed(entries["Task activity"], Joined(row, ""), ""), "line", row, ordinal))
    return seen


def _activity(seen: list[Seen], body: list[Text]) -> list[Text]:
    """The rows of the body that are activity entries: as many as the counts say, or, where a count is not known, those
    at its beginning that are spelled as entries are."""
    count, omitted = _number(seen, "Task activity count"), _number(seen, "Task activity omitted")
    if count is None or omitted is None:
        return list(itertools.takewhile(lambda row: _ENTRY.fullmatch(row.string), body))
    return body[: count - omitted] if 0 <= count - omitted <= len(body) else []


def _number(seen: list[Seen], label: str) -> int | None:
    """A count among readings, None when there is none."""
    text = next(
        (reading.value.text for reading in seen if reading.label == label and isinstance(reading.value, Value)), None
    )
    return number(text)
