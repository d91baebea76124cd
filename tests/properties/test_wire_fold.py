"""The fold converges: whatever the order and repetition of snapshots, the same cards come out."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.wire.breaches import Key
from harness.wire.capture import Direction, Line, Lines, split
from harness.wire.events import ToolCard
from harness.wire.fold import Snapshot, fold
from harness.wire.frames import decode_card, decode_frame
from tests.support.wire_frames import card, compact, running

FOLDER = Path(__file__).parents[1] / "data" / "captures"
LIVE = sorted(path.name for path in FOLDER.glob("*.live.jsonl.gz"))


def snapshots(name: str) -> list[Snapshot]:
    found = []
    for line in Lines(split(gzip.decompress((FOLDER / name).read_bytes()))):
        if line.direction is not Direction.FROM_PRODUCT:
            continue
        frame = decode_frame(line.text)
        if isinstance(frame.data, ToolCard) and frame.data.card is not None and frame.card_text is not None:
            found.append(
                Snapshot(
                    key=Key(frame.data.run_id, frame.data.activity_id),
                    card=frame.data.card,
                    text=frame.card_text,
                    spot=line,
                    pointer="/data/card",
                )
            )
    return found


REAL = {name: snapshots(name) for name in LIVE}


@pytest.mark.parametrize("name", LIVE)
@given(data=st.data())
def test_real_snapshots_fold_alike_in_any_order(name: str, data: st.DataObject) -> None:
    sent = REAL[name]
    last_sent = {one.key: one.text for one in sent}

    arrived = data.draw(st.permutations(sent))
    again = data.draw(st.lists(st.sampled_from(sent), max_size=10))

    cards = fold([*again, *arrived])
    assert {key: one.text for key, one in cards.items()} == last_sent
    assert fold([*cards.values(), *arrived]) == cards
    assert fold(cards.values()) == cards


def built(activity: str, steps: list[dict[str, Any]]) -> list[Snapshot]:
    """What a product that keeps the rules sends of one card: growing revisions, and once finished for good."""
    sent = []
    revision = -1
    for number, step in enumerate(steps):
        revision += step["gap"]
        made = card(activity, title=step["title"], revision=revision)
        if number < step["finishes"]:
            made = running(made, revision)
        text = compact(made).encode()
        spot = Line(number=number + 1, at=0, direction=Direction.FROM_PRODUCT, text=text)
        sent.append(
            Snapshot(key=Key("run", activity), card=decode_card(text)[0], text=text, spot=spot, pointer="/data/card")
        )
    return sent


@st.composite
def streams(draw: st.DrawFn) -> list[list[Snapshot]]:
    found = []
    for activity in draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=4, unique=True)):
        finishes = draw(st.integers(0, 6))
        step = st.fixed_dictionaries(
            {"gap": st.integers(1, 3), "title": st.text(max_size=5), "finishes": st.just(finishes)}
        )
        found.append(built(activity, draw(st.lists(step, min_size=1, max_size=6))))
    return found


@given(sent=streams(), data=st.data())
def test_any_lawful_stream_folds_to_what_was_sent_last(sent: list[list[Snapshot]], data: st.DataObject) -> None:
    everything = [one for stream in sent for one in stream]
    arrived = data.draw(st.permutations(everything))
    cut = data.draw(st.integers(0, len(arrived)))

    cards = fold(arrived)

    assert {key: one.text for key, one in cards.items()} == {stream[-1].key: stream[-1].text for stream in sent}
    assert fold([*fold(arrived[:cut]).values(), *fold(arrived[cut:]).values()]) == cards


@given(data=st.data())
def test_even_an_unlawful_stream_folds_alike_in_any_order(data: st.DataObject) -> None:
    made = [
        built("a", [{"gap": data.draw(st.integers(1, 2)), "title": title, "finishes": data.draw(st.integers(0, 1))}])[0]
        for title in data.draw(st.lists(st.sampled_from(["x", "y"]), min_size=1, max_size=5))
    ]

    one, other = fold(made), fold(data.draw(st.permutations(made)))

    assert {key: held.text for key, held in one.items()} == {key: held.text for key, held in other.items()}
