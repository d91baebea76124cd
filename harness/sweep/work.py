"""One unit judged: the projection both ways, the candidate's saved cards when there is one, and their comparison.

A function of the unit and the candidate alone: where and in which company it runs does not show in its row.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

import msgspec

from harness.compare import Compared, compare
from harness.compare.findings import finding
from harness.model.errors import DecodeError, ProductError
from harness.model.facts import Column, ColumnFacts, Problem
from harness.model.values import NotComparable, Reason
from harness.model.verdict import Finding, FindingKind
from harness.observe import local_agent
from harness.project import Projection, project
from harness.records import read_session
from harness.sweep.derivations import held
from harness.sweep.reopen import Candidate, can_be_file, reopened, same_here
from harness.sweep.rows import Counts, Reopening, Row, Status
from harness.sweep.rules import ARCHIVE, FINDINGS_KEPT, SOURCES, TEXT_CHARACTERS, broken
from harness.sweep.units import Unit

CAPTURE = "local-agent.reopen.jsonl"
"""How the candidate's capture is named in places; it is read and thrown away, its session says how to make it again."""

_NONE = Counts()


def judge(unit: Unit, candidate: Candidate | None) -> Row:
    """The row of one unit. Never raises for anything that is in the unit or that the candidate does."""
    try:
        return _judged(unit, candidate)
    except MemoryError:
        return failed(unit, "sweep.worker-survives", "there is not enough memory to judge it")
    except Exception as error:  # noqa: BLE001 # a fault of the harness is a finding, and hides no other session
        return failed(unit, "sweep.harness", f"{type(error).__name__}: {error}")


def judge_all(units: Sequence[Unit], candidate: Candidate | None) -> list[Row]:
    """The rows of several units, in their order: what a worker is sent.

    Raises ProductError or UsageError when this machine does not have the candidate that was named.
    """
    if candidate is not None:
        same_here(candidate)
    return [judge(unit, candidate) for unit in units]


def failed(unit: Unit, rule: str, observed: str) -> Row:
    """The row of a unit that could not be judged through no fault of the archive."""
    return _row(unit, Status.FAULT, problems=[broken(rule, observed, file=unit.session)])


def _judged(unit: Unit, candidate: Candidate | None) -> Row:
    if unit.content is None:
        return _row(unit, Status.UNREADABLE)
    try:
        projection = project(unit.content, unit.children, file=unit.session, child_files=unit.child_files)
    except DecodeError as error:
        return _row(unit, Status.UNREADABLE, problems=[broken("sweep.session-readable", str(error), file=unit.session)])
    columns = {Column.REPORT: projection.report, Column.NESTED: projection.nested}
    reopening = Reopening.NOT_ASKED
    problems: list[Problem] = []
    if candidate is not None:
        column, reopening, problems = _reopened(unit, unit.content, candidate)
        columns[Column.LOCAL_AGENT_REOPEN] = column
    derivations = held(projection.report, projection.nested)
    compared = None
    if candidate is not None or not derivations.quiet:
        compared = compare(columns, projection.reference, observation=_observation(unit))
    return _row(
        unit,
        Status.READ,
        problems=problems,
        projection=projection,
        counts=derivations.counts,
        compared=compared,
        reopening=reopening,
    )


def _reopened(unit: Unit, content: bytes, candidate: Candidate) -> tuple[ColumnFacts, Reopening, list[Problem]]:
    """What the candidate shows of the saved session, and what is wrong where it shows nothing."""
    session_id = read_session(content, file=unit.session).session_id
    if not can_be_file(session_id):
        problem = broken("sweep.reopenable", "its id is no plain name", file=unit.session)
        return _nothing("its id is no plain name"), Reopening.NOT_POSSIBLE, [problem]
    try:
        capture = reopened(session_id, content, unit.children, candidate)
    except ProductError as error:
        observed = error.message.partition("; last lines: ")[0]
        problem = broken("sweep.product-reopens", observed, file=unit.session)
        return _nothing(observed), Reopening.FAILED, [problem]
    try:
        column = local_agent.reopen(capture, file=CAPTURE, complete=True)
    except DecodeError as error:
        problem = broken("sweep.product-reopens", str(error), file=unit.session)
        return _nothing(str(error)), Reopening.FAILED, [problem]
    return column, Reopening.REOPENED, []


def _nothing(detail: str) -> ColumnFacts:
    unavailable = NotComparable(reason=Reason.NOT_CAPTURED, detail=detail)
    return ColumnFacts(column=Column.LOCAL_AGENT_REOPEN, unavailable=unavailable)


def _observation(unit: Unit) -> str:
    return f"{unit.archive}/{unit.session}"


def _row(
    unit: Unit,
    status: Status,
    *,
    problems: Iterable[Problem] = (),
    projection: Projection | None = None,
    counts: Counts = _NONE,
    compared: Compared | None = None,
    reopening: Reopening = Reopening.NOT_ASKED,
) -> Row:
    found = _findings(unit, (*unit.problems, *problems))
    found += compared.findings if compared else ()
    surface = compared.surfaces[Column.LOCAL_AGENT_REOPEN] if compared else None
    asked = surface is not None and reopening is not Reopening.NOT_ASKED
    return Row(
        archive=unit.archive,
        session=unit.session,
        digest=unit.digest,
        status=status,
        synthetic=unit.synthetic,
        bytes=unit.size,
        children=len(unit.children),
        cards=len(projection.reference) if projection else 0,
        derivations=counts,
        reopening=reopening,
        surface=Counts(agree=surface.agree, disagree=surface.disagree, not_comparable=surface.not_comparable)
        if surface and asked
        else Counts(),
        finding_count=len(found),
        findings=tuple(_again(unit, one) for one in found[:FINDINGS_KEPT]),
    )


def _findings(unit: Unit, problems: Iterable[Problem]) -> tuple[Finding, ...]:
    return tuple(
        finding(
            problem,
            kind=FindingKind.RULE,
            observation=_observation(unit),
            surface=SOURCES.get(problem.requirement, ARCHIVE),
            detail=str(problem.place),
        )
        for problem in problems
    )


def _again(unit: Unit, found: Finding) -> Finding:
    """The finding with the command that looks at this one session again."""
    command = f"harness sweep {shlex.quote(unit.archive)} --only {shlex.quote(_observation(unit))}"
    return msgspec.structs.replace(
        found, command=command, expected=_short(found.expected), observed=_short(found.observed)
    )


def _short(text: str) -> str:
    if len(text) <= TEXT_CHARACTERS:
        return text
    return f"{text[:TEXT_CHARACTERS]}… ({len(text)} characters)"
