"""The eight observation classes: which original runs each of them needs, and what of every run must be read.

A scenario is tagged with the runs it serves (``@mixed-outcomes.script``), and may name the class beside it
(``@mixed-outcomes``); `served` turns tags into classes and runs. Source: observations.md, first table, which unfolds
the requirement ``acceptance.observation-classes``.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from harness.model.errors import UsageError
from harness.model.facts import SURFACES, Column


class Extent(StrEnum):
    """What must be read of a run, each on both surfaces."""

    LIVE_AND_REOPEN = "live_and_reopen"
    LIVE_UNTIL_KILL = "live_until_kill"
    """As above, but the live capture may end where the product was killed."""
    REOPEN = "reopen"
    """An older release recorded the run: only the candidate's reopening is read."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One original run that a class needs: ``<class>.<slug>``, and in our words what must happen in it."""

    id: str
    text: str
    extent: Extent = Extent.LIVE_AND_REOPEN

    @property
    def columns(self) -> tuple[Column, ...]:
        """The surface columns that some bundle serving the run must have.

        A bundle has one driver, and so one live column: both are had from two bundles, one driven by each surface.
        """
        if self.extent is Extent.REOPEN:
            return (Column.LOCAL_AGENT_REOPEN, Column.MISSION_CONTROL_REOPEN)
        return SURFACES

    @property
    def live_may_be_cut(self) -> bool:
        return self.extent is Extent.LIVE_UNTIL_KILL


class ObservationClass(msgspec.Struct, frozen=True, kw_only=True):
    """One class; it is covered when each of its runs is. `text`: what it shows, in our words."""

    id: str
    text: str
    runs: tuple[Run, ...]


def _class(id_: str, text: str, *runs: dict[str, str], extents: tuple[Extent, ...] = ()) -> ObservationClass:
    """A class of runs (slug to text), each dictionary with the extent that stands at its place."""
    return ObservationClass(
        id=id_,
        text=text,
        runs=tuple(
            Run(id=f"{id_}.{name}", text=what, extent=extent)
            for group, extent in zip(runs, extents or (Extent.LIVE_AND_REOPEN,), strict=True)
            for name, what in group.items()
        ),
    )


_OWN = (
    _class(
        "mixed-outcomes",
        "parts of one run end differently, and the counts say so",
        {
            "script": "a script in which calls succeed and calls fail",
            "batch": "a batch with tasks that are done, tasks that failed and tasks that are unknown or cancelled",
        },
    ),
    _class(
        "overflow",
        "more happens than is kept or shown, and the totals stay true",
        {
            "warnings": "more than 32 warnings in one script",
            "paths-previewed": "more than 3 changed paths in one script",
            "paths-reported": "more than 50 changed paths in one script",
            "paths-tracked": "changed paths up to the bound of 1,000 in one script",
            "long-path": "a changed path of more than 512 bytes, so that the qualifier is at_least",
            "child-references": "more than 32 calls, so that the card cannot refer to each",
            "activities": "a task with more than 8 activities",
            "multibyte-text": "text of a task whose multi-byte characters pass 240 bytes",
        },
    ),
    _class(
        "recovered-failures",
        "a failed call and the end of its script are two things",
        {
            "handled": "a script that deals with a failed call and succeeds",
            "fatal": "a script that a failed call makes fail",
            "child-warns": "a script one of whose calls leaves a warning",
        },
    ),
    _class(
        "cancellation",
        "effects that were complete survive a run that is cut short",
        {
            "in-call-after-write": "the turn is cancelled while a call runs, after another call has written a file",
            "between-calls": "the turn is cancelled while the script runs and none of its calls does",
            "batch": "a batch is cancelled when some tasks are done, some run and some have not started",
        },
        {
            "killed-in-call": "the process is killed while a call runs, which leaves an interrupted script",
            "killed-in-batch": "the process is killed while tasks of a batch run",
            "turn-after-interruption": "a session whose process was killed takes a further turn",
        },
        extents=(Extent.LIVE_AND_REOPEN, Extent.LIVE_UNTIL_KILL),
    ),
    _class(
        "concurrency",
        "tasks at the same time keep their own facts",
        {
            "four-tasks": "four tasks at once",
            "ten-tasks": "a batch of ten tasks",
            "task-with-code-mode": "a task that itself runs a script",
        },
    ),
    _class(
        "out-of-order",
        "the order in which things arrive changes no fact",
        {
            "finish-order": "tasks that end in another order than they were declared in",
            "final-details": "a task's final details arrive around the end of its child",
            "revisions": "card revisions are folded in another order than they were sent, and the fold converges",
        },
    ),
    _class(
        "legacy",
        "sessions saved by 0.96.6, which has no telemetry, are reopened by the candidate",
        {
            "code-mode": "a session of 0.96.6 with a script",
            "finished-batch": "a session of 0.96.6 with a batch that finished",
            "interrupted-batch": "a session of 0.96.6 with a batch that was interrupted",
        },
        extents=(Extent.REOPEN,),
    ),
)

CLASSES: tuple[ObservationClass, ...] = (
    *_OWN,
    ObservationClass(
        id="agreement",
        text="both surfaces say the same of every run of the other classes",
        runs=tuple(run for entry in _OWN for run in entry.runs),
    ),
)
"""In the order of observations.md. `agreement` has no run of its own: it needs those of all other classes."""

CLASS_IDS = tuple(entry.id for entry in CLASSES)
RUNS: dict[str, Run] = {run.id: run for run in CLASSES[-1].runs}
"""Every run by id, in class order."""

_BY_ID = {entry.id: entry for entry in CLASSES}


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """The class ids and run ids that a scenario serves, each in catalogue order."""

    classes: tuple[str, ...]
    runs: tuple[str, ...]


def observation_class(id_: str) -> ObservationClass:
    """The class of an id. Raises KeyError when there is none."""
    return _BY_ID[id_]


def served(tags: Iterable[str]) -> Served:
    """What a scenario with these tags serves; a leading ``@`` may stand or not.

    Serving a run is serving every class that needs it, so ``agreement`` comes with any run. Tags that name neither a
    class nor a run are none of this module's business, unless they begin with a class id and a dot: that is a
    misspelt run. Raises UsageError for those, and for a class that is named without any run of it, which would cover
    nothing.
    """
    names = {tag.removeprefix("@") for tag in tags}
    misspelt = sorted(name for name in names if name.partition(".")[0] in _BY_ID and "." in name and name not in RUNS)
    if misspelt:
        raise UsageError(f"no observation class has the run {', '.join(misspelt)}", hint="see harness/spec/classes.py")
    runs = tuple(id_ for id_ in RUNS if id_ in names)
    classes = tuple(entry.id for entry in CLASSES if any(run.id in runs for run in entry.runs))
    empty = sorted(names & set(CLASS_IDS) - set(classes))
    if empty:
        raise UsageError(f"the tag {', '.join(empty)} stands without a run of the class", hint="tag the runs it serves")
    return Served(classes=classes, runs=runs)
