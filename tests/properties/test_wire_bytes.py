"""Whatever bytes arrive: an answer or a DecodeError, and nothing that is not as agreed passes unseen."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from harness.model.errors import DecodeError
from harness.model.facts import ColumnFacts
from harness.observe.local_agent import live, reopen, timeline
from harness.spec.requirements import REQUIREMENTS
from harness.wire.frames import read_frame
from harness.wire.locate import Locator, pointer
from harness.wire.reading import read_capture
from harness.wire.rules import RULES
from tests.support.wire_frames import (
    Json,
    Wire,
    batch_run,
    card,
    children,
    compact,
    history,
    line,
    progress,
    results,
    row,
    text,
)

FOLDER = Path(__file__).parents[1] / "data" / "captures"
LINES = gzip.decompress((FOLDER / "0.104.0-mixed-batch.live.jsonl.gz").read_bytes()).splitlines(keepends=True)
PAGES = gzip.decompress((FOLDER / "0.104.0-mixed-batch.reopen.jsonl.gz").read_bytes()).splitlines(keepends=True)
IDS = {rule.id for rule in RULES} | {entry.id for entry in REQUIREMENTS}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


def answer(reader: Callable[[], Any]) -> Any:
    """What a reader answers, or the DecodeError with which it refuses; anything else escapes and fails the test."""
    try:
        return reader()
    except DecodeError as error:
        return error


def observed(capture: bytes) -> None:
    """All readers answer or refuse alike; every problem names a rule and a place."""
    answers = [
        answer(lambda: live(capture, file="f", complete=True)),
        answer(lambda: reopen(capture, file="f", complete=True)),
        answer(lambda: timeline(capture)),
    ]
    refused = [one for one in answers if isinstance(one, DecodeError)]
    assert len(refused) in (0, 3)
    assert all(one.where for one in refused)
    for column in (one for one in answers if isinstance(one, ColumnFacts)):
        assert {problem.requirement for problem in column.problems} <= IDS
        assert all(problem.place is not None for problem in column.problems)
        assert all(one.path and one.place is not None for one in column.cards)


@given(capture=st.binary(max_size=300))
def test_any_bytes_are_answered(capture: bytes) -> None:
    observed(capture)


@given(
    frames=st.lists(
        st.tuples(st.sampled_from(["to_product", "from_product", "footer"]), st.text(max_size=60)), max_size=5
    )
)
def test_any_text_in_a_capture_is_answered(frames: list[tuple[str, str]]) -> None:
    capture = b"".join(line(number, direction, said) for number, (direction, said) in enumerate(frames))

    assert read_capture(capture).lines == len(frames)
    observed(capture)


@given(frames=st.lists(JSON, max_size=4))
def test_any_json_in_a_capture_is_answered(frames: list[object]) -> None:
    observed(b"".join(line(1, "from_product", json.dumps(frame)) for frame in frames))


@given(data=st.data(), source=st.sampled_from([LINES, PAGES]))
def test_a_real_capture_with_changed_bytes_is_answered(data: st.DataObject, source: list[bytes]) -> None:
    start = data.draw(st.integers(0, max(len(source) - 12, 0)))
    capture = bytearray(b"".join(source[start : start + 12]))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(capture) - 1))
        capture[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))

    observed(bytes(capture))


@given(data=st.data())
def test_a_real_capture_with_a_changed_member_is_answered(data: st.DataObject) -> None:
    wire = data.draw(st.sampled_from([batch_run, history]))()
    frames = [frame for direction, frame in wire.frames if direction == "from_product"]
    frame = data.draw(st.sampled_from(frames))
    holder, name = data.draw(st.sampled_from(list(places(frame))))
    holder[name] = data.draw(JSON)

    observed(wire.encode())


def places(value: object) -> list[tuple[Any, Any]]:
    """(container, key) of every value at every depth."""
    found: list[tuple[Any, Any]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        found.append((value, name))
        found += places(inner)
    return found


def objects(value: object, at: str = "") -> list[tuple[str, Json]]:
    found = [(at, value)] if isinstance(value, dict) else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        found += objects(inner, f"{at}{pointer(name)}")
    return found


def full_card() -> Json:
    return card(
        "a1",
        blocks=[
            results(row("Lines", "1"), row("More", None)),
            text("x"),
            children(card("a2"), total=1),
            progress(1, 2),
        ],
        omissions=[{"omitted_count": 1, "reason": "size_limit", "subject": "rows"}],
        detail={"availability": "truncated", "reason": "size_limit"},
    )


def framed(snapshot: Json) -> Json:
    wire = Wire()
    wire.run = "run-1"
    return wire.card(snapshot) | {"seq": 1}


@given(data=st.data(), name=st.text(min_size=1, max_size=6), value=JSON)
def test_a_member_beyond_the_shape_never_passes_unseen(data: st.DataObject, name: str, value: object) -> None:
    frame = framed(full_card())
    at, holder = data.draw(st.sampled_from(objects(frame)))
    assume(name not in holder and (at != "" or name not in ("id", "result", "error")))
    holder[name] = value

    read = read_frame(compact(frame).encode())

    kept_for_the_card_check = name == "rows" and holder.get("type") in ("text", "children", "progress")
    assert f"{at}{pointer(name)}" in read.beyond or kept_for_the_card_check


@given(data=st.data())
def test_a_member_that_stands_twice_never_passes_unseen(data: st.DataObject) -> None:
    frame = framed(full_card())
    _, holder = data.draw(st.sampled_from([one for one in objects(frame) if one[1]]))
    name = data.draw(st.sampled_from(sorted(holder)))
    member = f"{json.dumps(name)}:{compact(holder[name])}"
    mark = "@@"
    holder[mark] = 1
    doubled = compact(frame).replace(f'"{mark}":1', member)

    read = answer(lambda: read_frame(doubled.encode()))

    refusal = read if isinstance(read, DecodeError) else read.fault
    assert refusal is not None
    assert "uplicate" in refusal.message


@given(data=st.data())
def test_the_order_of_members_and_spaces_change_no_value(data: st.DataObject) -> None:
    frame = framed(full_card())

    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: shuffled(value[name]) for name in data.draw(st.permutations(sorted(value)))}
        return [shuffled(one) for one in value] if isinstance(value, list) else value

    loose = json.dumps(
        shuffled(frame), indent=data.draw(st.sampled_from([None, 1])), ensure_ascii=data.draw(st.booleans())
    )

    tight_frame, loose_frame = read_frame(compact(frame).encode()), read_frame(loose.encode())
    assert loose_frame.data == tight_frame.data
    assert loose_frame.beyond == ()
    assert json.loads(loose_frame.card_text or b"") == full_card()


@given(value=JSON, ascii_only=st.booleans())
def test_offsets_lead_to_the_value(value: object, ascii_only: bool) -> None:
    spelled = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    locator = Locator(spelled)

    def check(inner: object, at: str) -> None:
        offset = locator.offset(at)
        assert offset is not None
        found, _ = json.JSONDecoder().raw_decode(spelled[offset:].decode("utf-8", "surrogatepass"))
        assert found == inner
        if isinstance(inner, dict):
            for name, member in inner.items():
                check(member, f"{at}{pointer(name)}")
        if isinstance(inner, list):
            for index, member in enumerate(inner):
                check(member, f"{at}/{index}")

    check(value, "")
