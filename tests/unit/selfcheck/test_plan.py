"""Which bundle gives which mutants: chance, timing or the number of processes must not show in it."""

from __future__ import annotations

from pathlib import Path

from harness.selfcheck.attack import Offer, Target
from harness.selfcheck.plan import PIECE, SHARE, assigned, pieces


def target(rank: int, *, shares: bool = False) -> Target:
    return Target(
        folder=Path(f"/{rank}"),
        scenario=None,
        release="0.104.0",
        observation=f"run{rank}.local-agent",
        rank=rank,
        shares=shares,
    )


def offer(name: str, *, equivalent: bool = False, class_: str = "card-member") -> Offer:
    return Offer(sort=(class_, name), equivalent=equivalent)


def test_a_sort_is_given_once_and_by_the_first_bundle_in_rank() -> None:
    given = assigned([(target(1), [offer("a"), offer("b")]), (target(0), [offer("a")])])
    assert given == {0: (("card-member", "a"),), 1: (("card-member", "b"),)}


def test_a_bundle_in_which_a_mutant_can_be_noticed_comes_before_one_in_which_it_cannot() -> None:
    given = assigned([(target(0), [offer("a", equivalent=True)]), (target(1), [offer("a")])])
    assert given == {0: (), 1: (("card-member", "a"),)}
    nowhere = assigned([(target(0), [offer("a", equivalent=True)]), (target(1), [offer("a", equivalent=True)])])
    assert nowhere == {0: (("card-member", "a"),), 1: ()}


def test_a_light_bundle_shares_some_facts_and_no_equivalent_ones() -> None:
    facts = [offer(str(number), class_="fact-value") for number in range(2 * SHARE)]
    given = assigned([(target(0), facts), (target(1, shares=True), facts), (target(2), facts)])
    assert len(given[0]) == 2 * SHARE
    assert len(given[1]) == 2
    assert given[2] == ()
    declared = [offer(str(number), class_="fact-value", equivalent=True) for number in range(2 * SHARE)]
    assert assigned([(target(0), facts), (target(1, shares=True), declared)])[1] == ()


def test_every_sort_is_judged_once_in_pieces_that_keep_the_order() -> None:
    targets = [target(0), target(1), target(2)]
    sorts = {
        0: tuple(("card-member", str(number)) for number in range(2 * PIECE + 1)),
        1: (),
        2: (("card-member", "a"),),
    }
    found = pieces(targets, sorts)
    assert [(piece.target.rank, len(piece.sorts)) for piece in found] == [(0, PIECE), (0, PIECE), (0, 1), (2, 1)]
    assert tuple(sort for piece in found if piece.target.rank == 0 for sort in piece.sorts) == sorts[0]
