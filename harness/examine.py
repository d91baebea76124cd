"""One bundle, looked at whole: reference projection, both surfaces, and all columns held against each other."""

from __future__ import annotations

import msgspec

from harness.bundle import Bundle
from harness.compare import Compared, compare
from harness.model.facts import CardFacts, Column, ColumnFacts
from harness.model.values import NotComparable, Reason
from harness.observe import local_agent, mission_control
from harness.project import project
from harness.scenario.compile import Scenario
from harness.scenario.expected import expected_column


class Examined(msgspec.Struct, frozen=True, kw_only=True):
    """Everything derived from one bundle; nothing of it is stored."""

    columns: dict[Column, ColumnFacts]
    reference: tuple[CardFacts, ...]
    compared: Compared


def _unavailable(column: Column, detail: str) -> ColumnFacts:
    return ColumnFacts(column=column, unavailable=NotComparable(reason=Reason.NOT_CAPTURED, detail=detail))


def child_id(member: str) -> str:
    """The child session's id in a member name: ``children/<id>.jsonl.gz``."""
    return member.rpartition("/")[2].partition(".")[0]


def _references(bundle: Bundle) -> tuple[dict[Column, ColumnFacts], tuple[CardFacts, ...]]:
    manifest = bundle.manifest
    if not manifest.session:
        detail = "the run saved no session"
        return {column: _unavailable(column, detail) for column in (Column.REPORT, Column.NESTED)}, ()
    projection = project(
        bundle.read(manifest.session),
        {child_id(name): bundle.read(name) for name in manifest.children},
        file=manifest.session,
        child_files={child_id(name): name for name in manifest.children},
    )
    return {Column.REPORT: projection.report, Column.NESTED: projection.nested}, projection.reference


def _surfaces(bundle: Bundle, reference: tuple[CardFacts, ...]) -> dict[Column, ColumnFacts]:
    layout = tuple(mission_control.ExpectedCard(path=card.path, kind=card.kind) for card in reference)
    columns: dict[Column, ColumnFacts] = {}
    for capture in bundle.manifest.captures:
        content = bundle.read(capture.file)
        match capture.column:
            case Column.LOCAL_AGENT_LIVE:
                columns[capture.column] = local_agent.live(content, file=capture.file, complete=capture.complete)
            case Column.LOCAL_AGENT_REOPEN:
                columns[capture.column] = local_agent.reopen(content, file=capture.file, complete=capture.complete)
            case column:
                columns[column] = mission_control.observe(
                    content, column=column, file=capture.file, release=capture.product.version, layout=layout
                )
    driver = bundle.manifest.driver
    for column in (Column.LOCAL_AGENT_LIVE, Column.MISSION_CONTROL_LIVE):
        if column not in columns:
            columns[column] = _unavailable(column, f"the run was driven by {driver.replace('-', ' ')}")
    return columns


def examine(bundle: Bundle, scenario: Scenario | None) -> Examined:
    """Derive every column of `bundle` and compare them. Without a scenario nothing is expected but by the reference.

    Raises DecodeError when a capture or session cannot be read at all.
    """
    columns, reference = _references(bundle)
    columns |= _surfaces(bundle, reference)
    if scenario is not None:
        columns[Column.EXPECTED] = expected_column(
            scenario.expected, file=scenario.feature, workspace=bundle.manifest.workspace
        )
    compared = compare(columns, reference, observation=bundle.manifest.observation)
    return Examined(columns=columns, reference=reference, compared=compared)
