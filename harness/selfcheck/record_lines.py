"""Mutants of single lines of a session: what a line can be beside a record."""

from __future__ import annotations

from collections.abc import Iterator

from harness.selfcheck.frames import Tree
from harness.selfcheck.mutant import Mutant
from harness.selfcheck.saved_session import NO_ID, Lines, SavedSession

_TIME = "when a record was written is no fact"


def broken_lines(file: SavedSession, trees: list[Tree]) -> Iterator[Mutant]:
    """What a line of a session can be beside a record, tried on one that carries facts."""
    if not trees:
        return
    index = next((i for i, tree in enumerate(trees) if tree["event_type"] == "tool_call"), 0)
    line = file.lines[index]

    def mutant(kind: str, requirement: str, lines: Lines) -> Mutant:
        return file.mutant("record-line", kind, requirement, lines)

    yield mutant("cut in the middle", "records.line-json", file.with_line(index, line[: len(line) // 2] + b"\n"))
    yield mutant("the last cut", "records.line-cut", lambda: [*file.lines[:-1], file.lines[-1][:-9]])
    doubled = line.replace(b'"event_type":', b'"event_type":"tool_call","event_type":', 1)
    yield mutant("a member twice", "records.line-duplicate-key", file.with_line(index, doubled))
    yield mutant("no UTF-8", "records.line-utf8", file.with_line(index, line[:20] + b"\xff" + line[20:]))
    yield mutant(
        "NaN", "records.line-json", file.with_line(index, line.replace(b'"payload":{', b'"payload":{"n":NaN,', 1))
    )
    yield mutant("no payload", "records.envelope", file.edited(index, lambda tree: tree.pop("payload") and None))
    yield mutant(
        "of another session", "records.session-id", file.edited(index, lambda tree: tree.update(session_id=NO_ID))
    )
    if "event_id" in trees[index]:
        taken = trees[0]["event_id"]
        yield mutant(
            "an event id twice", "records.event-id", file.edited(index, lambda tree: tree.update(event_id=taken))
        )
    yield mutant("empty", "records.line-json", file.with_line(index, b"\n", line))
    yield mutant("no lines at all", "acceptance.saved-confirms", list)
    later = file.edited(index, lambda tree: tree.update(timestamp="2030-01-01T00:00:00Z"))
    yield file.mutant("no-fact", "written later", "acceptance.no-substitute", later, equivalent=_TIME)
