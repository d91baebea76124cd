"""The catalogue against the page: every unit of the page has exactly one entry, in the page's order, in other words.

Pure: the page's text comes in, differences come out as data. An empty answer is the only good one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from enum import StrEnum

import msgspec

from harness.spec.page import Unit, copied_run, digest, units
from harness.spec.requirements import REQUIREMENTS, Requirement


class DriftKind(StrEnum):
    ADDED = "added"
    """The page has a rule without an entry."""
    REMOVED = "removed"
    """The catalogue has an entry whose sentence is not on the page."""
    CHANGED = "changed"
    """The sentence in the entry's place is another one."""
    MOVED = "moved"
    """The sentence stands elsewhere in the page's order."""
    SECTION = "section"
    """The sentence stands under another heading."""
    COPIED = "copied"
    """The entry's text shares a run of words with the page."""


class Drift(msgspec.Struct, frozen=True, kw_only=True):
    """One difference. `requirement` is "" for added rules; `labels` are those of the row ("()" for prose), `sentence`
    and `line` the page's ("" and None where the page has nothing)."""

    kind: DriftKind
    requirement: str
    labels: tuple[str, ...]
    sentence: str
    line: int | None


_Key = tuple[tuple[str, ...], str]


def _row_labels(entry: Requirement) -> tuple[str, ...]:
    """The Label cell that the entry belongs to; a prose entry has none, although it may govern labels."""
    return entry.labels if entry.row else ()


def drift(page: str, requirements: Sequence[Requirement] = REQUIREMENTS) -> tuple[Drift, ...]:
    """All differences between a page and a catalogue. Raises DecodeError for a page that cannot be cut into units."""
    found = units(page)
    changes = _unmoved(_aligned(requirements, found), requirements)
    copies = [
        Drift(kind=DriftKind.COPIED, requirement=entry.id, labels=_row_labels(entry), sentence=run, line=None)
        for entry in requirements
        if (run := copied_run(entry.text, page)) is not None
    ]
    return (*changes, *copies)


def _aligned(entries: Sequence[Requirement], found: Sequence[Unit]) -> list[Drift]:
    old: list[_Key] = [(_row_labels(entry), entry.digest) for entry in entries]
    new: list[_Key] = [(unit.labels, unit.digest) for unit in found]
    changes: list[Drift] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            changes += _block(entries[i1:i2], found[j1:j2])
            continue
        changes += [
            _of(DriftKind.SECTION, entry, unit)
            for entry, unit in zip(entries[i1:i2], found[j1:j2], strict=True)
            if entry.section != unit.section
        ]
    return changes


def _block(entries: Sequence[Requirement], found: Sequence[Unit]) -> list[Drift]:
    """A stretch where both sides differ: what belongs to one row (or is prose) is paired in order."""
    changes: list[Drift] = []
    waiting: dict[tuple[str, ...], list[Requirement]] = defaultdict(list)
    for entry in entries:
        waiting[_row_labels(entry)].append(entry)
    for unit in found:
        partners = waiting[unit.labels]
        if partners:
            changes.append(_of(DriftKind.CHANGED, partners.pop(0), unit))
        else:
            changes.append(_of(DriftKind.ADDED, None, unit))
    changes += [_of(DriftKind.REMOVED, entry, None) for rest in waiting.values() for entry in rest]
    return changes


def _of(kind: DriftKind, entry: Requirement | None, unit: Unit | None) -> Drift:
    labels = unit.labels if unit else _row_labels(entry) if entry else ()
    return Drift(
        kind=kind,
        requirement=entry.id if entry else "",
        labels=labels,
        sentence=unit.sentence if unit else "",
        line=unit.line if unit else None,
    )


def _unmoved(changes: list[Drift], entries: Sequence[Requirement]) -> list[Drift]:
    """The changes, with each sentence that went away here and came back there told once, as moved."""
    by_id = {entry.id: entry for entry in entries}
    gone = {
        (change.labels, by_id[change.requirement].digest): change
        for change in changes
        if change.kind is DriftKind.REMOVED
    }
    told: list[Drift] = []
    moved: set[str] = set()
    for change in changes:
        source = gone.get((change.labels, digest(change.sentence))) if change.kind is DriftKind.ADDED else None
        if source is None or source.requirement in moved:
            told.append(change)
        else:
            moved.add(source.requirement)
            told.append(msgspec.structs.replace(change, kind=DriftKind.MOVED, requirement=source.requirement))
    return [change for change in told if change.kind is not DriftKind.REMOVED or change.requirement not in moved]
