"""Ids of findings: issues and earlier reports name them, so they survive new values and tell places apart."""

from __future__ import annotations

import msgspec

from harness.compare import Compared
from harness.model.facts import CardKind, Column, Place, Problem
from harness.model.values import unreadable
from harness.model.verdict import Finding, FindingKind
from tests.support.columns import (
    BATCH,
    LA_LIVE,
    LA_REOPEN,
    MC_LIVE,
    MC_REOPEN,
    NESTED,
    REPORT,
    SCRIPT,
    card,
    fact,
    facts,
    held,
    omission,
    rows,
)


def _run(number: int) -> Compared:
    """A run that disagrees in every way there is, with values that depend on `number`."""
    counts = {**SCRIPT, "Total calls": 7 + number, "Warnings": 5 + number, "Rollback": True}
    shown = card(
        facts(counts),
        fact("Total calls", 20 + number, via="metadata"),
        fact("Elapsed milliseconds", unreadable(f"smudge {number}"), via="metadata"),
        rows("Changed path", f"b{number}", f"a{number}"),
        outcome=f"outcome {number}",
        changes=f"changes {number}",
        omissions=(omission("children", count=number),),
    )
    saved = card(facts(counts), rows("Changed path", f"c{number}"), outcome="other", changes="other")
    batch = card(
        facts({**BATCH, "Tasks done": 8 + number}), path="turn1/call2", kind=CardKind.SUBAGENT_BATCH, children=5
    )
    reference = (
        card(facts(SCRIPT, via="report"), rows("Changed path", f"a{number}", f"b{number}", via="report")),
        card(facts(BATCH, via="report"), path="turn1/call2", kind=CardKind.SUBAGENT_BATCH),
    )
    nested = card(fact("Total calls", 30 + number, via="nested"))
    broken = tuple(
        Problem(requirement="wire.schema", card="", label="", expected="e", observed=f"{at} {number}")
        for at in range(3)
    )
    return held(
        {
            REPORT: reference,
            NESTED: (nested, reference[1]),
            LA_LIVE: (shown, batch),
            LA_REOPEN: (saved, batch),
            MC_LIVE: (shown, card(path="turn1/call3")),
            MC_REOPEN: (),
        },
        reference,
        problems={LA_LIVE: broken},
    )


def _where(found: Finding) -> tuple[object, ...]:
    return found.kind, found.requirement, found.surface, found.card, found.label, found.ordinal


def test_new_values_in_the_same_places_keep_every_id() -> None:
    first, second = _run(0), _run(1)
    assert {item.kind for item in first.findings} == set(FindingKind) - {FindingKind.EXPECTATION}
    assert [item.id for item in first.findings] == [item.id for item in second.findings]
    assert [_where(item) for item in first.findings] == [_where(item) for item in second.findings]
    assert [item.observed for item in first.findings] != [item.observed for item in second.findings]


def test_no_two_findings_share_an_id() -> None:
    findings = _run(0).findings
    assert len(findings) > 20
    assert len({item.id for item in findings}) == len(findings)
    assert all(item.id.startswith("F-") and len(item.id) == 12 for item in findings)


def test_every_part_of_a_place_is_in_the_id() -> None:
    def only(column: Column, label: str, *, path: str = "turn1/call1", ordinal: int = 0) -> str:
        shown = card(fact(label, "wrong", ordinal=ordinal), path=path)
        compared = held({column: shown}, card(fact(label, "right", via="report", ordinal=ordinal), path=path))
        found = next(item for item in compared.findings if (item.label, item.observed) == (label, "wrong"))
        return found.id

    ids = [
        only(LA_LIVE, "Code Mode intent"),
        only(LA_REOPEN, "Code Mode intent"),
        only(LA_LIVE, "Warning"),
        only(LA_LIVE, "Warning", ordinal=1),
        only(LA_LIVE, "Code Mode intent", path="turn1/call2"),
    ]
    assert len(set(ids)) == len(ids)
    assert only(LA_LIVE, "Code Mode intent") == ids[0]


def test_where_a_finding_stands_in_the_capture_is_not_in_its_id() -> None:
    label = "Total calls"
    reference = card(fact(label, 3, via="report"))
    one, other = (held({LA_LIVE: card(fact(label, 4, file=file))}, reference).findings[0] for file in ("a", "b"))
    assert one.id == other.id
    assert one.place == Place(file="a", line=7)
    assert msgspec.structs.replace(one, place=other.place) == other


def test_a_reading_keeps_its_id_when_an_earlier_one_is_gone() -> None:
    label = "Total calls"
    reference = card(fact(label, 3, via="report"))
    title, metadata = fact(label, 4, via="title"), fact(label, 5, via="metadata")

    def values(compared: Compared) -> dict[str, str]:
        return {item.observed: item.id for item in compared.findings if item.kind is FindingKind.VALUE}

    both = values(held({MC_REOPEN: card(title, metadata)}, reference))
    alone = values(held({MC_REOPEN: card(metadata)}, reference))
    assert set(both) == {"4", "5"}
    assert both["5"] == alone["5"]


def test_a_broken_rule_keeps_its_id_when_another_rule_is_broken_before_it() -> None:
    def problem(requirement: str) -> Problem:
        return Problem(requirement=requirement, card="", label="", expected="e", observed="o")

    def ids(*requirements: str) -> dict[str, str]:
        problems = tuple(problem(requirement) for requirement in requirements)
        found = held({LA_LIVE: ()}, problems={LA_LIVE: problems}).findings
        assert len(found) == len(requirements)
        return {item.requirement: item.id for item in found}

    assert ids("wire.schema")["wire.schema"] == ids("wire.envelope", "wire.schema")["wire.schema"]


def test_findings_come_by_card_then_label_and_what_a_source_found_in_itself_last() -> None:
    findings = _run(0).findings
    own = [item for item in findings if item.requirement == "wire.schema"]
    assert len(own) == 3
    assert list(findings[-3:]) == own
    values = [item for item in findings if item.kind is FindingKind.VALUE and item.surface == "local-agent-live"]
    assert [item.label for item in values[:3]] == ["Total calls", "Total calls", "Warnings"]
    cards = [item.card for item in findings if item.kind in (FindingKind.VALUE, FindingKind.RULE) and item.card]
    assert cards == sorted(cards)


def test_one_extra_member_on_many_cards_is_one_finding_that_says_on_how_many() -> None:
    def extra(card_: str, member: str) -> Problem:
        return Problem(
            requirement="wire.exact-members", card=card_, label=member, expected="no such member", observed="null"
        )

    problems = (
        extra("turn1/call1", "text.rows"),
        extra("turn1/call2", "text.rows"),
        extra("turn1/call2", "progress.rows"),
        extra("turn1/call3", "text.rows"),
        extra("turn1/call3", "text.rows"),
        Problem(requirement="wire.schema", card="turn1/call2", label="", expected="e", observed="o"),
    )
    found = held({LA_LIVE: ()}, problems={LA_LIVE: problems}).findings
    assert [(item.requirement, item.card, item.label, item.observed) for item in found] == [
        ("wire.exact-members", "turn1/call1", "text.rows", "null, and on 2 more cards"),
        ("wire.exact-members", "turn1/call2", "progress.rows", "null"),
        ("wire.schema", "turn1/call2", "", "o"),
    ]
    turned = held({LA_LIVE: ()}, problems={LA_LIVE: problems[::-1]}).findings
    assert {item.id for item in turned} == {item.id for item in found}, "which card's frame came first is chance"
