"""The scripted model's mind: which lane a request belongs to, which reply is next, and what was asked so far.

A lane is the session's own agent or one delegated task; each has its own replies and delays, so that concurrency and
order are the script's choice and nobody else's. Requests are logged by digest and size: their text holds the
product's own prompt and must never reach evidence.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

import msgspec

from harness.model.errors import ProductError
from harness.model.stimulus import MAIN_LANE, Reply, Stimulus

PROVIDER = "scripted"
MODEL = "scripted"
_CREATED = 1_700_000_000
"""Stands in every reply: a fixed time, so that the same script sends the same bytes."""


class LogEntry(msgspec.Struct, kw_only=True):
    """One request. `at`: seconds since the epoch at which it had been read whole.

    `lane` is "" for a request of no lane; `step` counts the lane's requests from 1 and is 0 for the list of models.
    `status` is the HTTP status answered. `reply` is the scripted answer, None when the script had none. `delivery`:
    ``whole``, ``cut`` (the product went away before the end) or ``pending`` (the run ended while the reply was still
    delayed). `fault` says why the script could not answer, "" otherwise.
    """

    at: float
    lane: str
    step: int
    request_sha256: str
    request_bytes: int
    status: int
    reply: Reply | None
    delivery: str = "pending"
    fault: str = ""


class ModelScript:
    """The replies of every lane, how far each lane has come, and the log. Safe to use from several threads.

    `watch` gets the body of every request before it is answered; no body is kept.
    """

    def __init__(self, stimulus: Stimulus, watch: Callable[[bytes], None] = lambda _body: None) -> None:
        self._watch = watch
        self._lanes: dict[str, tuple[Reply, ...]] = dict(stimulus.lanes)
        self._prompts = tuple(turn.prompt.strip() for turn in stimulus.turns)
        others = sorted(lane for lane in self._lanes if lane != MAIN_LANE)
        self._number = {MAIN_LANE: 0, **{lane: number for number, lane in enumerate(others, start=1)}}
        self._asked: dict[str, int] = {}
        self._log: list[LogEntry] = []
        self._lock = threading.Lock()

    def asked(self, lane: str) -> int:
        """How many requests of the lane have been read so far."""
        with self._lock:
            return self._asked.get(lane, 0)

    def fault(self) -> str:
        """Why the script could not answer some request, "" while it always could."""
        with self._lock:
            return next((entry.fault for entry in self._log if entry.fault), "")

    def tools_called(self, after: int) -> tuple[str, ...]:
        """Names of the tools that the session's own agent was told to call since its request number `after`."""
        with self._lock:
            return tuple(
                call.name
                for entry in self._log
                if entry.lane == MAIN_LANE and entry.step > after and entry.reply is not None
                for call in (entry.reply.calls if entry.delivery == "whole" else ())
            )

    def check(self) -> None:
        """Raises ProductError when a request came that the script does not foresee."""
        if fault := self.fault():
            raise ProductError(
                fault, where="scripted model", hint="the scenario's lanes must hold one reply for every request"
            )

    def unused(self) -> dict[str, int]:
        """Lane to the number of its replies that nobody asked for; lanes used up are left out."""
        with self._lock:
            left = {lane: len(replies) - self._asked.get(lane, 0) for lane, replies in self._lanes.items()}
        return {lane: count for lane, count in left.items() if count > 0}

    def log(self) -> bytes:
        """The log as JSON lines, in the order in which requests were read."""
        with self._lock:
            return b"".join(msgspec.json.encode(entry, order="deterministic") + b"\n" for entry in self._log)

    def admit(self, body: bytes) -> LogEntry:
        """Finds the lane and step of one request and logs it. The entry's status and reply are what to answer."""
        self._watch(body)
        lane = self._lane_of(body)
        with self._lock:
            step = self._asked.get(lane, 0) + 1
            self._asked[lane] = step
            replies = self._lanes.get(lane, ())
            reply = replies[step - 1] if step <= len(replies) else None
            fault = ""
            if not lane:
                fault = "the product sent a request that belongs to no lane of the script"
            elif reply is None:
                fault = f"lane {lane!r} was asked {step} times but its script has {len(replies)} replies"
            entry = LogEntry(
                at=time.time(),
                lane=lane,
                step=step,
                request_sha256=hashlib.sha256(body).hexdigest(),
                request_bytes=len(body),
                status=HTTPStatus.INTERNAL_SERVER_ERROR if reply is None else reply.status,
                reply=reply,
                fault=fault,
            )
            self._log.append(entry)
        return entry

    def listed(self) -> None:
        """Logs that the product asked which models there are, as it does when it starts."""
        self._note(HTTPStatus.OK, "")

    def unforeseen(self, method: str, path: str) -> None:
        """Logs a request to an address that the script does not serve."""
        self._note(HTTPStatus.NOT_FOUND, f"the product asked the scripted model for {method} {path[:200]}")

    def _note(self, status: int, fault: str) -> None:
        entry = LogEntry(
            at=time.time(),
            lane="",
            step=0,
            request_sha256="",
            request_bytes=0,
            status=status,
            reply=None,
            delivery="whole",
            fault=fault,
        )
        with self._lock:
            self._log.append(entry)

    def delivered(self, entry: LogEntry, delivery: str) -> None:
        with self._lock:
            entry.delivery = delivery

    def stream(self, entry: LogEntry, reply: Reply) -> Iterator[bytes]:
        """The reply as server-sent events."""
        number = self._number.get(entry.lane, 0)
        identity = f"reply_{number}_{entry.step}"

        def event(**members: Any) -> bytes:
            chunk = {
                "id": identity,
                "object": "chat.completion.chunk",
                "created": _CREATED,
                "model": MODEL,
                **members,
            }
            return b"data: " + json.dumps(chunk, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"

        def choice(delta: Mapping[str, Any], finish_reason: str | None = None) -> bytes:
            return event(choices=[{"index": 0, "delta": delta, "finish_reason": finish_reason}])

        yield choice({"role": "assistant"})
        if reply.text:
            yield choice({"content": reply.text})
        for index, call in enumerate(reply.calls):
            function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
            yield choice(
                {
                    "tool_calls": [
                        {
                            "index": index,
                            "id": f"call_{number}_{entry.step}_{index + 1}",
                            "type": "function",
                            "function": function,
                        }
                    ]
                }
            )
        yield choice({}, "tool_calls" if reply.calls else "stop")
        if reply.usage is not None:
            usage: dict[str, Any] = {
                "prompt_tokens": reply.usage.prompt,
                "completion_tokens": reply.usage.completion,
                "total_tokens": reply.usage.prompt + reply.usage.completion,
            }
            if reply.usage.cached is not None:
                usage["prompt_tokens_details"] = {"cached_tokens": reply.usage.cached}
            yield event(choices=[], usage=usage)
        yield b"data: [DONE]\n\n"

    def _lane_of(self, body: bytes) -> str:
        """The lane of a request, "" when it is of none.

        A task's first user message states its intent on a line of its own after a fixed lead-in; the session's own
        agent has a turn's prompt among its user messages. A mere mention of an intent is the last resort, since a
        prompt may mention one too.
        """
        texts = list(_user_texts(body))
        tasks = sorted((lane for lane in self._lanes if lane != MAIN_LANE), key=len, reverse=True)
        for lane in tasks:
            if any(f"task intent:\n{lane}\n" in text for text in texts):
                return lane
        if any(prompt in text for prompt in self._prompts for text in texts):
            return MAIN_LANE
        for lane in tasks:
            if any(lane in text for text in texts):
                return lane
        return ""


def _user_texts(body: bytes) -> Iterator[str]:
    """The texts of all user messages of a chat-completions request; nothing for a body that is none."""
    try:
        request = msgspec.json.decode(body)
        messages = request["messages"]
    except (msgspec.DecodeError, RecursionError, TypeError, KeyError):
        return
    if not isinstance(messages, list):
        return
    for message in messages:
        if not isinstance(message, dict) or message.get("role") != "user":
            continue
        content = message.get("content")
        if isinstance(content, str):
            yield content
        elif isinstance(content, list):
            yield from (
                part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)
            )
