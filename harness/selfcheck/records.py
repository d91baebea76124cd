"""All mutants of the session that a bundle holds, in the order of its records, and of its child sessions."""

from __future__ import annotations

from collections.abc import Iterator

from harness.project.execution import EXECUTION
from harness.project.telemetry import TELEMETRY
from harness.selfcheck.batch_reports import batch_report
from harness.selfcheck.child_sessions import child_sessions
from harness.selfcheck.mutant import Baseline, Mutant
from harness.selfcheck.nested_records import nested_record, usage_snapshots
from harness.selfcheck.record_lines import broken_lines
from harness.selfcheck.saved_session import SavedSession, metadata_of, records_of
from harness.selfcheck.script_reports import script_report
from harness.selfcheck.subject import Subject

_UNREPORTED = "no telemetry was saved with the batch, so that the facts that count a child's calls are null"


def record_mutants(subject: Subject, baseline: Baseline) -> Iterator[Mutant]:
    """Mutants of the session that a bundle holds, and of its child sessions."""
    member = subject.manifest.session
    if not member:
        return
    file = SavedSession.of(subject, member)
    trees = records_of(file)
    named = {tree["payload"].get(name) for tree in trees for name in ("call_id", "parent_call_id")}
    for index, tree in enumerate(trees):
        metadata = metadata_of(tree)
        if isinstance(metadata.get(EXECUTION), dict):
            yield from script_report(file, index, metadata)
        if isinstance(metadata.get(TELEMETRY), dict):
            yield from batch_report(file, index, metadata[TELEMETRY], baseline)
        yield from nested_record(file, index, tree, named)
    yield from usage_snapshots(file, trees)
    yield from broken_lines(file, trees)
    reported = any(isinstance(metadata_of(tree).get(TELEMETRY), dict) for tree in trees)
    yield from child_sessions(subject, "" if reported else _UNREPORTED)
