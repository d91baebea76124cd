"""Broken wire rules as they are found: each kind of breach of each card once, with its first place and a count.

A product that breaks a rule in every snapshot breaks it thousands of times in one run. One finding with a count says
that; thousands bury everything else.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from harness.model.facts import Place, Problem
from harness.wire.capture import Direction, Line
from harness.wire.checking import Report
from harness.wire.locate import Locator
from harness.wire.rules import rule

DISTINCT = 10_000
"""Breaches that are told apart. What attacks with ever new ones is counted together after that."""
_SHOWN = 200


class Key(NamedTuple):
    """Which card: the run or history revision it belongs to, and its activity id there."""

    scope: str
    activity: str


NOWHERE = Line(number=0, at=0, direction=Direction.FOOTER, text=b"")
"""Stands for the line of a breach that has none."""


class Breach(msgspec.Struct, frozen=True, kw_only=True):
    """One broken rule. `key` None: it is not of one card. `label` tells breaches of one rule and card apart: a fact
    label, a member, an event name. `times` counts all that this one stands for, the first of which is placed."""

    rule: str
    key: Key | None
    label: str
    expected: str
    observed: str
    line: int
    pointer: str
    offset: int | None
    times: int

    def problem(self, *, file: str, card: str) -> Problem:
        """The breach as a problem of a bundle member; `card` is the path of its card or ""."""
        more = f" ({self.times} times, the first is shown)" if self.times > 1 else ""
        placed = self.line > 0
        place = Place(
            file=file,
            line=self.line if placed else None,
            offset=self.offset,
            pointer=self.pointer if placed else None,
        )
        return Problem(
            requirement=self.rule,
            card=card,
            label=self.label,
            expected=self.expected,
            observed=self.observed + more,
            place=place,
        )


class Breaches:
    """Collects breaches. `spot` is the line that is being looked at."""

    def __init__(self) -> None:
        self.spot = NOWHERE
        self._key: Key | None = None
        self._base = ""
        self._found: dict[tuple[str, Key | None, str], Breach] = {}
        self._times: dict[tuple[str, Key | None, str], int] = {}
        self._located: tuple[bytes, Locator] | None = None

    def add(
        self,
        identity: str,
        expected: str,
        observed: str,
        *,
        key: Key | None = None,
        label: str = "",
        pointer: str = "",
        offset: int | None = None,
        spot: Line | None = None,
    ) -> None:
        """Keep one breach of the rule; `spot` other than the current line for what shows only later."""
        same = (identity, key, label)
        if same not in self._times and len(self._times) >= DISTINCT:
            same = (identity, None, "")
        self._times[same] = self._times.get(same, 0) + 1
        if same in self._found:
            return
        line = spot or self.spot
        self._found[same] = Breach(
            rule=rule(identity).id,
            key=same[1],
            label=same[2],
            expected=expected,
            observed=observed if len(observed) <= _SHOWN else observed[:_SHOWN] + "…",
            line=line.number,
            pointer=pointer,
            offset=self._offset(line.text, pointer) if offset is None else offset,
            times=1,
        )

    def reporter(self, key: Key, base: str) -> Report:
        """Where the checks of one card report to; `base` is the card's pointer in the frame. Good until the next call
        of this method."""
        self._key, self._base = key, base
        return self._report

    def _report(self, rule: str, label: str, pointer: str, expected: str, observed: str) -> None:
        same = (rule, self._key, label)
        if same in self._times:
            self._times[same] += 1
        else:
            self.add(rule, expected, observed, key=self._key, label=label, pointer=self._base + pointer)

    def all(self) -> tuple[Breach, ...]:
        """Everything so far, in order of first appearance."""
        return tuple(
            msgspec.structs.replace(found, times=self._times[same]) if self._times[same] > 1 else found
            for same, found in self._found.items()
        )

    def _offset(self, text: bytes, pointer: str) -> int | None:
        if not text:
            return None
        if self._located is None or self._located[0] is not text:
            self._located = (text, Locator(text))
        return self._located[1].offset(pointer)
