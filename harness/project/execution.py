"""The host's stored report of one Code Mode execution, member by member, as readings.

A member that the saving release did not know is null: missing evidence is null, never zero. A member of a wrong type
is unreadable, and a problem. The report's members are listed in product.md, "Saved session".
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from harness.model.facts import Place, Problem
from harness.model.values import NULL, NotComparable, Reading, Reason, known
from harness.project.nodes import ScriptNode
from harness.project.paths import TRACKED_PATH_BYTES
from harness.spec import bounds

EXECUTION: Final = "code_mode_execution"
ESTIMATE: Final = "code_mode_response_token_estimate"
_METADATA: Final = "/payload/result/metadata"

COUNTS: Final = (
    "inner_calls",
    "successful",
    "recoverable_failures",
    "unknown_outcomes",
    "running_calls",
    "elapsed_ms",
    "warning_count",
    "changed_path_count",
)
_LISTS: Final = {
    "warnings": ("code-mode.warning-storage", bounds.WARNINGS_RETAINED, bounds.WARNING_BYTES),
    "changed_paths": ("code-mode.path-bounds", bounds.PATHS_REPORTED, TRACKED_PATH_BYTES),
}
"""List member to the rule that bounds it, most entries and most bytes of one."""


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """One report. `counts` has a reading for each of `COUNTS`; `incomplete` is that of ``changed_paths_incomplete``.

    `warnings`, `paths`: the stored texts, None when the report has no such list. `estimate` is the token estimate
    saved beside the report.
    """

    counts: dict[str, Reading]
    incomplete: Reading
    warnings: tuple[str, ...] | None
    paths: tuple[str, ...] | None
    estimate: Reading

    def pointer(self, member: str) -> str:
        return f"{_METADATA}/{EXECUTION}/{member}"


class _Reader:
    def __init__(self, node: ScriptNode) -> None:
        assert node.call.ending is not None  # noqa: S101 # only saved results are read
        self.node = node
        self.record = node.call.ending.record
        self.problems: list[Problem] = []

    def place(self, pointer: str) -> Place:
        return self.node.scope.place(self.record, pointer)

    def report(self, requirement: str, pointer: str, expected: str, observed: object) -> None:
        self.problems.append(
            Problem(
                requirement=requirement,
                card=self.node.path,
                label="",
                expected=expected,
                observed=str(observed)[:200],
                place=self.place(pointer),
            )
        )

    def scalar(self, source: dict[str, Any], member: str, kind: type[int], pointer: str) -> Reading:
        """The reading of a number (or, for bool, a flag): null when it is missing or null."""
        value = source.get(member)
        if value is None:
            return NULL
        if type(value) is not kind or value < 0:
            self.report("records.payload", f"{pointer}/{member}", f"a {kind.__name__}", repr(value))
            return NotComparable(reason=Reason.UNREADABLE, detail=f"{member} is {value!r:.80}")
        return known(value)

    def texts(self, source: dict[str, Any], member: str, pointer: str) -> tuple[str, ...] | None:
        value = source.get(member)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            self.report("records.payload", f"{pointer}/{member}", "a list of texts", repr(value))
            return None
        rule, most, size = _LISTS[member]
        if len(value) > most:
            self.report(rule, f"{pointer}/{member}", f"at most {most} entries", f"{len(value)} entries")
        for index, text in enumerate(value):
            if len(text.encode()) > size:
                observed = f"{len(text.encode())} bytes"
                self.report(rule, f"{pointer}/{member}/{index}", f"at most {size} bytes", observed)
        return tuple(value)


def read_execution(node: ScriptNode) -> tuple[Execution | None, tuple[Problem, ...]]:
    """The stored report of a script, or None when no result or no report is saved, with what is wrong in it."""
    if node.call.ending is None:
        return None, ()
    metadata = node.call.ending.value.result.metadata or {}
    if EXECUTION not in metadata:
        return None, ()
    reader = _Reader(node)
    source = metadata[EXECUTION]
    if not isinstance(source, dict):
        reader.report("records.payload", f"{_METADATA}/{EXECUTION}", "an object", repr(source))
        return None, tuple(reader.problems)
    base = f"{_METADATA}/{EXECUTION}"
    report = Execution(
        counts={member: reader.scalar(source, member, int, base) for member in COUNTS},
        incomplete=reader.scalar(source, "changed_paths_incomplete", bool, base),
        warnings=reader.texts(source, "warnings", base),
        paths=reader.texts(source, "changed_paths", base),
        estimate=reader.scalar(metadata, ESTIMATE, int, _METADATA),
    )
    if report.counts["running_calls"] not in (NULL, known(0)):
        observed = report.counts["running_calls"]
        reader.report("code-mode.running-calls", report.pointer("running_calls"), "0 in a report", observed)
    return report, tuple(reader.problems)
