"""The client's fold: the newest snapshot wins, whatever came in between."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from harness.wire.breaches import Key
from harness.wire.capture import Direction, Line
from harness.wire.fold import Snapshot, fold, newer, rank
from harness.wire.frames import decode_card
from tests.support.wire_frames import card, compact, running


def snapshot(line: int, activity: str = "a1", **members: Any) -> Snapshot:
    made = card(activity, **members)
    if members.get("state") == "running":
        made = running(made, made["revision"])
    text = compact(made).encode()
    spot = Line(number=line, at=0, direction=Direction.FROM_PRODUCT, text=text)
    return Snapshot(key=Key("run", activity), card=decode_card(text)[0], text=text, spot=spot, pointer="/data/card")


def test_higher_revision_wins_in_either_order() -> None:
    old, new = snapshot(1, revision=1, title="old"), snapshot(2, revision=2, title="new")

    assert newer(old, new) is new
    assert newer(new, old) is new
    assert newer(None, old) is old


def test_a_stale_running_snapshot_never_replaces_a_finished_one() -> None:
    finished = snapshot(1, revision=3, title="done")
    late = snapshot(2, revision=9, state="running", title="going")

    for order in permutations([finished, late]):
        assert fold(order)[finished.key].card.title == "done"


def test_a_repetition_changes_nothing() -> None:
    once, again = snapshot(1, revision=1), snapshot(5, revision=1)

    assert newer(once, again) is once
    assert newer(again, once) is once
    assert fold([once, again, once]) == fold([once])


def test_two_contents_of_one_revision_fold_alike_in_any_order() -> None:
    one, other = snapshot(1, revision=1, title="one"), snapshot(2, revision=1, title="other")

    titles = {fold(order)[one.key].card.title for order in permutations([one, other, one])}

    assert len(titles) == 1


def test_cards_are_kept_apart_by_scope_and_activity() -> None:
    a, b = snapshot(1, "a"), snapshot(2, "b")

    assert set(fold([a, b])) == {a.key, b.key}
    assert fold([]) == {}


@pytest.mark.parametrize("left", range(4))
@pytest.mark.parametrize("right", range(4))
def test_the_shortcut_agrees_with_the_order(left: int, right: int) -> None:
    kinds = [
        snapshot(1, revision=1),
        snapshot(2, revision=2),
        snapshot(3, revision=1, state="running"),
        snapshot(4, revision=2, state="running"),
    ]

    chosen = newer(kinds[left], kinds[right])

    assert rank(chosen) == max(rank(kinds[left]), rank(kinds[right]))
