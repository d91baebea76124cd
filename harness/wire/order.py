"""A whole conversation, frame after frame: processes, requests and their answers, runs and histories.

A capture usually holds one process. It may hold several, one after another (a killed one and the one that took over);
each has its own instance id, its own seq and its own request ids. Turns are counted per session over all of them.
Source: ``local-agent-protocol.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from harness.spec import bounds
from harness.wire.breaches import NOWHERE, Breaches, Key
from harness.wire.capture import Direction, Line
from harness.wire.events import InputPersisted, ToolCard
from harness.wire.frames import Frame, Request, Response, decode_request, read_frame
from harness.wire.locate import pattern
from harness.wire.pages import History, PageParams
from harness.wire.runs import CARD, Run
from harness.wire.shapes import Shape
from harness.wire.strict import Strict, WireError

EXTENSION = "tool.cards"
DESCRIPTOR: dict[str, object] = {
    "schema_version": bounds.CARD_SCHEMA_VERSION,
    "event": "tool.card",
    "history_field": "tool_card",
    "snapshot_parts": 1,
    "card_bytes": bounds.CARD_BYTES,
    "core_bytes": bounds.CORE_BYTES,
    "cards_per_run": bounds.CARDS_PER_RUN,
    "snapshots_per_run": bounds.SNAPSHOTS_PER_RUN,
    "run_snapshot_bytes": bounds.RUN_SNAPSHOT_BYTES,
    "retained_card_bytes": bounds.RETAINED_CARD_BYTES,
    "blocks_per_card": bounds.BLOCKS_PER_CARD,
    "rows_per_block": bounds.ROWS_PER_BLOCK,
    "diff_lines_per_block": bounds.DIFF_LINES_PER_BLOCK,
    "children_per_block": bounds.CHILDREN_PER_BLOCK,
    "children_depth": bounds.CHILDREN_DEPTH,
    "string_bytes": bounds.STRING_BYTES,
    "title_bytes": bounds.TITLE_BYTES,
    "metadata_bytes": bounds.METADATA_BYTES,
    "preview_bytes": bounds.PREVIEW_BYTES,
}
"""What ``initialize`` advertises for schema 1 (``local-agent-tool-cards.md``, "Negotiation and advertisement")."""


class Initialized(Shape, frozen=True, kw_only=True):
    capabilities: tuple[str, ...]
    extensions: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)


class Opened(Shape, frozen=True, kw_only=True):
    revision: str
    session_id: str


class TurnStarted(Shape, frozen=True, kw_only=True):
    accepted: bool
    run_id: str


class _TurnParams(Shape, frozen=True, kw_only=True):
    session_id: str


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """A request that was answered with an error."""

    method: str
    code: str
    line: int


_initialized, _opened = Strict(Initialized, closed=False), Strict(Opened, closed=False)
_started, _turn_params = Strict(TurnStarted, closed=False), Strict(_TurnParams, closed=False)
_page_params = Strict(PageParams, closed=False)
_FOOTER, _TO_PRODUCT = Direction.FOOTER, Direction.TO_PRODUCT
_UNNAMED = ("invalid_frame", "invalid_request", "frame_too_large", "incomplete_frame", "protocol_mismatch")


@dataclass(slots=True)
class Process:
    """One product process. `instance_id` is "" until it has said something."""

    instance_id: str = ""
    seqs: dict[str, int] = field(default_factory=dict)
    sent: dict[str, list[Request]] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)


class Conversation:
    """Takes the lines of a capture in order. What it learnt stands in its public attributes."""

    def __init__(self, breaches: Breaches) -> None:
        self.breaches = breaches
        self.runs: list[Run] = []
        self.histories: list[History] = []
        self.refusals: list[Refusal] = []
        self.methods: set[str] = set()
        self.negotiated: bool | None = None
        """Whether the product agreed to send cards; None when no answer to initialize was seen."""
        self._process = Process()
        self._turns: dict[str, int] = {}

    def take(self, line: Line) -> Request | Frame | None:
        """Take one line; the frame that it holds, or None when it holds none that can be read."""
        self.breaches.spot = line
        if line.direction is _FOOTER:
            return None
        to_product = line.direction is _TO_PRODUCT
        if len(line.text) + (not to_product) > bounds.FRAME_BYTES:  # the newline counts on the way out only
            rule, seen = "wire.request" if to_product else "wire.frame-bytes", f"{len(line.text)} bytes and a newline"
            self.breaches.add(rule, f"at most {bounds.FRAME_BYTES} bytes", seen, label="bytes", offset=0)
            return None  # what is over the limit is not decoded: a client closes here
        try:
            if to_product:
                return self._request(decode_request(line.text))
            frame = read_frame(line.text)
        except WireError as error:
            rule = "wire.request" if to_product else error.rule
            self._misfit(rule, error, None)
            return None
        self._frame(frame)
        return frame

    def close(self) -> None:
        """Check what can be said only when the capture ends."""
        self.breaches.spot = NOWHERE
        for run in self.runs:
            if run.finished is None:
                run.close(self.breaches)
        for history in self.histories:
            history.close(self.breaches)

    def _misfit(self, rule: str, error: WireError, key: Key | None, label: str = "") -> None:
        self.breaches.add(
            rule,
            "the agreed shape",
            error.message,
            key=key,
            label=label or pattern(error.path),
            pointer=error.path,
            offset=error.offset,
        )

    def _request(self, request: Request) -> Request:
        self.methods.add(request.method)
        self._process.sent.setdefault(request.id, []).append(request)
        return request

    def _frame(self, frame: Frame) -> None:
        self._identify(frame.instance_id, frame.seq)
        if frame.response is not None:
            self._response(frame.response)
            return
        if frame.beyond or frame.fault:
            self._imperfect(frame)
        if frame.data is None:
            if frame.fault is None:
                name = frame.event
                self.breaches.add("wire.unknown-event", "a documented event", name, label=name, pointer="/event")
            return
        run = self._run(frame.data.run_id, frame.data.session_id)
        if run.turn is None and isinstance(frame.data, InputPersisted | ToolCard):
            run.turn = self._turns[run.session_id] = self._turns.get(run.session_id, 0) + 1
        run.event(frame, self.breaches)

    def _identify(self, instance: str, seq: int) -> None:
        process = self._process
        if instance not in process.seqs:
            if process.instance_id and not self._succeed(instance):
                expected, at = process.instance_id, "/instance_id"
                self.breaches.add("wire.one-instance", expected, instance, pointer=at)
            process = self._process
            process.instance_id = process.instance_id or instance
            if seq != 1:
                self.breaches.add("wire.seq", "1 first", str(seq), label="first", pointer="/seq")
        elif seq <= process.seqs[instance]:
            expected = f"more than {process.seqs[instance]}"
            self.breaches.add("wire.seq", expected, str(seq), label="order", pointer="/seq")
        process.seqs[instance] = max(seq, process.seqs.get(instance, 0))

    def _succeed(self, instance: str) -> bool:
        """Whether this is a new process: one that was asked to initialize and has not answered yet."""
        waiting = {
            identity: requests
            for identity, requests in self._process.sent.items()
            if requests and requests[-1].method == "initialize"
        }
        if not waiting:
            return False
        self._process = Process(instance_id=instance, sent=waiting)
        return True

    def _run(self, run_id: str, session_id: str) -> Run:
        run = self._process.runs.get(run_id)
        if run is None:
            run = self._process.runs[run_id] = Run(run_id, session_id)
            self.runs.append(run)
        return run

    def _imperfect(self, frame: Frame) -> None:
        key = None
        if isinstance(frame.data, ToolCard):
            key = Key(frame.data.run_id, frame.data.activity_id)
        for member in frame.beyond:
            label = pattern(member.removeprefix(CARD))
            self.breaches.add("wire.exact-members", "no such member", "a member", key=key, label=label, pointer=member)
        if frame.fault is not None:
            self._misfit(frame.fault.rule, frame.fault, key)

    def _response(self, response: Response) -> None:
        if response.id is None:
            if response.error not in _UNNAMED:
                seen = f"no id and {response.error or 'a result'}"
                self.breaches.add("wire.response", "an id", seen, label="unnamed", pointer="/id")
            return
        waiting = self._process.sent.get(response.id)
        if not waiting:
            self.breaches.add("wire.response", "a request that waits for an answer", response.id, pointer="/id")
            return
        request = waiting.pop(0)
        if response.result is None:
            line = self.breaches.spot.number
            self.refusals.append(Refusal(method=request.method, code=response.error, line=line))
            return
        try:
            self._result(request, bytes(response.result))
        except WireError as error:
            self._misfit(error.rule, error, None, f"{request.method}{pattern(error.path)}")

    def _result(self, request: Request, text: bytes) -> None:
        params = bytes(request.params)
        match request.method:
            case "initialize":
                self._initialized(_initialized(text, "/result")[0])
            case "session.create" | "session.open":
                _opened(text, "/result")
            case "turn.start":
                started = _started(text, "/result")[0]
                self._run(started.run_id, _turn_params(params)[0].session_id).admitted = True
            case "history.page":
                self._page(_page_params(params)[0], text)

    def _initialized(self, result: Initialized) -> None:
        self.negotiated = EXTENSION in result.capabilities
        if not self.negotiated:
            return
        advertised = result.extensions.get(EXTENSION, {})
        for name, value in DESCRIPTOR.items():
            if advertised.get(name) != value:
                at = f"/result/extensions/{EXTENSION}"
                pointer = f"{at}/{name}" if name in advertised else at
                seen = str(advertised.get(name, "not there"))
                self.breaches.add("wire.descriptor", str(value), seen, label=name, pointer=pointer)

    def _page(self, asked: PageParams, text: bytes) -> None:
        history = next(
            (one for one in self.histories if (one.session_id, one.revision) == (asked.session_id, asked.revision)),
            None,
        )
        if history is None:
            history = History(asked.session_id, asked.revision)
            self.histories.append(history)
        history.page(asked, text, self.breaches)
        if history.read:
            self._turns[asked.session_id] = max(self._turns.get(asked.session_id, 0), history.turns)
