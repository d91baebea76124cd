"""Recordings of one release against each other: a fact that varied and is not told, and one that did not and is."""

from __future__ import annotations

import pytest

from harness.compare.stability import repeated
from harness.model.facts import CardFacts
from harness.model.stability import Variation
from harness.model.values import known
from tests.support.columns import LA_LIVE, MC_LIVE, PATH, card, fact
from tests.support.releases import both, side

RELEASE = "0.104.0"


def calls(count: int, elapsed: int = 5) -> CardFacts:
    return card(fact("Total calls", known(count)), fact("Elapsed milliseconds", known(elapsed)))


def facts(*counts: int) -> tuple[Variation, ...]:
    first, *others = [side(RELEASE, {LA_LIVE: calls(count)}) for count in counts]
    return repeated(first, others).variations


def test_what_comes_out_alike_every_time_does_not_vary() -> None:
    entry = repeated(side(RELEASE, {LA_LIVE: calls(3)}), [side(RELEASE, {LA_LIVE: calls(3)})] * 2)
    assert entry.variations == ()
    assert entry.recordings == 3
    assert entry.compared > 0


def test_a_time_that_only_the_run_can_know_does_not_vary() -> None:
    assert repeated(side(RELEASE, {LA_LIVE: calls(3, 5)}), [side(RELEASE, {LA_LIVE: calls(3, 9)})]).variations == ()


def shown_in(label: str, value: int, *places: str) -> CardFacts:
    return card(*(fact(label, known(value), via=place) for place in places))


def test_where_a_time_stands_follows_from_the_time_and_does_not_vary() -> None:
    short = side(RELEASE, {MC_LIVE: shown_in("Elapsed milliseconds", 987, "title", "metadata")})
    long = side(RELEASE, {MC_LIVE: shown_in("Elapsed milliseconds", 2675, "metadata")})
    assert repeated(short, [long]).variations == ()
    same = side(RELEASE, {MC_LIVE: shown_in("Elapsed milliseconds", 987, "metadata")})
    assert [item.label for item in repeated(short, [same]).variations] == ["Elapsed milliseconds"]
    count = side(RELEASE, {MC_LIVE: shown_in("Total calls", 3, "title", "metadata")})
    elsewhere = side(RELEASE, {MC_LIVE: shown_in("Total calls", 3, "metadata")})
    assert [item.label for item in repeated(count, [elsewhere]).variations] == ["Total calls"]


@pytest.mark.parametrize("at", [1, 2, 3])
def test_one_other_value_in_any_recording_is_told_with_the_values_of_all(at: int) -> None:
    counts = [3, 3, 3, 3]
    counts[at] = 4
    (variation,) = facts(*counts)
    assert (variation.what, variation.card, variation.label) == ("fact", PATH, "Total calls")
    assert variation.surface == LA_LIVE.value
    assert [value.split()[0] for value in variation.values] == [str(count) for count in counts]


def test_each_surface_varies_by_itself() -> None:
    first = side(RELEASE, {LA_LIVE: calls(3), MC_LIVE: calls(3)})
    again = side(RELEASE, {LA_LIVE: calls(3), MC_LIVE: calls(4)})
    assert {item.surface for item in repeated(first, [again]).variations if item.what == "fact"} == {MC_LIVE.value}


def test_a_scenario_s_word_does_not_hide_what_varied() -> None:
    first = side(RELEASE, {LA_LIVE: calls(3)}, varying=())
    assert [item.label for item in repeated(first, [side(RELEASE, {LA_LIVE: calls(4)})]).variations] == ["Total calls"]


def test_a_card_and_a_capture_that_one_recording_lacks_vary() -> None:
    first = side(RELEASE, {LA_LIVE: calls(3), MC_LIVE: calls(3)}, calls(3))
    no_card = side(RELEASE, {LA_LIVE: (), MC_LIVE: calls(3)}, calls(3))
    no_capture = side(RELEASE, {LA_LIVE: calls(3)}, calls(3))
    assert {(item.what, item.surface) for item in repeated(first, [no_card]).variations} >= {("card", LA_LIVE.value)}
    assert {(item.what, item.surface) for item in repeated(first, [no_capture]).variations} >= {
        ("capture", MC_LIVE.value)
    }


def test_a_finding_that_only_some_recordings_have_varies() -> None:
    true, false = side(RELEASE, {LA_LIVE: calls(3)}, calls(3)), side(RELEASE, {LA_LIVE: calls(4)}, calls(3))
    found = [item for item in repeated(true, [false]).variations if item.what == "finding"]
    assert [item.values for item in found] == [("not found", "found")]
    assert [item.label for item in found] == ["Total calls"]


def test_a_run_that_a_recording_lacks_is_told_by_its_manifests_and_varies_in_the_others() -> None:
    first = both(side(RELEASE, {LA_LIVE: calls(3)}, name="a"), side(RELEASE, {LA_LIVE: calls(3)}, name="b"))
    lacking = side(RELEASE, {LA_LIVE: calls(3)}, name="a")
    other = side(RELEASE, {LA_LIVE: calls(4)}, name="b")
    entry = repeated(first, [lacking, other])
    assert [len(entry.manifests[name]) for name in ("a", "b")] == [2, 2]
    (variation,) = entry.variations
    assert variation.observation == "b"
    assert [value.split(" ")[0] for value in variation.values] == ["3", "", "4"]


@pytest.mark.parametrize("again", [[], [side("0.100.0", {LA_LIVE: calls(3)})]])
def test_one_recording_and_another_release_say_nothing_of_stability(again: list[object]) -> None:
    with pytest.raises(ValueError, match="recorded at least twice"):
        repeated(side(RELEASE, {LA_LIVE: calls(3)}), again)  # type: ignore[arg-type] # sides, one of them foreign
