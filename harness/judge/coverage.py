"""What a release must be observed doing, and what of it is missing.

Every run of every observation class needs, on every surface column that it must be read on, at least one original
run that is of this release, authorized and current and in which something was compared (observations.md, evidence.md
"Verdict").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness.model.facts import Column
from harness.model.values import Reason
from harness.model.verdict import Authorization, FactRow, Finding, FindingKind, Missing, Observation
from harness.model.words import plural
from harness.spec.classes import CLASSES, Run

_OWN_CLASSES = CLASSES[:-1]
_AGREEMENT = CLASSES[-1]
_LIVE = (Column.LOCAL_AGENT_LIVE, Column.MISSION_CONTROL_LIVE)


def refusal(observation: Observation, release: str) -> str:
    """Why this observation does not count for the release, or "" when it does."""
    if observation.release != release:
        return f"it is of release {observation.release}"
    if observation.stale:
        return "its scenario has changed since it was recorded (stale)"
    if observation.authorization is not Authorization.AUTHORIZED:
        detail = observation.authorization_detail or observation.authorization.value.replace("_", " ")
        return f"recorded, not authorized: {detail}"
    return ""


def _may_be_cut(run: Run, column: Column) -> bool:
    return run.live_may_be_cut and column in _LIVE


def _made(run: Run, observation: Observation, column: Column) -> bool:
    """Whether the surface was read: something was compared on it, or it was captured up to a kill that may end it."""
    count = observation.surfaces.get(column)
    if count is not None and count.agree + count.disagree > 0:
        return True
    cut = any(capture.column is column and not capture.complete for capture in observation.captures)
    return cut and _may_be_cut(run, column)


def _run_gaps(run: Run, serving: Sequence[Observation], release: str) -> Iterable[str]:
    if not serving:
        yield f"{run.id}: no original run of this release ({run.text})"
        return
    refusals = sorted({reason for observation in serving if (reason := refusal(observation, release))})
    counting = [observation for observation in serving if not refusal(observation, release)]
    if not counting:
        yield f"{run.id}: {'; '.join(refusals)} ({plural(len(serving), 'original run')})"
        return
    for column in run.columns:
        if not any(_made(run, observation, column) for observation in counting):
            yield f"{run.id}: nothing was compared on {column.value}"


def blocking(row: FactRow, column: Column, *, cut_allowed: bool) -> str | None:
    """Why a cell that could not be compared keeps the run from counting, or None.

    Facts that a release does not display, or that no record could give, are reported and block nothing; what should
    have been read and could not be, does.
    """
    why = row.cells[column].reason
    if why is None:
        return None
    if why.reason is Reason.UNREADABLE:
        return f"{row.label} of {row.card} is unreadable on {column.value}"
    if why.reason is Reason.CAPTURE_CUT and not cut_allowed:
        return f"{row.label} of {row.card} could not be read on {column.value}: the capture is cut"
    return None


def _unread(run: Run, observation: Observation, findings: Sequence[Finding]) -> list[str]:
    """What of one observation should have been compared and was not; what somebody waived is as good as read."""
    gaps = [
        gap
        for column in run.columns
        for row in observation.rows
        if (gap := blocking(row, column, cut_allowed=_may_be_cut(run, column)))
    ]
    gaps.extend(
        f"{found.label} of {found.card} is unreadable on {found.surface}"
        for found in findings
        if found.kind is FindingKind.UNREADABLE and found.surface in run.columns and found.waived_by is None
    )
    return list(dict.fromkeys(gaps))


def missing(
    observations: Sequence[Observation],
    runs_of: Mapping[str, Sequence[str]],
    *,
    release: str,
    findings: Sequence[Finding] = (),
) -> tuple[Missing, ...]:
    """Everything required that is not there. `runs_of`: observation id to the run ids that its scenario serves.

    The agreement class needs the runs of all others, so it is missing as long as any of them is.
    """
    own: dict[str, list[Finding]] = {}
    for item in findings:
        own.setdefault(item.observation, []).append(item)
    found: list[Missing] = []
    for entry in _OWN_CLASSES:
        for run in entry.runs:
            serving = [observation for observation in observations if run.id in runs_of.get(observation.id, ())]
            found.extend(Missing(class_=entry.id, reason=reason) for reason in _run_gaps(run, serving, release))
            for observation in serving:
                gaps = [] if refusal(observation, release) else _unread(run, observation, own.get(observation.id, []))
                if gaps:
                    rest = f" and {len(gaps) - 1} more" if len(gaps) > 1 else ""
                    found.append(Missing(class_=entry.id, reason=f"{run.id}: {gaps[0]}{rest} ({observation.id})"))
    if found:
        classes = ", ".join(dict.fromkeys(item.class_ for item in found))
        found.append(Missing(class_=_AGREEMENT.id, reason=f"needs every run of the other classes: {classes}"))
    return tuple(found)
