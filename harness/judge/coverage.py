"""What a release must be observed doing, and what of it is missing.

Every run of every observation class needs, on every surface column that it must be read on, at least one original
run that is authorized and current and in which something was compared (observations.md, evidence.md "Verdict").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness.model.facts import Column
from harness.model.values import Reason
from harness.model.verdict import Agreement, Authorization, FactRow, Missing, Observation
from harness.spec.classes import CLASSES, Run

_OWN_CLASSES = CLASSES[:-1]
_AGREEMENT = CLASSES[-1]


def _made(observation: Observation, column: Column) -> bool:
    count = observation.surfaces.get(column)
    return count is not None and count.agree + count.disagree > 0


def _why_not(observation: Observation) -> str:
    """Why this observation does not count, or "" when it does."""
    if observation.stale:
        return "its scenario has changed since it was recorded (stale)"
    if observation.authorization is not Authorization.AUTHORIZED:
        detail = observation.authorization_detail or observation.authorization.value.replace("_", " ")
        return f"recorded, not authorized: {detail}"
    return ""


def _run_gaps(run: Run, serving: Sequence[Observation]) -> Iterable[str]:
    if not serving:
        yield f"{run.id}: no original run of this release ({run.text})"
        return
    refusals = sorted({reason for observation in serving if (reason := _why_not(observation))})
    counting = [observation for observation in serving if not _why_not(observation)]
    if not counting:
        yield f"{run.id}: {'; '.join(refusals)} ({len(serving)} original runs)"
        return
    for column in run.columns:
        if not any(_made(observation, column) for observation in counting):
            yield f"{run.id}: nothing was compared on {column.value}"


def blocking(row: FactRow, column: Column, *, cut_allowed: bool) -> str | None:
    """Why a cell that could not be compared keeps the run from counting, or None.

    Facts that a release does not display, or that no record could give, are reported and block nothing; what should
    have been read and could not be, does.
    """
    cell = row.cells[column]
    if cell.agreement is not Agreement.NOT_COMPARABLE or cell.reason is None:
        return None
    if cell.reason.reason is Reason.UNREADABLE:
        return f"{row.label} of {row.card} is unreadable on {column.value}"
    if cell.reason.reason is Reason.CAPTURE_CUT and not cut_allowed:
        return f"{row.label} of {row.card} could not be read on {column.value}: the capture is cut"
    return None


def _uncompared(run: Run, serving: Sequence[Observation]) -> Iterable[str]:
    for observation in serving:
        if _why_not(observation):
            continue
        gaps = [
            gap
            for column in run.columns
            for row in observation.rows
            if (gap := blocking(row, column, cut_allowed=run.live_may_be_cut))
        ]
        if gaps:
            rest = f" and {len(gaps) - 1} more" if len(gaps) > 1 else ""
            yield f"{run.id}: {gaps[0]}{rest} ({observation.id})"


def missing(observations: Sequence[Observation], runs_of: Mapping[str, Sequence[str]]) -> tuple[Missing, ...]:
    """Everything required that is not there. `runs_of`: observation id to the run ids that its scenario serves.

    The agreement class needs the runs of all others, so it is missing as long as any of them is.
    """
    found: list[Missing] = []
    for entry in _OWN_CLASSES:
        for run in entry.runs:
            serving = [observation for observation in observations if run.id in runs_of.get(observation.id, ())]
            found.extend(Missing(class_=entry.id, reason=reason) for reason in _run_gaps(run, serving))
            found.extend(Missing(class_=entry.id, reason=reason) for reason in _uncompared(run, serving))
    if found:
        classes = ", ".join(dict.fromkeys(item.class_ for item in found))
        found.append(Missing(class_=_AGREEMENT.id, reason=f"needs every run of the other classes: {classes}"))
    return tuple(found)
