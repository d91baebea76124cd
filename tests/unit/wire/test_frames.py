"""One line's text: what a frame is, and what is said about one that is not."""

from __future__ import annotations

import json

import pytest

from harness.model.errors import DecodeError
from harness.spec import bounds
from harness.wire.events import ClientToolCall, RunFinished, ToolCard
from harness.wire.frames import decode_card, decode_frame, decode_request, read_frame
from harness.wire.shapes import Progress, Results
from harness.wire.strict import WireError
from tests.support.wire_frames import Json, Wire, card, compact, progress, results, row, script_run, text


def event(name: str, /, **data: object) -> bytes:
    wire = Wire()
    wire.run = "run-1"
    return compact(wire.event(name, **data) | {"seq": 7}).encode()


def card_event(snapshot: Json) -> bytes:
    return event("tool.card", activity_id=snapshot["activity_id"], card=snapshot, last_part=True, part=0)


SNAPSHOT = card("a1", title="Read “x”", blocks=[results(row("Lines", "1"), row('Say "card":{', None)), progress(1, 2)])


def test_a_card_event_gives_the_card_and_its_very_bytes() -> None:
    frame = decode_frame(card_event(SNAPSHOT))

    assert isinstance(frame.data, ToolCard)
    assert frame.data.card is not None
    assert (frame.event, frame.seq, frame.instance_id) == ("tool.card", 7, "instance-1")
    assert (frame.data.run_id, frame.data.activity_id) == ("run-1", "a1")
    assert frame.card_text == compact(SNAPSHOT).encode()
    assert frame.data.card.title == "Read “x”"
    first, second = frame.data.card.blocks
    assert isinstance(first, Results)
    assert isinstance(second, Progress)
    assert [(one.label, one.value) for one in first.rows] == [("Lines", "1"), ('Say "card":{', None)]
    assert frame.beyond == ()
    assert frame.fault is None


def test_the_spelling_of_a_frame_changes_nothing_but_its_bytes() -> None:
    tight = decode_frame(card_event(SNAPSHOT))
    loose_text = json.dumps(json.loads(card_event(SNAPSHOT)), indent=1).replace("\n", " ").encode()

    loose = decode_frame(loose_text)

    assert loose.data == tight.data
    assert loose.card_text is not None
    assert loose.card_text in loose_text
    assert json.loads(loose.card_text) == SNAPSHOT
    assert loose.beyond == ()


def test_a_stray_rows_member_is_kept_and_the_frame_is_whole() -> None:
    frame = decode_frame(card_event(card("a1", blocks=[text("x") | {"rows": None}])))

    assert frame.beyond == ()
    assert isinstance(frame.data, ToolCard)
    assert frame.data.card is not None
    assert frame.data.card.blocks[0].rows is None


@pytest.mark.parametrize(
    ("change", "beyond"),
    [
        ({"mood": 1}, "/data/card/mood"),
        ({"detail": {"availability": "complete", "reason": None, "why": "x"}}, "/data/card/detail/why"),
        ({"blocks": [text("x") | {"bold": True}]}, "/data/card/blocks/0/bold"),
    ],
)
def test_unknown_members_are_listed_with_their_pointer(change: Json, beyond: str) -> None:
    frame = decode_frame(card_event(card("a1", **change)))

    assert frame.beyond == (beyond,)
    assert frame.data is not None


def test_every_documented_event_is_typed() -> None:
    finished = decode_frame(
        event("run.finished", error_code=None, outcome="failed", persistence="durable", revision=None)
    )
    call = decode_frame(
        event(
            "client.tool.call",
            arguments={"a": [1]},
            call_id="c",
            name="client__x",
            subagent_id=None,
            task_id=None,
            timeout_ms=30_000,
        )
    )

    assert isinstance(finished.data, RunFinished)
    assert finished.data.outcome == "failed"
    assert finished.data.revision is None
    assert isinstance(call.data, ClientToolCall)
    assert call.data.arguments == {"a": [1]}


def test_an_event_of_an_unknown_name_is_a_frame_without_data() -> None:
    frame = decode_frame(event("tool.cord", anything=[1]))

    assert frame.event == "tool.cord"
    assert frame.data is None
    assert frame.fault is None


@pytest.mark.parametrize(
    ("change", "rule", "path"),
    [
        ({"state": "paused"}, "wire.schema", "/data/card/state"),
        ({"revision": -1}, "wire.schema", "/data/card/revision"),
        ({"revision": 2**53}, "wire.schema", "/data/card/revision"),
        ({"title": None}, "wire.schema", "/data/card/title"),
        ({"blocks": [{"type": "video"}]}, "wire.schema", "/data/card/blocks/0/type"),
        (
            {"blocks": [results({"label": "x", "value": 5, "outcome": "unknown"})]},
            "wire.schema",
            "/data/card/blocks/0/rows/0/value",
        ),
        ({"schema_version": 2}, "wire.schema-version", "/data/card/schema_version"),
        ({"schema_version": 2, "state": "paused"}, "wire.schema-version", "/data/card/schema_version"),
    ],
)
def test_a_card_that_cannot_be_read_leaves_the_frame_readable(change: Json, rule: str, path: str) -> None:
    data = card_event(card("a1", **change))

    frame = read_frame(data)

    assert isinstance(frame.data, ToolCard)
    assert frame.data.card is None
    assert frame.data.activity_id == "a1"
    assert frame.fault is not None
    assert (frame.fault.rule, frame.fault.path) == (rule, path)
    assert frame.fault.offset is not None
    name = json.dumps(path.rpartition("/")[2]).encode()
    assert data[: frame.fault.offset].endswith(name + b":")
    with pytest.raises(DecodeError, match="byte"):
        decode_frame(data)


def test_a_missing_member_is_placed_at_what_misses_it() -> None:
    snapshot = card("a1")
    del snapshot["title"]
    data = card_event(snapshot)

    frame = read_frame(data)

    assert frame.fault is not None
    assert "title" in frame.fault.message
    assert frame.fault.path == "/data/card"
    assert frame.fault.offset == data.index(b'{"activity_id":"a1","blocks"')


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "response", "id": "r1"},
        {"type": "response", "id": "r1", "result": {}, "error": {"code": "x"}},
        {"type": "response", "result": {}},
        {"type": "response", "id": "r1", "result": {}, "event": "x"},
        {"type": "event", "event": "x"},
        {"type": "event", "data": {}},
        {"type": "event", "event": "x", "data": {}, "result": {}},
        {"type": "note", "event": "x", "data": {}},
        {"type": "event", "event": "x", "data": {}, "version": 2},
        {"type": "event", "event": "x", "data": {}, "protocol": "other"},
        {"type": "event", "event": "x", "data": {}, "seq": "1"},
    ],
)
def test_what_is_neither_response_nor_event_is_no_frame(frame: Json) -> None:
    whole = {"instance_id": "i", "protocol": "magi-code.local-agent", "seq": 1, "version": 1} | frame

    with pytest.raises(WireError) as caught:
        read_frame(compact(whole).encode())

    assert caught.value.rule == "wire.envelope"


def test_responses_keep_result_or_error() -> None:
    wire = Wire()
    fine = decode_frame(compact(wire.answer("r1", result={"a": 1}) | {"seq": 1}).encode())
    bad = decode_frame(compact(wire.answer(None, error={"code": "invalid_frame"}) | {"seq": 2}).encode())

    assert fine.response is not None
    assert (fine.response.id, bytes(fine.response.result or b""), fine.response.error) == ("r1", b'{"a":1}', "")
    assert bad.response is not None
    assert (bad.response.id, bad.response.result, bad.response.error) == (None, None, "invalid_frame")
    assert fine.event == ""


@pytest.mark.parametrize("levels", [bounds.JSON_DEPTH - 2, bounds.JSON_DEPTH - 1])
def test_nesting_is_counted_over_the_whole_frame(levels: int) -> None:
    deep: object = 1
    for _ in range(levels):
        deep = [deep]
    data = compact(Wire().answer("r1", result={"deep": deep}) | {"seq": 1}).encode()

    if levels + 2 <= bounds.JSON_DEPTH:
        assert decode_frame(data).response is not None
    else:
        with pytest.raises(WireError, match="32 containers"):
            decode_frame(data)


def test_a_value_standing_twice_deep_in_an_untyped_result_is_refused() -> None:
    data = (
        compact(Wire().answer("r1", result={"deep": {"a": 1}}) | {"seq": 1}).encode().replace(b'"a":1', b'"a":1,"a":1')
    )

    with pytest.raises(WireError, match="uplicate"):
        decode_frame(data)


def test_a_member_standing_twice_in_a_card_is_placed_in_the_frame() -> None:
    data = card_event(SNAPSHOT).replace(b'"origin":"live"', b'"origin":"live","origin":"saved"')

    frame = read_frame(data)

    assert frame.fault is not None
    assert frame.fault.rule == "wire.frame-json"
    assert frame.fault.offset == data.index(b'"saved"')


def test_requests_are_read_with_any_spelling() -> None:
    asked = json.dumps(
        {"protocol": "magi-code.local-agent", "version": 1, "id": "r1", "method": "m", "params": {"a": 1}}
    )

    request = decode_request(asked.encode())

    assert (request.id, request.method, bytes(request.params)) == ("r1", "m", b'{"a": 1}')
    with pytest.raises(WireError):
        decode_request(b'{"id":"r1"}')


def test_a_card_by_itself_is_decoded_with_its_base() -> None:
    decoded, beyond = decode_card(compact(SNAPSHOT | {"x": 1}).encode(), "/result/entries/0/tool_card")

    assert decoded.activity_id == "a1"
    assert beyond == ("/result/entries/0/tool_card/x",)


def test_no_frame_of_a_whole_run_is_changed_by_decoding() -> None:
    for direction, frame in script_run().frames:
        if direction == "from_product":
            data = compact(frame | {"seq": 1}).encode()
            assert decode_frame(data).beyond == ()
