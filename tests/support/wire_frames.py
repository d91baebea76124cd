"""Builds local-agent captures from Python values: a well-behaved product by default, any single vice on demand.

`Wire` collects frames as plain dicts, so that a test changes one member of one frame and encodes the rest untouched.
Frames are spelled as the product spells them: compact, members sorted. `seq` is numbered when the capture is encoded,
unless a frame has one of its own.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from typing import Any

from harness.spec import bounds

Json = dict[str, Any]
INSTANCE = "instance-1"
SESSION = "session-1"
DESCRIPTOR: Json = {
    "schema_version": 1,
    "event": "tool.card",
    "history_field": "tool_card",
    "snapshot_parts": 1,
    "card_bytes": 16384,
    "core_bytes": 2048,
    "cards_per_run": 4096,
    "snapshots_per_run": 16384,
    "run_snapshot_bytes": 33554432,
    "retained_card_bytes": 8388608,
    "blocks_per_card": 16,
    "rows_per_block": 32,
    "diff_lines_per_block": 128,
    "children_per_block": 32,
    "children_depth": 8,
    "string_bytes": 1024,
    "title_bytes": 256,
    "metadata_bytes": 512,
    "preview_bytes": 4096,
}


def row(label: str, value: str | None, outcome: str = "unknown") -> Json:
    return {"label": label, "outcome": outcome, "value": value}


def results(*rows: Json) -> Json:
    return {"rows": list(rows), "type": "results"}


def text(content: str) -> Json:
    return {"format": "plain", "language": None, "text": content, "type": "text"}


def child(card: Json) -> Json:
    return {name: card[name] for name in ("activity_id", "changes", "outcome", "state", "task_id", "title")}


def children(*cards: Json, total: int | None) -> Json:
    return {"children": [child(card) for card in cards], "total": total, "type": "children"}


def progress(completed: int | None, total: int | None) -> Json:
    return {"completed": completed, "label": "Tasks finished", "total": total, "type": "progress", "unit": "items"}


def card(activity: str, kind: str = "read", **members: Any) -> Json:
    """A finished, successful root card without blocks; `members` replace."""
    made: Json = {
        "activity_id": activity,
        "blocks": [],
        "card_id": activity,
        "changes": "unknown",
        "detail": {"availability": "complete", "reason": None},
        "metadata": {
            "public_protection": {"decision": "not_reported", "summary": None},
            "resource_path": None,
            "tool_name": None,
            "working_directory": None,
        },
        "omissions": [],
        "origin": "live",
        "outcome": "success",
        "parent_activity_id": None,
        "parent_state": "root",
        "revision": 0,
        "schema_version": 1,
        "state": "finished",
        "task_id": None,
        "title": "Read",
        "tool_kind": kind,
    }
    return made | members


def below(parent: str, task: str | None = None) -> Json:
    """Members of a card below `parent`, for `card(...)`."""
    return {"parent_activity_id": parent, "parent_state": "available", "task_id": task}


def omitted(subject: str, reason: str = "size_limit", count: int | None = None) -> Json:
    return {"omitted_count": count, "reason": reason, "subject": subject}


def running(snapshot: Json, revision: int = 0, **members: Any) -> Json:
    return snapshot | {"state": "running", "outcome": None, "revision": revision} | members


class Wire:
    """One product process and its client, as frames in order. `frames` holds (direction, frame) pairs."""

    def __init__(self, instance: str = INSTANCE, session: str = SESSION) -> None:
        self.frames: list[tuple[str, Any]] = []
        self.instance = instance
        self.session = session
        self.run = ""
        self.footer = False
        self._requests = 0
        self._runs = 0

    # frames

    def request(self, method: str, params: Json, identity: str | None = None) -> str:
        self._requests += 1
        identity = identity or f"r{self._requests}"
        frame = {"id": identity, "method": method, "params": params, "protocol": "magi-code.local-agent", "version": 1}
        self.frames.append(("to_product", frame))
        return identity

    def answer(self, identity: str | None, **body: Any) -> Json:
        return self._out({"id": identity, "type": "response", **body})

    def ask(self, method: str, params: Json, result: Json) -> Json:
        return self.answer(self.request(method, params), result=result)

    def event(self, name: str, /, **data: Any) -> Json:
        scope = {"run_id": self.run, "session_id": self.session}
        return self._out({"data": scope | data, "event": name, "type": "event"})

    def _out(self, frame: Json) -> Json:
        common = {"instance_id": self.instance, "protocol": "magi-code.local-agent", "version": 1}
        frame = copy.deepcopy(frame | common)  # so that a test can change one frame and no other
        self.frames.append(("from_product", frame))
        return frame

    # a conversation

    def initialize(self) -> Wire:
        result = {"capabilities": ["turn.start", "tool.cards"], "extensions": {"tool.cards": dict(DESCRIPTOR)}}
        self.ask("initialize", {"required_capabilities": ["turn.start", "tool.cards"]}, result)
        return self

    def create(self) -> Wire:
        opened = {"durable": False, "notices": [], "revision": "lazy", "session_id": self.session}
        self.ask("session.create", {}, opened)
        return self

    def start(self, prompt: str = "Go on.") -> Wire:
        self._runs += 1
        self.run = f"{self.instance}.run-{self._runs}"
        self.ask("turn.start", {"session_id": self.session, "prompt": prompt}, {"accepted": True, "run_id": self.run})
        self.event("input.persisted", durable=True, message_id=f"input-{self._runs}", revision="rev")
        return self

    def activity(self, identity: str, state: str = "started", kind: str = "tool", name: str = "read 1 file") -> Json:
        return self.event("activity", activity_id=identity, kind=kind, name=name, state=state, summary=state)

    def card(self, snapshot: Json) -> Json:
        return self.event("tool.card", activity_id=snapshot["activity_id"], card=snapshot, last_part=True, part=0)

    def show(self, snapshot: Json, *, kind: str = "tool", name: str = "read 1 file") -> Json:
        """A whole activity: started, one running snapshot, ended, the finished snapshot as given (revision 1)."""
        self.activity(snapshot["activity_id"], kind=kind, name=name)
        self.card(running(snapshot))
        self.activity(snapshot["activity_id"], "completed", kind=kind, name=name)
        return self.card(snapshot | {"revision": 1})

    def finish(self, outcome: str = "completed") -> Wire:
        self.event("run.finished", error_code=None, outcome=outcome, persistence="durable", revision="rev-2")
        return self

    def open(self, revision: str = "saved-1") -> Wire:
        opened = {"durable": True, "notices": [], "revision": revision, "session_id": self.session}
        self.ask("session.open", {"session_id": self.session}, opened)
        return self

    def page(
        self,
        entries: Iterable[Json],
        *,
        cursor: str | None = None,
        next_cursor: str | None = None,
        revision: str = "saved-1",
        complete: bool | None = None,
    ) -> Json:
        params = {"session_id": self.session, "revision": revision, "cursor": cursor}
        result = {
            "complete": next_cursor is None if complete is None else complete,
            "entries": list(entries),
            "next_cursor": next_cursor,
            "revision": revision,
            "session_id": self.session,
        }
        return self.ask("history.page", params, result)

    def shutdown(self) -> Wire:
        self.ask("shutdown", {}, {"state": "stopping"})
        self.footer = True
        return self

    # what was said

    def find(self, event: str, activity: str | None = None) -> list[Json]:
        """The events of this name, of one activity or of all."""
        found = []
        for _, frame in self.frames:
            named = isinstance(frame, dict) and frame.get("event") == event
            if named and activity in (None, frame["data"].get("activity_id")):
                found.append(frame)
        return found

    def cards(self, activity: str) -> list[Json]:
        """All snapshots of a card, to be changed in place."""
        return [frame["data"]["card"] for frame in self.find("tool.card", activity)]

    def drop(self, frame: Json) -> None:
        self.frames = [pair for pair in self.frames if pair[1] is not frame]

    # bytes

    def encode(self) -> bytes:
        """The capture: one line for each frame, one hundredth of a second apart."""
        lines, seq = [], 0
        for number, (direction, frame) in enumerate(self.frames):
            if isinstance(frame, dict) and direction == "from_product":
                seq = frame.get("seq", seq + 1)
                said = compact({**frame, "seq": seq})
            else:
                said = frame if isinstance(frame, str) else compact(frame)
            lines.append(line(100 + number / 100, direction, said))
        if self.footer:
            lines.append(line(100 + len(lines) / 100, "footer", "complete"))
        return b"".join(lines)


def compact(frame: Any) -> str:
    return json.dumps(frame, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def line(at: float, direction: str, frame: str) -> bytes:
    return json.dumps({"at": at, "direction": direction, "line": frame}, ensure_ascii=False).encode() + b"\n"


def entry(identity: str, kind: str = "user", content: str = "Go on.", **members: Any) -> Json:
    made: Json = {"kind": kind, "last_part": True, "message_id": identity, "part": 0, "partial": False, "text": content}
    return made | members


def saved(snapshot: Json, **members: Any) -> Json:
    """An activity entry with its card."""
    attached = snapshot | {"origin": "saved", "revision": 0}
    return entry(snapshot["activity_id"], "activity", "read: completed", tool_card=attached) | members


# Cards with facts. Values are the simplest that card-facts.md allows, not what any product printed.

SCRIPT_VALUES: dict[str, str | None] = {
    "Script outcome": "success",
    "Code Mode intent": "Do it",
    "Total calls": "2",
    "Successful calls": "1",
    "Failed calls": "1",
    "Unknown calls": "0",
    "Running calls": "0",
    "Elapsed milliseconds": "12",
    "Recoverable failures": "1",
    "Warnings": "0",
    "Changed paths": "1",
    "Response token estimate": None,
    "Change count qualifier": "exact",
    "Completed actions remain applied": "true",
    "Rollback": "false",
    "External effects may be untracked": "true",
    "Execution persistence": "recorded",
    "Completed with warnings": "true",
    "Warnings omitted": "0",
    "Changed paths omitted": "0",
    "Child references complete": "true",
    "Child references omitted": "0",
}
BATCH_VALUES: dict[str, str | None] = {
    "Tasks total": "2",
    "Tasks done": "1",
    "Tasks failed": "1",
    "Tasks running": "0",
    "Tasks unknown": "0",
    "Tasks cancelled": "0",
    "Child references complete": "true",
    "Child references omitted": "0",
}
TASK_VALUES: dict[str, str | None] = {
    "Task execution identity": "call/g1",
    "Task intent": "Look",
    "Task profile": None,
    "Task outcome": "success",
    "Task persistence": "recorded",
    "Task facts limited": "false",
    "Task failed calls": "0",
    "Usage cache known": "true",
}


def rows(values: dict[str, str | None]) -> Json:
    return results(*(row(label, value) for label, value in values.items()))


def script_run(wire: Wire | None = None, *, finish: bool = True) -> Wire:
    """One turn with one script of two calls, `c1` and `c2` below `s`, up to run.finished."""
    wire = wire or Wire().initialize().create()
    wire.start()
    c1 = card("c1", **below("s"))
    c2 = card("c2", **below("s"), outcome="failure")
    script = card("s", "code_mode", title="Code Mode • 2 calls", changes="partial")
    wire.activity("s", name="code_mode")
    wire.card(running(script, blocks=[rows(SCRIPT_VALUES | {"Script outcome": "running"})]))
    wire.show(c1)
    wire.card(running(script, 1, blocks=[rows(SCRIPT_VALUES), children(c1, total=1)]))
    wire.show(c2)
    wire.activity("s", "completed", name="code_mode")
    blocks = [rows(SCRIPT_VALUES), results(row("Changed path", "/w/out.txt")), children(c1, c2, total=2)]
    wire.card(script | {"revision": 2, "blocks": blocks})
    wire.event("message.delta", message_id="m1", part=0, text="Done.")
    wire.event("message.reconcile", message_id="m1", part=0, text="Done.", last_part=True, partial=False)
    return wire.finish() if finish else wire


def history(wire: Wire | None = None) -> Wire:
    """A reopened session of one turn: a script `s` with the call `c1`, on two pages."""
    wire = wire or Wire().initialize()
    c1 = card("c1", **below("s"))
    script = card("s", "code_mode", blocks=[rows(SCRIPT_VALUES), children(c1, total=1)])
    wire.open()
    wire.page([entry("u1"), saved(script)], next_cursor="page-2", complete=False)
    wire.page([saved(c1), entry("a1", "assistant", "Done.")], cursor="page-2")
    return wire.shutdown()


def batch_run(wire: Wire | None = None, *, starts: tuple[str, ...] = ("t1", "t2")) -> Wire:
    """One turn with one batch `b` of tasks t1 and t2, started as in `starts`; t2 ends first, t1 makes the call `k`."""
    wire = wire or Wire().initialize().create()
    wire.start()
    number = {"t1": 1, "t2": 2}
    tasks = {
        name: card(name, "subagent", **below("b", name), title=f"TASK-{number[name]}", blocks=[rows(TASK_VALUES)])
        for name in starts
    }
    batch = card("b", "subagent", title="subagents")
    wire.activity("b", name="subagents · 2 tasks")
    wire.card(running(batch))
    for name in starts:
        wire.activity(name, kind="subagent", name=f"g{number[name]} · depth 1 · TASK-{number[name]}")
        wire.card(running(tasks[name]))
    call = card("k", **below("t1", "t1"))
    wire.show(call)
    for name in ("t2", "t1"):
        wire.activity(name, "completed", kind="subagent", name=f"g{number[name]} · depth 1 · TASK-{number[name]}")
        more = [children(call, total=1)] if name == "t1" else []
        wire.card(tasks[name] | {"revision": 1, "blocks": [rows(TASK_VALUES), *more]})
    wire.activity("b", "completed", name="subagents · 2 tasks")
    shown = children(*(tasks[name] for name in starts), total=2)
    wire.card(batch | {"revision": 1, "blocks": [rows(BATCH_VALUES), shown, progress(2, 2)]})
    return wire.finish()


def big_script(calls: int) -> Wire:
    """A script of many calls, each with four snapshots, after each of which the script's card is published anew."""
    wire = Wire().initialize().create().start()
    script = card("s", "code_mode", title="Code Mode • …")
    wire.activity("s", name="code_mode")
    wire.card(running(script))
    shown: list[Json] = []
    revision = 0
    for number in range(calls):
        made = card(f"call-{number:04}", "write", **below("s"), title="Write • 2 bytes", changes="applied")
        made["blocks"] = [
            {
                "rows": [{"availability": "unknown", "kind": "resource", "label": "out", "location": f"/w/{number}"}],
                "type": "resources",
            }
        ]
        wire.activity(made["activity_id"], name="write out")
        for step in range(4):
            if step == 3:
                wire.activity(made["activity_id"], "completed", name="write out")
            now = made | {"revision": step} if step == 3 else running(made, step)
            wire.card(now)
            if step == 0 and len(shown) < bounds.CHILDREN_PER_BLOCK:
                shown.append(made)
            if step == 3 and len(shown) == number + 1:
                shown[-1] = now
            revision += 1
            known = children(*shown, total=number + 1)
            lost = number + 1 - len(shown)
            losses: Json = {}
            if lost:
                losses = {
                    "omissions": [omitted("children", count=lost)],
                    "detail": {"availability": "truncated", "reason": "size_limit"},
                }
            wire.card(running(script, revision, blocks=[rows(SCRIPT_VALUES), text("…"), known], **losses))
    wire.activity("s", "completed", name="code_mode")
    wire.card(script | {"revision": revision + 1, "blocks": [rows(SCRIPT_VALUES)]})
    return wire.finish()
