"""Cards as somebody would write them who uses pydantic for all that the wire rules ask of one card by itself.

Beside the shape (`tests.benchmarks.rivals`): no further members, every bound in bytes and in number, and members that
agree with each other, as `harness.wire.content` checks them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import orjson
from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from harness.spec import bounds
from harness.wire import shapes
from tests.benchmarks import rivals


def by_pydantic_with_rules(capture: bytes) -> Callable[[], int]:
    """Opens each line of a capture and validates each frame that has a card; gives how many break a rule."""
    adapter = TypeAdapter(Frame)

    def check() -> int:
        broken = 0
        for line in capture.splitlines():
            text = orjson.loads(line)["line"]
            if text.startswith('{"data":') and '"event":"tool.card"' in text:
                try:
                    adapter.validate_json(text)
                except ValidationError:
                    broken += 1
        return broken

    return check


def _within(bound: int) -> AfterValidator:
    """pydantic bounds texts by characters; the wire bounds them by bytes."""

    def check(text: str) -> str:
        if len(text) * 4 > bound and len(text.encode()) > bound:
            raise ValueError(f"more than {bound} bytes")
        return text

    return AfterValidator(check)


_Title = Annotated[str, _within(bounds.TITLE_BYTES)]
_String = Annotated[str, _within(bounds.STRING_BYTES)]
_Preview = Annotated[str, _within(bounds.PREVIEW_BYTES)]
_Path = Annotated[str, _within(bounds.METADATA_BYTES)]
_Summary = Annotated[str, _within(256)]
_Hint = Annotated[str, _within(64)]


class Exact(rivals.Model):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Rowless(Exact):
    """`rows`: releases send it in nearly every card; it is let pass, so that the rest of the card is looked at."""

    rows: None = None


class Row(Exact):
    label: _String
    outcome: Literal["success", "failure", "partial", "unknown"]
    value: _String | None


class Resource(Exact):
    availability: Literal["available", "unavailable", "unknown"]
    kind: Literal["file", "url", "resource"]
    label: _String
    location: _String | None


class DiffLine(Exact):
    kind: Literal["file_header", "hunk_header", "context", "added", "removed", "no_newline"]
    new_line: rivals.LineNumber | None
    old_line: rivals.LineNumber | None
    text: _String


class Child(Exact):
    activity_id: str
    changes: shapes.Changes
    outcome: shapes.Outcome | None
    state: shapes.State
    task_id: str | None
    title: _Title

    @model_validator(mode="after")
    def agree(self) -> Child:
        if (self.state == "running") is not (self.outcome is None):
            raise ValueError("an outcome while running, or none afterwards")
        return self


class Results(Exact):
    type: Literal["results"]
    rows: Annotated[list[Row], Field(max_length=bounds.ROWS_PER_BLOCK)]


class Resources(Exact):
    type: Literal["resources"]
    rows: Annotated[list[Resource], Field(max_length=bounds.ROWS_PER_BLOCK)]


class Text(Rowless):
    type: Literal["text"]
    format: Literal["plain", "code"]
    language: _Hint | None
    text: _Preview


class Command(Rowless):
    type: Literal["command"]
    command: _Preview | None
    exit_code: Annotated[int, Field(ge=-(2**31), le=2**31 - 1)] | None
    signal: _Hint | None
    working_directory: _Path | None


class Diff(Rowless):
    type: Literal["diff"]
    application: Literal["proposed", "applied", "partial", "unknown"]
    lines: Annotated[list[DiffLine], Field(max_length=bounds.DIFF_LINES_PER_BLOCK)]
    new_path: _Path | None
    old_path: _Path | None


class Children(Rowless):
    type: Literal["children"]
    children: Annotated[list[Child], Field(max_length=bounds.CHILDREN_PER_BLOCK)]
    total: rivals.Natural | None

    @model_validator(mode="after")
    def agree(self) -> Children:
        if self.total is not None and self.total < len(self.children):
            raise ValueError("fewer children than are shown")
        return self


class Progress(Rowless):
    type: Literal["progress"]
    completed: rivals.Natural | None
    label: _String
    total: rivals.Natural | None
    unit: Literal["items", "bytes", "steps", "unknown"]

    @model_validator(mode="after")
    def agree(self) -> Progress:
        if self.completed is not None and self.total is not None and self.completed > self.total:
            raise ValueError("more than all")
        return self


Block = Annotated[Results | Resources | Text | Command | Diff | Children | Progress, Field(discriminator="type")]


class PublicProtection(Exact):
    decision: shapes.Decision
    summary: _Summary | None


class Metadata(Exact):
    public_protection: PublicProtection
    resource_path: _Path | None
    tool_name: _Path | None
    working_directory: _Path | None


class Detail(Exact):
    availability: Literal["complete", "truncated", "unavailable", "none"]
    reason: shapes.LossReason | None


class Omission(Exact):
    omitted_count: rivals.Natural | None
    reason: shapes.LossReason
    subject: shapes.OmissionSubject


class Card(Exact):
    activity_id: str
    blocks: Annotated[list[Block], Field(max_length=bounds.BLOCKS_PER_CARD)]
    card_id: str
    changes: shapes.Changes
    detail: Detail
    metadata: Metadata
    omissions: list[Omission]
    origin: Literal["live", "saved"]
    outcome: shapes.Outcome | None
    parent_activity_id: str | None
    parent_state: shapes.ParentState
    revision: rivals.Natural
    schema_version: Literal[1]
    state: shapes.State
    task_id: str | None
    title: _Title
    tool_kind: shapes.ToolKind

    @model_validator(mode="after")
    def agree(self) -> Card:
        reasons = [shapes.LOSS_REASONS.index(item.reason) for item in self.omissions]
        lossy = self.detail.availability in ("truncated", "unavailable")
        if (
            self.card_id != self.activity_id
            or (self.state == "running") is not (self.outcome is None)
            or (self.parent_state == "root" and self.parent_activity_id is not None)
            or (self.parent_state == "available" and self.parent_activity_id is None)
            or lossy is (self.detail.reason is None)
            or len({item.subject for item in self.omissions}) != len(self.omissions)
            or (reasons and (not lossy or self.detail.reason != shapes.LOSS_REASONS[min(reasons)]))
        ):
            raise ValueError("its members do not agree")
        return self


class Data(rivals.Model):
    card: Card


class Frame(rivals.Model):
    event: Literal["tool.card"]
    data: Data
