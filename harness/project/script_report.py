"""Code Mode facts as the host's stored report says them: one rule for each label, in catalogue order.

Each function opens with the id of the requirement it implements.
"""

from __future__ import annotations

from typing import Final

import msgspec

from harness.model.facts import CardKind
from harness.model.values import NULL, Reading, Reason, Value, known
from harness.project import script_rules
from harness.project.execution import Execution
from harness.project.nodes import ScriptNode
from harness.project.stated import Rule, Stated, silent, silent_rows, stored_text
from harness.spec import bounds

VIA: Final = "report"


class ReportedScript(msgspec.Struct, frozen=True, kw_only=True):
    """A script and its stored report, None when there is none."""

    node: ScriptNode
    report: Execution | None


def _silent(script: ReportedScript) -> Stated:
    detail = "no result was saved" if script.node.call.ending is None else "the saved result has no execution report"
    return silent(Reason.NOT_RECORDED, detail, VIA)


def _at(script: ReportedScript, value: Reading, member: str) -> Stated:
    ending = script.node.call.ending
    if script.report is None or ending is None:
        return _silent(script)
    place = script.node.scope.place(ending.record, script.report.pointer(member))
    return Stated(value=value, via=VIA, place=place)


def _count(script: ReportedScript, member: str) -> Stated:
    return _at(script, script.report.counts[member] if script.report else NULL, member)


def script_outcome(script: ReportedScript) -> Stated:
    """``code-mode.script-outcome``: from the saved result; without one the report has no word on it."""
    return script_rules.script_outcome(script.node) if script.node.call.ending else _silent(script)


def code_mode_intent(script: ReportedScript) -> Stated:
    """``code-mode.code-mode-intent``: from the call's arguments."""
    return script_rules.code_mode_intent(script.node)


def total_calls(script: ReportedScript) -> Stated:
    """``code-mode.total-calls``: every call that the host observed."""
    return _count(script, "inner_calls")


def successful_calls(script: ReportedScript) -> Stated:
    """``code-mode.successful-calls``: calls with successful results."""
    return _count(script, "successful")


def failed_calls(script: ReportedScript) -> Stated:
    """``code-mode.failed-calls``: calls with failed results, which the report counts as recoverable failures."""
    return _count(script, "recoverable_failures")


def unknown_calls(script: ReportedScript) -> Stated:
    """``code-mode.unknown-calls``: calls without a known result when execution ended."""
    return _count(script, "unknown_outcomes")


def running_calls(script: ReportedScript) -> Stated:
    """``code-mode.running-calls``: none in a terminal report, whatever it says; null in one without the count."""
    stated = _count(script, "running_calls")
    if isinstance(stated.value, Value) and stated.value != NULL:
        return Stated(value=known(0), via="rule", place=stated.place)
    return stated


def elapsed_milliseconds(script: ReportedScript) -> Stated:
    """``code-mode.elapsed-milliseconds``: as the host measured it."""
    return _count(script, "elapsed_ms")


def recoverable_failures(script: ReportedScript) -> Stated:
    """``code-mode.recoverable-failures``: failures that were handed back to the script."""
    return _count(script, "recoverable_failures")


def warnings(script: ReportedScript) -> Stated:
    """``code-mode.warnings``: all warning events, repeated messages each time."""
    return _count(script, "warning_count")


def changed_paths(script: ReportedScript) -> Stated:
    """``code-mode.changed-paths``: distinct tracked paths."""
    return _count(script, "changed_path_count")


def response_token_estimate(script: ReportedScript) -> Stated:
    """``code-mode.response-token-estimate``: the estimate saved with the result.

    Releases up to 0.104.0 save none and work it out anew for display, so a result without one says nothing here.
    """
    ending = script.node.call.ending
    if script.report is None or ending is None:
        return _silent(script)
    if script.report.estimate == NULL:
        return silent(Reason.NOT_RECORDED, "the saved result holds no estimate", VIA)
    place = script.node.scope.place(ending.record, "/payload/result/metadata")
    return Stated(value=script.report.estimate, via=VIA, place=place)


def change_count_qualifier(script: ReportedScript) -> Stated:
    """``code-mode.change-count-qualifier``: ``at_least`` when the report says that tracking was incomplete."""
    reading = script.report.incomplete if script.report else NULL
    if isinstance(reading, Value) and reading != NULL:
        reading = known("at_least" if reading == known(True) else "exact")
    return _at(script, reading, "changed_paths_incomplete")


def completed_actions_remain_applied(script: ReportedScript) -> Stated:
    """``code-mode.completed-actions-remain-applied``: always true."""
    return script_rules.completed_actions_remain_applied(script.node)


def rollback(script: ReportedScript) -> Stated:
    """``code-mode.rollback``: always false."""
    return script_rules.rollback(script.node)


def external_effects_may_be_untracked(script: ReportedScript) -> Stated:
    """``code-mode.external-effects-may-be-untracked``: always true."""
    return script_rules.external_effects_may_be_untracked(script.node)


def execution_persistence(script: ReportedScript) -> Stated:
    """``code-mode.execution-persistence.saved``: saved records are recorded."""
    return script_rules.execution_persistence(script.node)


def completed_with_warnings(script: ReportedScript) -> Stated:
    """``code-mode.completed-with-warnings``: from the reported counts."""
    if script.report is None:
        return _silent(script)
    return script_rules.completed_with_warnings(
        script_outcome(script).value,
        failed_calls(script).value,
        unknown_calls(script).value,
        warnings(script).value,
    )


def warnings_omitted(script: ReportedScript) -> Stated:
    """``code-mode.warnings-omitted``: of an unreduced card with the report's messages."""
    retained = script.report.warnings if script.report else None
    return script_rules.warnings_omitted(warnings(script).value, None if retained is None else len(retained))


def changed_paths_omitted(script: ReportedScript) -> Stated:
    """``code-mode.changed-paths-omitted``: of an unreduced card with the report's paths."""
    retained = script.report.paths if script.report else None
    return script_rules.changed_paths_omitted(changed_paths(script).value, None if retained is None else len(retained))


def _consistent(script: ReportedScript) -> bool:
    parts = (successful_calls(script), failed_calls(script), unknown_calls(script), running_calls(script))
    return script_rules.consistent_calls(total_calls(script).value, *(part.value for part in parts))


def child_references_complete(script: ReportedScript) -> Stated:
    """``code-mode.child-references-complete``: of an unreduced card, by the reported total."""
    return script_rules.child_references_complete(total_calls(script).value, consistent=_consistent(script))


def child_references_omitted(script: ReportedScript) -> Stated:
    """``code-mode.child-references-omitted``: of an unreduced card, by the reported total."""
    return script_rules.child_references_omitted(total_calls(script).value, consistent=_consistent(script))


def _rows(
    script: ReportedScript, label: str, member: str, texts: tuple[str, ...] | None, most: int
) -> tuple[Stated, ...]:
    if script.report is None:
        return silent_rows(CardKind.CODE_MODE, label, _silent(script))
    if texts is None:
        why = silent(Reason.NOT_RECORDED, f"the report has no {member}", VIA)
        return silent_rows(CardKind.CODE_MODE, label, why)
    return tuple(
        stored_text(text, via=VIA, place=_at(script, NULL, f"{member}/{index}").place)
        for index, text in enumerate(texts[:most])
    )


def warning_rows(script: ReportedScript) -> tuple[Stated, ...]:
    """``code-mode.warning-rows``: the first two stored messages."""
    texts = script.report.warnings if script.report else None
    return _rows(script, "Warning", "warnings", texts, bounds.WARNING_ROWS_DISPLAYED)


def changed_path_rows(script: ReportedScript) -> tuple[Stated, ...]:
    """``code-mode.path-bounds``: the first three stored paths."""
    texts = script.report.paths if script.report else None
    return _rows(script, "Changed path", "changed_paths", texts, bounds.PATH_ROWS_DISPLAYED)


RULES: Final[dict[str, Rule[ReportedScript]]] = {
    "Script outcome": script_outcome,
    "Code Mode intent": code_mode_intent,
    "Total calls": total_calls,
    "Successful calls": successful_calls,
    "Failed calls": failed_calls,
    "Unknown calls": unknown_calls,
    "Running calls": running_calls,
    "Elapsed milliseconds": elapsed_milliseconds,
    "Recoverable failures": recoverable_failures,
    "Warnings": warnings,
    "Changed paths": changed_paths,
    "Response token estimate": response_token_estimate,
    "Change count qualifier": change_count_qualifier,
    "Completed actions remain applied": completed_actions_remain_applied,
    "Rollback": rollback,
    "External effects may be untracked": external_effects_may_be_untracked,
    "Execution persistence": execution_persistence,
    "Completed with warnings": completed_with_warnings,
    "Warnings omitted": warnings_omitted,
    "Changed paths omitted": changed_paths_omitted,
    "Child references complete": child_references_complete,
    "Child references omitted": child_references_omitted,
    "Warning": warning_rows,
    "Changed path": changed_path_rows,
}
