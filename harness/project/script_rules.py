"""Rules of Code Mode cards that need no source of their own: constants, and facts worked out from other facts.

Each function opens with the id of the requirement it implements.
"""

from __future__ import annotations

from harness.model.values import NULL, NotComparable, Reading, Reason, Value, known
from harness.project.nodes import ScriptNode
from harness.project.stated import Stated, by_rule, count_of, derived, is_null, silent, submitted_text
from harness.records import Record
from harness.records.payloads import SessionUsage
from harness.spec import bounds

_ASKED = ("provider_response_item", "assistant_chunk", "assistant_output", "reasoning_summary", "tool_call")
"""Kinds of records that show the agent at work again after a call's result."""


def script_outcome(node: ScriptNode) -> Stated:
    """``code-mode.script-outcome``: how the script itself ended, whatever became of its calls.

    Without a saved result the script was interrupted. A saved result says success or no success; no success is
    ``cancelled`` when the records show that the turn was cancelled while the script was running, else ``failure``.
    """
    ending, cancelled = node.call.ending, node.turn.status_record
    if node.turn.status != "cancelled":
        cancelled = None
    word, at = "interrupted", node.scope.place(node.call.record)
    if ending is not None:
        word = "success" if ending.value.result.success else "failure"
        at = node.scope.place(ending.record, "/payload/result/success")
    if cancelled is not None and word != "success":
        ran = ending is None or _ran_at_cancellation(node, ending.record, cancelled)
        if ran is None:
            detail = "the records do not say whether the script or the next request was cancelled"
            return silent(Reason.NOT_DERIVABLE, detail, "call")
        if ran:
            word, at = "cancelled", node.scope.place(cancelled, "/payload/status")
    return Stated(value=known(word), via="call", place=at)


def _ran_at_cancellation(node: ScriptNode, result: Record, status: Record) -> bool | None:
    """Whether a cancelled turn was cancelled before the script's result was saved; None when nothing tells.

    After a result the agent goes on at once: it makes another call or asks the model, and the root session saves a
    usage snapshot when a request begins. A child's snapshots stand in the root session; there, a request sequence
    beyond the answers that the child had received shows that another request had begun.
    """
    records = node.scope.session.records
    after = records[result.index + 1 : status.index]
    if any(record.kind in _ASKED for record in after):
        return False
    if not node.scope.chain:
        if not any(_of_main(record) for record in records[node.turn.start : result.index]):
            return None
        return not any(_of_main(record) for record in after)
    usage = node.scope.run.usage.get(node.scope.chain.rstrip("/"), ())
    if not usage:
        return None
    begun = max(snapshot.value.request_sequence for snapshot in usage) + 1
    answered = sum(1 for record in records[: result.index] if record.kind == "provider_response_item")
    return begun <= answered


def _of_main(record: Record) -> bool:
    return isinstance(record.payload, SessionUsage) and record.payload.id.endswith("/main")


def code_mode_intent(node: ScriptNode) -> Stated:
    """``code-mode.code-mode-intent``: the intent submitted with the script; null where none was."""
    arguments = node.call.arguments
    text = arguments.get("intent") if isinstance(arguments, dict) else None
    place = node.scope.place(node.call.record, "/payload/arguments")
    return submitted_text(text if isinstance(text, str) else None, limit=bounds.STRING_BYTES, via="call", place=place)


def completed_actions_remain_applied(_: ScriptNode) -> Stated:
    """``code-mode.completed-actions-remain-applied``: always true, nothing undoes what was completed."""
    return by_rule(value=True)


def rollback(_: ScriptNode) -> Stated:
    """``code-mode.rollback``: always false, nothing is rolled back by itself."""
    return by_rule(value=False)


def external_effects_may_be_untracked(_: ScriptNode) -> Stated:
    """``code-mode.external-effects-may-be-untracked``: always true, tracked paths are no list of all effects."""
    return by_rule(value=True)


def execution_persistence(_: ScriptNode) -> Stated:
    """``code-mode.execution-persistence.saved``: whatever comes from saved records is recorded."""
    return by_rule("recorded")


def completed_with_warnings(script: Reading, failed: Reading, unknown: Reading, warnings: Reading) -> Stated:
    """``code-mode.completed-with-warnings``: for a successful script, whether anything is known to have gone wrong.

    True when a failed call, an unknown call or a warning is known; false only when all three are known to be none;
    null otherwise, and whenever the script did not succeed.
    """
    counts = (failed, unknown, warnings)
    if not isinstance(script, Value):
        return by_rule(script)
    if script != known("success"):
        return by_rule(NULL)
    if any(count_of(count) for count in counts):
        return by_rule(value=True)
    if all(count_of(count) == 0 for count in counts):
        return by_rule(value=False)
    return by_rule(derived(counts, NULL))


def warnings_omitted(warnings: Reading, retained: int | None) -> Stated:
    """``code-mode.warnings-omitted``: warnings less the rows of an unreduced card; null when the total is.

    `retained` is how many messages are stored, None when that is not known: then as many as a card can show.
    """
    return by_rule(omitted(warnings, retained, bounds.WARNING_ROWS_DISPLAYED))


def changed_paths_omitted(paths: Reading, retained: int | None) -> Stated:
    """``code-mode.changed-paths-omitted``: tracked paths less the rows of an unreduced card; null when the total is."""
    return by_rule(omitted(paths, retained, bounds.PATH_ROWS_DISPLAYED))


def child_references_complete(total: Reading, *, consistent: bool) -> Stated:
    """``code-mode.child-references-complete``: whether an unreduced card refers to every call.

    Null without a known total that is consistent, that is, equal to the calls by outcome together.
    """
    count = count_of(total)
    if count is None:
        return by_rule(total)
    return by_rule(known(count <= bounds.CHILDREN_PER_BLOCK) if consistent else NULL)


def child_references_omitted(total: Reading, *, consistent: bool) -> Stated:
    """``code-mode.child-references-omitted``: calls less the references of an unreduced card; null as above."""
    count = count_of(total)
    if count is None:
        return by_rule(total)
    return by_rule(known(max(count - bounds.CHILDREN_PER_BLOCK, 0)) if consistent else NULL)


def omitted(total: Reading, retained: int | None, shown_at_most: int) -> Reading:
    """Total less the displayed rows: null or not comparable as the total is."""
    count = count_of(total)
    if count is None:
        return total
    shown = min(count if retained is None else min(retained, count), shown_at_most)
    return known(count - shown)


def consistent_calls(total: Reading, *parts: Reading) -> bool:
    """Whether the calls by outcome add up to the total; where some are null, whether they do not exceed it."""
    count = count_of(total)
    counts = [count_of(part) for part in parts]
    if count is None or any(isinstance(part, NotComparable) for part in parts):
        return False
    together = sum(value or 0 for value in counts)
    return together <= count if any(is_null(part) for part in parts) else together == count
