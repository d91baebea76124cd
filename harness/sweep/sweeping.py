"""A whole sweep: archives in, a stream of rows in order of their names out, and the summary at the end."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from harness import __version__
from harness.model.errors import UsageError
from harness.sweep.archives import opened
from harness.sweep.catalogue import Catalogue
from harness.sweep.members import Archive
from harness.sweep.names import shown
from harness.sweep.reopen import Candidate
from harness.sweep.rows import Row, Summary, Totals
from harness.sweep.spread import BATCH_REOPENINGS, BATCH_UNITS, InProcess, Processes, Workers, cut, in_order
from harness.sweep.state import State
from harness.sweep.units import Unit, units

_NAME_AGAIN: Final = 2


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a sweep is. `total` is None while archives are still being listed; `known` rows came from a state."""

    done: int
    total: int | None
    known: int
    findings: int


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be swept and how. `jobs` 0: one process a core; 1: no further process. `scheduler` "": this machine.
    `only` "": all sessions, else those whose archive and session, joined by a slash, contain it. `state` None: nothing
    is kept."""

    archives: tuple[Path, ...]
    candidate: Candidate | None = None
    scheduler: str = ""
    jobs: int = 0
    only: str = ""
    state: Path | None = None
    resume: bool = False


Emit = Callable[[Row], None]
Watch = Callable[[Progress], None]


def archive_names(paths: Sequence[Path]) -> tuple[str, ...]:
    """What archives are called in results: the last part of their path, numbered from the second of one name on."""
    seen: Counter[str] = Counter()
    names = []
    for path in paths:
        name = shown(os.fsencode(path.resolve().name or "root"))
        seen[name] += 1
        names.append(name if seen[name] < _NAME_AGAIN else f"{name}#{seen[name]}")
    return tuple(names)


def sweep(plan: Plan, emit: Emit, watch: Watch = lambda _: None) -> Summary:
    """Judges every session of the plan's archives; `emit` gets each row, in order of archives and names.

    Raises UsageError for archives, a scheduler or a state that cannot be used; whatever is wrong inside of an archive
    is a finding of a row.
    """
    if plan.resume and plan.state is None:
        raise UsageError("there is nothing to resume without a file of results", hint="name it with --out")
    names = archive_names(plan.archives)
    with contextlib.ExitStack() as closing:
        watch(Progress(done=0, total=None, known=0, findings=0))
        archives: list[tuple[str, Archive]] = [
            (name, closing.enter_context(opened(path))) for name, path in zip(names, plan.archives, strict=True)
        ]
        catalogue = closing.enter_context(contextlib.closing(_listed(archives)))
        state = closing.enter_context(State(plan.state, plan.candidate, resume=plan.resume))
        workers = closing.enter_context(_workers(plan))
        totals = _run(plan, archives, catalogue, state=state, workers=workers, emit=emit, watch=watch)
        return totals.summary(
            harness=__version__,
            product=plan.candidate.product if plan.candidate else None,
            archives=names,
            orphans=None if plan.only else catalogue.orphans(),
        )


def _listed(archives: Sequence[tuple[str, Archive]]) -> Catalogue:
    catalogue = Catalogue()
    for number, (_, archive) in enumerate(archives):
        catalogue.add(number, archive.members())
    catalogue.ready()
    return catalogue


def _workers(plan: Plan) -> contextlib.AbstractContextManager[Workers]:
    if plan.scheduler:
        from harness.sweep.cluster import Cluster  # noqa: PLC0415 # Dask is optional

        return Cluster(plan.scheduler, plan.candidate)
    jobs = plan.jobs or os.cpu_count() or 1
    return InProcess(plan.candidate) if jobs == 1 else Processes(jobs, plan.candidate)


def _run(
    plan: Plan,
    archives: Sequence[tuple[str, Archive]],
    catalogue: Catalogue,
    *,
    state: State,
    workers: Workers,
    emit: Emit,
    watch: Watch,
) -> Totals:
    totals = Totals()
    known = findings = 0
    total = None if plan.only else catalogue.count()

    def places() -> Iterator[Unit | Row]:
        nonlocal known
        for unit in units(archives, catalogue, plan.only):
            row = state.known(unit)
            known += row is not None
            yield row or unit

    size = BATCH_REOPENINGS if plan.candidate else BATCH_UNITS
    for done, row in enumerate(in_order(cut(places(), units=size), workers), 1):
        state.keep(row)
        totals.add(row)
        emit(row)
        findings += row.finding_count
        watch(Progress(done=done, total=total, known=known, findings=findings))
    return totals
