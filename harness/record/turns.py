"""Running a stimulus's turns on one surface, with every interruption at its moment and every kill survived."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from harness.model.errors import ProductError, UsageError
from harness.model.stimulus import MAIN_LANE, Interruption, Moment, Stimulus
from harness.record.model_server import ScriptedModel
from harness.record.processes import kill_all
from harness.record.surfaces import Surface
from harness.record.timing import Deadlines
from harness.record.workspace import Workspace

CANCEL = "cancel"
KILL = "kill"


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What one process of the surface left. A killed process leaves an incomplete one, and `note` says so."""

    content: bytes
    complete: bool
    note: str = ""


class LiveRun(msgspec.Struct, frozen=True, kw_only=True):
    """All turns of a run: captures in order, the session's id ("" when unsaved), the tools called in each turn."""

    parts: tuple[Part, ...]
    session_id: str
    tools: tuple[tuple[str, ...], ...]


def run_turns(
    stimulus: Stimulus,
    *,
    open_surface: Callable[[str, int], Surface],
    workspace: Workspace,
    model: ScriptedModel,
    deadlines: Deadlines,
) -> LiveRun:
    """Runs every turn; `open_surface` gets the session to resume ("" for a new one) and the number of turns before.

    After a kill the next turn runs in a new process on the same session. Raises ProductError when the product fails
    to be driven, UsageError when the stimulus asks for what cannot happen.
    """
    parts: list[Part] = []
    tools: list[tuple[str, ...]] = []
    session_id = ""
    while len(tools) < len(stimulus.turns):
        with open_surface(session_id, len(tools)) as surface:
            note = ""
            while len(tools) < len(stimulus.turns) and not note:
                turn = stimulus.turns[len(tools)]
                asked = model.asked(MAIN_LANE)
                surface.begin(turn.prompt)
                if turn.interruption is not None:
                    note = _interrupt(surface, turn.interruption, workspace, model, deadlines)
                if not note:
                    surface.wait_over()
                tools.append(model.tools_called(asked))
            if not note:
                session_id = surface.session_id()
                surface.finish(tools)
            parts.append(Part(content=surface.capture(), complete=not note, note=note))
            if note:
                kill_all(workspace.folder)
                session_id = surface.session_id()
        model.check()
    return LiveRun(parts=tuple(parts), session_id=session_id, tools=tuple(tools))


def _interrupt(
    surface: Surface, interruption: Interruption, workspace: Workspace, model: ScriptedModel, deadlines: Deadlines
) -> str:
    """Waits for the moment and interrupts; the note that a killed capture carries, "" after a cancellation."""
    what = _describe(interruption)

    def reached() -> bool:
        if interruption.moment is Moment.FILE_EXISTS:
            return workspace.exists(interruption.subject)
        return model.asked(interruption.subject) >= interruption.count

    surface.wait_until(lambda: reached() or surface.ended(), deadlines.moment, what)
    if not reached():
        raise ProductError(f"the turn ended before {what}", hint="the scenario interrupts at a moment that never comes")
    surface.pause(interruption.after_ms / 1000)
    if interruption.action == CANCEL:
        surface.cancel()
        return ""
    if interruption.action == KILL:
        surface.kill()
        return f"the process was killed {interruption.after_ms} ms after {what}"
    raise UsageError(f"{interruption.action!r} is no way to interrupt a turn", hint=f"use {CANCEL} or {KILL}")


def _describe(interruption: Interruption) -> str:
    if interruption.moment is Moment.FILE_EXISTS:
        return f"{interruption.subject} existed"
    return f"the model was asked for {interruption.subject} {interruption.count} times"
