"""Several recordings of one release against each other: whatever differs between them varies.

Facts that only a run can know (times, estimates, identities, and what a scenario states as a pattern) are no variation,
exactly as between two releases. What a scenario declares as varying is told here too: whether that excuses it is for
the judgement, by the scenarios of its own day.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from harness.compare.columns import path_order
from harness.compare.difference import ChangeKind, Difference, Side, difference
from harness.model.stability import Repeated, Variation


def repeated(first: Side, again: Sequence[Side]) -> Repeated:
    """Hold every recording in `again` against `first`, the judged evidence.

    Raises ValueError when nothing was recorded again, or another release was.
    """
    if not again or any(side.release != first.release for side in again):
        raise ValueError("stability is of one release, recorded at least twice")
    differences = [difference(first, side) for side in again]
    manifests = {
        item.id: (
            item.manifest_sha256,
            *(other.manifest_sha256 for side in again for other in side.observations if other.id == item.id),
        )
        for item in sorted(first.observations, key=lambda item: item.id)
    }
    return Repeated(
        release=first.release,
        recordings=1 + len(again),
        manifests=manifests,
        compared=sum(found.compared for found in differences),
        not_compared=sum(found.not_compared for found in differences),
        variations=_variations(differences),
    )


def _variations(differences: Sequence[Difference]) -> tuple[Variation, ...]:
    shown: dict[Variation, dict[int, str]] = {}
    for number, found in enumerate(differences, start=1):
        for subject, before, after in _changes(found):
            values = shown.setdefault(subject, {0: before})
            values[number] = after
    return tuple(
        msgspec.structs.replace(
            subject,
            values=tuple(
                values.get(number, values[0] if subject.observation in _both(differences, number) else "")
                for number in range(len(differences) + 1)
            ),
        )
        for subject, values in sorted(shown.items(), key=lambda item: _order(item[0]))
    )


def _both(differences: Sequence[Difference], number: int) -> tuple[str, ...]:
    """Observations that the judged evidence and a recording both have; those of the evidence itself for 0."""
    return differences[max(number - 1, 0)].both


def _order(item: Variation) -> tuple[object, ...]:
    return (item.observation, path_order(item.card), item.what, item.label, item.ordinal, item.surface, item.detail)


def _subject(
    what: str, observation: str, surface: str, card: str = "", label: str = "", *, ordinal: int = 0, detail: str = ""
) -> Variation:
    """What varied, without the values."""
    return Variation(
        what=what,
        observation=observation,
        surface=surface,
        card=card,
        label=label,
        ordinal=ordinal,
        detail=detail,
        values=(),
    )


def _changes(found: Difference) -> Iterator[tuple[Variation, str, str]]:
    for capture in found.surfaces:
        yield _subject("capture", capture.observation, capture.surface.value), capture.before, capture.after
    for card in found.cards:
        varied = _subject("card", card.observation, card.surface.value, card.card, detail=card.member)
        yield varied, card.before, card.after
    for fact in found.facts:
        if fact.varies and fact.kinds == (ChangeKind.DISPLAY,):
            continue  # a time of less than a second stands in the title to the millisecond, a longer one does not
        varied = _subject("fact", fact.observation, fact.surface.value, fact.card, fact.label, ordinal=fact.ordinal)
        yield varied, f"{fact.before} ({fact.before.agreement.value})", f"{fact.after} ({fact.after.agreement.value})"
    for findings, before, after in (
        (found.findings_vanished, "found", "not found"),
        (found.findings_appeared, "not found", "found"),
    ):
        for item in findings:
            detail = f"{item.id} {item.requirement}"
            place = (item.observation, item.surface, item.card, item.label)
            yield _subject("finding", *place, ordinal=item.ordinal, detail=detail), before, after
