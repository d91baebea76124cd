"""One line's text to one typed frame: envelope, event data, card.

Source: the product's ``local-agent-protocol.md``, "Frames, correlation and compatibility" and "Turns, approvals and
events"; ``local-agent-tool-cards.md``, "Live event and ordering"; ``local-agent-client-tools.md``.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from harness.spec import bounds
from harness.wire.events import EVENTS, ActivityEvent, ClientToolCall, RunEvent, ToolCard, UnreadCard
from harness.wire.locate import locate
from harness.wire.shapes import Card, Natural, Shape
from harness.wire.strict import Strict, WireError, check_utf8, depth, encode, parse, too_deep


class Request(Shape, frozen=True, kw_only=True):
    """What the client asks. `params` is decoded by whoever knows the method."""

    id: str
    method: str
    params: Raw
    protocol: Literal["magi-code.local-agent"]
    version: Literal[1]


class Fault(Shape, frozen=True, kw_only=True):
    code: str


class _Envelope(Shape, frozen=True, kw_only=True):
    """Any frame from the product. A response has `id` and one of `result` and `error`, an event `event` and `data`."""

    data: Raw | UnsetType = UNSET
    error: Fault | UnsetType = UNSET
    event: str | UnsetType = UNSET
    id: str | UnsetType | None = UNSET
    instance_id: str
    protocol: Literal["magi-code.local-agent"]
    result: Raw | UnsetType = UNSET
    seq: Natural
    type: Literal["response", "event"]
    version: Literal[1]


class _Event(Shape, frozen=True, kw_only=True, tag_field="event"):
    """A whole event, decoded in one go: nearly every frame of a run is one."""

    instance_id: str
    protocol: Literal["magi-code.local-agent"]
    seq: Natural
    type: Literal["event"]
    version: Literal[1]


class _CardEvent(_Event, frozen=True, kw_only=True, tag="tool.card"):
    data: ToolCard


class _ActivityEvent(_Event, frozen=True, kw_only=True, tag="activity"):
    data: ActivityEvent


class Response(Shape, frozen=True, kw_only=True):
    """`id` None: the product could not make out which request it answers. `error` is "" when there is a `result`."""

    id: str | None
    result: Raw | None
    error: str


class Frame(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A frame from the product.

    `event` is the name of an event and "" for a response; `response` is None for events. `data` is the typed data of
    an event: None for responses, for events of an unknown name and when they cannot be decoded. `card_text` are the
    very bytes of the card of a ``tool.card`` event, None without one. `beyond` are the pointers of members that the
    shapes do not know. `fault` says why data or card could not be decoded, None when there is nothing to say.
    """

    instance_id: str
    seq: int
    event: str
    data: RunEvent | None = None
    response: Response | None = None
    card_text: bytes | None = None
    beyond: tuple[str, ...] = ()
    fault: WireError | None = None


class _Version(Shape, frozen=True, kw_only=True):
    schema_version: int


_request = Strict(Request)
_envelope = Strict(_Envelope)
_card_event = msgspec.json.Decoder(_CardEvent).decode
_activity_event = msgspec.json.Decoder(_ActivityEvent).decode
_card = Strict(Card)
_version = msgspec.json.Decoder(_Version).decode


def decode_request(text: bytes) -> Request:
    """A frame to the product. Raises WireError."""
    return _request(check_utf8(text))[0]


def decode_frame(text: bytes) -> Frame:
    """A frame from the product. Raises WireError for whatever keeps it from being read whole."""
    frame = read_frame(text)
    if frame.fault is not None:
        raise frame.fault
    return frame


def read_frame(text: bytes) -> Frame:
    """A frame from the product, as far as it can be read: a fault inside of its data or card is part of the value.

    Raises WireError (path: a JSON pointer, offset: a byte of `text`) when not even the envelope can be read.
    """
    if (frame := _quickly(text)) is not None:
        return frame
    try:
        envelope, beyond = _open(text)
        frame = _whole(envelope, beyond)
        if type(frame.data) in _UNBOUNDED and depth(parse(text)) > bounds.JSON_DEPTH:
            raise too_deep("")
    except WireError as error:
        raise _placed(error, text) from None
    return frame if frame.fault is None else msgspec.structs.replace(frame, fault=_placed(frame.fault, text))


def _quickly(text: bytes) -> Frame | None:
    """A well-formed event of a card or an activity; None for everything else, about which nothing is said here.

    A frame that encodes to itself has its members in their sorted order, and no quote in a string stands unescaped: so
    the card lies between its own name and that of the member after it.
    """
    decode = _card_event if _CARD_NAME in text else _activity_event if _ACTIVITY in text else None
    if decode is None:
        return None
    try:
        whole = decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None
    if encode(whole) != text:
        return None
    data = whole.data
    card_text = None
    if isinstance(data, ToolCard):
        if data.card is None or data.card.schema_version != bounds.CARD_SCHEMA_VERSION:
            return None
        card_text = text[text.index(_CARD_NAME) + len(_CARD_NAME) : text.rindex(_AFTER_CARD)]
    return Frame(
        instance_id=whole.instance_id,
        seq=whole.seq,
        event="activity" if card_text is None else "tool.card",
        data=data,
        card_text=card_text,
    )


_CARD_NAME, _AFTER_CARD = b'"card":', b',"last_part":'
_ACTIVITY = b'"event":"activity"'
_UNBOUNDED = (type(None), ClientToolCall)
"""Data whose shape does not bound how deeply it is nested."""


def decode_card(text: bytes, base: str = "") -> tuple[Card, tuple[str, ...]]:
    """A card and the pointers of its unknown members. Raises WireError."""
    try:
        card, beyond = _card(text, base)
        version = card.schema_version
    except WireError:
        try:
            version = _version(text).schema_version
        except (msgspec.MsgspecError, RecursionError):
            version = bounds.CARD_SCHEMA_VERSION
        if version == bounds.CARD_SCHEMA_VERSION:
            raise
    if version != bounds.CARD_SCHEMA_VERSION:
        where = f"{base}/schema_version"
        raise WireError(f"schema version {version}", rule="wire.schema-version", path=where)
    return card, beyond


def _open(text: bytes) -> tuple[_Envelope, tuple[str, ...]]:
    try:
        envelope, beyond = _envelope(check_utf8(text))
    except WireError as error:
        if error.rule != "wire.schema":
            raise
        raise _no_frame(error.message, error.path) from None
    has_result, has_error = envelope.result is not UNSET, envelope.error is not UNSET
    has_event, has_data, has_id = envelope.event is not UNSET, envelope.data is not UNSET, envelope.id is not UNSET
    if envelope.type == "response" and (not has_id or has_result is has_error or has_event or has_data):
        raise _no_frame("a response has `id` and exactly one of `result` and `error`", "")
    if envelope.type == "event" and (not has_event or not has_data or has_result or has_error or has_id):
        raise _no_frame("an event has `event` and `data`, and no `id`, `result` or `error`", "")
    return envelope, beyond


def _no_frame(message: str, path: str) -> WireError:
    return WireError(message, rule="wire.envelope", path=path)


def _whole(envelope: _Envelope, beyond: tuple[str, ...]) -> Frame:
    event = envelope.event if isinstance(envelope.event, str) else ""
    frame = Frame(instance_id=envelope.instance_id, seq=envelope.seq, event=event, beyond=beyond)
    if not event:
        response = Response(
            id=envelope.id if isinstance(envelope.id, str) else None,
            result=envelope.result if isinstance(envelope.result, Raw) else None,
            error=envelope.error.code if isinstance(envelope.error, Fault) else "",
        )
        return msgspec.structs.replace(frame, response=response)
    if event not in EVENTS or not isinstance(envelope.data, Raw):
        return frame
    try:
        data, more = EVENTS[event](bytes(envelope.data), "/data")
    except WireError as error:
        return msgspec.structs.replace(frame, fault=error)
    card_text, fault = None, None
    if isinstance(data, UnreadCard):
        card = None
        card_text = bytes(data.card)
        try:
            card, of_card = decode_card(card_text, "/data/card")
            more += of_card
        except WireError as error:
            fault = error
        data = ToolCard(
            activity_id=data.activity_id,
            card=card,
            last_part=data.last_part,
            part=data.part,
            run_id=data.run_id,
            session_id=data.session_id,
        )
    return msgspec.structs.replace(frame, data=data, card_text=card_text, beyond=beyond + more, fault=fault)


def _placed(error: WireError, text: bytes) -> WireError:
    """The same error with its offset in the frame: decoders of a part count from that part, or not at all."""
    start = locate(text, error.path) if error.path or error.offset is None else 0
    offset = start if error.offset is None else (start or 0) + error.offset
    return WireError(error.message, rule=error.rule, path=error.path, offset=offset)
