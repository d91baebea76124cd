"""Captures of any length made from a real one, line by line: many runs, or one card that is told again and again.

``python -m tests.benchmarks.captures N`` folds a capture with N snapshots of one card and prints the most memory that
this took, in KiB.
"""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from harness.wire.reading import fold_capture
from tests.benchmarks.figures import peak_kib

REAL = Path(__file__).parents[1] / "data" / "captures" / "0.104.0-mixed-script.live.jsonl.gz"
_VARIED = re.compile(
    r"(?P<uuid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
    r'|(?<="seq":)(?P<seq>\d+)|(?<="id":"r)(?P<answer>\d+)|(?<="id": "r)(?P<request>\d+)'
)
_REQUESTS = 1_000_000
"""Where request ids of repeated runs begin, so that none meets one of the real capture."""


class Real:
    """The lines of the real capture: what stands before its run, the run, and its snapshots of cards."""

    def __init__(self) -> None:
        lines = [json.loads(line) for line in gzip.decompress(REAL.read_bytes()).splitlines()]
        texts = [str(line["line"]) for line in lines]
        start = next(number for number, text in enumerate(texts) if '"method": "turn.start"' in text)
        end = next(number for number, text in enumerate(texts) if '"event":"run.finished"' in text) + 1
        self.head, self.run = lines[:start], lines[start:end]
        self.snapshots = sum(is_card(line) for line in self.run)
        self._known = set(_UUID.findall(" ".join(texts[:start])))
        self._seqs = sum(line["direction"] == "from_product" for line in self.run)
        self._templates = [(line, _parts(str(line["line"]))) for line in self.run]

    def runs(self, count: int) -> Iterator[bytes]:
        """A capture of `count` runs, one after another, each with ids of its own."""
        for line in self.head:
            yield _spelled(line, str(line["line"]))
        for number in range(count):
            ids: dict[str, str] = {}

            def value(kind: str, text: str, number: int = number, ids: dict[str, str] = ids) -> str:
                if kind == "uuid":
                    if text in self._known:
                        return text
                    if text not in ids:
                        ids[text] = _uuid(f"{number} {text}")
                    return ids[text]
                return str(int(text) + number * self._seqs if kind == "seq" else int(text) + _REQUESTS + number)

            for line, parts in self._templates:
                yield _spelled(line, _filled(parts, value))

    def told_again(self, times: int) -> Iterator[bytes]:
        """The capture with the second snapshot of its script told `times` more often, each as a new revision."""
        added = 0
        script = ""
        for line in itertools.chain(self.head, self.run):
            text = str(line["line"])
            if line["direction"] == "from_product":
                frame = json.loads(text)
                frame["seq"] += added
                card = frame["data"]["card"] if is_card(line) else None
                if card:
                    script = script or str(card["activity_id"])
                    again = card["activity_id"] == script and card["revision"] == 1
                    if card["activity_id"] == script and card["revision"] > 1:
                        card["revision"] += times
                    for _ in range(times if again else 0):
                        yield _spelled(line, json.dumps(frame, separators=(",", ":")))
                        frame["seq"] += 1
                        card["revision"] += 1
                        added += 1
                text = json.dumps(frame, separators=(",", ":"))
            yield _spelled(line, text)


_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_card(line: dict[str, Any]) -> bool:
    """Whether a line is the event of a card snapshot."""
    return str(line["line"]).startswith('{"data":') and '"event":"tool.card"' in line["line"]


def _parts(text: str) -> list[str | tuple[str, str]]:
    parts: list[str | tuple[str, str]] = []
    at = 0
    for match in _VARIED.finditer(text):
        parts.append(text[at : match.start()])
        parts.append((str(match.lastgroup), match[0]))
        at = match.end()
    return [*parts, text[at:]]


def _filled(parts: list[str | tuple[str, str]], value: Callable[[str, str], str]) -> str:
    return "".join(part if isinstance(part, str) else value(*part) for part in parts)


def _uuid(text: str) -> str:
    new = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return "-".join((new[:8], new[8:12], new[12:16], new[16:20], new[20:]))


def _spelled(line: dict[str, Any], text: str) -> bytes:
    return json.dumps({"at": line["at"], "direction": line["direction"], "line": text}).encode() + b"\n"


if __name__ == "__main__":
    reading = fold_capture(Real().told_again(int(sys.argv[1])))
    if len(reading.runs) != 1 or reading.lines < int(sys.argv[1]):
        sys.exit("the capture was not read")
    print(peak_kib())
