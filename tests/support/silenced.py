"""Silences one rule at the one place through which a part of the harness reports what breaks it.

The code of the harness stays as it is: `install` puts a door before each of these places, and `silence` shuts it for
one rule of one part.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

import msgspec

from harness.compare import rules as card_rules
from harness.compare import run as comparing
from harness.compare import structure, whole_run
from harness.compare.tried import Tried
from harness.model.facts import Problem
from harness.model.verdict import FindingKind
from harness.observe import local_agent
from harness.observe.mission_control import column as screens
from harness.project import cases, columns, execution, telemetry
from harness.records import decode, turns
from harness.sweep import work
from harness.wire import batches, breaches, governed

_off: tuple[str, str, bool] = ("", "", False)
"""The part and the rule that are silent, and whether even its cases are."""


def silence(part: str, rule: str, *, cases_too: bool = False) -> None:
    """From now on, in this process, `part` reports nothing that breaks `rule`. `cases_too`: nor that it was tried."""
    global _off  # noqa: PLW0603 # one process silences one rule
    _off = (part, rule, cases_too)


def _silent(part: str, rule: str) -> bool:
    return _off[:2] == (part, rule)


def _replace(module: ModuleType, name: str, door: Callable[..., Any]) -> None:
    """`door` in place of a function, also where it was imported by its name already."""
    through = getattr(module, name)
    door = functools.wraps(through)(door)
    for loaded in [one for key, one in sys.modules.items() if key.partition(".")[0] == "harness"]:
        for known, value in list(vars(loaded).items()):
            if value is through:
                setattr(loaded, known, door)


def _audible(part: str, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(problem for problem in problems if not _silent(part, problem.requirement))


def _of_struct(part: str, module: ModuleType, name: str) -> None:
    """A function whose result has its problems as a member."""
    through = getattr(module, name)

    def door(*args: Any, **named: Any) -> Any:
        made = through(*args, **named)
        return msgspec.structs.replace(made, problems=_audible(part, made.problems))

    _replace(module, name, door)


def _of_pair(part: str, module: ModuleType, name: str) -> None:
    """A function that gives a value and its problems."""
    through = getattr(module, name)

    def door(*args: Any, **named: Any) -> Any:
        made, problems = through(*args, **named)
        return made, _audible(part, problems)

    _replace(module, name, door)


def _of_list(part: str, module: ModuleType, name: str) -> None:
    through = getattr(module, name)

    def door(*args: Any, **named: Any) -> Any:
        return list(_audible(part, through(*args, **named)))

    _replace(module, name, door)


def _of_iterator(part: str, module: ModuleType, name: str) -> None:
    """A function that yields tuples, the last member of which is a problem."""
    through = getattr(module, name)

    def door(*args: Any, **named: Any) -> Iterator[Any]:
        return (found for found in through(*args, **named) if not _silent(part, found[-1].requirement))

    _replace(module, name, door)


def _unbroken(part: str, tries: Iterable[Any]) -> Iterator[Any]:
    """Tries, or pairs whose second member is one: of the silent rule as if nothing had broken it."""
    for made in tries:
        tried = made if isinstance(made, Tried) else made[1]
        if not _silent(part, tried.requirement):
            yield made
        elif not _off[2]:
            whole = tried._replace(problem=None)
            yield whole if made is tried else (made[0], whole)


def _of_tries(part: str, module: ModuleType, name: str) -> None:
    through = getattr(module, name)

    def door(*args: Any, **named: Any) -> Any:
        made = through(*args, **named)
        return next(_unbroken(part, [made])) if isinstance(made, Tried) else _unbroken(part, made)

    _replace(module, name, door)


def _method(owner: type, name: str, door: Callable[..., Any]) -> None:
    setattr(owner, name, functools.wraps(getattr(owner, name))(door))


def _of_wire() -> None:
    add, live, judge = breaches.Breaches.add, batches.Batches.judge, governed.judge

    def add_door(self: breaches.Breaches, identity: str, *args: Any, **named: Any) -> None:
        if not _silent("wire", identity):
            add(self, identity, *args, **named)

    def live_door(self: batches.Batches, reading: Any) -> Any:
        found, tried = live(self, reading)
        return tuple(breach for breach in found if not _silent("batches", breach.rule)), tried

    def judge_door(reading: Any) -> Any:
        found, tried = judge(reading)
        return tuple(breach for breach in found if not _silent("governed", breach.rule)), tried

    _method(breaches.Breaches, "add", add_door)
    _method(batches.Batches, "judge", live_door)
    _replace(governed, "judge", judge_door)


def _of_values() -> None:
    """Values that differ from what they should be, and cards that are not where they should be."""
    report = comparing.Run.report

    def door(self: comparing.Run, kind: FindingKind, column: Any, problem: Problem, **named: Any) -> None:
        if kind is FindingKind.RULE or not _silent("values", problem.requirement):
            report(self, kind, column, problem, **named)

    _method(comparing.Run, "report", door)


def _of_sweep() -> None:
    findings = work._findings

    def door(unit: Any, problems: Iterable[Problem]) -> Any:
        return findings(unit, _audible("sweep", problems))

    _replace(work, "_findings", door)


def _of_screens() -> None:
    """What a capture of Mission Control shows where no card is, or not where one is."""
    report = screens._Reading._problem

    def door(self: Any, *args: Any) -> None:
        if not _silent("screens", screens.REQUIREMENT):
            report(self, *args)

    _method(screens._Reading, "_problem", door)


def install() -> None:
    """Put the doors in place, once in a process and before any test is imported."""
    _of_wire()
    _of_struct("records", decode, "read_session")
    _of_struct("records", turns, "turns_of")
    for name in ("project_report", "project_nested"):
        _of_struct("project", columns, name)
    _of_pair("project", execution, "read_execution")
    _of_pair("project", telemetry, "read_telemetry")
    _of_list("project", cases, "missing_reports")
    _of_iterator("cards", card_rules, "card_problems")
    _of_iterator("cards", card_rules, "live_saved_differences")
    for part, module in (("structure", structure), ("whole-run", whole_run)):
        for name in [name for name in vars(module) if name.startswith("try_")]:
            _of_tries(part, module, name)
    _of_values()
    _of_struct("captures", local_agent, "live")
    _of_screens()
    _of_sweep()
