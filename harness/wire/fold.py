"""Folding snapshots of one card into the card: the client's side of "whole replacement snapshots with a revision".

The fold takes the greatest snapshot of a fixed total order. So it gives the same card whatever the order in which
snapshots arrive, and any number of repetitions changes nothing.
Source: ``local-agent-tool-cards.md``, "Live event and ordering"; observations.md, class ``out-of-order``.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from harness.wire.breaches import Key
from harness.wire.capture import Line
from harness.wire.shapes import Card


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One snapshot as it was read. `text` is the card's very bytes, `spot` the line of its frame,
    `pointer` the card in that."""

    key: Key
    card: Card
    text: bytes
    spot: Line
    pointer: str


def rank(snapshot: Snapshot) -> tuple[bool, int, bytes, int]:
    """The order of snapshots of one card. No running snapshot replaces a finished one; then the higher revision wins.
    The bytes decide only where a product broke the rule that one revision has one content, and of true repetitions
    the earliest line is kept."""
    return (snapshot.card.state == "finished", snapshot.card.revision, snapshot.text, -snapshot.spot.number)


def newer(held: Snapshot | None, arrived: Snapshot) -> Snapshot:
    """Which of two snapshots of one card is the card; the one that is held when they are the same."""
    if held is None:
        return arrived
    before, now = held.card, arrived.card
    if before.state == now.state and before.revision != now.revision:  # what `rank` says, without copying anything
        return arrived if now.revision > before.revision else held
    return arrived if rank(arrived) > rank(held) else held


def fold(snapshots: Iterable[Snapshot]) -> dict[Key, Snapshot]:
    """The cards of any number of snapshots, by key."""
    cards: dict[Key, Snapshot] = {}
    for snapshot in snapshots:
        cards[snapshot.key] = newer(cards.get(snapshot.key), snapshot)
    return cards
