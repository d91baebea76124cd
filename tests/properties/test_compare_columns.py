"""Whatever the columns say: every fact is counted once, every disagreement is a finding, and no silence agrees."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.compare import Compared
from harness.compare.readings import comparable
from harness.model.facts import SURFACES, CardFacts, CardKind, Column, Fact
from harness.model.values import ABSENT, NULL, NotComparable, Reading, Reason, known, not_displayed, unreadable
from harness.model.verdict import Agreement, FindingKind
from harness.spec.facts import facts_of
from tests.support.columns import EXPECTED, NESTED, REPORT, card, fact, held

_READINGS: st.SearchStrategy[Reading] = st.sampled_from(
    (
        known("0"),
        known("1"),
        known("true"),
        known("<count>"),
        NULL,
        ABSENT,
        not_displayed("hidden"),
        unreadable("smudged"),
        NotComparable(reason=Reason.NOT_DERIVABLE),
        NotComparable(reason=Reason.CAPTURE_CUT),
    )
)


_LABELS = {
    CardKind.CODE_MODE: (
        "Total calls",
        "Warnings",
        "Warnings omitted",
        "Warning",
        "Child references complete",
        "Rollback",
    ),
    CardKind.SUBAGENT_BATCH: ("Tasks total", "Tasks running", "Child references omitted"),
    CardKind.TASK: ("Task activity count", "Task activity omitted", "Task activity", "Task intent", "Task persistence"),
}
"""Few, so that columns often speak of the same fact."""

_STATED: st.SearchStrategy[tuple[Reading, str]] = st.tuples(
    st.sampled_from((known("0"), known("1"), NULL, ABSENT)), st.just("table")
) | st.tuples(st.sampled_from((known("<count>"), known("<text>"), known("<at least 1>"))), st.just("pattern"))


def _facts(kind: CardKind, said: st.SearchStrategy[tuple[Reading, str]]) -> st.SearchStrategy[Fact]:
    def make(label: str, value: tuple[Reading, str], ordinal: int) -> Fact:
        return fact(label, value[0], via=value[1], ordinal=ordinal if facts_of(kind)[label].repeated else 0)

    return st.builds(make, st.sampled_from(_LABELS[kind]), said, st.integers(0, 3))


def _cards(kind: CardKind, *vias: str, stated: bool = False) -> st.SearchStrategy[CardFacts]:
    """Cards of one column; a scenario states every fact once and with a value that can be compared."""
    said = _STATED if stated else st.tuples(_READINGS, st.sampled_from(vias))
    once = (lambda one: (one.label, one.ordinal)) if stated else None
    return st.builds(
        lambda found, children: card(found, kind=kind, children=children),
        st.lists(_facts(kind, said), max_size=6, unique_by=once),
        st.none() | st.integers(0, 3),
    )


@st.composite
def _runs(draw: st.DrawFn) -> tuple[dict[Column, CardFacts], CardFacts | None]:
    """What some of the columns say about one card, and its reference."""
    kind = draw(st.sampled_from(CardKind))
    vias = {REPORT: ("report",), NESTED: ("nested",)}
    shown = {
        column: draw(_cards(kind, *vias.get(column, ("row", "metadata")), stated=column is EXPECTED))
        for column in draw(_SOME)
    }
    return shown, draw(st.none() | _cards(kind, "report", "rule"))


_SOME = st.lists(st.sampled_from(Column), max_size=4, unique=True)
_FEW = settings(max_examples=40, deadline=None)


def _compared(run: tuple[dict[Column, CardFacts], CardFacts | None]) -> Compared:
    shown, reference = run
    return held(shown, reference or ())


@_FEW
@given(_runs())
def test_every_cell_of_every_row_follows_from_its_readings(
    run: tuple[dict[Column, CardFacts], CardFacts | None],
) -> None:
    compared = _compared(run)
    for item in compared.rows:
        assert set(item.cells) == set(Column)
        for cell in item.cells.values():
            can = [reading for reading in cell.readings if comparable(reading.value) is None]
            assert (cell.reason is not None) == (cell.agreement is Agreement.NOT_COMPARABLE)
            if cell.agreement is not Agreement.NOT_COMPARABLE:
                assert can, "silence agreed or disagreed"
    for column in SURFACES:
        count = compared.surfaces[column]
        assert count.agree + count.disagree + count.not_comparable == len(compared.rows)
        assert count.agree == sum(item.cells[column].agreement is Agreement.AGREE for item in compared.rows)


@_FEW
@given(_runs())
def test_a_column_disagrees_exactly_where_it_has_a_finding(
    run: tuple[dict[Column, CardFacts], CardFacts | None],
) -> None:
    compared = _compared(run)
    found: dict[tuple[str, int], dict[str, set[FindingKind]]] = {}
    for one in compared.findings:
        found.setdefault((one.label, one.ordinal), {}).setdefault(one.surface, set()).add(one.kind)
    for item in compared.rows:
        own = found.get((item.label, item.ordinal), {})
        for column in SURFACES:
            disagrees = item.cells[column].agreement is Agreement.DISAGREE
            assert (FindingKind.VALUE in own.get(column.value, set())) == disagrees
        references = {kind for column in (EXPECTED, REPORT, NESTED) for kind in own.get(column.value, set())}
        if any(item.cells[column].agreement is Agreement.DISAGREE for column in (EXPECTED, REPORT, NESTED)):
            assert references & {FindingKind.EXPECTATION, FindingKind.DERIVATION, FindingKind.VALUE}
    ids = [one.id for one in compared.findings]
    assert len(set(ids)) == len(ids)
