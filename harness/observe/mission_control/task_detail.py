"""A task's own detail window: the one place where Mission Control prints every row of a task, label by label."""

from __future__ import annotations

from harness.model.facts import CardKind
from harness.model.values import Value, unreadable
from harness.observe.mission_control.cast import ROWS_LIMIT
from harness.observe.mission_control.detail import Detail
from harness.observe.mission_control.seen import Seen, number, printed
from harness.observe.mission_control.text import Joined
from harness.spec.facts import facts_of

_LAST_ROW = "Usage latest final"
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
    shown = _number(seen, "Task activity count") - _number(seen, "Task activity omitted")
    if 0 <= shown <= len(detail.body):
        for ordinal, row in enumerate(detail.body[:shown]):
            text = row.rstrip()
            seen.append(
                Seen("Task activity", printed(entries["Task activity"], Joined(text, ""), ""), "line", text, ordinal)
            )
    return seen


def _number(seen: list[Seen], label: str) -> int:
    """A count among readings; a number too large for any screen when it is not there."""
    text = next(
        (reading.value.text for reading in seen if reading.label == label and isinstance(reading.value, Value)), None
    )
    found = number(text)
    return ROWS_LIMIT + 1 if found is None else found
