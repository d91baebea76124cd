"""The file about stability: one that says nothing of the runs at hand, and is taken as if it did."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.evidence_folder import digest_of
from harness.model.errors import EvidenceError
from harness.model.stability import Repeated, Stability, Variation
from harness.stability_file import FILE, FILE_BYTES, decode, encode, merged, read_state

VARIED = Variation(
    what="fact",
    observation="a",
    surface="local-agent-live",
    card="turn1/call1",
    label="Total calls",
    ordinal=0,
    detail="",
    values=("3 (agree)", "4 (disagree)"),
)
ENTRY = Repeated(
    release="0.104.0",
    recordings=2,
    manifests={"a": ("a1", "a2"), "b": ("b1", "b2")},
    compared=9,
    not_compared=1,
    variations=(),
)
JUDGED = {"a": "a1", "b": "b1"}


def written(folder: Path, entry: Repeated = ENTRY) -> Path:
    (folder / FILE).write_bytes(encode(Stability(schema=1, harness="1", releases=(entry,))))
    return folder


def test_what_was_written_is_read(tmp_path: Path) -> None:
    entry = msgspec.structs.replace(ENTRY, variations=(VARIED,))
    assert decode((written(tmp_path, entry) / FILE).read_bytes(), where=FILE).releases == (entry,)
    assert len(digest_of(tmp_path / FILE)) == 64


def test_runs_that_came_out_alike_have_no_fault(tmp_path: Path) -> None:
    state = read_state(written(tmp_path), release="0.104.0", manifests=JUDGED, varying={})
    assert (state.fault, state.undeclared, state.repeated) == ("", (), ENTRY)


@pytest.mark.parametrize("judged", [{"a": "a2", "b": "b2"}, {"a": "a1"}, {}])
def test_any_of_the_recordings_may_be_the_judged_one(judged: dict[str, str], tmp_path: Path) -> None:
    assert not read_state(written(tmp_path), release="0.104.0", manifests=judged, varying={}).fault


@pytest.mark.parametrize(
    ("manifests", "said"),
    [
        ({"a": "a3", "b": "b1"}, "facts of a vary"),
        ({"a": "a3", "b": "b3"}, "facts of a and 1 more vary"),
        ({"a": "a1", "b": "b1", "c": "c1"}, "facts of c vary"),
    ],
)
def test_a_run_recorded_once_or_anew_is_not_known_to_be_stable(
    manifests: dict[str, str], said: str, tmp_path: Path
) -> None:
    assert said in read_state(written(tmp_path), release="0.104.0", manifests=manifests, varying={}).fault


def test_one_recording_listed_twice_is_one_recording(tmp_path: Path) -> None:
    entry = msgspec.structs.replace(ENTRY, manifests={"a": ("a1", "a1"), "b": ("b1", "b2")})
    assert (
        "facts of a vary" in read_state(written(tmp_path, entry), release="0.104.0", manifests=JUDGED, varying={}).fault
    )


def test_what_varied_is_excused_by_the_scenario_alone(tmp_path: Path) -> None:
    written(tmp_path, msgspec.structs.replace(ENTRY, variations=(VARIED,)))
    for varying, undeclared in (
        ({}, (VARIED,)),
        ({"b": ("Total calls",)}, (VARIED,)),
        ({"a": ("Failed calls",)}, (VARIED,)),
        ({"a": ("Total calls",)}, ()),
    ):
        state = read_state(tmp_path, release="0.104.0", manifests=JUDGED, varying=varying)
        assert state.undeclared == undeclared
        assert state.declared == 1 - len(undeclared)


def test_another_release_keeps_its_own_entry(tmp_path: Path) -> None:
    written(tmp_path)
    assert "no run of 0.100.0" in read_state(tmp_path, release="0.100.0", manifests={}, varying={}).fault
    older = msgspec.structs.replace(ENTRY, release="0.100.0")
    assert [entry.release for entry in merged(tmp_path, older).releases] == ["0.100.0", "0.104.0"]
    newer = msgspec.structs.replace(ENTRY, recordings=3)
    assert merged(tmp_path, newer).releases == (newer,)


BAD = {
    "empty": b"",
    "cut": encode(Stability(schema=1, harness="1", releases=(ENTRY,)))[:-9],
    "not UTF-8": b'{"schema": 1, "harness": "\xff", "releases": []}',
    "member twice": b'{"schema": 1, "schema": 1, "harness": "1", "releases": []}',
    "unknown member": b'{"schema": 1, "harness": "1", "releases": [], "more": 1}',
    "other schema": b'{"schema": 2, "harness": "1", "releases": []}',
    "deep": b"[" * 5_000,
    "release twice": encode(Stability(schema=1, harness="1", releases=(ENTRY, ENTRY))),
    "one recording": encode(Stability(schema=1, harness="1", releases=(msgspec.structs.replace(ENTRY, recordings=1),))),
    "more manifests than recordings": encode(
        Stability(schema=1, harness="1", releases=(msgspec.structs.replace(ENTRY, manifests={"a": ("1", "2", "3")}),))
    ),
    "large": b" " * (FILE_BYTES + 1),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_read_proves_nothing_and_is_not_overwritten(name: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(BAD[name])
    assert read_state(tmp_path, release="0.104.0", manifests=JUDGED, varying={}).fault
    with pytest.raises(EvidenceError):
        merged(tmp_path, ENTRY)


def test_no_file_and_a_link_prove_nothing(tmp_path: Path) -> None:
    assert "second time" in read_state(tmp_path, release="0.104.0", manifests=JUDGED, varying={}).fault
    (tmp_path / "elsewhere").mkdir()
    written(tmp_path / "elsewhere")
    (tmp_path / FILE).symlink_to(tmp_path / "elsewhere" / FILE)
    assert "is a link" in read_state(tmp_path, release="0.104.0", manifests=JUDGED, varying={}).fault
    with pytest.raises(EvidenceError, match="is a link"):
        merged(tmp_path, ENTRY)
