"""What was read for one label before it is a fact: the value, how and where it was read. Shared by all readers."""

from __future__ import annotations

import re
from typing import NamedTuple

from harness.model.facts import Fact
from harness.model.values import (
    NULL,
    NotComparable,
    Reading,
    Reason,
    Value,
    known,
    not_displayed,
    unreadable,
)
from harness.observe.mission_control.text import EMPTY, Joined, Text
from harness.spec.facts import FactSpec, FactType

SHORTENED = "… [truncated]"
"""How the product marks a line that it cut at 240 characters."""
GARBLED = "\ufffd"
NOT_DECODED = "holds a character that the capture could not decode"
_NUMBER = re.compile(r"[0-9]{1,9}")
_ROUNDED = re.compile(r"[0-9]+(?:\.[0-9]+)?[kMGTPE]")


class Seen(NamedTuple):
    """One reading of one label. `text` is where it stands, empty when it stands nowhere."""

    label: str
    value: Reading
    via: str
    text: Text = EMPTY
    ordinal: int = 0

    def fact(self, file: str) -> Fact:
        return Fact(label=self.label, value=self.value, via=self.via, ordinal=self.ordinal, place=self.text.place(file))


def comparable(value: Reading) -> bool:
    """Whether a reading says something: not_displayed and not comparable ones only explain a silence."""
    return isinstance(value, Value) and value.reason == ""


def printed(entry: FactSpec, joined: Joined, null: str) -> Reading:
    """The value that a row prints for a label; `null` is the surface's word for a value that is not known.

    Texts that are shortened are not the value; texts that cannot be unwrapped without doubt are not guessed.
    """
    string = joined.text.string
    if string == null:
        return NULL
    if GARBLED in string:
        return unreadable(NOT_DECODED)
    if entry.type is FactType.TEXT:
        if string.endswith(SHORTENED):
            return not_displayed("shown only shortened")
        if joined.doubt:
            return NotComparable(reason=Reason.UNREADABLE, detail=joined.doubt)
    return known(string)


def number(text: str | None) -> int | None:
    """A count small enough to be one of rows on a screen or entries in a list, else None."""
    return int(text) if text is not None and _NUMBER.fullmatch(text) else None


def count(text: str) -> Reading:
    """A token count as the surface abbreviates it: exact below a thousand, rounded from there on, a dash for none."""
    if text == "—":
        return NULL
    if _ROUNDED.fullmatch(text):
        return not_displayed(f"shown only rounded, as {text}")
    return known(text)
