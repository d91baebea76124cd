"""Whatever is written reads back, whatever is changed is found, and no bytes at all surprise the reader."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.bundle import layout, read_bundle
from harness.bundle.verified import Contents, verified
from harness.model.errors import EvidenceError
from tests.support import bundles


@pytest.fixture(autouse=True, scope="module")
def _fast_disk() -> Iterator[None]:
    """What the disk promises is not what is tested here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)
        yield


_PART = st.text("abcXYZ019._-", min_size=1, max_size=8).map(lambda text: f"m{text}")
_ENDING = st.sampled_from(["", ".json", ".jsonl", ".cast", ".gz", ".jsonl.gz"])
_SAFE = st.builds(lambda parts, ending: "/".join(parts) + ending, st.lists(_PART, min_size=1, max_size=2), _ENDING)
_ANY = st.text(max_size=12)
_MEMBERS = st.dictionaries(st.one_of(_SAFE, _SAFE, _SAFE, _ANY), st.binary(max_size=300), max_size=5)


@settings(max_examples=40, deadline=None)
@given(more=_MEMBERS)
def test_members_read_back_as_written_or_are_refused_leaving_nothing(more: dict[str, bytes]) -> None:
    members = {**more, **bundles.MEMBERS}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "release" / "run"
        try:
            manifest = bundles.write(folder, members)
        except EvidenceError:
            assert list(Path(place).iterdir()) == []
            return
        read = read_bundle(folder)
        assert read.manifest == manifest
        assert {name: read.read(layout.stored_name(name)) for name in members} == members
        assert len(bundles.files(folder)) == len(members) + 2


@settings(max_examples=40, deadline=None)
@given(name=_SAFE.filter(lambda name: not name.endswith(".gz")), content=st.binary(max_size=100))
def test_safe_name_beside_the_others_is_never_refused(name: str, content: bytes) -> None:
    stored = layout.compress(content) if name.endswith((".jsonl", ".cast")) else content
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        bundles.write(folder, bundles.MEMBERS | {name: content})
        assert bundles.files(folder)[layout.stored_name(name)] == stored
        assert read_bundle(folder).read(layout.stored_name(name)) == content


def _small() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as place:
        bundles.write(Path(place) / "run")
        return bundles.files(Path(place) / "run")


SMALL = _small()


def refused(files: Mapping[str, bytes]) -> tuple[str, ...]:
    with pytest.raises(EvidenceError) as caught:
        verified(Contents(where="run", files=files))
    assert caught.value.where.startswith("run")
    assert caught.value.reasons
    return caught.value.reasons


@settings(max_examples=120, deadline=None)
@given(name=st.sampled_from(sorted(SMALL)), start=st.integers(0), length=st.integers(0, 40), new=st.binary(max_size=40))
def test_any_change_of_any_stored_byte_is_found(name: str, start: int, length: int, new: bytes) -> None:
    content = SMALL[name]
    at = start % (len(content) + 1)
    changed = content[:at] + new + content[at + length :]
    if changed == content:
        assert verified(Contents(where="run", files=SMALL)).manifest.observation == "reads-notes.local-agent"
        return
    reasons = refused(SMALL | {name: changed})
    assert any(name in reason for reason in reasons)


@settings(max_examples=40, deadline=None)
@given(order=st.permutations(sorted(SMALL)))
def test_files_that_change_places_are_found(order: list[str]) -> None:
    moved = {name: SMALL[source] for name, source in zip(sorted(SMALL), order, strict=True)}
    if moved != SMALL:
        refused(moved)


_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=6,
)


def _spots(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path] if path else []
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        found += _spots(member, (*path, key))
    return found


PLAIN: dict[str, Any] = msgspec.json.decode(SMALL["manifest.json"])
SPOTS = _spots(PLAIN)


@settings(max_examples=120, deadline=None)
@given(spot=st.sampled_from(SPOTS), value=_JSON, drop=st.booleans())
def test_any_value_anywhere_in_a_sealed_manifest_verifies_or_is_refused(
    spot: tuple[str | int, ...], value: object, drop: bool
) -> None:
    plain: Any = copy.deepcopy(PLAIN)
    holder = plain
    for key in spot[:-1]:
        holder = holder[key]
    if drop:
        del holder[spot[-1]]
    else:
        holder[spot[-1]] = value
    files = bundles.seal(SMALL, msgspec.json.encode(plain) + b"\n")
    if files == SMALL:
        return
    try:
        read = verified(Contents(where="run", files=files))
    except EvidenceError:
        return
    # What still verifies is another run's description of the very same members.
    assert spot[0] not in ("schema", "files", "stimulus_sha256")
    assert read.stored == {name: SMALL[name] for name in read.manifest.files}


@settings(max_examples=100, deadline=None)
@given(text=st.one_of(st.binary(max_size=60), _JSON.map(lambda value: msgspec.json.encode(value) + b"\n")))
def test_any_bytes_as_a_sealed_manifest_are_refused(text: bytes) -> None:
    refused(bundles.seal(SMALL, text))
