"""Synthetic judgements for tests of what is made of them: every state, every kind of finding, hostile evidence.

Nothing here is evidence of anything; the values only look like those of real runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec

from harness.model.facts import SURFACES, CardKind, Column, Fact, Omission, Place
from harness.model.manifest import Product, Recorder
from harness.model.values import (
    ABSENT,
    NULL,
    NotComparable,
    Reading,
    Reason,
    State,
    known,
    not_displayed,
    unreadable,
)
from harness.model.verdict import (
    Acceptance,
    Agreement,
    Authorization,
    CaptureRow,
    CardRow,
    Cell,
    Damage,
    FactRow,
    Finding,
    FindingKind,
    Missing,
    Observation,
    Release,
    RequirementRow,
    RequirementStatus,
    SurfaceCount,
    Verdict,
)
from harness.spec.facts import FactSpec, FactType, facts_of
from harness.spec.requirements import REQUIREMENTS

AT = "2026-11-30T12:00:00Z"
DIGEST = hashlib.sha256(b"binary").hexdigest()
LA_LIVE, LA_REOPEN, MC_LIVE, MC_REOPEN = SURFACES

SCRIPT = (("turn1/call1", CardKind.CODE_MODE, "Exercise mixed outcomes"),)
BATCH = (
    ("turn1/call1", CardKind.SUBAGENT_BATCH, "subagents"),
    *((f"turn1/call1/task{number}", CardKind.TASK, f"TASK-{number} reads things") for number in range(1, 5)),
)

HOSTILE = {
    "script": '<script>window.hurt=1</script><img src=x onerror="window.hurt=2">\'"&amp;',
    "template": "{{ 7*7 }}{% raw %}${7*7}",
    "ansi": "\x1b[31mred\x1b[0m\x07\x00 bell",
    "direction": "safe\u202ecod.exe\u2066x",
    "long": "0123456789" * 1_000,
    "emoji": "👩\u200d💻 🏳️\u200d🌈 ⚠️ done",
    "wide": "変更されたパス・한국어",
    "marks": "Z" + "\u0301\u0335\u0489" * 40 + "algo",
    "markdown": "| `tick` ``two`` @someone #1 <b>bold</b> [x](javascript:alert(1)) | *it*",
    "lines": "first\nsecond\ttab ",
    "closing": "</td></table></details></main></textarea></pre>",
    "entity": "&lt;b&gt; &#64; &nbsp;",
    "zero": "a\u200bb\u00adc\ufeffd\u00a0e",
}
"""Texts that would hurt a page, a table, a terminal or a reader."""

_MILLISECONDS_NOT_NESTED = NotComparable(reason=Reason.NOT_DERIVABLE, detail="nested records hold no elapsed time")
_NOT_STATED = NotComparable(reason=Reason.NOT_STATED, detail="the scenario states nothing about it")
_MC_SHOWS = frozenset(
    {"Script outcome", "Total calls", "Successful calls", "Failed calls", "Tasks done", "Task outcome"}
)
_MC_ROWS = {label: 12 + number for number, label in enumerate(sorted(_MC_SHOWS))}

Override = Mapping[tuple[str, str, Column], Reading]
"""(card path, label, column) to what that column says there instead of the reference."""


def reference(entry: FactSpec, seed: int) -> Reading:
    """A plausible value of a fact; every ninth nullable one is null."""
    if entry.repeated:
        return known(f"{entry.label} number {seed}") if seed % 2 else ABSENT
    if entry.nullable and seed % 9 == 8:
        return NULL
    match entry.type:
        case FactType.COUNT | FactType.MILLISECONDS:
            return known(seed % 13)
        case FactType.BOOLEAN:
            return known(seed % 2 == 0)
        case FactType.ENUMERATION:
            return known(entry.members[seed % len(entry.members)])
        case FactType.TEXT:
            return known(f"{entry.label.lower()} {seed}")


def place(column: Column, card: int, row: int, label: str) -> Place:
    """Where a reading of the column would stand."""
    match column:
        case Column.LOCAL_AGENT_LIVE | Column.LOCAL_AGENT_REOPEN:
            pointer = f"/data/card/blocks/0/rows/{row}/value"
            return Place(file=f"{column.value}.jsonl.gz", line=20 + card, offset=400 + 60 * row, pointer=pointer)
        case Column.MISSION_CONTROL_LIVE | Column.MISSION_CONTROL_REOPEN:
            at = _MC_ROWS.get(label, 30)
            return Place(file=f"{column.value}.cast.gz", marker="card", row=at, columns=(8, 40))
        case _:
            return Place(file="session.jsonl.gz", line=9, pointer=f"/payload/result/metadata/{row}")


def _usual(column: Column, entry: FactSpec, value: Reading) -> Reading:
    if column is Column.EXPECTED:
        return value if entry.core else _NOT_STATED
    if column is Column.NESTED and entry.type is FactType.MILLISECONDS:
        return _MILLISECONDS_NOT_NESTED
    if column in (MC_LIVE, MC_REOPEN) and entry.label not in _MC_SHOWS:
        return not_displayed("hidden since 0.101.0")
    return value


def _cell(column: Column, entry: FactSpec, truth: Reading, reading: Reading, where: Place) -> Cell:
    if isinstance(reading, NotComparable):
        return Cell(readings=(), agreement=Agreement.NOT_COMPARABLE, reason=reading)
    via = "table" if column is Column.EXPECTED else "row"
    fact = Fact(label=entry.label, value=reading, via=via, place=None if column is Column.EXPECTED else where)
    readings: tuple[Fact, ...] = (fact,)
    if column is MC_REOPEN and reading.state is State.KNOWN:
        detail = msgspec.structs.replace(where, marker="detail", row=40, columns=(3, 12))
        readings = (fact, Fact(label=entry.label, value=reading, via="metadata", place=detail))
    if reading.state in (State.NOT_DISPLAYED, State.UNREADABLE):
        reason = NotComparable(reason=Reason(reading.state.value), detail=reading.reason)
        return Cell(readings=readings, agreement=Agreement.NOT_COMPARABLE, reason=reason)
    return Cell(readings=readings, agreement=Agreement.AGREE if reading == truth else Agreement.DISAGREE)


def finding(
    observation: str,
    *,
    kind: FindingKind = FindingKind.VALUE,
    requirement: str = "code-mode.script-outcome",
    surface: Column = LA_LIVE,
    card: str = "turn1/call1",
    label: str = "Script outcome",
    expected: str = "cancelled",
    observed: str = "failure",
    where: Place | None = None,
    waived_by: str | None = None,
) -> Finding:
    """One finding with an id made of its parts."""
    parts = "\0".join((requirement, observation, surface.value, card, label, kind.value, expected, observed))
    number = hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return Finding(
        id=number,
        kind=kind,
        requirement=requirement,
        observation=observation,
        surface=surface.value,
        card=card,
        label=label,
        ordinal=0,
        expected=expected,
        observed=observed,
        place=where,
        command=f"harness show {number}",
        waived_by=waived_by,
    )


def observed(
    name: str,
    *,
    classes: tuple[str, ...] = ("mixed-outcomes", "agreement"),
    cards: tuple[tuple[str, CardKind, str], ...] = SCRIPT,
    overrides: Override | None = None,
    unavailable: Mapping[Column, NotComparable] | None = None,
    authorization: Authorization = Authorization.AUTHORIZED,
    detail: str = "release-authority (sha256:ab12cd34), until 2027-11-30",
    stale: bool = False,
    release: str = "0.104.0",
    driver: str = "local-agent",
    seed: int = 0,
    extra: tuple[Finding, ...] = (),
) -> tuple[Observation, tuple[Finding, ...]]:
    """One judged observation with the findings that its overrides make, and `extra` ones."""
    overrides, unavailable = overrides or {}, unavailable or {}
    rows: list[FactRow] = []
    findings = list(extra)
    for number, (path, kind, _) in enumerate(cards):
        for at, entry in enumerate(facts_of(kind).values()):
            truth = reference(entry, seed + 3 * number + at)
            cells = {}
            for column in Column:
                reading = overrides.get((path, entry.label, column), _usual(column, entry, truth))
                where = place(column, number, at, entry.label)
                cells[column] = _cell(column, entry, truth, unavailable.get(column, reading), where)
                if cells[column].agreement is Agreement.DISAGREE:
                    findings.append(
                        finding(
                            name,
                            requirement=entry.requirement,
                            surface=column,
                            card=path,
                            label=entry.label,
                            expected=str(truth),
                            observed=str(reading),
                            where=where,
                        )
                    )
            rows.append(
                FactRow(
                    card=path,
                    kind=kind,
                    label=entry.label,
                    ordinal=0,
                    requirement=entry.requirement,
                    reference=truth,
                    source="report",
                    cells=cells,
                )
            )
    observation = Observation(
        id=name,
        bundle=f"evidence/{release}/{name}",
        classes=classes,
        release=release,
        driver=driver,
        scenario=f"mixed_outcomes.feature::{name}",
        gherkin=GHERKIN,
        authorization=authorization,
        authorization_detail=detail,
        stale=stale,
        recorded_at="2026-11-29T08:30:00Z",
        recorder=Recorder(name="card-acceptance-harness", version="0.1.0"),
        products=(Product(version=release, sha256=DIGEST),),
        manifest_sha256=hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest(),
        captures=tuple(
            CaptureRow(column=column, file=f"{column.value}.gz", version=release, complete=True, note="", size=92_309)
            for column in SURFACES
            if column not in unavailable
        ),
        cards=tuple(_card(path, kind, title, unavailable) for path, kind, title in cards),
        rows=tuple(rows),
        surfaces={column: _counted(rows, column) for column in SURFACES},
        unavailable=dict(unavailable),
        findings=tuple(item.id for item in findings),
    )
    return observation, tuple(findings)


def _card(path: str, kind: CardKind, title: str, unavailable: Mapping[Column, NotComparable]) -> CardRow:
    return CardRow(
        path=path,
        kind=kind,
        title=title,
        shown={column: "not_captured" if column in unavailable else "shown" for column in Column},
        outcomes={LA_LIVE: "failure", LA_REOPEN: "failure"},
        changes={LA_LIVE: "partial", LA_REOPEN: "unknown"},
        omissions={LA_LIVE: (Omission(subject="rows", reason="row_limit", omitted_count=3),), LA_REOPEN: ()},
    )


def _counted(rows: list[FactRow], column: Column) -> SurfaceCount:
    found = [row.cells[column].agreement for row in rows]
    return SurfaceCount(
        agree=found.count(Agreement.AGREE),
        disagree=found.count(Agreement.DISAGREE),
        not_comparable=found.count(Agreement.NOT_COMPARABLE),
    )


GHERKIN = '''@mixed-outcomes.script
Scenario: Script with a success, a failure and a write
  Given the workspace file "a.txt" holds
    """
    alpha
    """
  And the model runs a script meant to "Exercise mixed outcomes"
  When the prompt "Run the acceptance script." is run
  Then the facts of the script are
    | label          | value   |
    | Script outcome | success |
'''


def requirement_rows(
    findings: tuple[Finding, ...], observations: tuple[Observation, ...]
) -> tuple[RequirementRow, ...]:
    """A row for every rule of the catalogue, with a status that fits the findings."""
    broken = {item.requirement for item in findings}
    rows = []
    for number, rule in enumerate(REQUIREMENTS):
        status = RequirementStatus.MET if number % 7 else RequirementStatus.NOT_OBSERVED
        status = RequirementStatus.NOT_REACHABLE if rule.check == "excluded" else status
        status = RequirementStatus.DISAGREES if rule.id in broken else status
        seen = observations if status in (RequirementStatus.MET, RequirementStatus.DISAGREES) else ()
        rows.append(
            RequirementRow(
                id=rule.id,
                section=rule.section,
                text=rule.text,
                scenarios=tuple(dict.fromkeys(item.scenario for item in seen)),
                observations=tuple(item.id for item in seen),
                status=status,
                reason="" if status is RequirementStatus.MET else f"because of {status.value}",
                agree=4 * len(seen),
                disagree=sum(item.requirement == rule.id for item in findings),
                not_comparable=2,
            )
        )
    return tuple(rows)


def accepted_of(
    parts: tuple[tuple[Observation, tuple[Finding, ...]], ...],
    verdict: Verdict = Verdict.REJECTED,
    *,
    reasons: tuple[str, ...] = ("2 findings in authorized original runs not waived",),
    missing: tuple[Missing, ...] = (),
    damaged: tuple[Damage, ...] = (),
) -> Acceptance:
    """One judgement of the given observations."""
    observations = tuple(observation for observation, _ in parts)
    findings = tuple(item for _, found in parts for item in found)
    return Acceptance(
        verdict=verdict,
        release=Release(name="magi-code", version="0.104.0", sha256=(DIGEST,)),
        at=AT,
        harness="0.1.0",
        reasons=reasons,
        observations=observations,
        findings=findings,
        missing=missing,
        damaged=damaged,
        requirements=requirement_rows(findings, observations),
    )


def rejected() -> Acceptance:
    """Eight observations with every state, every reason, every kind of finding, waived ones and hostile evidence."""
    cut = NotComparable(reason=Reason.CAPTURE_CUT, detail="the product was killed in call 3")
    none = NotComparable(reason=Reason.NOT_CAPTURED, detail="driven by the local agent")
    unreached = NotComparable(reason=Reason.NOT_REACHABLE, detail="the host refuses two calls with one id")
    unrecorded = NotComparable(reason=Reason.NOT_RECORDED, detail="0.96.6 saves no telemetry")
    card, first = "turn1/call1", "turn1/call1/task1"
    outcome = {(card, "Script outcome", column): known("failure") for column in (LA_LIVE, LA_REOPEN, MC_REOPEN)}
    counts: dict[tuple[str, str, Column], Reading] = {
        (card, "Warnings omitted", LA_LIVE): known(40),
        (card, "Changed paths omitted", LA_REOPEN): NULL,
        (card, "Total calls", MC_REOPEN): ABSENT,
        (card, "Failed calls", MC_REOPEN): unreadable("the row runs into the border"),
        (card, "Elapsed milliseconds", Column.REPORT): unreached,
    }
    hostile = {
        (first, "Task intent", LA_LIVE): known(HOSTILE["script"]),
        (first, "Task intent", LA_REOPEN): known(HOSTILE["direction"]),
        (first, "Task profile", LA_LIVE): known(HOSTILE["long"]),
        (first, "Task agent", LA_LIVE): known(HOSTILE["ansi"]),
        (first, "Task provider", LA_LIVE): known(HOSTILE["emoji"]),
        (first, "Task model", LA_LIVE): known(HOSTILE["wide"]),
        (first, "Task execution identity", LA_LIVE): known(HOSTILE["markdown"]),
        (first, "Task activity", LA_LIVE): known(HOSTILE["marks"]),
        (first, "Usage provenance", LA_LIVE): known(HOSTILE["closing"]),
        (first, "Task outcome", LA_LIVE): known(HOSTILE["lines"]),
        (first, "Task persistence", LA_LIVE): known(HOSTILE["zero"]),
        (first, "Task facts limited", LA_LIVE): known(HOSTILE["template"]),
        (first, "Task changed paths", LA_LIVE): known(""),
        (first, "Task failed calls", LA_LIVE): known(HOSTILE["entity"]),
    }
    kinds = tuple(
        finding("kinds", kind=kind, label="", expected=f"what {kind.value} wants", observed="something else")
        for kind in FindingKind
    )
    waived = finding(
        "cancelled",
        requirement="code-mode.rollback",
        label="Rollback",
        expected="false",
        observed="true",
        where=place(LA_LIVE, 0, 14, "Rollback"),
        waived_by="W-2026-01",
    )
    parts = (
        observed("mixed-script", seed=1),
        observed("mixed-batch", classes=("mixed-outcomes", "out-of-order", "agreement"), cards=BATCH, seed=2),
        observed(
            "cancelled",
            classes=("cancellation", "agreement"),
            overrides=outcome,
            unavailable={MC_LIVE: none},
            extra=(waived,),
        ),
        observed(
            "killed",
            classes=("cancellation", "agreement"),
            overrides=outcome,
            unavailable={LA_LIVE: cut, MC_LIVE: none},
            driver="mission-control",
        ),
        observed("overflow", classes=("overflow", "agreement"), overrides=counts),
        observed("hostile <b>&'\"", classes=("concurrency", "agreement"), cards=BATCH, overrides=hostile),
        observed(
            "kinds", classes=("recovered-failures",), extra=kinds, authorization=Authorization.EXPIRED, stale=True
        ),
        observed(
            "legacy",
            classes=("legacy", "agreement"),
            cards=BATCH,
            unavailable={LA_LIVE: none, MC_LIVE: none, Column.REPORT: unrecorded},
            authorization=Authorization.UNAUTHORIZED,
            detail="",
        ),
    )
    return accepted_of(
        parts,
        reasons=(
            "19 findings in authorized original runs not waived",
            "2 of 8 original runs are recorded, not authorized",
            "observation classes not covered: overflow, legacy",
        ),
        missing=(
            Missing(class_="legacy", reason="legacy.code-mode: no original run of this release"),
            Missing(class_="overflow", reason="overflow.paths-tracked: no original run of this release"),
        ),
    )


def many(number: int) -> Acceptance:
    """`number` observations of the size that real runs have: scripts, and batches of four tasks."""
    parts = tuple(
        observed(
            f"run-{at:03}",
            classes=(("mixed-outcomes", "overflow", "cancellation", "concurrency")[at % 4], "agreement"),
            cards=SCRIPT if at % 2 else BATCH,
            overrides={("turn1/call1", "Script outcome", LA_LIVE): known("failure")} if at % 10 == 1 else {},
            seed=at,
        )
        for at in range(number)
    )
    return accepted_of(parts)
