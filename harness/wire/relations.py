"""How the cards of one run or one history hang together: parents without cycles, children that are theirs."""

from __future__ import annotations

from collections.abc import Mapping

from harness.spec import bounds
from harness.wire.breaches import Breaches
from harness.wire.fold import Snapshot
from harness.wire.shapes import Children


def parent_of(snapshot: Snapshot) -> str | None:
    """The activity id of an available parent, else None."""
    card = snapshot.card
    return card.parent_activity_id if card.parent_state == "available" else None


def ancestors(identity: str, cards: Mapping[str, Snapshot]) -> list[str] | None:
    """The parents of a card, nearest first, as far as there are cards and no further than one beyond the deepest that
    is allowed; None when they come back to where they were."""
    found: list[str] = []
    at: str | None = identity
    while at is not None and at in cards and len(found) <= bounds.CHILDREN_DEPTH:
        at = parent_of(cards[at])
        if at == identity or at in found:
            return None
        if at is not None:
            found.append(at)
    return found


def check_relations(cards: Mapping[str, Snapshot], breaches: Breaches, *, whole: bool) -> None:
    """The rules over all folded cards of one scope, by activity id. `whole` False: the capture is cut, so a card that
    is not there may only be missing."""
    for identity, held in cards.items():
        above = ancestors(identity, cards)
        if above is None or len(above) > bounds.CHILDREN_DEPTH:
            breaches.add(
                "wire.hierarchy",
                f"at most {bounds.CHILDREN_DEPTH} parents",
                "a cycle" if above is None else f"{len(above)} or more parents",
                key=held.key,
                pointer=f"{held.pointer}/parent_activity_id",
                spot=held.spot,
            )
        _check_parent(held, cards, breaches, whole)
        for index, block in enumerate(held.card.blocks):
            if isinstance(block, Children):
                for place, row in enumerate(block.children):
                    at = f"{held.pointer}/blocks/{index}/children/{place}"
                    _check_child(held, cards.get(row.activity_id), at, breaches, whole)


def _check_parent(held: Snapshot, cards: Mapping[str, Snapshot], breaches: Breaches, whole: bool) -> None:
    card, parent = held.card, parent_of(held)
    if parent is None:
        return
    if parent not in cards:
        if whole:
            breaches.add(
                "wire.parent-known",
                "a card",
                f"no card {parent}",
                key=held.key,
                pointer=f"{held.pointer}/parent_activity_id",
                spot=held.spot,
            )
        return
    task = cards[parent].card.task_id
    if card.task_id not in (None, card.activity_id, task):
        breaches.add(
            "wire.task-scope",
            f"null, its own id or that of its parent's task, {task}",
            str(card.task_id),
            key=held.key,
            pointer=f"{held.pointer}/task_id",
            spot=held.spot,
        )


def _check_child(held: Snapshot, child: Snapshot | None, pointer: str, breaches: Breaches, whole: bool) -> None:
    if child is None and not whole:
        return
    if child is None or parent_of(child) != held.card.activity_id:
        breaches.add(
            "wire.children-known",
            "a card that names this one as its parent",
            "no such card" if child is None else f"a card with parent {child.card.parent_activity_id}",
            key=held.key,
            label="missing" if child is None else "parent",
            pointer=pointer,
            spot=held.spot,
        )
