"""The members of schema-1 cards, as types: what a card may hold, with the product's own names and word lists.

Source: the product's ``local-agent-tool-cards.md``, "Card schema" and "Typed display blocks". Everything here is
required, also what may be null. None means what the member's own rule says it means, mostly "not known".
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

SAFE_INTEGER = 2**53 - 1
"""Integers on this wire stay within JavaScript's safe range."""

Natural = Annotated[int, Meta(ge=0, le=SAFE_INTEGER)]
LineNumber = Annotated[int, Meta(ge=1, le=SAFE_INTEGER)]
ExitCode = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]

State = Literal["running", "finished"]
Outcome = Literal["success", "failure", "cancelled", "interrupted", "unknown"]
Changes = Literal["not_applicable", "none", "applied", "partial", "unknown"]
ParentState = Literal["root", "available", "missing", "omitted"]
ToolKind = Literal["read", "search", "write", "edit", "command", "web", "mcp", "code_mode", "subagent", "other"]
LossReason = Literal["redacted", "missing_source", "not_recorded", "unsupported_source", "budget_limit", "size_limit"]
LOSS_REASONS = ("redacted", "missing_source", "not_recorded", "unsupported_source", "budget_limit", "size_limit")
"""In order of priority: where several apply, the first is the one that is told."""
OmissionSubject = Literal[
    "title", "metadata", "blocks", "rows", "text", "diff_lines", "children", "progress", "ancestry", "updates"
]
Decision = Literal["not_reported", "allowed", "blocked", "approval_required", "denied"]


class Shape(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Base of all wire values. They form trees, never cycles, so the garbage collector need not look at them."""


class Row(Shape, frozen=True, kw_only=True):
    label: str
    outcome: Literal["success", "failure", "partial", "unknown"]
    value: str | None


class Resource(Shape, frozen=True, kw_only=True):
    availability: Literal["available", "unavailable", "unknown"]
    kind: Literal["file", "url", "resource"]
    label: str
    location: str | None


class DiffLine(Shape, frozen=True, kw_only=True):
    kind: Literal["file_header", "hunk_header", "context", "added", "removed", "no_newline"]
    new_line: LineNumber | None
    old_line: LineNumber | None
    text: str


class Child(Shape, frozen=True, kw_only=True):
    activity_id: str
    changes: Changes
    outcome: Outcome | None
    state: State
    task_id: str | None
    title: str


class Results(Shape, frozen=True, kw_only=True, tag_field="type", tag="results"):
    rows: tuple[Row, ...]


class Resources(Shape, frozen=True, kw_only=True, tag_field="type", tag="resources"):
    rows: tuple[Resource, ...]


class Rowless(Shape, frozen=True, kw_only=True):
    """A block that has no rows.

    `rows` is not a member of these blocks, and any value of it breaks ``wire.exact-members``. It is named here because
    releases send it in nearly every card (as null): so their frames are still decoded in one pass.
    """

    rows: Any | UnsetType = UNSET


class Text(Rowless, frozen=True, kw_only=True, tag_field="type", tag="text"):
    format: Literal["plain", "code"]
    language: str | None
    text: str


class Command(Rowless, frozen=True, kw_only=True, tag_field="type", tag="command"):
    command: str | None
    exit_code: ExitCode | None
    signal: str | None
    working_directory: str | None


class Diff(Rowless, frozen=True, kw_only=True, tag_field="type", tag="diff"):
    application: Literal["proposed", "applied", "partial", "unknown"]
    lines: tuple[DiffLine, ...]
    new_path: str | None
    old_path: str | None


class Children(Rowless, frozen=True, kw_only=True, tag_field="type", tag="children"):
    """`total` is the known number of children at the source; None: not known."""

    children: tuple[Child, ...]
    total: Natural | None


class Progress(Rowless, frozen=True, kw_only=True, tag_field="type", tag="progress"):
    completed: Natural | None
    label: str
    total: Natural | None
    unit: Literal["items", "bytes", "steps", "unknown"]


Block = Results | Resources | Text | Command | Diff | Children | Progress


class Detail(Shape, frozen=True, kw_only=True):
    availability: Literal["complete", "truncated", "unavailable", "none"]
    reason: LossReason | None


class PublicProtection(Shape, frozen=True, kw_only=True):
    decision: Decision
    summary: str | None


class Metadata(Shape, frozen=True, kw_only=True):
    public_protection: PublicProtection
    resource_path: str | None
    tool_name: str | None
    working_directory: str | None


class CardOmission(Shape, frozen=True, kw_only=True):
    """`omitted_count` None: how many is not known."""

    omitted_count: Natural | None
    reason: LossReason
    subject: OmissionSubject


class Card(Shape, frozen=True, kw_only=True):
    """One whole snapshot of a card. `outcome` is None exactly while `state` is running. `parent_activity_id` None:
    the card is at the root, or its parent cannot be named (`parent_state`). `task_id` None: not in a delegated task,
    or that is not known; a task's own card has its own activity id there."""

    activity_id: str
    blocks: tuple[Block, ...]
    card_id: str
    changes: Changes
    detail: Detail
    metadata: Metadata
    omissions: tuple[CardOmission, ...]
    origin: Literal["live", "saved"]
    outcome: Outcome | None
    parent_activity_id: str | None
    parent_state: ParentState
    revision: Natural
    schema_version: int
    state: State
    task_id: str | None
    title: str
    tool_kind: ToolKind
