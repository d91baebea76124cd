"""Texts that a saved session keeps and no fact may show: what its tools put out and what its model said.

`harness.records.payloads` leaves them out on purpose, so that no fact is ever derived from them. They are read here
only to be looked for where they must not be (card-facts.md, "Tasks": ``task.activity-private``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

SHORTEST: Final = 5
"""Characters. A shorter line may stand in any text by chance."""
_SAID: Final = ("assistant_output", "assistant_chunk", "reasoning_summary")
_PUT_OUT: Final = ("tool_result", "code_mode_tool_result")


class _Event(msgspec.Struct):
    event_type: str = ""
    payload: dict[str, Any] = {}


def private_texts(session: bytes) -> frozenset[str]:
    """Every line of tool output and model text of one session file that is long enough to look for.

    Names of tools are no private texts, whoever wrote them. Lines that are no records are left to `read_session`.
    """
    found: set[str] = set()
    names: set[str] = set()
    for event in _events(session):
        payload = event.payload
        if event.event_type in _SAID:
            found.update(_lines(payload.get("text")))
        elif event.event_type in _PUT_OUT and isinstance(result := payload.get("result"), dict):
            names.add(str(result.get("tool_name")))
            found.update(_lines(result.get("content")))
    return frozenset(found - names)


def _events(session: bytes) -> Iterator[_Event]:
    for line in session.splitlines():
        try:
            yield msgspec.json.decode(line, type=_Event)
        except (msgspec.DecodeError, RecursionError):
            continue  # `read_session` says that this line is no record


def _lines(text: object) -> Iterator[str]:
    for line in text.splitlines() if isinstance(text, str) else ():
        if len(line.strip()) >= SHORTEST:
            yield line.strip()
