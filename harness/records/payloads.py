"""The payloads of saved events that carry facts, as frozen values; every other kind is kept as its name only.

Formats: product.md, "Saved session". Members that no fact needs are not decoded, and members that are not known are
tolerated. Text that a tool put out is deliberately not among them: no fact may be reconstructed from output text.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0)]


class UserInput(msgspec.Struct, frozen=True, kw_only=True):
    """Begins a turn, unless `origin` is ``steering``, which is said into a running turn."""

    text: str
    origin: str = "user"


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call made by the session's own agent."""

    id: str
    name: str
    arguments: Any = None


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """A result as the tool gave it; `metadata` is the host's own structured account of it, None when it has none."""

    success: bool
    tool_name: str = ""
    metadata: dict[str, Any] | None = None


class Effects(msgspec.Struct, frozen=True, kw_only=True):
    changed_path_count: Count


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a call. `changed_paths` None: the record does not say."""

    call_id: str
    result: Outcome
    changed_paths: tuple[str, ...] | None = None
    execution_effects: Effects | None = None


class NestedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that a Code Mode script made; `sequence` counts the script's calls from 1."""

    id: str
    name: str
    parent_call_id: str
    sequence: Count
    arguments: Any = None


class NestedResult(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a call that a Code Mode script made."""

    call_id: str
    parent_call_id: str
    sequence: Count
    result: Outcome
    changed_paths: tuple[str, ...] | None = None
    execution_effects: Effects | None = None


class NestedWarning(msgspec.Struct, frozen=True, kw_only=True):
    """A warning of the host about the script's call number `sequence`."""

    parent_call_id: str
    sequence: Count
    warning: str


class SubagentSession(msgspec.Struct, frozen=True, kw_only=True):
    """A child session was begun; `child` is its id, which is also its file's stem."""

    child: str = msgspec.field(name="session_id")


class OriginalTask(msgspec.Struct, frozen=True, kw_only=True):
    """The task that a child session was given. `context` is left out on purpose: it is never a fact."""

    intent: str
    agent: str | None = None
    identity: str | None = None


class TaskScope(msgspec.Struct, frozen=True, kw_only=True):
    original_task: OriginalTask


class TurnStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How a turn ended when it did not end with an answer: ``cancelled``, ``failed``, ``incomplete`` and others."""

    status: str


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Normalized tokens since the run began. `cache_read` means something only when `cache_known`."""

    effective_input: Count
    output: Count
    cache_read: Count
    cache_known: bool


class SessionUsage(msgspec.Struct, frozen=True, kw_only=True):
    """A usage snapshot. `id` ends in ``/main`` or in ``/activity/<call>/g<n>``, deeper for tasks of tasks."""

    id: str
    request_sequence: Count
    final_usage: bool
    usage: Usage


class AssistantOutput(msgspec.Struct, frozen=True, kw_only=True):
    """The agent's final answer of a turn; its text is no fact."""


class Other(msgspec.Struct, frozen=True, kw_only=True):
    """An event of a kind that carries no fact."""


Payload = (
    UserInput
    | ToolCall
    | ToolResult
    | NestedCall
    | NestedResult
    | NestedWarning
    | SubagentSession
    | TaskScope
    | TurnStatus
    | SessionUsage
    | AssistantOutput
    | Other
)

KINDS: dict[str, type[Payload]] = {
    "user_input": UserInput,
    "tool_call": ToolCall,
    "tool_result": ToolResult,
    "code_mode_tool_call": NestedCall,
    "code_mode_tool_result": NestedResult,
    "code_mode_warning": NestedWarning,
    "subagent_session": SubagentSession,
    "task_scope": TaskScope,
    "turn_status": TurnStatus,
    "session_usage": SessionUsage,
    "assistant_output": AssistantOutput,
}
"""Event type to payload; a kind that is not here is kept as `Other`."""
