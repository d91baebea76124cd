"""How each structural rule of the requirement catalogue is held: what breaks it, and what counts as a case of it.

A rule is broken by findings of its own requirement and by those of other rules that say the same (wire rules mostly).
Its cases are what the stages tried it on (`Observation.cases`), and for some rules the comparisons of the rows that
they are about. A rule without a case was not observed, and `unseen` says what no run showed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from harness.judge import rows
from harness.model.verdict import Agreement, Finding, Observation
from harness.spec.requirements import Requirement

Outcome = tuple[int, int, int]
"""How many cases agree, disagree, and could not be compared."""

RowsOf = Callable[[Requirement, Observation], Iterator[Agreement]]


class Same(NamedTuple):
    """Findings of another rule that break this one too. `own_labels`: only those of labels that the requirement
    governs; `like`: only those whose label the pattern is found in."""

    rule: str
    own_labels: bool = False
    like: str = ""

    def covers(self, requirement: Requirement, found: Finding) -> bool:
        if self.own_labels and found.label not in requirement.labels:
            return False
        return not self.like or re.search(self.like, found.label) is not None


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """How one requirement is held. `unseen`: why it was not observed, when nothing is a case of it. `cases`: other
    rules whose cases are cases of it. `rows`: the comparisons that are cases of it, None when none are."""

    unseen: str
    same: tuple[Same, ...] = ()
    cases: tuple[str, ...] = ()
    rows: RowsOf | None = None


_WIRE_BOUNDS = tuple(
    f"wire.{name}"
    for name in (
        *("frame-bytes", "json-depth", "descriptor", "card-bytes", "core-bytes", "id-grammar", "title-bytes"),
        *("metadata-bytes", "blocks", "block-size", "text-bytes", "hierarchy", "run-budget", "page-bytes"),
        "page-entries",
    )
)
_NO_CARD = "no card with facts was read on the local agent"

HELD: Final[Mapping[str, Mapping[str, Held]]] = {
    "row-shape": {
        "general.results-blocks": Held(
            same=(Same("wire.schema-version"), Same("wire.schema", like="blocks")), unseen=_NO_CARD
        ),
        "general.row-members": Held(
            same=(
                Same("wire.fact-outcome"),
                Same("wire.schema", like="/rows/"),
                Same("wire.exact-members", like="/rows/"),
            ),
            unseen=_NO_CARD,
        ),
    },
    "exact-labels": {
        "general.exact-labels": Held(same=(Same("wire.fact-label"), Same("wire.fact-repeated")), unseen=_NO_CARD),
    },
    "spelling": {
        "general.count-spelling": Held(
            same=(Same("wire.fact-spelling", own_labels=True),), unseen="no card showed a known count"
        ),
        "general.boolean-spelling": Held(
            same=(Same("wire.fact-spelling", own_labels=True),), unseen="no card showed a known yes-or-no fact"
        ),
    },
    "card-outcome": {
        "general.row-outcome-inert": Held(unseen="no card of the local agent states the outcome of a script or task"),
    },
    "surface-agreement": {
        "general.surface-agreement": Held(
            rows=rows.agreement,
            unseen="no fact was shown by both surfaces at the same moment; live they never show one run together",
        ),
    },
    "public-ids": {
        "general.public-child-ids": Held(
            same=(Same("wire.children-known"), Same("wire.id-grammar")),
            unseen="no card of the local agent has children",
        ),
        "general.execution-label": Held(unseen="no task card of the local agent shows an execution identity"),
        "general.navigation-ids": Held(
            same=tuple(
                Same(f"wire.{name}")
                for name in ("parent-known", "card-identity", "hierarchy", "parent-state", "task-scope")
            ),
            cases=("wire.parent-known",),
            unseen="no card of the local agent has a parent",
        ),
    },
    "fact-bounds": {
        "code-mode.warning-storage": Held(
            same=(Same("wire.fact-bytes", own_labels=True),), unseen="no report or card holds a warning"
        ),
        "code-mode.warning-rows": Held(
            same=(Same("wire.fact-rows", own_labels=True),), unseen="no card shows a warning"
        ),
        "code-mode.path-bounds": Held(
            same=(Same("wire.fact-rows", own_labels=True),), unseen="no script changed a path"
        ),
        "task.text-bounds": Held(same=(Same("wire.fact-bytes", own_labels=True),), unseen="no task shows a text"),
        "task.activity-bound": Held(same=(Same("wire.fact-rows", own_labels=True),), unseen="no task has an activity"),
    },
    "core-rows": {
        "code-mode.previews-cost-no-counts": Held(unseen="no script's card dropped a preview row"),
        "acceptance.core-survives": Held(unseen="no card says that it was reduced"),
        "acceptance.optional-explicit": Held(
            unseen="no card dropped an optional row, which takes a run of some 1,800 calls"
        ),
        "acceptance.content-limit": Held(
            same=(Same("wire.core-bytes"),),
            unseen="every core that was sent fitted into the bytes kept for it",
        ),
    },
    "interrupted-from-nested": {
        "code-mode.interrupted-from-nested": Held(rows=rows.interrupted, unseen="no script was interrupted"),
        "code-mode.duplicate-parents": Held(unseen="no turn has two calls with one id"),
    },
    "no-running-replay": {
        "code-mode.no-running-replay": Held(
            same=(Same("wire.saved-card", like="^state$"),),
            rows=rows.replayed,
            unseen="no session with an unfinished tool was reopened",
        ),
    },
    "reopen-inert": {
        "code-mode.reopen-inert": Held(
            same=(Same("acceptance.no-replay"),), unseen="no session with a script was reopened by our own recorder"
        ),
        "acceptance.no-replay": Held(unseen="no session was reopened by our own recorder"),
    },
    "partition": {
        "batch.partition": Held(unseen="no batch shows all of its counts"),
        "batch.terminal-unfinished": Held(unseen="no batch that has ended shows how many of its tasks run"),
    },
    "live-snapshots": {
        "batch.live-snapshots": Held(unseen="no run of a batch was driven by the local agent"),
    },
    "task-binding": {
        "batch.early-details": Held(unseen="no task of several was read"),
        "task.live-binding": Held(unseen="no task was read live with its execution identity"),
    },
    "report-schema": {
        "batch.telemetry-stored": Held(unseen="no result of a batch was saved"),
        "task.report-bounds": Held(unseen="no telemetry report was saved"),
        "task.report-validation": Held(unseen="no telemetry report was saved"),
        "task.usage-round-trip": Held(unseen="no telemetry report with usage was saved"),
    },
    "private-text": {
        "task.task-intent.never-context": Held(unseen="no task was given a context"),
        "task.activity-private": Held(unseen="no task shows an activity"),
    },
    "activity-text": {
        "task.activity-rows": Held(unseen="no task shows an activity"),
    },
    "direct-call-cap": {
        "task.counters-beyond-cap": Held(
            rows=rows.beyond_cap, unseen="no batch made more direct calls than are tracked, which takes minutes"
        ),
    },
    "legacy-task": {
        "task.legacy-supply": Held(rows=rows.legacy, unseen="no session of an older release with a batch was reopened"),
        "task.legacy-missing": Held(
            rows=rows.legacy, unseen="no session of an older release with a batch was reopened"
        ),
    },
    "wire-bounds": {
        "acceptance.bounds": Held(
            same=tuple(Same(rule) for rule in _WIRE_BOUNDS), cases=_WIRE_BOUNDS, unseen="no frame was read"
        ),
    },
}
"""Rule name to its requirements and how each is held."""


def against(requirement: Requirement, findings: Mapping[str, Iterable[Finding]]) -> list[Finding]:
    """The findings that break a requirement that a rule holds: its own, and those of other rules that say the same.

    `findings`: those that were read, by requirement.
    """
    found = list(findings.get(requirement.id, ()))
    for same in HELD[requirement.rule][requirement.id].same:
        found += [item for item in findings.get(same.rule, ()) if same.covers(requirement, item)]
    return found


def outcome(requirement: Requirement, observation: Observation, broken: int) -> Outcome:
    """How often one observation tried a requirement that a rule holds. `broken`: how many of its findings break it."""
    held = HELD[requirement.rule][requirement.id]
    tried = sum(observation.cases.get(rule, 0) for rule in (requirement.id, *held.cases))
    compared = list(held.rows(requirement, observation)) if held.rows is not None else []
    return (
        max(tried - broken, 0) + compared.count(Agreement.AGREE),
        broken + compared.count(Agreement.DISAGREE),
        compared.count(Agreement.NOT_COMPARABLE),
    )
