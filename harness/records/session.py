"""A saved session as frozen values: its records in file order, and what is wrong with the lines that are not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from harness.model.facts import Place, Problem
from harness.records.payloads import Payload

P = TypeVar("P")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One event. `line` is its 1-based line, `index` its 0-based position among the records that could be read.

    `event_id` is None in sessions of releases that wrote none. `timestamp` is RFC 3339 as saved.
    """

    line: int
    index: int
    kind: str
    session_id: str
    timestamp: str
    event_id: str | None
    payload: Payload


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One session file. `file` is the bundle member, `session_id` the id that its first record names.

    `others` counts the events that carry no fact, by kind. `legacy`: no record has an event id, so a release wrote it
    that knew neither execution counts nor task telemetry as they are now.
    """

    file: str
    session_id: str
    records: tuple[Record, ...]
    problems: tuple[Problem, ...]
    others: dict[str, int]
    legacy: bool

    def place(self, record: Record, pointer: str | None = None) -> Place:
        """Where a record, or with `pointer` (RFC 6901) one of its members, stands."""
        return Place(file=self.file, line=record.line, offset=None if pointer else 0, pointer=pointer)

    def each(self, payload: type[P]) -> Iterator[tuple[Record, P]]:
        """The records of one kind with their payloads, in file order."""
        for record in self.records:
            if isinstance(record.payload, payload):
                yield record, record.payload
