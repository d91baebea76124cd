"""A rule that is switched off must be missed: one that says what a fact is, for every label, and what a run begins
with. Each id is that of the label's row in card-facts.md; `python -m tests.rules_off` switches them off.
"""

from __future__ import annotations

import pytest

from harness.compare.whole_run import ListedFile, try_start
from harness.model.facts import CardKind, Place
from harness.model.verdict import Finding, FindingKind
from tests.support.columns import MC_LIVE, MC_REOPEN, NESTED, REPORT, Said, card, fact, held, row

SCRIPT, BATCH, TASK = CardKind.CODE_MODE, CardKind.SUBAGENT_BATCH, CardKind.TASK
USED, CACHED = "usage-effective-input-tokens-usage-output-tokens", "usage-cache-read-tokens-usage-cache-known"

LABELS: list[tuple[CardKind, str, str, Said, Said]] = [
    (SCRIPT, "Script outcome", "code-mode.script-outcome", "success", "failure"),
    (SCRIPT, "Code Mode intent", "code-mode.code-mode-intent", "Look", "Look around"),
    (SCRIPT, "Total calls", "code-mode.total-calls", 3, 4),
    (SCRIPT, "Successful calls", "code-mode.successful-calls", 3, 2),
    (SCRIPT, "Failed calls", "code-mode.failed-calls", 1, 0),
    (SCRIPT, "Unknown calls", "code-mode.unknown-calls", 0, None),
    (SCRIPT, "Running calls", "code-mode.running-calls", None, 0),
    (SCRIPT, "Elapsed milliseconds", "code-mode.elapsed-milliseconds", 12, 13),
    (SCRIPT, "Recoverable failures", "code-mode.recoverable-failures", 1, 2),
    (SCRIPT, "Warnings", "code-mode.warnings", 40, 32),
    (SCRIPT, "Changed paths", "code-mode.changed-paths", 4, 3),
    (SCRIPT, "Response token estimate", "code-mode.response-token-estimate", 40, 41),
    (SCRIPT, "Change count qualifier", "code-mode.change-count-qualifier", "at_least", "exact"),
    (SCRIPT, "Completed actions remain applied", "code-mode.completed-actions-remain-applied", True, False),
    (SCRIPT, "Rollback", "code-mode.rollback", False, True),
    (SCRIPT, "External effects may be untracked", "code-mode.external-effects-may-be-untracked", True, False),
    (SCRIPT, "Execution persistence", "code-mode.execution-persistence", "recorded", "unavailable"),
    (SCRIPT, "Completed with warnings", "code-mode.completed-with-warnings", True, False),
    (SCRIPT, "Warnings omitted", "code-mode.warnings-omitted", 38, 30),
    (SCRIPT, "Changed paths omitted", "code-mode.changed-paths-omitted", 1, 0),
    (SCRIPT, "Child references complete", "code-mode.child-references-complete", True, False),
    (SCRIPT, "Child references omitted", "code-mode.child-references-omitted", 0, 1),
    (SCRIPT, "Warning", "code-mode.warning-rows", "slow", "quick"),
    (SCRIPT, "Changed path", "code-mode.path-bounds", "/w/a", "/w/b"),
    (BATCH, "Tasks total", "batch.tasks-total", 4, 3),
    (BATCH, "Tasks done", "batch.tasks-done", 1, 2),
    (BATCH, "Tasks failed", "batch.tasks-failed", 1, 0),
    (BATCH, "Tasks running", "batch.tasks-running", 0, 1),
    (BATCH, "Tasks unknown", "batch.tasks-unknown", 1, 0),
    (BATCH, "Tasks cancelled", "batch.tasks-cancelled", 1, None),
    (BATCH, "Child references complete", "batch.child-references-complete", True, False),
    (BATCH, "Child references omitted", "batch.child-references-omitted", 0, 2),
    (TASK, "Task execution identity", "task.task-execution-identity", "call/g1", "call/g2"),
    (TASK, "Task intent", "task.task-intent", "Look", "Look around"),
    (TASK, "Task profile", "task.task-profile", None, "careful"),
    (TASK, "Task agent", "task.task-agent", "scout", None),
    (TASK, "Task provider", "task.task-provider-task-model", "here", "there"),
    (TASK, "Task model", "task.task-provider-task-model", "small", "large"),
    (TASK, "Task outcome", "task.task-outcome", "cancelled", "failure"),
    (TASK, "Task persistence", "task.task-persistence", "not_recorded", "recorded"),
    (TASK, "Task facts limited", "task.task-facts-limited", True, False),
    (TASK, "Task changed paths", "task.task-changed-paths", 2, 1),
    (TASK, "Task failed calls", "task.task-failed-calls-task-unknown-calls", 1, 0),
    (TASK, "Task unknown calls", "task.task-failed-calls-task-unknown-calls", None, 0),
    (TASK, "Task calls with effects", "task.task-calls-with-effects", 1, 2),
    (TASK, "Task activity count", "task.task-activity-count", 9, 8),
    (TASK, "Task activity omitted", "task.task-activity-omitted", 1, 0),
    (TASK, "Usage provenance", "task.usage-provenance", "normalized_provider_usage", None),
    (TASK, "Usage effective input tokens", f"task.{USED}", 100, 90),
    (TASK, "Usage output tokens", f"task.{USED}", 20, 21),
    (TASK, "Usage cache read tokens", f"task.{CACHED}", None, 0),
    (TASK, "Usage cache known", f"task.{CACHED}", False, True),
    (TASK, "Usage latest request sequence", "task.usage-latest-request-sequence", 2, 1),
    (TASK, "Usage latest effective input tokens", "task.usage-latest-tokens", 60, 100),
    (TASK, "Usage latest output tokens", "task.usage-latest-tokens", 7, 20),
    (TASK, "Usage latest cache read tokens", "task.usage-latest-tokens", 5, None),
    (TASK, "Usage latest final", "task.usage-latest-final", True, False),
    (TASK, "Task activity", "task.activity-rows", "read: success", "read: failure"),
]
"""Kind of card, label, its rule, what the records say and what the card says instead."""


def spelled(said: Said) -> str:
    return "(null)" if said is None else str(said).lower() if isinstance(said, bool) else str(said)


def told(found: Finding) -> tuple[str, str, str, str]:
    return (found.requirement, found.label, found.expected, found.observed)


@pytest.mark.parametrize(("kind", "label", "rule", "right", "wrong"), LABELS)
def test_a_wrong_value_of_a_label_breaks_the_rule_of_its_row(
    kind: CardKind, label: str, rule: str, right: Said, wrong: Said
) -> None:
    recorded, shown = card(fact(label, right), kind=kind), card(fact(label, wrong), kind=kind)
    compared = held({REPORT: recorded, NESTED: recorded, MC_LIVE: recorded, MC_REOPEN: shown}, recorded)
    (found,) = [item for item in compared.findings if item.kind is FindingKind.VALUE]
    assert told(found) == (rule, label, spelled(right), spelled(wrong))
    assert found.surface == "mission-control-reopen"
    assert row(compared, label).requirement == rule


@pytest.mark.parametrize(("kind", "label", "rule", "right", "wrong"), LABELS)
def test_a_card_that_says_two_things_of_a_label_breaks_the_rule_of_its_row(
    kind: CardKind, label: str, rule: str, right: Said, wrong: Said
) -> None:
    shown = card(fact(label, wrong, via="title"), fact(label, right, via="metadata"), kind=kind)
    found = [item for item in held({MC_REOPEN: shown}).findings if item.observed.endswith(" in its title")]
    assert [told(item) for item in found] == [
        (rule, label, f"{spelled(right)} as in its metadata", f"{spelled(wrong)} in its title")
    ]
    assert found[0].kind is FindingKind.RULE


def test_a_run_that_did_not_begin_with_the_files_of_its_stimulus_is_a_substitute() -> None:
    given = ListedFile(path="a.txt", size=6, sha256="0" * 64)
    more = ListedFile(path="b.txt", size=2, sha256="1" * 64)
    tried = try_start((given,), (given, more), "workspace.before.json")
    assert tried.requirement == "acceptance.no-substitute"
    assert tried.problem is not None
    assert tried.problem.requirement == "acceptance.no-substitute"
    assert tried.problem.expected == "the workspace that the stimulus gives"
    assert tried.problem.observed == "changed: b.txt"
    assert tried.problem.place == Place(file="workspace.before.json")
    assert try_start((given, more), (more, given), "f").problem is None
