"""Two releases held against each other: a change that is missed, and a difference between runs that is called one."""

from __future__ import annotations

import random

import msgspec
import pytest

from harness.compare.difference import VARYING, CardChange, ChangeKind, Difference, Side, SurfaceChange, difference
from harness.compare.shown import Shown
from harness.model.facts import CardFacts, CardKind, Problem
from harness.model.values import ABSENT, NULL, NotComparable, Reading, Reason, known, not_displayed, unreadable
from harness.model.verdict import Agreement
from harness.spec.facts import FACTS, FactType
from tests.support.columns import (
    BATCH,
    EXPECTED,
    LA_LIVE,
    LA_REOPEN,
    MC_LIVE,
    MC_REOPEN,
    PATH,
    SCRIPT,
    card,
    fact,
    facts,
    omission,
    rows,
)
from tests.support.releases import both, changed, side

APPEARED, VANISHED, VALUE, DISPLAY, AGREEMENT = ChangeKind
LABEL = "Total calls"
SCRIPT_LABELS = 24
"""Labels of a script's card: 22 single ones, warnings and paths."""

NO_ROW = None
CUT = NotComparable(reason=Reason.CAPTURE_CUT, detail="ends")
READINGS: dict[str, Reading | None] = {
    "3": known(3),
    "4": known(4),
    "null": NULL,
    "no row": NO_ROW,
    "absent": ABSENT,
    "not displayed": not_displayed("hidden"),
    "unreadable": unreadable("smudged"),
}
KINDS: dict[tuple[str, str], tuple[ChangeKind, ...]] = {
    ("3", "4"): (VALUE,),
    ("3", "null"): (VALUE,),
    ("4", "null"): (VALUE,),
    ("3", "no row"): (VANISHED,),
    ("4", "no row"): (VANISHED,),
    ("null", "no row"): (VANISHED,),
    ("3", "absent"): (VANISHED,),
    ("4", "absent"): (VANISHED,),
    ("null", "absent"): (VANISHED,),
    ("no row", "absent"): (),
    **{(shown, hidden): (DISPLAY,) for shown in ("3", "4", "null") for hidden in ("not displayed", "unreadable")},
    **{(gone, hidden): (DISPLAY,) for gone in ("no row", "absent") for hidden in ("not displayed", "unreadable")},
    ("not displayed", "unreadable"): (DISPLAY,),
}
"""What a change between two readings is; the other way round a row that vanished has appeared."""
MIRRORED = {APPEARED: VANISHED, VANISHED: APPEARED}


def showing(reading: Reading | None, label: str = LABEL) -> CardFacts:
    """A script's card with one row, or without it."""
    return card() if reading is None else card(fact(label, reading))


def kinds_of(found: Difference, label: str = LABEL) -> tuple[ChangeKind, ...]:
    """What changed of one fact, which is all that changed."""
    assert {change.label for change in found.facts} <= {label}
    assert len(found.facts) <= 1
    return found.facts[0].kinds if found.facts else ()


def expected_kinds(before: str, after: str) -> tuple[ChangeKind, ...]:
    if before == after:
        return ()
    if (before, after) in KINDS:
        return KINDS[before, after]
    return tuple(MIRRORED.get(kind, kind) for kind in KINDS[after, before])


@pytest.mark.parametrize(("before", "after"), [(first, second) for first in READINGS for second in READINGS])
def test_each_state_against_each_other(before: str, after: str) -> None:
    found = changed({LA_LIVE: showing(READINGS[before])}, {LA_LIVE: showing(READINGS[after])})

    assert kinds_of(found) == expected_kinds(before, after)
    assert (found.compared, found.not_compared) == (SCRIPT_LABELS, 3 * SCRIPT_LABELS)
    assert not found.cards
    assert not found.surfaces


@pytest.mark.parametrize("other", READINGS)
@pytest.mark.parametrize("first", [True, False])
def test_a_reading_that_was_cut_is_no_change_and_no_sameness(other: str, first: bool) -> None:
    cards = (showing(CUT), showing(READINGS[other]))
    before, after = cards if first else reversed(cards)

    found = changed({LA_LIVE: before}, {LA_LIVE: after})

    assert found.facts == ()
    assert (found.compared, found.not_compared) == (SCRIPT_LABELS - 1, 3 * SCRIPT_LABELS + 1)


def test_a_change_names_its_fact_and_both_sides() -> None:
    found = changed(
        {MC_REOPEN: card(fact(LABEL, 3), fact(LABEL, 3, via="metadata"), fact("Rollback", False))},
        {MC_REOPEN: card(fact(LABEL, 3, via="metadata"), fact("Rollback", not_displayed("hidden")))},
    )

    total, rollback = found.facts
    assert (total.observation, total.card, total.label, total.surface) == ("seen", PATH, LABEL, MC_REOPEN)
    assert total.card_kind is CardKind.CODE_MODE
    assert total.kinds == (DISPLAY,)
    assert total.before == Shown(state="known", values=("3",), via=("metadata", "row"))
    assert total.after == Shown(state="known", values=("3",), via=("metadata",))
    assert (rollback.label, rollback.kinds, str(rollback.before), str(rollback.after)) == (
        "Rollback",
        (DISPLAY,),
        "false",
        "(not displayed)",
    )


def test_a_second_reading_that_says_something_else_is_a_change() -> None:
    before, after = card(fact(LABEL, 3), fact(LABEL, 3)), card(fact(LABEL, 3), fact(LABEL, 4))

    (change,) = changed({MC_REOPEN: before}, {MC_REOPEN: after}).facts

    assert change.kinds == (VALUE,)
    assert str(change.after) == "3 | 4"


def test_agreement_is_held_against_each_release_of_its_own() -> None:
    """The same value on the surface, and other records: the value did not change, what it is worth did."""
    before = side("0.100.0", {LA_LIVE: showing(known(3))}, card(fact(LABEL, 3, via="report")))
    after = side("0.104.0", {LA_LIVE: showing(known(3))}, card(fact(LABEL, 4, via="report")))

    (change,) = difference(before, after).facts

    assert change.kinds == (AGREEMENT,)
    assert (change.before.agreement, change.after.agreement) == (Agreement.AGREE, Agreement.DISAGREE)


def test_a_value_that_changes_against_steady_records_changes_twice() -> None:
    found = changed(
        {LA_LIVE: showing(known(3))}, {LA_LIVE: showing(known(4))}, reference=card(fact(LABEL, 3, via="report"))
    )

    assert kinds_of(found) == (VALUE, AGREEMENT)


# What only a run can know


TIMES = [entry.label for entry in FACTS if entry.type is FactType.MILLISECONDS]


def of_kind(kind: CardKind, label: str, reading: Reading) -> CardFacts:
    return card(fact(label, reading), kind=kind)


@pytest.mark.parametrize(
    ("kind", "label"),
    [*((CardKind.CODE_MODE, label) for label in TIMES), *VARYING],
    ids=str,
)
def test_what_varies_from_run_to_run_is_no_change_but_its_loss_is(kind: CardKind, label: str) -> None:
    texts = of_kind(kind, label, known("17")), of_kind(kind, label, known("18"))
    lost = of_kind(kind, label, NULL)

    assert TIMES == ["Elapsed milliseconds"]
    assert kinds_of(changed({LA_LIVE: texts[0]}, {LA_LIVE: texts[1]}), label) == ()
    assert kinds_of(changed({LA_LIVE: texts[0]}, {LA_LIVE: lost}), label) == (VALUE,)
    assert kinds_of(changed({LA_LIVE: lost}, {LA_LIVE: texts[1]}), label) == (VALUE,)


def test_a_pattern_or_the_scenarios_word_makes_a_fact_vary() -> None:
    pattern = card(fact(LABEL, "<at least 2>", via="pattern"))
    shows = {LA_LIVE: showing(known(3))}, {LA_LIVE: showing(known(4))}

    plain = changed(*shows)
    by_pattern = changed({**shows[0], EXPECTED: pattern}, {**shows[1], EXPECTED: pattern})
    by_word = difference(side("0.100.0", shows[0], varying=(LABEL,)), side("0.104.0", shows[1]))

    assert kinds_of(plain) == (VALUE,)
    assert kinds_of(by_pattern) == ()
    assert kinds_of(by_word) == ()


def test_a_varying_value_that_moved_is_told_without_its_value() -> None:
    label = "Elapsed milliseconds"
    (change,) = changed(
        {MC_REOPEN: card(fact(label, 17), fact(label, 17, via="title"))},
        {MC_REOPEN: card(fact(label, 18, via="title"))},
    ).facts

    assert change.kinds == (DISPLAY,)
    assert change.varies


def test_the_place_of_the_run_is_no_change() -> None:
    before = {LA_LIVE: card(rows("Changed path", "/one/ws/out.txt", "/one/ws/kept"))}
    after = {LA_LIVE: card(rows("Changed path", "/two/ws/out.txt", "/one/ws/kept"))}

    found = difference(side("0.100.0", before, workspace="/one/ws"), side("0.104.0", after, workspace="/two/ws"))

    (change,) = found.facts
    assert (change.ordinal, change.kinds) == (1, (VALUE,))
    assert (str(change.before), str(change.after)) == ("<workspace>/kept", "/one/ws/kept")


def test_a_preview_row_that_only_one_release_has() -> None:
    found = changed(
        {LA_LIVE: card(rows("Warning", "first", "second"))},
        {LA_LIVE: card(rows("Warning", "first"))},
        reference=card(rows("Warning", "first", via="report")),
    )

    (change,) = found.facts
    assert (change.label, change.ordinal, change.kinds) == ("Warning", 1, (VANISHED,))
    assert change.after.state == "absent"


# Cards and surfaces


def test_a_card_that_a_surface_no_longer_shows() -> None:
    reference = (card(facts(SCRIPT)), card(facts(SCRIPT), path="turn1/call2"))
    found = changed({LA_REOPEN: reference}, {LA_REOPEN: reference[:1]}, reference=reference)

    assert found.cards == (
        CardChange(
            observation="seen",
            card="turn1/call2",
            surface=LA_REOPEN,
            member="shown",
            before="shown",
            after="missing",
        ),
    )
    assert found.facts == ()
    assert found.compared == SCRIPT_LABELS
    assert [item.card for item in found.findings_appeared] == ["turn1/call2"]


def test_a_card_that_only_one_release_has_at_all() -> None:
    other = card(facts(SCRIPT), path="turn1/call2")
    found = changed({LA_REOPEN: card(facts(SCRIPT))}, {LA_REOPEN: (card(facts(SCRIPT)), other)})

    (change,) = found.cards
    assert (change.card, change.member, change.before, change.after) == ("turn1/call2", "shown", "missing", "shown")
    assert found.facts == ()


def test_a_card_says_something_else_of_itself() -> None:
    before = card(facts(SCRIPT), outcome="success", changes="partial", omissions=(omission("rows", count=3),))
    after = card(facts(SCRIPT), outcome="failure", changes="partial", omissions=(omission("rows", count=None),))

    found = changed({LA_LIVE: before}, {LA_LIVE: after})

    assert [(item.member, item.before, item.after) for item in found.cards] == [
        ("outcome", "success", "failure"),
        ("omissions", "rows, size_limit: 3", "rows, size_limit: null"),
    ]


def test_a_card_of_another_kind_is_one_change_and_not_one_for_each_fact() -> None:
    found = changed({LA_LIVE: card(facts(SCRIPT))}, {LA_LIVE: card(facts(BATCH), kind=CardKind.SUBAGENT_BATCH)})

    assert [(item.member, item.before, item.after) for item in found.cards] == [("kind", "code_mode", "subagent_batch")]
    assert found.facts == ()
    assert found.compared == 0


def test_a_surface_that_one_release_was_not_captured_on_changes_nothing_else() -> None:
    wrong = {LA_LIVE: showing(known(3)), MC_LIVE: showing(known(4))}
    found = changed({LA_LIVE: showing(known(3))}, wrong, reference=card(fact(LABEL, 3, via="report")))

    assert [(item.surface, item.after) for item in found.surfaces] == [(MC_LIVE, "captured")]
    assert found.surfaces[0].before.startswith("not there: ")
    assert (found.facts, found.cards, found.findings_appeared) == ((), (), ())


def test_a_capture_that_was_cut_is_told() -> None:
    before = side("0.100.0", {LA_LIVE: showing(known(3))}, cut=(LA_LIVE,))
    after = side("0.104.0", {LA_LIVE: showing(known(3))})

    assert difference(before, after).surfaces == (
        SurfaceChange(observation="seen", surface=LA_LIVE, before="captured, cut", after="captured"),
    )


# Findings and observations


def problem(requirement: str) -> Problem:
    return Problem(requirement=requirement, card=PATH, label="", expected="order", observed="disorder")


def broken(release: str, *requirements: str, name: str = "seen") -> Side:
    problems = {LA_LIVE: tuple(map(problem, requirements))}
    return side(release, {LA_LIVE: showing(known(3))}, problems=problems, name=name)


def test_findings_of_one_release_alone_are_told_and_those_of_both_are_not() -> None:
    before, after = broken("0.100.0", "wire.seq", "wire.response"), broken("0.104.0", "wire.seq", "wire.one-instance")

    found = difference(before, after)

    assert len(before.findings) == len(after.findings) == 2
    assert [item.requirement for item in found.findings_appeared] == ["wire.one-instance"]
    assert [item.requirement for item in found.findings_vanished] == ["wire.response"]


def test_observations_of_one_release_alone_are_named_and_their_findings_are_not_news() -> None:
    before = both(broken("0.100.0"), broken("0.100.0", "wire.seq", name="old"))
    after = both(broken("0.104.0"), broken("0.104.0", "wire.response", name="new"))

    found = difference(before, after)

    assert (found.both, found.only_before, found.only_after) == (("seen",), ("old",), ("new",))
    assert found.findings_appeared == found.findings_vanished == ()
    assert not found.empty


# The whole


def whole(release: str, outcome: str) -> Side:
    shows = {column: card(facts({**SCRIPT, "Script outcome": outcome})) for column in (LA_LIVE, LA_REOPEN, MC_REOPEN)}
    parts = [side(release, shows, card(facts(SCRIPT, via="report")), name=name) for name in ("b", "a", "c")]
    return both(*parts)


def test_a_release_against_itself_is_no_difference_though_everything_was_compared() -> None:
    found = difference(whole("0.104.0", "success"), whole("0.104.0", "success"))

    assert found.empty
    assert (found.compared, found.not_compared) == (3 * 3 * SCRIPT_LABELS, 3 * SCRIPT_LABELS)


def test_the_order_of_observations_rows_and_findings_does_not_show() -> None:
    before, after = whole("0.100.0", "success"), whole("0.104.0", "failure")
    shaken = random.Random(4)  # noqa: S311 # an order, not a secret

    def shuffled(one: Side) -> Side:
        seen = [
            msgspec.structs.replace(item, rows=tuple(shaken.sample(item.rows, len(item.rows))))
            for item in shaken.sample(one.observations, len(one.observations))
        ]
        found = tuple(shaken.sample(one.findings, len(one.findings)))
        return msgspec.structs.replace(one, observations=tuple(seen), findings=found)

    found = difference(before, after)

    assert difference(shuffled(before), shuffled(after)) == found
    assert [(item.observation, item.surface) for item in found.facts] == [
        (name, surface) for name in ("a", "b", "c") for surface in (LA_LIVE, LA_REOPEN, MC_REOPEN)
    ]
    assert [item.observation for item in found.findings_appeared] == sorted(
        item.observation for item in found.findings_appeared
    )
    assert found.findings_appeared


def test_nothing_compared_is_not_said_to_be_the_same() -> None:
    found = changed({LA_LIVE: card(facts(SCRIPT))}, {LA_REOPEN: card(facts(SCRIPT))})

    assert found.compared == 0
    assert not found.empty
    assert {item.surface for item in found.surfaces} == {LA_LIVE, LA_REOPEN}
