"""How far a saved session has come: all that driving needs to know of it, and no more."""

from __future__ import annotations

from pathlib import Path

import msgspec

_TURN_BEGINS = "user_input"
_TURN_ENDS = frozenset({"assistant_output", "turn_status"})


class _Event(msgspec.Struct):
    event_type: str


_DECODER = msgspec.json.Decoder(_Event)


def turns_ended(files: tuple[Path, ...], turns: int) -> bool:
    """Whether one of the saved sessions holds `turns` turns, the last of which has ended.

    A line that is being written at this moment, or cannot be read, does not count.
    """
    for file in files:
        begun, ended = 0, False
        for line in file.read_bytes().splitlines():
            try:
                kind = _DECODER.decode(line).event_type
            except (msgspec.DecodeError, RecursionError):
                continue
            if kind == _TURN_BEGINS:
                begun, ended = begun + 1, False
            elif kind in _TURN_ENDS:
                ended = True
        if begun >= turns and ended:
            return True
    return False
