"""Code Mode facts as the nested records say them, without a look into the host's report: one rule for each label.

This is how card-facts.md reconstructs an interrupted script, and for a finished one an independent count. Each function
opens with the id of the requirement it implements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from harness.model.facts import CardKind, Place
from harness.model.values import NULL, NotComparable, Reading, Reason, known
from harness.project import script_rules
from harness.project.nodes import ScriptNode
from harness.project.paths import Paths
from harness.project.stated import Rule, Stated, by_rule, count_of, over, silent, silent_rows
from harness.records.turns import Call
from harness.spec import bounds

VIA: Final = "nested"


class NestedScript(msgspec.Struct, frozen=True, kw_only=True):
    """A script. `reported`: an execution report is saved, whatever it says (its presence counts, not its content)."""

    node: ScriptNode
    reported: bool
    paths: Paths


def _place(script: NestedScript) -> Place:
    return script.node.scope.place(script.node.call.record)


def _finished(script: NestedScript) -> bool:
    return script.node.call.ending is not None


def _gap(script: NestedScript) -> Stated | None:
    """Why nothing can be counted: null without evidence, not comparable where the evidence contradicts itself.

    ``code-mode.duplicate-parents``: parents that share an id suppress every reconstructed fact, so that it is null
    where no report is saved. A script with neither nested records nor a report left no evidence: null, not zero.
    """
    if script.node.call.repeated:
        suppressed = silent(Reason.NOT_DERIVABLE, "another call of the turn has the same id", VIA)
        return suppressed if script.reported else by_rule(NULL)
    if script.node.call.contradictory:
        return silent(Reason.NOT_DERIVABLE, "its nested records contradict each other", VIA)
    if not script.node.call.nested and not script.reported:
        return by_rule(NULL)
    return None


def _counted(script: NestedScript, count: Callable[[Call], int]) -> Stated:
    return _gap(script) or Stated(value=known(count(script.node.call)), via=VIA, place=_place(script))


def _unmeasured(script: NestedScript, what: str) -> Stated:
    """Null where no measurement was saved; not derivable where one was, for nested records hold none."""
    if script.reported:
        return silent(Reason.NOT_DERIVABLE, f"nested records hold no {what}", VIA)
    return by_rule(NULL)


def script_outcome(script: NestedScript) -> Stated:
    """``code-mode.script-outcome``: from the saved result, the one record that says it, or from there being none."""
    return script_rules.script_outcome(script.node)


def code_mode_intent(script: NestedScript) -> Stated:
    """``code-mode.code-mode-intent``: from the call's arguments."""
    return script_rules.code_mode_intent(script.node)


def total_calls(script: NestedScript) -> Stated:
    """``code-mode.total-calls``: nested call records, finished or not."""
    return _counted(script, lambda call: len(call.inner))


def _ended(call: Call, *, success: bool) -> int:
    return sum(1 for inner in call.inner if inner.ending and inner.ending.value.result.success is success)


def successful_calls(script: NestedScript) -> Stated:
    """``code-mode.successful-calls``: nested results that say success."""
    return _counted(script, lambda call: _ended(call, success=True))


def failed_calls(script: NestedScript) -> Stated:
    """``code-mode.failed-calls``: nested results that say failure."""
    return _counted(script, lambda call: _ended(call, success=False))


def unknown_calls(script: NestedScript) -> Stated:
    """``code-mode.unknown-calls``: nested calls without a result."""
    return _counted(script, lambda call: sum(1 for inner in call.inner if inner.ending is None))


def running_calls(script: NestedScript) -> Stated:
    """``code-mode.running-calls.null-without-report``: only a terminal report can say that none runs."""
    return _unmeasured(script, "count of running calls")


def elapsed_milliseconds(script: NestedScript) -> Stated:
    """``code-mode.elapsed-milliseconds.measured-only``: never worked out from the times of records."""
    return _unmeasured(script, "elapsed time")


def recoverable_failures(script: NestedScript) -> Stated:
    """``code-mode.recoverable-failures``: every failed result goes back to the script."""
    return failed_calls(script)


def warnings(script: NestedScript) -> Stated:
    """``code-mode.warnings``: nested warning records.

    A finished script of a release without event ids says nothing here: such a release does not count its warnings,
    and reconstruction is the rule for interrupted scripts only.
    """
    if _finished(script) and script.node.scope.session.legacy:
        return silent(Reason.NOT_RECORDED, "the saving release did not count warnings", VIA)
    return _counted(script, lambda call: len(call.warnings))


def changed_paths(script: NestedScript) -> Stated:
    """``code-mode.changed-paths``: distinct paths of nested results, at most as many as are tracked."""
    if gap := _gap(script):
        return gap
    if script.paths.distinct is None or script.paths.limited:
        return silent(Reason.NOT_DERIVABLE, "some path was shortened or left out where it was saved", VIA)
    count = min(len(script.paths.distinct), bounds.PATHS_TRACKED)
    return Stated(value=known(count), via=VIA, place=_place(script))


def response_token_estimate(script: NestedScript) -> Stated:
    """``code-mode.response-token-estimate``: null for an interrupted script; nested records hold no estimate."""
    if _finished(script):
        return silent(Reason.NOT_RECORDED, "nested records hold no estimate, and it is never worked out anew", VIA)
    return by_rule(NULL)


def change_count_qualifier(script: NestedScript) -> Stated:
    """``code-mode.change-count-qualifier``: ``at_least`` once a limit of tracking was passed or a path shortened."""
    if gap := _gap(script):
        return gap
    tracked = len(script.paths.distinct or ())
    limited = script.paths.limited or tracked > bounds.PATHS_TRACKED
    return Stated(value=known("at_least" if limited else "exact"), via=VIA, place=_place(script))


def completed_actions_remain_applied(script: NestedScript) -> Stated:
    """``code-mode.completed-actions-remain-applied``: always true."""
    return script_rules.completed_actions_remain_applied(script.node)


def rollback(script: NestedScript) -> Stated:
    """``code-mode.rollback``: always false."""
    return script_rules.rollback(script.node)


def external_effects_may_be_untracked(script: NestedScript) -> Stated:
    """``code-mode.external-effects-may-be-untracked``: always true."""
    return script_rules.external_effects_may_be_untracked(script.node)


def execution_persistence(script: NestedScript) -> Stated:
    """``code-mode.execution-persistence.saved``: saved records are recorded."""
    return script_rules.execution_persistence(script.node)


def completed_with_warnings(script: NestedScript) -> Stated:
    """``code-mode.completed-with-warnings``: from the nested counts."""
    return script_rules.completed_with_warnings(
        script_outcome(script).value,
        failed_calls(script).value,
        unknown_calls(script).value,
        warnings(script).value,
    )


def warnings_omitted(script: NestedScript) -> Stated:
    """``code-mode.warnings-omitted``: of an unreduced card, by the counted warnings."""
    return script_rules.warnings_omitted(warnings(script).value, None)


def changed_paths_omitted(script: NestedScript) -> Stated:
    """``code-mode.changed-paths-omitted``: of an unreduced card, by the counted paths."""
    return script_rules.changed_paths_omitted(changed_paths(script).value, None)


def _consistent(script: NestedScript) -> bool:
    parts = (successful_calls(script), failed_calls(script), unknown_calls(script))
    return script_rules.consistent_calls(total_calls(script).value, *(part.value for part in parts))


def child_references_complete(script: NestedScript) -> Stated:
    """``code-mode.child-references-complete``: of an unreduced card, by the counted calls."""
    return script_rules.child_references_complete(total_calls(script).value, consistent=_consistent(script))


def child_references_omitted(script: NestedScript) -> Stated:
    """``code-mode.child-references-omitted``: of an unreduced card, by the counted calls."""
    return script_rules.child_references_omitted(total_calls(script).value, consistent=_consistent(script))


def _suppressed(label: str, total: Reading) -> tuple[Stated, ...] | None:
    """Rows where there is nothing to count: none for null, silence for what cannot be told."""
    if isinstance(total, NotComparable):
        return silent_rows(CardKind.CODE_MODE, label, Stated(value=total, via=VIA))
    return () if total == NULL else None


def warning_rows(script: NestedScript) -> tuple[Stated, ...]:
    """``code-mode.warning-rows``: the first two warnings, as far as their stored form is certain."""
    rows = _suppressed("Warning", warnings(script).value)
    if rows is not None:
        return rows
    scope = script.node.scope
    found = []
    for warned in script.node.call.warnings[: bounds.WARNING_ROWS_DISPLAYED]:
        if over(warned.text, bounds.WARNING_BYTES) or not warned.text.isprintable():
            found.append(silent(Reason.NOT_DERIVABLE, "the rules do not say how the message is stored", VIA))
        else:
            place = scope.place(warned.record, "/payload/warning")
            found.append(Stated(value=known(warned.text), via=VIA, place=place))
    return tuple(found)


def changed_path_rows(script: NestedScript) -> tuple[Stated, ...]:
    """``code-mode.path-bounds``: the first three paths, where every plausible order puts the same ones first.

    The rules do not say in which order paths are previewed. Where the order of first changes and the sorted order
    differ, nothing is said.
    """
    rows = _suppressed("Changed path", changed_paths(script).value)
    if rows is not None:
        return rows
    paths = script.paths.distinct or ()
    first = paths[: bounds.PATH_ROWS_DISPLAYED]
    if first != tuple(sorted(paths))[: bounds.PATH_ROWS_DISPLAYED] or any(not path.isprintable() for path in first):
        why = silent(Reason.NOT_DERIVABLE, "the rules do not say in which order and form paths are previewed", VIA)
        return silent_rows(CardKind.CODE_MODE, "Changed path", why, rows=count_of(changed_paths(script).value))
    return tuple(Stated(value=known(path), via=VIA, place=_place(script)) for path in first)


RULES: Final[dict[str, Rule[NestedScript]]] = {
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
