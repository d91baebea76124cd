"""One reading of one fact: five states that never blur, and the reasons why a reading cannot be compared.

A reading is a `Value` (what a source says) or a `NotComparable` (why a source cannot say anything).
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class State(StrEnum):
    """The five states of a fact on a surface or in a derivation (observations.md, last paragraph)."""

    KNOWN = "known"
    NULL = "null"
    """The row is there and says that the value is not known."""
    ABSENT = "absent"
    """The card was read whole and has no such row."""
    NOT_DISPLAYED = "not_displayed"
    """This surface does not print the fact in this release."""
    UNREADABLE = "unreadable"
    """Something is printed where the fact stands, but it cannot be read as a value."""


class Value(msgspec.Struct, frozen=True, kw_only=True, tag="value"):
    """What one source says of one fact.

    `text` is the exact value when, and only when, `state` is known. `reason` explains not_displayed and
    unreadable, and is empty for the other states.
    """

    state: State
    text: str | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        if (self.text is not None) != (self.state is State.KNOWN):
            raise ValueError(f"a {self.state} value cannot have text {self.text!r}")

    def __str__(self) -> str:
        return self.text if self.text is not None else f"({self.state.value.replace('_', ' ')})"


class Reason(StrEnum):
    """Why a reading cannot be compared. Silence is never agreement."""

    NOT_DERIVABLE = "not_derivable"
    """The derivation has no source for this fact (nested records hold no elapsed time)."""
    NOT_RECORDED = "not_recorded"
    """The session's release did not record it."""
    NOT_CAPTURED = "not_captured"
    """The bundle holds no capture of this surface (the run was driven by the other one)."""
    NOT_REACHABLE = "not_reachable"
    """No original run of this release can show it."""
    NOT_STATED = "not_stated"
    """The scenario states no expectation for it."""
    CAPTURE_CUT = "capture_cut"
    """The capture ends before the fact could be read (killed run, truncated file)."""
    NOT_DISPLAYED = "not_displayed"
    UNREADABLE = "unreadable"


class NotComparable(msgspec.Struct, frozen=True, kw_only=True, tag="not_comparable"):
    """A source that cannot say anything about a fact, and why; `detail` is one readable clause."""

    reason: Reason
    detail: str = ""

    def __str__(self) -> str:
        return f"({self.reason.value.replace('_', ' ')})"


Reading = Value | NotComparable

NULL = Value(state=State.NULL)
ABSENT = Value(state=State.ABSENT)


def known(text: str | int | bool) -> Value:
    """A known value in wire spelling: counts as base-10 digits, booleans as ``true``/``false``."""
    if isinstance(text, bool):
        text = "true" if text else "false"
    return Value(state=State.KNOWN, text=str(text))


def nullable(text: str | int | bool | None) -> Value:
    """`known(text)`, or null for None: None means "not known" here and nothing else."""
    return NULL if text is None else known(text)


def not_displayed(reason: str) -> Value:
    return Value(state=State.NOT_DISPLAYED, reason=reason)


def unreadable(reason: str) -> Value:
    return Value(state=State.UNREADABLE, reason=reason)
