"""Bytes of one saved session file to typed records: a bad line becomes a problem with its place, the rest is read.

Reads strictly (UTF-8, no member twice, no NaN, bounded) and tolerates what the format allows to grow: unknown kinds
and unknown members.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

import jiter
import msgspec

from harness.model.errors import DecodeError
from harness.model.facts import Place, Problem
from harness.records.payloads import KINDS, Other, Payload
from harness.records.rules import LINE_BYTES, RULES, SESSION_BYTES, SESSION_LINES
from harness.records.session import Record, Session

_OTHER: Final = Other()
_AT: Final = re.compile(r" at line 1 column (\d+)$")


class _Envelope(msgspec.Struct, frozen=True, kw_only=True):
    event_type: str
    timestamp: str
    session_id: str
    payload: Any
    event_id: str | None = None


class _BadLineError(Exception):
    """Why a line gives no record: rule id, what was seen, and the 0-based byte or the member where."""

    def __init__(self, rule: str, observed: str, *, offset: int | None = None, pointer: str | None = None) -> None:
        super().__init__(observed)
        self.rule = rule
        self.observed = observed
        self.offset = offset
        self.pointer = pointer


def read_session(data: bytes, *, file: str) -> Session:
    """The records of one session file. `file` names it in places.

    Raises DecodeError when nothing of it can be read or it is over the product's own read limits
    (`SESSION_BYTES`, `SESSION_LINES`). Everything else that is wrong is in `Session.problems`, in file order.
    """
    if len(data) > SESSION_BYTES:
        raise DecodeError(f"{len(data)} bytes, over the limit of {SESSION_BYTES}", where=file)
    lines = data.split(b"\n")
    whole = not lines[-1]
    if whole:
        lines.pop()
    if len(lines) > SESSION_LINES:
        raise DecodeError(f"{len(lines)} lines, over the limit of {SESSION_LINES}", where=file)
    records: list[Record] = []
    problems: list[Problem] = []
    others: Counter[str] = Counter()
    for number, text in enumerate(lines, 1):
        try:
            record = _record(text, number, len(records))
        except _BadLineError as bad:
            cut = not whole and number == len(lines) and bad.rule == "records.line-json"
            problems.append(_problem(file, number, bad, "records.line-cut" if cut else bad.rule))
            continue
        if record.payload is _OTHER:
            others[record.kind] += 1
        records.append(record)
    if not records:
        first = f"; {problems[0].observed}" if problems else ""
        raise DecodeError(f"no record can be read{first}", where=str(problems[0].place) if problems else file)
    problems.extend(_identity_problems(file, records))
    return Session(
        file=file,
        session_id=records[0].session_id,
        records=tuple(records),
        problems=tuple(problems),
        others=dict(sorted(others.items())),
        legacy=all(record.event_id is None for record in records),
    )


def _record(text: bytes, line: int, index: int) -> Record:
    value = _json(text)
    try:
        envelope = msgspec.convert(value, _Envelope)
    except msgspec.ValidationError as error:
        raise _bad_member("records.envelope", error, "") from None
    kind = KINDS.get(envelope.event_type)
    payload: Payload = _OTHER
    if kind is not None:
        try:
            payload = msgspec.convert(envelope.payload, kind)
        except msgspec.ValidationError as error:
            raise _bad_member("records.payload", error, "/payload") from None
    return Record(
        line=line,
        index=index,
        kind=envelope.event_type,
        session_id=envelope.session_id,
        timestamp=envelope.timestamp,
        event_id=envelope.event_id,
        payload=payload,
    )


def _json(text: bytes) -> object:
    if len(text) > LINE_BYTES:
        raise _BadLineError("records.line-size", f"{len(text)} bytes")
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _BadLineError("records.line-utf8", error.reason, offset=error.start) from None
    try:
        value: object = jiter.from_json(text, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        at = _AT.search(str(error))
        reason = str(error)[: at.start()] if at else str(error)
        rule = "records.line-duplicate-key" if reason.startswith("Detected duplicate key") else "records.line-json"
        raise _BadLineError(rule, reason, offset=max(int(at[1]) - 1, 0) if at else None) from None
    if not isinstance(value, dict):
        raise _BadLineError("records.line-json", f"a JSON {type(value).__name__}, not an object", offset=0)
    return value


_MEMBER: Final = re.compile(r"^(?P<reason>.*?)(?: - at `\$(?P<path>[^`]*)`)?$", re.DOTALL)


def _bad_member(rule: str, error: msgspec.ValidationError, base: str) -> _BadLineError:
    """The problem of a member, with msgspec's path (`$.result.success`) as a JSON pointer."""
    match = _MEMBER.match(str(error))
    path = (match["path"] if match else "") or ""
    steps = re.findall(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]", path)
    pointer = base + "".join(f"/{name or number}" for name, number in steps)
    return _BadLineError(rule, match["reason"] if match else str(error), pointer=pointer or None)


def _problem(file: str, line: int, bad: _BadLineError, rule: str) -> Problem:
    return Problem(
        requirement=rule,
        card="",
        label="",
        expected=RULES[rule],
        observed=bad.observed,
        place=Place(file=file, line=line, offset=bad.offset, pointer=bad.pointer),
    )


def _identity_problems(file: str, records: list[Record]) -> list[Problem]:
    """Records of another session, and event ids that stand twice."""
    found: list[Problem] = []
    first: dict[str, int] = {}

    def report(rule: str, record: Record, observed: str, pointer: str) -> None:
        place = Place(file=file, line=record.line, pointer=pointer)
        found.append(Problem(requirement=rule, card="", label="", expected=RULES[rule], observed=observed, place=place))

    for record in records:
        if record.session_id != records[0].session_id:
            report("records.session-id", record, f"{record.session_id!r}", "/session_id")
        if record.event_id is not None:
            seen = first.setdefault(record.event_id, record.line)
            if seen != record.line:
                report("records.event-id", record, f"{record.event_id!r}, as on line {seen}", "/event_id")
    return found
