"""Saved sessions for tests: real ones from tests/data, and made ones, line by line or as a whole consistent run.

The makers know the record formats of product.md and nothing of the projector.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.model.facts import CardFacts, ColumnFacts
from harness.model.values import NotComparable
from harness.project import Projection, project

DATA = Path(__file__).parent.parent / "data" / "sessions"
ROOT = "root-session"


def load(name: str) -> tuple[bytes, dict[str, bytes]]:
    """A real session and its children by id."""
    folder = DATA / name
    children = {
        path.name.removesuffix(".jsonl.gz"): gzip.decompress(path.read_bytes())
        for path in sorted(folder.glob("children/*.jsonl.gz"))
    }
    return gzip.decompress((folder / "session.jsonl.gz").read_bytes()), children


def names() -> list[str]:
    return sorted(path.name for path in DATA.iterdir() if path.is_dir())


def projected(name: str) -> Projection:
    session, children = load(name)
    return project(session, children, file="session.jsonl")


Cards = Iterable[CardFacts] | ColumnFacts


def card(cards: Cards, path: str) -> CardFacts:
    return next(card for card in (cards.cards if isinstance(cards, ColumnFacts) else cards) if card.path == path)


def facts(cards: Cards, path: str) -> dict[str, str | None]:
    """Label to text of one card: None for null, ``?<reason>`` for what cannot be compared; rows are ``label#n``."""
    found: dict[str, str | None] = {}
    for fact in card(cards, path).facts:
        value = fact.value
        key = fact.label if fact.label not in ("Warning", "Changed path", "Task activity") else ""
        key = key or f"{fact.label}#{fact.ordinal}"
        found[key] = f"?{value.reason}" if isinstance(value, NotComparable) else value.text
    return found


def vias(cards: Cards, path: str) -> dict[str, str]:
    return {fact.label: fact.via for fact in card(cards, path).facts if fact.ordinal == 0}


class Lines:
    """One session file in the making; every method appends one record and gives the maker back."""

    def __init__(self, session_id: str = ROOT, *, legacy: bool = False) -> None:
        self.session_id = session_id
        self.legacy = legacy
        self.records: list[dict[str, Any]] = []

    def add(self, kind: str, payload: Any, **envelope: Any) -> Lines:
        record = {
            "event_type": kind,
            "timestamp": "2026-11-30T12:00:00Z",
            "session_id": self.session_id,
            "cwd": "/acceptance/made",
            "payload": payload,
            **({} if self.legacy else {"event_id": f"{self.session_id}-{len(self.records)}"}),
            **envelope,
        }
        self.records.append(record)
        return self

    def user(self, text: str = "go", origin: str = "user") -> Lines:
        return self.add("user_input", {"origin": origin, "text": text})

    def call(self, id_: str, name: str, arguments: Any = None) -> Lines:
        return self.add("tool_call", {"id": id_, "name": name, "arguments": arguments})

    def script(self, id_: str = "c", intent: str | None = "Do it") -> Lines:
        arguments = {"code": "return 1"} | ({"intent": intent} if intent is not None else {})
        return self.call(id_, "code_mode", arguments)

    def result(
        self, id_: str, *, success: bool = True, paths: Iterable[str] = (), metadata: dict[str, Any] | None = None
    ) -> Lines:
        paths = list(paths)
        return self.add(
            "tool_result",
            {
                "call_id": id_,
                "changed_paths": paths,
                "execution_effects": {"changed_path_count": len(paths), "paths": paths},
                "result": {"content": "text", "metadata": metadata, "success": success, "tool_name": "t"},
            },
        )

    def inner(self, sequence: int, name: str = "write", parent: str = "c", arguments: Any = None) -> Lines:
        payload = {"id": f"{parent}:inner:{sequence}", "name": name, "arguments": arguments}
        return self.add("code_mode_tool_call", payload | {"parent_call_id": parent, "sequence": sequence})

    def inner_result(
        self,
        sequence: int,
        *,
        success: bool = True,
        paths: Iterable[str] = (),
        parent: str = "c",
        metadata: dict[str, Any] | None = None,
    ) -> Lines:
        paths = list(paths)
        return self.add(
            "code_mode_tool_result",
            {
                "call_id": f"{parent}:inner:{sequence}",
                "parent_call_id": parent,
                "sequence": sequence,
                "changed_paths": paths,
                "execution_effects": {"changed_path_count": len(paths), "paths": paths},
                "result": {"content": "text", "metadata": metadata, "success": success, "tool_name": "t"},
            },
        )

    def warning(self, sequence: int, text: str = "careful", parent: str = "c") -> Lines:
        payload = {"parent_call_id": parent, "sequence": sequence, "warning": text}
        return self.add("code_mode_warning", payload)

    def batch(self, tasks: list[Any], id_: str = "b") -> Lines:
        return self.call(id_, "subagents", {"intent": "Batch", "tasks": tasks})

    def announce(self, child: str) -> Lines:
        return self.add("subagent_session", {"session_id": child})

    def usage(
        self, task: str, sequence: int, tokens: tuple[int, int, int] | None, *, final: bool, cached: bool = True
    ) -> Lines:
        """A snapshot for ``activity/<task>`` or, with an empty task, ``main``; None is the empty placeholder."""
        effective, output, cache = tokens or (0, 0, 0)
        usage = {"effective_input": effective, "output": output, "cache_read": cache, "cache_write": None}
        id_ = f"session-usage/run/{f'activity/{task}' if task else 'main'}"
        payload = {"id": id_, "request_sequence": sequence, "final_usage": final}
        return self.add("session_usage", payload | {"usage": usage | {"cache_known": cached and tokens is not None}})

    def status(self, status: str) -> Lines:
        return self.add("turn_status", {"assistant_text": "", "status": status})

    def answer(self, text: str = "Done.") -> Lines:
        return self.add("assistant_output", {"text": text, "usage": None})

    def task_of(self, number: int, intent: str, agent: str | None = None) -> Lines:
        """How a child session begins."""
        task = {"agent": agent, "context": "secret context", "cwd": None, "intent": intent, "mode": "standard"}
        self.add("task_scope", {"version": 1, "clarifications": [], "ceiling": {}, "original_task": task})
        return self.user(f"Subagent g{number} task intent:\n{intent}\n")

    def lines(self) -> list[bytes]:
        return [json.dumps(record).encode() for record in self.records]

    def bytes(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines())


def execution(**members: Any) -> dict[str, Any]:
    """Result metadata with an execution report of 0.104.0; `members` replace its own, None stays an explicit null."""
    report = {
        "inner_calls": 0,
        "successful": 0,
        "recoverable_failures": 0,
        "unknown_outcomes": 0,
        "running_calls": 0,
        "elapsed_ms": 7,
        "warning_count": 0,
        "warnings": [],
        "changed_path_count": 0,
        "changed_paths": [],
        "changed_paths_incomplete": False,
    }
    return {"code_mode_execution": report | members}


def tokens(effective: int, output: int, cache: int, *, cached: bool = True) -> dict[str, Any]:
    return {
        "effective_input": effective,
        "output": output,
        "cache_read": cache,
        "cache_write": None,
        "cache_known": cached,
    }


def task_report(index: int, intent: str, *, call: str = "b", **members: Any) -> dict[str, Any]:
    """One task of a telemetry report."""
    report = {
        "index": index,
        "scoped_id": f"{call}/g{index + 1}",
        "intent": intent,
        "profile": None,
        "agent": None,
        "provider": "scripted",
        "model": "scripted",
        "outcome": "success",
        "usage": None,
        "activity": [],
        "activity_omitted": 0,
        "text_limited": False,
        "changed_paths": 0,
        "calls_failed": 0,
        "calls_unknown": 0,
        "calls_changed": 0,
    }
    return report | members


def telemetry(*tasks: dict[str, Any], version: int = 1) -> dict[str, Any]:
    return {"subagent_telemetry": {"schema_version": version, "tasks": list(tasks)}}


def run(lines: Lines, *children: Lines) -> Projection:
    """The projection of a made run."""
    return project(lines.bytes(), {child.session_id: child.bytes() for child in children}, file="session.jsonl")
