"""The data of the events of a run, as types, and the names of all documented events.

Source: the product's ``local-agent-protocol.md``, "Turns, approvals and events"; ``local-agent-tool-cards.md``, "Live
event and ordering"; ``local-agent-client-tools.md``, "Execute and reply" and "Cancellation and permissions".
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Raw

from harness.wire.shapes import Card, Natural, Shape
from harness.wire.strict import Strict


class RunEvent(Shape, frozen=True, kw_only=True):
    """Base of the data of all events: they belong to a run."""

    run_id: str
    session_id: str


class InputPersisted(RunEvent, frozen=True, kw_only=True):
    durable: Literal[True]
    message_id: str
    revision: str


class ActivityEvent(RunEvent, frozen=True, kw_only=True):
    activity_id: str
    kind: Literal["tool", "subagent", "compaction"]
    name: str
    state: Literal["started", "completed", "failed"]
    summary: str


class ToolCard(RunEvent, frozen=True, kw_only=True):
    """`card` None: what stands there is no card of the agreed schema; `Frame.fault` says why."""

    activity_id: str
    card: Card | None
    last_part: bool
    part: Natural


class MessageDelta(RunEvent, frozen=True, kw_only=True):
    message_id: str
    part: Natural
    text: str


class MessageReconcile(RunEvent, frozen=True, kw_only=True):
    last_part: bool
    message_id: str
    part: Natural
    partial: bool
    text: str


class ApprovalRequested(RunEvent, frozen=True, kw_only=True):
    approval_id: str
    expires_in_ms: Natural
    summary: str


class Diagnostic(RunEvent, frozen=True, kw_only=True):
    code: str
    summary: str


class RunFinished(RunEvent, frozen=True, kw_only=True):
    """`revision` None: no history revision can be given. `error_code` None: no error."""

    error_code: str | None
    outcome: Literal["completed", "cancelled", "failed"]
    persistence: Literal["durable", "degraded", "not_started"]
    revision: str | None


class ClientToolCall(RunEvent, frozen=True, kw_only=True):
    arguments: dict[str, Any]
    call_id: str
    name: str
    subagent_id: str | None
    task_id: str | None
    timeout_ms: Natural


class ClientToolCancel(RunEvent, frozen=True, kw_only=True):
    call_id: str
    reason: Literal["cancelled", "timeout", "run_finished", "shutdown"]
    subagent_id: str | None
    task_id: str | None


class UnreadCard(RunEvent, frozen=True, kw_only=True):
    activity_id: str
    card: Raw
    last_part: bool
    part: Natural


EVENTS: dict[str, Strict[Any]] = {
    "input.persisted": Strict(InputPersisted),
    "activity": Strict(ActivityEvent),
    "tool.card": Strict(UnreadCard),
    "message.delta": Strict(MessageDelta),
    "message.reconcile": Strict(MessageReconcile),
    "approval.requested": Strict(ApprovalRequested),
    "diagnostic": Strict(Diagnostic),
    "run.finished": Strict(RunFinished),
    "client.tool.call": Strict(ClientToolCall),
    "client.tool.cancel": Strict(ClientToolCancel),
}
"""Every event that the product's documentation names, by name."""
