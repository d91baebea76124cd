"""A saved session as mutants see it: its lines and records, and what a mutant of one of them is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import msgspec

from harness.examine import Examined
from harness.model.facts import CardKind
from harness.selfcheck.frames import Tree
from harness.selfcheck.mutant import Mutant
from harness.selfcheck.subject import Subject
from harness.spec.facts import facts_of

NO_ID = "00000000-0000-4000-8000-000000000000"
REPORT, NESTED = "report", "nested"
"""Where a mutant is: in a report of the host, or in what the report is derived from."""
Edit = Callable[[Any], None]
"""Changes the tree that it is given."""
Lines = Callable[[], list[bytes]]
"""Makes the changed lines, which is put off: most mutants of most bundles are never asked for."""


class SavedSession(NamedTuple):
    """A saved session's lines. `where` is the member."""

    subject: Subject
    where: str
    lines: list[bytes]

    @classmethod
    def of(cls, subject: Subject, member: str) -> SavedSession:
        return cls(subject, member, subject.raw[member].splitlines(keepends=True))

    def tree(self, index: int) -> Tree:
        value: Tree = msgspec.json.decode(self.lines[index])
        return value

    def mutant(
        self,
        class_: str,
        kind: str,
        requirement: str,
        lines: Lines,
        *,
        where: str = "session",
        label: str = "",
        card_kind: str = "",
        state: str = "",
        equivalent: str = "",
    ) -> Mutant:
        return Mutant(
            class_=class_,
            kind=kind,
            requirement=requirement,
            where=where,
            label=label,
            card_kind=card_kind,
            state=state,
            equivalent=equivalent,
            examine=partial(self._examine, lines),
        )

    def _examine(self, lines: Lines) -> Examined:
        return self.subject.with_members({self.where: b"".join(lines())})

    def edited(self, index: int, edit: Edit) -> Lines:
        return partial(self._edited, index, edit)

    def _edited(self, index: int, edit: Edit) -> list[bytes]:
        tree = self.tree(index)
        edit(tree)
        return self._with_line(index, msgspec.json.encode(tree) + b"\n")

    def with_line(self, index: int, *instead: bytes) -> Lines:
        return partial(self._with_line, index, *instead)

    def _with_line(self, index: int, *instead: bytes) -> list[bytes]:
        return [*self.lines[:index], *instead, *self.lines[index + 1 :]]


def records_of(file: SavedSession) -> list[Tree]:
    """Every record decoded; none where some line is no record, so that nothing is said of a session that is broken."""
    try:
        trees = [file.tree(index) for index in range(len(file.lines))]
    except msgspec.DecodeError:
        return []
    whole = all({"event_type", "payload"} <= set(tree) and isinstance(tree["payload"], dict) for tree in trees)
    return trees if whole else []


def metadata_of(tree: Tree) -> dict[str, Any]:
    """The metadata of a result, in which the host's reports stand; empty for every other record."""
    result = tree["payload"].get("result") if tree["event_type"] == "tool_result" else None
    metadata = result.get("metadata") if isinstance(result, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def label_of(kind: CardKind, member: str) -> str:
    """The label of the fact that a member of a report says, "" for none."""
    return next((label for label, entry in facts_of(kind).items() if entry.member == member), "")
