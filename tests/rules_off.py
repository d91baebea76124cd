"""Switches off every rule that the code can report, one at a time, and says which test notices:
``uv run python -m tests.rules_off [RULE…]``.

A rule that several parts of the harness report is switched off in one part at a time. Exits with 1 when one survives.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from harness.compare import rules as card_rules
from harness.compare import structure, whole_run
from harness.observe import local_agent
from harness.observe.mission_control import column as screens
from harness.project import columns, execution, telemetry, tree
from harness.records import decode, turns
from harness.records import rules as record_rules
from harness.spec.facts import FACTS
from harness.spec.requirements import REQUIREMENTS
from harness.sweep import rules as sweep_rules
from harness.wire import batches, governed
from harness.wire import rules as wire_rules
from tests.support.one_by_one import SURVIVED, Fault, run
from tests.support.silenced import install, silence

FACT_RULES = frozenset(entry.requirement for entry in FACTS)
ONLY_TRIED = frozenset(
    {
        ("structure", "batch.partition"),
        ("structure", "batch.terminal-unfinished"),
        ("structure", "code-mode.warning-rows"),
        ("structure", "general.exact-labels"),
        ("structure", "general.row-members"),
        ("structure", "task.activity-bound"),
        ("whole-run", "code-mode.reopen-inert"),
    }
)
"""Parts that count what these rules were tried on; another part finds what breaks them. Here the count is switched
off."""


class Part(NamedTuple):
    """`folder`: where the tests of the part are, below ``tests/unit``."""

    name: str
    folder: str
    rules: frozenset[str]


def _named(modules: Iterable[ModuleType], ids: Iterable[str]) -> frozenset[str]:
    """Those of the ids that the code of the modules names."""
    known, found = set(ids), set()
    for module in modules:
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Constant) and node.value in known:
                found.add(node.value)
    return frozenset(found)


def parts() -> tuple[Part, ...]:
    requirements = {entry.id for entry in REQUIREMENTS}
    records = record_rules.RULES
    of_project = (sys.modules["harness.project"], columns, execution, telemetry, tree)
    return (
        Part("wire", "wire", frozenset(rule.id for rule in wire_rules.RULES)),
        Part("batches", "wire", frozenset({batches.RULE})),
        Part("governed", "wire", frozenset({governed.IN_RESULTS, governed.CHILD_IDS, governed.EXECUTION})),
        Part("records", "records", _named((decode, turns), records)),
        Part("project", "project", _named(of_project, {*records, *requirements}) | {"batch.telemetry-stored"}),
        Part("cards", "compare", _named((card_rules,), requirements) | FACT_RULES | {card_rules.SAVED_EQUALS_LIVE}),
        Part("structure", "compare", _named((structure,), requirements)),
        Part("whole-run", "compare", _named((whole_run,), requirements)),
        Part("values", "compare", FACT_RULES | {"general.surface-agreement"}),
        Part("captures", "observe", _named((local_agent,), (rule.id for rule in wire_rules.RULES))),
        Part("screens", "observe", frozenset({screens.REQUIREMENT})),
        Part("sweep", "sweep", frozenset(sweep_rules.RULES)),
    )


def faults(chosen: Iterable[str]) -> Iterator[tuple[str, list[Fault]]]:
    """The folders of tests, each with the rules to switch off; `chosen` ids or parts, none for all."""
    wanted = frozenset(chosen)
    folders: dict[str, list[Fault]] = {}
    for part in parts():
        for rule in sorted(part.rules):
            if not wanted or wanted & {rule, part.name}:
                folders.setdefault(part.folder, []).append(Fault(f"{rule} in {part.name}", (rule,)))
    yield from folders.items()


def commit(fault: Fault) -> None:
    rule, _, part = fault.name.partition(" in ")
    silence(part, rule, cases_too=(part, rule) in ONLY_TRIED)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.rules_off", description=__doc__)
    parser.add_argument("rules", nargs="*", metavar="RULE", help="ids, or names of parts; default: all")
    chosen = parser.parse_args().rules
    if unknown := set(chosen) - {name for part in parts() for name in (part.name, *part.rules)}:
        parser.error(f"no rule and no part: {', '.join(sorted(unknown))}")
    install()
    tried = survived = 0
    for folder, here in faults(chosen):
        for fault, test in run([str(Path("tests/unit", folder))], here, commit):
            tried += 1
            survived += test == SURVIVED
            print(f"{fault.name}: {f'killed by {test}' if test else 'SURVIVED'}", flush=True)
    print(f"{tried} rules switched off, {tried - survived} noticed, {survived} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
