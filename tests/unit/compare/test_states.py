"""Every state of a reading against every state of the truth: two states that blur would let silence agree."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from harness.model.facts import SURFACES, Column
from harness.model.values import ABSENT, NULL, NotComparable, Reading, Reason, known, not_displayed, unreadable
from harness.model.verdict import Agreement, FindingKind
from tests.support.columns import EXPECTED, LA_LIVE, NESTED, REPORT, card, fact, held, row, told

LABEL = "Elapsed milliseconds"

A, D, N = Agreement.AGREE, Agreement.DISAGREE, Agreement.NOT_COMPARABLE
VALUE, UNREADABLE = FindingKind.VALUE, FindingKind.UNREADABLE


class Outcome(NamedTuple):
    agreement: Agreement
    reason: Reason | None = None
    finding: FindingKind | None = None


TRUTHS: dict[str, Reading] = {
    "known": known(3),
    "null": NULL,
    "absent": ABSENT,
    "not derivable": NotComparable(reason=Reason.NOT_DERIVABLE, detail="no source"),
    "unreadable": unreadable("torn"),
}
READINGS: dict[str, Reading | None] = {
    "same": known(3),
    "other": known(4),
    "null": NULL,
    "no row": None,
    "absent": ABSENT,
    "not displayed": not_displayed("hidden"),
    "unreadable": unreadable("smudged"),
    "cut": NotComparable(reason=Reason.CAPTURE_CUT, detail="ends"),
}
_SILENT = {
    "not displayed": Outcome(N, Reason.NOT_DISPLAYED),
    "unreadable": Outcome(N, Reason.UNREADABLE, UNREADABLE),
    "cut": Outcome(N, Reason.CAPTURE_CUT),
}
_WRONG = Outcome(D, None, VALUE)
_UNKNOWN = Outcome(N, Reason.NOT_DERIVABLE)

MATRIX: dict[str, dict[str, Outcome]] = {
    "known": {"same": Outcome(A), "other": _WRONG, "null": _WRONG, "no row": _WRONG, "absent": _WRONG, **_SILENT},
    "null": {"same": _WRONG, "other": _WRONG, "null": Outcome(A), "no row": _WRONG, "absent": _WRONG, **_SILENT},
    "absent": {"same": _WRONG, "other": _WRONG, "null": _WRONG, "no row": Outcome(A), "absent": Outcome(A), **_SILENT},
    "unreadable": {
        **dict.fromkeys(("same", "other", "null", "no row", "absent"), Outcome(N, Reason.UNREADABLE)),
        **_SILENT,
    },
    "not derivable": {**dict.fromkeys(("same", "other", "null", "no row", "absent"), _UNKNOWN), **_SILENT},
}


@pytest.mark.parametrize("column", SURFACES)
@pytest.mark.parametrize(("truth", "said"), [(truth, said) for truth in TRUTHS for said in READINGS])
def test_a_reading_against_a_truth(truth: str, said: str, column: Column) -> None:
    value, outcome = READINGS[said], MATRIX[truth][said]
    shown = card(fact(LABEL, value, file="shown")) if value is not None else card()
    compared = held({column: shown}, card(fact(LABEL, TRUTHS[truth], via="report")))
    found = row(compared, LABEL)
    cell = found.cells[column]
    assert cell.agreement is outcome.agreement
    assert (cell.reason.reason if cell.reason else None) is outcome.reason
    assert (found.reference, found.source) == (TRUTHS[truth], "report")
    own = [item for item in compared.findings if item.label == LABEL]
    assert [item.kind for item in own] == ([outcome.finding] if outcome.finding else [])
    for item in own:
        assert item.surface == column.value
        assert item.requirement == "code-mode.elapsed-milliseconds"
        assert item.expected == str(TRUTHS[truth])
        assert item.observed == ("smudged" if said == "unreadable" else str(value if value is not None else ABSENT))
        assert item.place == (cell.readings[0].place)
        assert item.waived_by is None
        assert item.command == f"harness show {item.id}"


@pytest.mark.parametrize("column", SURFACES)
def test_the_counts_of_a_surface_are_its_cells(column: Column) -> None:
    labels = ("Elapsed milliseconds", "Total calls", "Failed calls", "Code Mode intent")
    reference = card(*(fact(label, "5", via="report") for label in labels))
    shown = card(fact(labels[0], "5"), fact(labels[1], "6"), fact(labels[2], not_displayed("hidden")))
    compared = held({column: shown}, reference)
    counts = compared.surfaces[column]
    # Of the 24 rows of a script: one agrees, one disagrees, the intent's row is not there and so disagrees; the two
    # preview rows are neither in the records nor on the card and agree.
    assert (counts.agree, counts.disagree) == (3, 2)
    assert counts.agree + counts.disagree + counts.not_comparable == len(compared.rows) == 24
    for other in set(SURFACES) - {column}:
        assert (compared.surfaces[other].agree, compared.surfaces[other].disagree) == (0, 0)
        assert compared.surfaces[other].not_comparable == 24


def test_two_silences_do_not_agree() -> None:
    silent = card(fact(LABEL, not_displayed("hidden")))
    compared = held(dict.fromkeys(SURFACES, silent), card(fact(LABEL, not_displayed("hidden"), via="report")))
    for column in SURFACES:
        cell = row(compared, LABEL).cells[column]
        assert (cell.agreement, cell.reason and cell.reason.reason) == (N, Reason.NOT_DISPLAYED)
    assert told(compared) == []


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("not captured", Reason.NOT_CAPTURED),
        ("unavailable", Reason.NOT_RECORDED),
        ("cut", Reason.CAPTURE_CUT),
    ],
)
def test_a_surface_without_the_card_says_why(state: str, reason: Reason) -> None:
    reference = card(fact(LABEL, 3, via="report"))
    other = {REPORT: reference}
    match state:
        case "unavailable":
            why = NotComparable(reason=Reason.NOT_RECORDED, detail="an older release")
            compared = held(other, reference, unavailable={LA_LIVE: why})
            assert compared.unavailable[LA_LIVE] == why
        case "cut":
            compared = held({**other, LA_LIVE: ()}, reference, cut=(LA_LIVE,))
            assert LA_LIVE not in compared.unavailable
        case _:
            compared = held(other, reference)
            assert compared.unavailable[LA_LIVE].reason is Reason.NOT_CAPTURED
    cell = row(compared, LABEL).cells[LA_LIVE]
    assert cell.agreement is N
    assert cell.reason is not None
    assert cell.reason.reason is reason
    assert cell.readings == ()
    assert told(compared) == []
    (shown,) = compared.cards
    assert shown.shown[LA_LIVE] == ("cut" if state == "cut" else "not_captured")
    assert shown.shown[REPORT] == "shown"


def test_a_column_that_is_a_reference_is_silent_where_it_has_no_source_or_states_nothing() -> None:
    reference = card(fact(LABEL, 3, via="report"))
    compared = held({REPORT: reference, NESTED: card(), EXPECTED: card()}, reference)
    cells = row(compared, LABEL).cells
    assert cells[REPORT].agreement is A
    for column, reason in ((NESTED, Reason.NOT_DERIVABLE), (EXPECTED, Reason.NOT_STATED)):
        why = cells[column].reason
        assert why is not None
        assert why.reason is reason
    assert told(compared) == []


def test_a_card_that_the_scenario_does_not_speak_of_is_not_stated_and_not_missing() -> None:
    reference = card(fact(LABEL, 3, via="report"))
    compared = held({EXPECTED: card(path="turn2/call1"), LA_LIVE: (reference, card(path="turn2/call1"))}, reference)
    why = row(compared, LABEL).cells[EXPECTED].reason
    assert why is not None
    assert why.reason is Reason.NOT_STATED
    assert {item.path: item.shown[EXPECTED] for item in compared.cards} == {
        "turn1/call1": "not_stated",
        "turn2/call1": "shown",
    }
