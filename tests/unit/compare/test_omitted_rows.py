"""Optional rows that are not there: left out in so many words they are not displayed, left out in silence they are a
disagreement (card-facts.md, "may be omitted explicitly")."""

from __future__ import annotations

import pytest

from harness.model.facts import CardFacts, Omission
from harness.model.values import Reason
from harness.model.verdict import Agreement, FindingKind
from tests.support.columns import LA_REOPEN, MC_REOPEN, SCRIPT, card, fact, facts, held, omission, row, rows, told

INTENT, ESTIMATE = "Code Mode intent", "Response token estimate"
REFERENCE = card(facts(SCRIPT, via="report"), rows("Warning", "a", via="report"))


def _without(*labels: str, omissions: tuple[Omission, ...] = (), warnings: int = 0) -> CardFacts:
    said = {label: value for label, value in SCRIPT.items() if label not in labels}
    return card(facts(said), rows("Warning", *(["a"] * warnings)), omissions=omissions, children=3)


@pytest.mark.parametrize("subject", ["rows", "blocks"])
@pytest.mark.parametrize("reason", ["size_limit", "budget_limit", "redacted", "unsupported_source"])
def test_optional_rows_that_the_card_says_it_left_out_are_not_displayed(subject: str, reason: str) -> None:
    shown = _without(INTENT, ESTIMATE, omissions=(omission(subject, reason),))
    compared = held({LA_REOPEN: shown}, REFERENCE)
    for label in (INTENT, ESTIMATE, "Warning"):
        cell = row(compared, label).cells[LA_REOPEN]
        assert (cell.agreement, cell.reason and cell.reason.reason) == (
            Agreement.NOT_COMPARABLE,
            Reason.NOT_DISPLAYED,
        )
    assert told(compared) == []


@pytest.mark.parametrize(
    "omissions",
    [
        (),
        (omission("children"),),
        (omission("text"),),
        # these two say that a row's value is null, which every interrupted card has
        (omission("rows", "missing_source"),),
        (omission("rows", "not_recorded"),),
        # fewer than are missing: the rest is gone without a word
        (omission("rows", count=1),),
        (omission("rows", count=2),),
    ],
)
def test_optional_rows_that_are_gone_without_a_word_are_absent(omissions: tuple[Omission, ...]) -> None:
    compared = held({LA_REOPEN: _without(INTENT, ESTIMATE, omissions=omissions)}, REFERENCE)
    assert told(compared) == [
        (FindingKind.VALUE, "local-agent-reopen", INTENT),
        (FindingKind.VALUE, "local-agent-reopen", ESTIMATE),
        (FindingKind.VALUE, "local-agent-reopen", "Warning"),
    ]
    assert {item.observed for item in compared.findings} == {"(absent)"}


@pytest.mark.parametrize("count", [3, 7, None])
def test_a_number_that_covers_what_is_missing_excuses_it(count: int | None) -> None:
    compared = held({LA_REOPEN: _without(INTENT, ESTIMATE, omissions=(omission("rows", count=count),))}, REFERENCE)
    assert told(compared) == []


def test_a_core_row_is_never_excused() -> None:
    shown = _without("Failed calls", "Rollback", omissions=(omission("rows"), omission("blocks")), warnings=1)
    compared = held({LA_REOPEN: shown}, REFERENCE)
    assert told(compared) == [
        (FindingKind.VALUE, "local-agent-reopen", "Failed calls"),
        (FindingKind.VALUE, "local-agent-reopen", "Rollback"),
    ]


def test_on_a_reduced_card_a_row_that_need_not_be_there_is_not_known_to_be_absent() -> None:
    reduced = _without(omissions=(omission("rows"),), warnings=1)
    assert row(held({LA_REOPEN: reduced}, REFERENCE), "Changed path").cells[LA_REOPEN].agreement is (
        Agreement.NOT_COMPARABLE
    )
    whole = _without(warnings=1)
    assert row(held({LA_REOPEN: whole}, REFERENCE), "Changed path").cells[LA_REOPEN].agreement is Agreement.AGREE


def test_mission_control_has_no_omissions_to_say() -> None:
    compared = held({MC_REOPEN: card(fact("Total calls", 3))}, REFERENCE)
    assert (FindingKind.VALUE, "mission-control-reopen", INTENT) in told(compared)
