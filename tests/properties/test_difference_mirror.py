"""Whatever two releases show: a difference is one of both directions, and a release never differs from itself."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.compare.difference import ChangeKind, Difference, difference
from harness.model.facts import CardFacts
from harness.model.values import NULL, NotComparable, Reading, Reason, known, not_displayed, unreadable
from tests.support.columns import LA_LIVE, LA_REOPEN, MC_LIVE, MC_REOPEN, card, fact
from tests.support.releases import Shows, both, side

LABELS = ("Total calls", "Elapsed milliseconds", "Changed path")
readings: st.SearchStrategy[Reading] = st.sampled_from(
    [
        known(1),
        known(2),
        NULL,
        not_displayed("hidden"),
        unreadable("smudged"),
        NotComparable(reason=Reason.CAPTURE_CUT, detail="ends"),
    ]
)
said = st.tuples(st.sampled_from(LABELS), readings, st.sampled_from(("row", "metadata")))
outcomes = st.sampled_from((None, "success", "failure"))


def made(path: str, told: list[tuple[str, Reading, str]], outcome: str | None) -> CardFacts:
    return card(*(fact(label, reading, via=via) for label, reading, via in told), path=path, outcome=outcome)


def cards(path: str) -> st.SearchStrategy[CardFacts]:
    return st.builds(made, st.just(path), st.lists(said, max_size=4), outcomes)


transcripts = st.tuples(cards("turn1/call1"), cards("turn1/call10")) | st.tuples(cards("turn1/call1"))
shows = st.dictionaries(st.sampled_from((LA_LIVE, LA_REOPEN, MC_LIVE, MC_REOPEN)), transcripts, min_size=1)
mirror = {ChangeKind.APPEARED: ChangeKind.VANISHED, ChangeKind.VANISHED: ChangeKind.APPEARED}


def changes(found: Difference) -> list[tuple[object, ...]]:
    return [(item.card, item.label, item.ordinal, item.surface, item.before, item.after) for item in found.facts]


@settings(max_examples=50)
@given(first=shows, second=shows)
def test_the_other_direction_is_the_mirror_image(first: Shows, second: Shows) -> None:
    there, back = side("0.100.0", first), side("0.104.0", second)
    found, mirrored = difference(there, back), difference(back, there)

    assert changes(mirrored) == [(*place, after, before) for *place, before, after in changes(found)]
    assert [tuple(mirror.get(kind, kind) for kind in item.kinds) for item in found.facts] == [
        item.kinds for item in mirrored.facts
    ]
    assert [(item.card, item.member, item.after, item.before) for item in found.cards] == [
        (item.card, item.member, item.before, item.after) for item in mirrored.cards
    ]
    assert found.findings_appeared == mirrored.findings_vanished
    assert (found.compared, found.not_compared) == (mirrored.compared, mirrored.not_compared)
    assert found.empty is mirrored.empty


@settings(max_examples=50)
@given(shown=shows)
def test_a_release_never_differs_from_itself(shown: Shows) -> None:
    release = both(side("0.104.0", shown, name="one"), side("0.104.0", shown, name="two"))

    assert difference(release, release).empty


@settings(max_examples=50)
@given(first=shows, second=shows)
def test_every_change_is_of_something_that_both_could_show(first: Shows, second: Shows) -> None:
    found = difference(side("0.100.0", first), side("0.104.0", second))

    for change in found.facts:
        assert change.kinds
        assert change.surface in first.keys() & second.keys()
        assert "cut" not in (change.before.state, change.after.state)
        assert (change.before, change.kinds) != (change.after, (ChangeKind.VALUE,))
        if change.kinds == (ChangeKind.VALUE,):
            assert change.before.values != change.after.values
            assert change.label != "Elapsed milliseconds" or None in (*change.before.values, *change.after.values)
    assert {item.surface for item in found.surfaces} >= first.keys() ^ second.keys()
