"""What a verdict keeps of the bundles it was made of: their manifests, what is cited of them, and where they lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.acceptance import Bundles, Verified
from harness.bundle import read_bundle
from harness.model.errors import EvidenceError
from harness.model.facts import Place
from harness.proofs import Cited, Proofs, lines_at
from tests.support.bundles import write

NAME = "reads-notes.local-agent"


@pytest.fixture
def verified(tmp_path: Path) -> Verified:
    write(tmp_path / NAME)
    bundle = read_bundle(tmp_path / NAME)
    return Verified(folder=tmp_path / NAME, manifest=bundle.manifest, sha256=bundle.manifest_sha256)


def test_a_bundle_is_read_when_it_is_asked_for(verified: Verified) -> None:
    bundles = Bundles({NAME: verified})
    assert list(bundles) == [NAME]
    assert bundles[NAME].manifest == verified.manifest
    assert bundles[NAME] is bundles[NAME]
    assert "another" not in bundles


def test_a_bundle_that_took_the_place_of_the_judged_one_is_not_taken_for_it(verified: Verified) -> None:
    write(verified.folder, replace=True, recorded_at="2026-11-30T12:00:01Z")
    read_bundle(verified.folder)
    with pytest.raises(EvidenceError, match="not the bundle that was judged"):
        Bundles({NAME: verified})[NAME]


def test_lines_are_counted_from_one_and_frames_come_without_what_is_around_them() -> None:
    session = b'{"type":"session"}\n{"type":"message"}\n'
    assert lines_at(session, "session.jsonl", [2, 3, 0, -1]) == {2: '{"type":"message"}'}
    capture = b'{"at": 1, "direction": "from_product", "line": "{\\"id\\":1}"}\n'
    assert lines_at(capture, "local-agent.live.jsonl", [1]) == {1: '{"id":1}'}


def test_what_is_cited_is_not_read_again(verified: Verified) -> None:
    session = verified.manifest.session
    place = Place(file=session, line=2, offset=8, pointer="/type")
    read = Proofs(Bundles({NAME: verified})).excerpt(NAME, place)
    assert read is not None
    assert [read.formatted[slice(*span)] for span in read.highlight] == ['"message"']
    cited = Cited(lines={(session, 2): '{"type":"message"}'})
    assert Proofs({}, {NAME: cited}).excerpt(NAME, place) == read
    assert Proofs({}, {NAME: cited}).excerpt(NAME, Place(file=session, line=1, pointer="")) is None
