"""Mutants of the report that the host saved of a Code Mode script."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from harness.model.facts import CardKind
from harness.project.execution import COUNTS, ESTIMATE, EXECUTION
from harness.selfcheck.frames import Tree
from harness.selfcheck.mutant import Mutant
from harness.selfcheck.saved_session import REPORT, Edit, SavedSession, label_of
from harness.spec import bounds
from harness.spec.facts import facts_of


def script_report(file: SavedSession, index: int, metadata: dict[str, Any]) -> Iterator[Mutant]:
    """Mutants of the execution report and the estimate in the metadata of the result on line `index`, 0-based."""

    def change(member: str, value: object, tree: Tree) -> None:
        tree["payload"]["result"]["metadata"][EXECUTION][member] = value

    def lose(member: str, tree: Tree) -> None:
        del tree["payload"]["result"]["metadata"][EXECUTION][member]

    def mutant(kind: str, member: str, edit: Edit, requirement: str = "") -> Mutant:
        label = label_of(CardKind.CODE_MODE, member)
        rule = requirement or (facts_of(CardKind.CODE_MODE)[label].requirement if label else "records.payload")
        said = {"where": REPORT, "label": label, "card_kind": CardKind.CODE_MODE.value}
        return file.mutant("report-member", kind, rule, file.edited(index, edit), state=member, **said)

    report = metadata[EXECUTION]
    for member in (*COUNTS, "changed_paths_incomplete"):
        if member not in report:
            continue
        value = report[member]
        other = not value if isinstance(value, bool) else (value or 0) + 1
        yield mutant("changed", member, partial(change, member, other))
        if value is not None:
            yield mutant("null", member, partial(change, member, None))
            yield mutant("lost", member, partial(lose, member))
        yield mutant("text", member, partial(change, member, str(value)), "records.payload")
        if not isinstance(value, bool):
            yield mutant("negative", member, partial(change, member, -1), "records.payload")
    many, long = ["w"] * (bounds.WARNINGS_RETAINED + 1), ["w" * (bounds.WARNING_BYTES + 1)]
    yield mutant("33 entries", "warnings", partial(change, "warnings", many), "code-mode.warning-storage")
    yield mutant("513 bytes", "warnings", partial(change, "warnings", long), "code-mode.warning-storage")
    paths = [f"p{number}" for number in range(bounds.PATHS_REPORTED + 1)]
    yield mutant("51 entries", "changed_paths", partial(change, "changed_paths", paths), "code-mode.path-bounds")
    yield mutant(
        "another path", "changed_paths", partial(change, "changed_paths", ["elsewhere"]), "code-mode.path-bounds"
    )
    if ESTIMATE in metadata:
        entry = facts_of(CardKind.CODE_MODE)["Response token estimate"]

        def estimate(value: object, tree: Tree) -> None:
            tree["payload"]["result"]["metadata"][ESTIMATE] = value

        for kind, value in (("changed", (metadata[ESTIMATE] or 0) + 1), ("null", None), ("text", "1")):
            if value != metadata[ESTIMATE]:
                lines = file.edited(index, partial(estimate, value))
                said = {"where": REPORT, "label": entry.label, "card_kind": CardKind.CODE_MODE.value}
                yield file.mutant("report-member", kind, entry.requirement, lines, state=ESTIMATE, **said)
    lost = file.edited(index, lambda tree: tree["payload"]["result"]["metadata"].pop(EXECUTION) and None)
    yield file.mutant("report-shape", "no execution report", "code-mode.total-calls", lost, where=REPORT)
