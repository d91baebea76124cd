"""Small columns, cards and observations for tests of what compares and judges them. Nothing here is evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from harness.compare import Compared, compare
from harness.compare.tried import Tried
from harness.model.facts import (
    SURFACES,
    CardFacts,
    CardKind,
    Column,
    ColumnFacts,
    Fact,
    Omission,
    Place,
    Problem,
)
from harness.model.manifest import Product, Recorder
from harness.model.values import NULL, NotComparable, Reading, Reason, known
from harness.model.verdict import (
    Agreement,
    Authorization,
    CaptureRow,
    CardRow,
    Cell,
    FactRow,
    Finding,
    FindingKind,
    Observation,
    SurfaceCount,
)
from harness.spec.classes import RUNS
from harness.spec.facts import facts_of

LA_LIVE, LA_REOPEN, MC_LIVE, MC_REOPEN = SURFACES
EXPECTED, REPORT, NESTED = Column.EXPECTED, Column.REPORT, Column.NESTED
PATH = "turn1/call1"
RELEASE = "0.104.0"

Said = Reading | str | int | bool | None
"""A reading, or what `known` takes; None stands for null."""


def reading(said: Said) -> Reading:
    if said is None:
        return NULL
    return known(said) if isinstance(said, str | int | bool) else said


def fact(label: str, said: Said, *, via: str = "row", ordinal: int = 0, file: str = "capture") -> Fact:
    return Fact(label=label, value=reading(said), via=via, ordinal=ordinal, place=Place(file=file, line=7))


def facts(said: Mapping[str, Said], *, via: str = "row", file: str = "capture") -> tuple[Fact, ...]:
    return tuple(fact(label, value, via=via, file=file) for label, value in said.items())


def rows(label: str, *texts: Said, via: str = "row") -> tuple[Fact, ...]:
    """Repeated preview rows in order."""
    return tuple(fact(label, text, ordinal=ordinal, via=via) for ordinal, text in enumerate(texts))


def card(
    *parts: Fact | Iterable[Fact],
    path: str = PATH,
    kind: CardKind = CardKind.CODE_MODE,
    omissions: tuple[Omission, ...] = (),
    children: int | None = None,
    outcome: str | None = None,
    changes: str | None = None,
) -> CardFacts:
    """A card of facts; `children` is how many references it displays."""
    flat = tuple(item for part in parts for item in ((part,) if isinstance(part, Fact) else part))
    return CardFacts(
        path=path,
        kind=kind,
        facts=flat,
        title="title",
        outcome=outcome,
        changes=changes,
        omissions=omissions,
        children=None if children is None else tuple(f"{path}/call{number + 1}" for number in range(children)),
        place=Place(file="capture", line=3),
    )


def omission(subject: str, reason: str = "size_limit", count: int | None = None) -> Omission:
    return Omission(subject=subject, reason=reason, omitted_count=count)


def held(
    shown: Mapping[Column, CardFacts | tuple[CardFacts, ...]],
    reference: CardFacts | tuple[CardFacts, ...] = (),
    *,
    cut: tuple[Column, ...] = (),
    unavailable: Mapping[Column, Reading] | None = None,
    problems: Mapping[Column, tuple[Problem, ...]] | None = None,
) -> Compared:
    """The comparison of what columns show; columns that are not named were not captured."""
    columns = {
        column: ColumnFacts(
            column=column,
            cards=cards if isinstance(cards, tuple) else (cards,),
            complete=column not in cut,
            problems=(problems or {}).get(column, ()),
        )
        for column, cards in shown.items()
    }
    for column, why in (unavailable or {}).items():
        columns[column] = ColumnFacts(column=column, unavailable=why)
    return compare(columns, reference if isinstance(reference, tuple) else (reference,), observation="seen")


def compare_tried(shown: Mapping[Column, CardFacts], tries: Iterable[tuple[Column | None, Tried]]) -> Compared:
    """The comparison of what columns show when structural rules were tried on them."""
    columns = {column: ColumnFacts(column=column, cards=(cards,)) for column, cards in shown.items()}
    return compare(columns, (), observation="seen", tries=tries)


def row(compared: Compared, label: str, *, ordinal: int = 0, path: str = PATH) -> FactRow:
    """The only row of a fact."""
    (found,) = (item for item in compared.rows if (item.card, item.label, item.ordinal) == (path, label, ordinal))
    return found


def told(compared: Compared) -> list[tuple[FindingKind, str, str]]:
    """Kind, surface and label of every finding, in order."""
    return [(item.kind, item.surface, item.label) for item in compared.findings]


SCRIPT: dict[str, Said] = {
    "Script outcome": "success",
    "Code Mode intent": "Look around",
    "Total calls": 3,
    "Successful calls": 2,
    "Failed calls": 1,
    "Unknown calls": 0,
    "Running calls": 0,
    "Elapsed milliseconds": 13,
    "Recoverable failures": 1,
    "Warnings": 0,
    "Changed paths": 0,
    "Response token estimate": 40,
    "Change count qualifier": "exact",
    "Completed actions remain applied": True,
    "Rollback": False,
    "External effects may be untracked": True,
    "Execution persistence": "recorded",
    "Completed with warnings": True,
    "Warnings omitted": 0,
    "Changed paths omitted": 0,
    "Child references complete": True,
    "Child references omitted": 0,
}
"""All single facts of a script with two good calls and a bad one that breaks no rule."""

BATCH: dict[str, Said] = {
    "Tasks total": 5,
    "Tasks done": 1,
    "Tasks failed": 1,
    "Tasks running": 0,
    "Tasks unknown": 1,
    "Tasks cancelled": 2,
    "Child references complete": True,
    "Child references omitted": 0,
}


# Observations


def agreeing_row(
    label: str,
    reference: Said,
    *,
    kind: CardKind = CardKind.CODE_MODE,
    path: str = PATH,
    silent: Mapping[Column, NotComparable] | None = None,
) -> FactRow:
    """A row on which every surface agrees with the reference, but those that are `silent`."""
    entry = facts_of(kind)[label]
    truth = reading(reference)
    cells = {}
    for column in Column:
        why = (silent or {}).get(column)
        cells[column] = Cell(
            readings=() if why else (fact(label, truth),),
            agreement=Agreement.NOT_COMPARABLE if why else Agreement.AGREE,
            reason=why,
        )
    return FactRow(
        card=path,
        kind=kind,
        label=label,
        ordinal=0,
        requirement=entry.requirement,
        reference=truth,
        source="report",
        cells=cells,
    )


def counted(fact_rows: Iterable[FactRow]) -> dict[Column, SurfaceCount]:
    """How often each surface agrees, disagrees and cannot be compared."""
    counts = {}
    for column in SURFACES:
        outcomes = [item.cells[column].agreement for item in fact_rows]
        counts[column] = SurfaceCount(
            agree=outcomes.count(Agreement.AGREE),
            disagree=outcomes.count(Agreement.DISAGREE),
            not_comparable=outcomes.count(Agreement.NOT_COMPARABLE),
        )
    return counts


def observation(
    id_: str,
    *,
    driver: str = "local-agent",
    fact_rows: tuple[FactRow, ...] | None = None,
    cut: tuple[Column, ...] = (),
    release: str = RELEASE,
) -> Observation:
    """An authorized, current original run that shows a script and a batch and in which every surface agrees.

    The live surface that did not drive was not captured. `cut` surfaces were captured and show no card.
    """
    silent = {
        MC_LIVE if driver == "local-agent" else LA_LIVE: NotComparable(reason=Reason.NOT_CAPTURED),
        **{column: NotComparable(reason=Reason.CAPTURE_CUT) for column in cut},
    }
    if fact_rows is None:
        fact_rows = (
            agreeing_row("Script outcome", "success", silent=silent),
            agreeing_row("Elapsed milliseconds", None, silent=silent),
            agreeing_row("Tasks total", 4, kind=CardKind.SUBAGENT_BATCH, path="turn1/call2", silent=silent),
        )
    shown = {column: "cut" if column in cut else "not_captured" if column in silent else "shown" for column in SURFACES}
    return Observation(
        id=id_,
        bundle=f"{release}/{id_}",
        classes=(),
        release=release,
        driver=driver,
        scenario=f"small.feature::{id_}",
        gherkin="",
        authorization=Authorization.AUTHORIZED,
        authorization_detail="",
        stale=False,
        recorded_at="2026-11-29T08:30:00Z",
        recorder=Recorder(name="card-acceptance-harness", version="0.1.0"),
        products=(Product(version=release, sha256="0" * 64),),
        manifest_sha256="1" * 64,
        captures=tuple(
            CaptureRow(column=column, file=column.value, version=release, complete=column not in cut, note="", size=1)
            for column in SURFACES
            if shown[column] != "not_captured"
        ),
        cards=tuple(
            CardRow(path=path, kind=kind, title="", shown=dict(shown), outcomes={}, changes={}, omissions={})
            for path, kind in (("turn1/call1", CardKind.CODE_MODE), ("turn1/call2", CardKind.SUBAGENT_BATCH))
        ),
        rows=fact_rows,
        surfaces=counted(fact_rows),
        unavailable={},
        findings=(),
    )


def covered_release() -> tuple[list[Observation], dict[str, tuple[str, ...]]]:
    """Observations that cover every run of every class, one driven by each surface, and the runs that each serves."""
    observations: list[Observation] = []
    runs_of: dict[str, tuple[str, ...]] = {}
    for run in RUNS.values():
        for driver in ("local-agent", "mission-control"):
            live = LA_LIVE if driver == "local-agent" else MC_LIVE
            made = observation(f"{run.id}.{driver}", driver=driver, cut=(live,) if run.live_may_be_cut else ())
            observations.append(made)
            runs_of[made.id] = (run.id,)
    return observations, runs_of


def finding(
    observation_id: str,
    *,
    kind: FindingKind = FindingKind.VALUE,
    requirement: str = "code-mode.script-outcome",
    surface: Column = LA_LIVE,
    waived_by: str | None = None,
) -> Finding:
    return Finding(
        id=f"F-{observation_id}-{kind}-{requirement}-{surface}",
        kind=kind,
        requirement=requirement,
        observation=observation_id,
        surface=surface.value,
        card=PATH,
        label="Script outcome",
        ordinal=0,
        expected="cancelled",
        observed="failure",
        place=None,
        command="",
        waived_by=waived_by,
    )


def replaced(observations: list[Observation], id_: str, **changed: object) -> list[Observation]:
    """The observations with one of them changed."""
    assert any(item.id == id_ for item in observations)
    return [msgspec.structs.replace(item, **changed) if item.id == id_ else item for item in observations]
