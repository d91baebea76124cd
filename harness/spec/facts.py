"""The fact catalogue: every label of card-facts.md, who owns it, its type, null rule and bound.

Everything that knows a label knows it from here: the projector, the observers, the comparison, the mutants of the
selfcheck and the report.
"""

from __future__ import annotations

import re
from enum import StrEnum

import msgspec

from harness.model.facts import CardKind
from harness.spec import bounds


class FactType(StrEnum):
    COUNT = "count"
    MILLISECONDS = "milliseconds"
    BOOLEAN = "boolean"
    ENUMERATION = "enumeration"
    TEXT = "text"


class Relative(StrEnum):
    """Facts that are recomputed from what the very card displays ("wire omission counts are recomputed")."""

    WARNING_ROWS = "warning_rows"
    PATH_ROWS = "path_rows"
    ACTIVITY_ROWS = "activity_rows"
    CHILD_REFERENCES = "child_references"
    CHILD_REFERENCES_COMPLETE = "child_references_complete"


class FactSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One label.

    `members`: the values of an enumeration. `nullable` False: the rule gives the fact a value in every case, so null
    is a disagreement. `null_when`: the null rule in our words ("" for never). `bound`: most rows (preview rows) or
    bytes (text), by type. `core`: survives reduction of a card; the others may be omitted explicitly. `repeated`:
    preview rows that may stand several times. `relative`: recomputed from the card's own display. `member`: dotted
    member of the host's stored report that carries the fact ("" when the report has none). `requirement`: id in the
    requirement catalogue.
    """

    label: str
    card: CardKind
    type: FactType
    requirement: str
    members: tuple[str, ...] = ()
    null_when: str = ""
    bound: int | None = None
    core: bool = True
    repeated: bool = False
    relative: Relative | None = None
    member: str = ""

    @property
    def nullable(self) -> bool:
        return bool(self.null_when)


def slug(label: str) -> str:
    """The label as it stands in requirement ids: ``Total calls`` gives ``total-calls``."""
    return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")


_CM, _BATCH, _TASK = CardKind.CODE_MODE, CardKind.SUBAGENT_BATCH, CardKind.TASK
_COUNT, _MS, _BOOL, _ENUM, _TEXT = (
    FactType.COUNT,
    FactType.MILLISECONDS,
    FactType.BOOLEAN,
    FactType.ENUMERATION,
    FactType.TEXT,
)
_SECTION = {_CM: "code-mode", _BATCH: "batch", _TASK: "task"}


def _fact(card: CardKind, label: str, kind: FactType, null_when: str = "", **rest: object) -> FactSpec:
    rest.setdefault("requirement", f"{_SECTION[card]}.{slug(label)}")
    return msgspec.convert(
        {"label": label, "card": card, "type": kind, "null_when": null_when, **rest}, FactSpec, strict=False
    )


_NO_EVIDENCE = "neither a terminal execution report nor unambiguous nested records"
_NO_REPORT = "no validated task report"
_NO_TASK_REPORT = "the saved result holds no telemetry report for the task"
_NO_USAGE = "the child has no normalized usage"

FACTS: tuple[FactSpec, ...] = (
    # Code Mode
    _fact(
        _CM,
        "Script outcome",
        _ENUM,
        members=("running", "success", "failure", "cancelled", "interrupted", "unknown"),
    ),
    _fact(_CM, "Code Mode intent", _TEXT, "no intent was recorded", core=False),
    _fact(_CM, "Total calls", _COUNT, _NO_EVIDENCE, member="inner_calls"),
    _fact(_CM, "Successful calls", _COUNT, _NO_EVIDENCE, member="successful"),
    _fact(_CM, "Failed calls", _COUNT, _NO_EVIDENCE, member="recoverable_failures"),
    _fact(_CM, "Unknown calls", _COUNT, _NO_EVIDENCE, member="unknown_outcomes"),
    _fact(_CM, "Running calls", _COUNT, "no terminal execution report", member="running_calls"),
    _fact(_CM, "Elapsed milliseconds", _MS, "no measured elapsed time", member="elapsed_ms"),
    _fact(_CM, "Recoverable failures", _COUNT, _NO_EVIDENCE, member="recoverable_failures"),
    _fact(_CM, "Warnings", _COUNT, _NO_EVIDENCE, member="warning_count"),
    _fact(_CM, "Changed paths", _COUNT, _NO_EVIDENCE, member="changed_path_count"),
    _fact(_CM, "Response token estimate", _COUNT, "no estimate was recorded", core=False),
    _fact(
        _CM,
        "Change count qualifier",
        _ENUM,
        _NO_EVIDENCE,
        members=("exact", "at_least"),
        member="changed_paths_incomplete",
    ),
    _fact(_CM, "Completed actions remain applied", _BOOL),
    _fact(_CM, "Rollback", _BOOL),
    _fact(_CM, "External effects may be untracked", _BOOL),
    _fact(
        _CM,
        "Execution persistence",
        _ENUM,
        "persistence is not confirmed yet",
        members=("recorded", "unavailable"),
    ),
    _fact(
        _CM,
        "Completed with warnings",
        _BOOL,
        "the script did not succeed, or a count is unknown and none is positive",
    ),
    _fact(_CM, "Warnings omitted", _COUNT, "the warning total is null", relative=Relative.WARNING_ROWS),
    _fact(_CM, "Changed paths omitted", _COUNT, "the tracked path count is null", relative=Relative.PATH_ROWS),
    _fact(
        _CM,
        "Child references complete",
        _BOOL,
        "no known consistent call total",
        relative=Relative.CHILD_REFERENCES_COMPLETE,
    ),
    _fact(
        _CM,
        "Child references omitted",
        _COUNT,
        "no known consistent call total",
        relative=Relative.CHILD_REFERENCES,
    ),
    _fact(
        _CM,
        "Warning",
        _TEXT,
        bound=bounds.WARNING_ROWS_DISPLAYED,
        core=False,
        repeated=True,
        requirement="code-mode.warning-rows",
    ),
    _fact(
        _CM,
        "Changed path",
        _TEXT,
        bound=bounds.PATH_ROWS_DISPLAYED,
        core=False,
        repeated=True,
        requirement="code-mode.path-bounds",
    ),
    # Subagent batches
    _fact(_BATCH, "Tasks total", _COUNT, _NO_REPORT),
    _fact(_BATCH, "Tasks done", _COUNT, _NO_REPORT),
    _fact(_BATCH, "Tasks failed", _COUNT, _NO_REPORT),
    _fact(_BATCH, "Tasks running", _COUNT, _NO_REPORT),
    _fact(_BATCH, "Tasks unknown", _COUNT, _NO_REPORT),
    _fact(_BATCH, "Tasks cancelled", _COUNT, _NO_REPORT),
    _fact(
        _BATCH,
        "Child references complete",
        _BOOL,
        _NO_REPORT,
        relative=Relative.CHILD_REFERENCES_COMPLETE,
    ),
    _fact(_BATCH, "Child references omitted", _COUNT, _NO_REPORT, relative=Relative.CHILD_REFERENCES),
    # Tasks
    _fact(_TASK, "Task execution identity", _TEXT, "no identity was recorded", member="scoped_id"),
    _fact(
        _TASK,
        "Task intent",
        _TEXT,
        "no intent was recorded",
        bound=bounds.TASK_TEXT_BYTES,
        core=False,
        member="intent",
    ),
    _fact(
        _TASK,
        "Task profile",
        _TEXT,
        "no profile was supplied",
        bound=bounds.TASK_TEXT_BYTES,
        core=False,
        member="profile",
    ),
    _fact(
        _TASK,
        "Task agent",
        _TEXT,
        "no agent was supplied",
        bound=bounds.TASK_TEXT_BYTES,
        core=False,
        member="agent",
    ),
    _fact(
        _TASK,
        "Task provider",
        _TEXT,
        "child startup is not known",
        bound=bounds.TASK_TEXT_BYTES,
        core=False,
        member="provider",
        requirement="task.task-provider-task-model",
    ),
    _fact(
        _TASK,
        "Task model",
        _TEXT,
        "child startup is not known",
        bound=bounds.TASK_TEXT_BYTES,
        core=False,
        member="model",
        requirement="task.task-provider-task-model",
    ),
    _fact(
        _TASK,
        "Task outcome",
        _ENUM,
        "no outcome evidence",
        members=("running", "success", "failure", "cancelled", "unknown"),
        member="outcome",
    ),
    _fact(
        _TASK,
        "Task persistence",
        _ENUM,
        members=("recorded", "unavailable", "not_confirmed", "not_recorded"),
    ),
    _fact(_TASK, "Task facts limited", _BOOL, _NO_TASK_REPORT, member="text_limited"),
    _fact(_TASK, "Task changed paths", _COUNT, "no reliable terminal result", member="changed_paths"),
    _fact(
        _TASK,
        "Task failed calls",
        _COUNT,
        _NO_TASK_REPORT,
        member="calls_failed",
        requirement="task.task-failed-calls-task-unknown-calls",
    ),
    _fact(
        _TASK,
        "Task unknown calls",
        _COUNT,
        _NO_TASK_REPORT,
        member="calls_unknown",
        requirement="task.task-failed-calls-task-unknown-calls",
    ),
    _fact(_TASK, "Task calls with effects", _COUNT, _NO_TASK_REPORT, member="calls_changed"),
    _fact(_TASK, "Task activity count", _COUNT, "no complete capture accounting"),
    _fact(
        _TASK,
        "Task activity omitted",
        _COUNT,
        "no complete capture accounting",
        relative=Relative.ACTIVITY_ROWS,
        core=True,
    ),
    _fact(
        _TASK,
        "Usage provenance",
        _ENUM,
        _NO_USAGE,
        members=("normalized_provider_usage",),
        core=False,
    ),
    _fact(
        _TASK,
        "Usage effective input tokens",
        _COUNT,
        _NO_USAGE,
        core=False,
        member="usage.whole_run.effective_input",
        requirement="task.usage-effective-input-tokens-usage-output-tokens",
    ),
    _fact(
        _TASK,
        "Usage output tokens",
        _COUNT,
        _NO_USAGE,
        core=False,
        member="usage.whole_run.output",
        requirement="task.usage-effective-input-tokens-usage-output-tokens",
    ),
    _fact(
        _TASK,
        "Usage cache read tokens",
        _COUNT,
        "cache accounting is not available",
        core=False,
        member="usage.whole_run.cache_read",
        requirement="task.usage-cache-read-tokens-usage-cache-known",
    ),
    _fact(
        _TASK,
        "Usage latest request sequence",
        _COUNT,
        _NO_USAGE,
        core=False,
        member="usage.latest_request_sequence",
    ),
    _fact(
        _TASK,
        "Usage latest effective input tokens",
        _COUNT,
        _NO_USAGE,
        core=False,
        member="usage.latest.effective_input",
        requirement="task.usage-latest-tokens",
    ),
    _fact(
        _TASK,
        "Usage latest output tokens",
        _COUNT,
        _NO_USAGE,
        core=False,
        member="usage.latest.output",
        requirement="task.usage-latest-tokens",
    ),
    _fact(
        _TASK,
        "Usage latest cache read tokens",
        _COUNT,
        "latest cache accounting is not available",
        core=False,
        member="usage.latest.cache_read",
        requirement="task.usage-latest-tokens",
    ),
    _fact(
        _TASK,
        "Usage cache known",
        _BOOL,
        _NO_USAGE,
        core=False,
        member="usage.whole_run.cache_known",
        requirement="task.usage-cache-read-tokens-usage-cache-known",
    ),
    _fact(_TASK, "Usage latest final", _BOOL, _NO_USAGE, core=False, member="usage.latest_final"),
    _fact(
        _TASK,
        "Task activity",
        _TEXT,
        bound=bounds.TASK_ACTIVITY_ENTRIES,
        core=False,
        repeated=True,
        requirement="task.activity-rows",
    ),
)

_BY_CARD: dict[CardKind, dict[str, FactSpec]] = {
    kind: {fact.label: fact for fact in FACTS if fact.card is kind} for kind in CardKind
}


def facts_of(kind: CardKind) -> dict[str, FactSpec]:
    """Label to entry, in catalogue order, of one kind of card."""
    return _BY_CARD[kind]


def fact(kind: CardKind, label: str) -> FactSpec:
    """The entry of a label. Raises KeyError when the card kind has no such label."""
    return _BY_CARD[kind][label]


_COUNT_TEXT = re.compile(r"0|[1-9][0-9]*")


def spelling_error(entry: FactSpec, text: str) -> str | None:
    """Why `text` is not a spelling of the entry's type, or None when it is one.

    Counts and milliseconds are base-10 without sign or leading zero, booleans ``true`` or ``false``, enumerations one
    of their members (card-facts.md, opening paragraph).
    """
    match entry.type:
        case FactType.COUNT | FactType.MILLISECONDS:
            return None if _COUNT_TEXT.fullmatch(text) else f"{text!r} is not a base-10 count"
        case FactType.BOOLEAN:
            return None if text in ("true", "false") else f"{text!r} is not true or false"
        case FactType.ENUMERATION:
            return None if text in entry.members else f"{text!r} is not one of {', '.join(entry.members)}"
        case FactType.TEXT:
            return None
