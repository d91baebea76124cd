"""What people would use instead, doing as much of the job as it can do: checking that a card has the agreed shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import fastjsonschema
import jsonschema
import msgspec
import orjson
from deepdiff import DeepDiff
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from harness.wire import shapes

SAFE = shapes.SAFE_INTEGER
Natural = Annotated[int, Field(ge=0, le=SAFE)]
LineNumber = Annotated[int, Field(ge=1, le=SAFE)]


def parse(capture: bytes) -> int:
    """Both layers of a capture parsed by orjson and thrown away; the number of lines."""
    count = 0
    for line in capture.splitlines():
        outer = orjson.loads(line)
        if outer["direction"] != "footer":
            orjson.loads(outer["line"])
        count += 1
    return count


def card_bytes(capture: bytes) -> list[bytes]:
    """The JSON text of every card snapshot of a capture."""
    found = []
    for line in capture.splitlines():
        frame = orjson.loads(orjson.loads(line)["line"]) if b"tool.card" in line else {}
        if frame.get("event") == "tool.card":
            found.append(orjson.dumps(frame["data"]["card"]))
    return found


def json_schema() -> dict[str, Any]:
    """The schema of a card, from the same types that the harness decodes into."""
    return msgspec.json.schema(shapes.Card)


def by_jsonschema(cards: list[bytes]) -> Callable[[], None]:
    validator = jsonschema.Draft202012Validator(json_schema())

    def check() -> None:
        for card in cards:
            validator.validate(orjson.loads(card))

    return check


def by_fastjsonschema(cards: list[bytes]) -> Callable[[], None]:
    validate = fastjsonschema.compile(_draft_7(json_schema()))

    def check() -> None:
        for card in cards:
            validate(orjson.loads(card))

    return check


def _draft_7(schema: Any) -> Any:
    """The same schema in the words of the draft that fastjsonschema knows."""
    if isinstance(schema, dict):
        kept = {name: _draft_7(value) for name, value in schema.items() if name not in ("$schema", "discriminator")}
        return {("definitions" if name == "$defs" else name): value for name, value in kept.items()}
    if isinstance(schema, list):
        return [_draft_7(item) for item in schema]
    return schema.replace("#/$defs/", "#/definitions/") if isinstance(schema, str) else schema


def by_pydantic(cards: list[bytes]) -> Callable[[], None]:
    adapter = TypeAdapter(Card)

    def check() -> None:
        for card in cards:
            adapter.validate_json(card)

    return check


def by_pydantic_from_frames(capture: bytes) -> Callable[[], None]:
    """As `by_pydantic`, but from the bytes of the capture: each line opened, each frame that has a card validated."""
    adapter = TypeAdapter(Frame)

    def check() -> None:
        for line in capture.splitlines():
            text = orjson.loads(line)["line"]
            if text.startswith('{"data":') and '"event":"tool.card"' in text:
                adapter.validate_json(text)

    return check


def by_deepdiff(pairs: list[tuple[Any, Any]]) -> Callable[[], None]:
    def check() -> None:
        for left, right in pairs:
            DeepDiff(left, right)

    return check


class Model(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class Row(Model):
    label: str
    outcome: Literal["success", "failure", "partial", "unknown"]
    value: str | None


class Resource(Model):
    availability: Literal["available", "unavailable", "unknown"]
    kind: Literal["file", "url", "resource"]
    label: str
    location: str | None


class DiffLine(Model):
    kind: Literal["file_header", "hunk_header", "context", "added", "removed", "no_newline"]
    new_line: LineNumber | None
    old_line: LineNumber | None
    text: str


class Child(Model):
    activity_id: str
    changes: shapes.Changes
    outcome: shapes.Outcome | None
    state: shapes.State
    task_id: str | None
    title: str


class Results(Model):
    type: Literal["results"]
    rows: list[Row]


class Resources(Model):
    type: Literal["resources"]
    rows: list[Resource]


class Text(Model):
    type: Literal["text"]
    format: Literal["plain", "code"]
    language: str | None
    text: str


class Command(Model):
    type: Literal["command"]
    command: str | None
    exit_code: Annotated[int, Field(ge=-(2**31), le=2**31 - 1)] | None
    signal: str | None
    working_directory: str | None


class Diff(Model):
    type: Literal["diff"]
    application: Literal["proposed", "applied", "partial", "unknown"]
    lines: list[DiffLine]
    new_path: str | None
    old_path: str | None


class Children(Model):
    type: Literal["children"]
    children: list[Child]
    total: Natural | None


class Progress(Model):
    type: Literal["progress"]
    completed: Natural | None
    label: str
    total: Natural | None
    unit: Literal["items", "bytes", "steps", "unknown"]


Block = Annotated[Results | Resources | Text | Command | Diff | Children | Progress, Field(discriminator="type")]


class Detail(Model):
    availability: Literal["complete", "truncated", "unavailable", "none"]
    reason: shapes.LossReason | None


class PublicProtection(Model):
    decision: shapes.Decision
    summary: str | None


class Metadata(Model):
    public_protection: PublicProtection
    resource_path: str | None
    tool_name: str | None
    working_directory: str | None


class CardOmission(Model):
    omitted_count: Natural | None
    reason: shapes.LossReason
    subject: shapes.OmissionSubject


class Card(Model):
    activity_id: str
    blocks: list[Block]
    card_id: str
    changes: shapes.Changes
    detail: Detail
    metadata: Metadata
    omissions: list[CardOmission]
    origin: Literal["live", "saved"]
    outcome: shapes.Outcome | None
    parent_activity_id: str | None
    parent_state: shapes.ParentState
    revision: Natural
    schema_version: int
    state: shapes.State
    task_id: str | None
    title: str
    tool_kind: shapes.ToolKind


class Data(Model):
    card: Card


class Frame(Model):
    event: Literal["tool.card"]
    data: Data
