"""Everything a run needs, as one canonical value: what a scenario's Given and When steps say, and nothing else.

The sha256 of `canonical(stimulus)` binds a bundle to its scenario: change the scenario and its old evidence is stale.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Any

import msgspec

MAIN_LANE = "main"
"""The lane of the session's own agent; every other lane is named by a task's intent."""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Token usage that one scripted reply reports. `cached` None: the reply carries no cache accounting."""

    prompt: int = 100
    completion: int = 20
    cached: int | None = 10


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call that a scripted reply makes; `arguments` is sent as JSON text."""

    name: str
    arguments: dict[str, Any]


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """One scripted answer of the model.

    `calls` empty: a final text answer. `status` other than 200: the provider refuses with that HTTP status.
    `usage` None: the reply reports no usage at all. `delay_ms` is waited before anything is sent.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    delay_ms: int = 0
    status: int = 200
    usage: Usage | None = Usage()


class Moment(StrEnum):
    """Surface-neutral moments of a run that the recorder can wait for."""

    FILE_EXISTS = "file_exists"
    """`subject` is a workspace path that now exists."""
    MODEL_ASKED = "model_asked"
    """`subject` is the lane whose request the scripted model has just received for the `count`-th time."""


class Interruption(msgspec.Struct, frozen=True, kw_only=True):
    """A turn cut short: `action` is ``cancel`` (through the driving surface) or ``kill`` (SIGKILL of the product)."""

    action: str
    moment: Moment
    subject: str
    count: int = 1
    after_ms: int = 300


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One prompt given to the session's agent, and how the turn is cut short, if it is."""

    prompt: str
    interruption: Interruption | None = None


class Stimulus(msgspec.Struct, frozen=True, kw_only=True):
    """One run's inputs.

    `files`: workspace path to text. `settings`: merged deeply into the recorder's base settings. `environment`: extra
    variables. `lanes`: lane name to its replies in order. `terminal`: columns and rows of Mission Control.
    `session` False: Mission Control runs with ``--no-session``. `recorded_by` and `reopened_by` name releases when the
    scenario fixes them (legacy); empty means the release under test.
    """

    schema: int = 1
    files: dict[str, str] = {}
    settings: dict[str, Any] = {}
    environment: dict[str, str] = {}
    lanes: dict[str, tuple[Reply, ...]] = {}
    turns: tuple[Turn, ...] = ()
    terminal: tuple[int, int] = (140, 160)
    session: bool = True
    recorded_by: str = ""
    reopened_by: str = ""


def canonical(value: object) -> bytes:
    """Canonical JSON bytes: mappings sorted by key, members of values in the order of their definition, no blanks.

    Raises TypeError for types that JSON has no form for.
    """
    return msgspec.json.encode(value, order="deterministic")


def digest(stimulus: Stimulus) -> str:
    """Hex sha256 of the canonical stimulus."""
    return hashlib.sha256(canonical(stimulus)).hexdigest()
