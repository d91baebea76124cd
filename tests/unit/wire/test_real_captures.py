"""Real captures of three releases: everything in them is understood, and the only broken rule is a known one."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from harness.wire.reading import Reading, read_capture

FOLDER = Path(__file__).parents[2] / "data" / "captures"
ALL = sorted(path.name.removesuffix(".jsonl.gz") for path in FOLDER.iterdir())
CARDS = {
    "mixed-script": 4,
    "cancelled-script": 4,
    "killed-script": 4,
    "legacy-script": 4,
    "legacy-batch": 7,
    "mixed-batch": 8,
}
"""Cards of the live run: the script or batch, its tasks, and every call."""


def capture(name: str) -> bytes:
    return gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes())


def read(name: str) -> Reading:
    return read_capture(capture(name))


def test_the_captures_are_there() -> None:
    assert len(ALL) == 14


@pytest.mark.parametrize("name", ALL)
def test_the_only_broken_rule_is_the_stray_rows_member(name: str) -> None:
    reading = read(name)

    assert {breach.rule for breach in reading.breaches} <= {"wire.exact-members"}
    for breach in reading.breaches:
        assert breach.label.endswith(".rows")
        assert breach.observed == "a member"
        assert breach.offset is not None
        assert capture(name).splitlines()[breach.line - 1].count(b"rows") > 0
    assert reading.negotiated is True
    assert reading.footer is False
    assert reading.cut is False
    assert reading.refusals == ()


@pytest.mark.parametrize("name", [name for name in ALL if name.startswith("0.96.6") and name.endswith("live")])
def test_the_oldest_release_breaks_no_rule(name: str) -> None:
    assert read(name).breaches == ()


@pytest.mark.parametrize("name", [name for name in ALL if not name.startswith("0.96.6-") or name.endswith("reopen")])
def test_the_later_releases_send_a_member_too_many(name: str) -> None:
    assert read(name).breaches


@pytest.mark.parametrize("name", [name for name in ALL if name.endswith("live")])
def test_live_runs_are_folded_whole(name: str) -> None:
    [run] = read(name).runs

    kind = name.split("-", 1)[1].removesuffix(".live")
    assert len(run.activities) == CARDS[kind]
    killed = kind.startswith("killed")
    assert (run.finished is None) is killed
    held = [one.snapshot for one in run.activities.values()]
    assert None not in held
    assert all(one.finished for one in run.activities.values()) is not killed
    assert run.turn == 1


@pytest.mark.parametrize("name", [name for name in ALL if name.endswith("reopen")])
def test_reopened_histories_are_read_whole(name: str) -> None:
    reading = read(name)

    [history] = reading.histories
    assert reading.runs == ()
    assert history.read is True
    assert history.complete is ("killed" not in name)
    assert history.turns == 1
    assert all(one.snapshot is not None for one in history.entries if one.kind == "activity")


def test_every_prefix_of_a_real_capture_is_read_without_blame() -> None:
    lines = capture("0.104.0-mixed-batch.live").splitlines(keepends=True)

    for end in range(0, len(lines), 7):
        reading = read_capture(b"".join(lines[:end]))
        assert {breach.rule for breach in reading.breaches} <= {"wire.exact-members"}
        assert reading.lines == end
