"""Changes of an input that get past its outermost syntax: values of JSON changed in place, lines moved, bytes wounded.

A coverage-guided fuzzer that only flips bytes spends its time on syntax errors. Here a line that is JSON stays JSON,
also JSON in a string of JSON, as local-agent captures hold it.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any, Final

_HOSTILE: Final[tuple[Any, ...]] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        3,
        32,
        2**31,
        2**53,
        2**63,
        2**64,
        -(2**63) - 1,
        10**30,
        10**400,
        0.5,
        1e308,
        -0.0,
    ),
    *("", " ", "\0", "\ud800", "\U0001f468\u200d\U0001f469", "\u202e", "a/../b", "null", "x" * 300, "\\", '"', "\x1b["),
    *([], {}, [[]], {"": None}, [None] * 40, ["a", "a"]),
)
_BYTES: Final = (
    *(
        b"\n",
        b"\r\n",
        b"\0",
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"[" * 300,
        b'{"a":' * 300,
        b"[" * 3000,
        b'{"a":' * 2000,
        b"9" * 5000,
    ),
    *(
        b"1e999",
        b"NaN",
        b"-0",
        b"\\ud800",
        b'"',
        b"{",
        b"}",
        b"]",
        b",",
        b":",
        b"--- ",
        b"\x1b[9999;9999H",
        b"\x1b[?1049h",
    ),
)
_NESTED: Final = 4


def mutated(data: bytes, random: Random, limit: int) -> bytes:
    """`data` with one to three changes, at most `limit` bytes."""
    for _ in range(random.randint(1, 3)):
        lines = data.split(b"\n")
        number = random.randrange(len(lines))
        changed = _json(lines[number], random) if random.random() < 0.6 else None
        if changed is not None:
            lines[number] = changed
            data = b"\n".join(lines)
        elif random.random() < 0.4:
            data = b"\n".join(_moved(lines, number, random))
        else:
            data = _wounded(data, random)
    return data[:limit]


def _moved(lines: list[bytes], number: int, random: Random) -> list[bytes]:
    """One line away, twice, elsewhere, or another's."""
    match random.randrange(4):
        case 0:
            return lines[:number] + lines[number + 1 :]
        case 1:
            return [*lines[:number], lines[number], *lines[number:]]
        case 2:
            return [*lines[:number], lines[random.randrange(len(lines))], *lines[number + 1 :]]
        case _:
            lines = list(lines)
            lines.insert(random.randrange(len(lines)), lines.pop(number))
            return lines


def _wounded(data: bytes, random: Random) -> bytes:
    at = random.randint(0, len(data))
    taken = random.choice((0, 0, 1, 2, 8, 64, 1000))
    put = random.choice((b"", random.choice(_BYTES), random.randbytes(random.randint(1, 4)), data[at : at + 20]))
    return data[:at] + put + data[at + taken :]


def _json(line: bytes, random: Random) -> bytes | None:
    """The line with one of its values changed; None when it is no JSON object or array."""
    try:
        value = json.loads(line)
        if not isinstance(value, dict | list):
            return None
        return json.dumps(_changed(value, random, _NESTED), separators=(",", ":")).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return None


def _changed(value: Any, random: Random, depth: int) -> Any:
    if isinstance(value, str) and depth and value[:1] in ("{", "[") and random.random() < 0.9:
        try:
            return json.dumps(_changed(json.loads(value), random, depth - 1), separators=(",", ":"))
        except (ValueError, RecursionError):
            return random.choice(_HOSTILE)
    if not isinstance(value, dict | list) or not value or random.random() < 0.12:
        return _other(value, random)
    key: Any = random.choice(list(value)) if isinstance(value, dict) else random.randrange(len(value))
    match random.random():
        case chance if chance < 0.06:
            del value[key]
        case chance if chance < 0.10:
            _put(value, random)
        case _:
            value[key] = _changed(value[key], random, depth)
    return value


def _put(value: dict[str, Any] | list[Any], random: Random) -> None:
    if isinstance(value, dict):
        value[random.choice(("", "x", *value))] = random.choice(_HOSTILE)
    else:
        value.insert(random.randint(0, len(value)), random.choice((*_HOSTILE, *value)))


def _other(value: Any, random: Random) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and random.random() < 0.5:
        return value + random.choice((-1, 1, 2, 1000))
    if isinstance(value, str) and value and random.random() < 0.5:
        at = random.randint(0, len(value))
        return (
            value[:at]
            + str(random.choice(("", "x", "\n", "\0", "é", "•", " ", "9" * 40)))
            + value[at + random.randint(0, 3) :]
        )
    return random.choice(_HOSTILE)
