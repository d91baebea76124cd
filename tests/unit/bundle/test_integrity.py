"""Every byte of a bundle is covered: whatever is changed, dropped, added, swapped or replayed is found and named."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.bundle import read_bundle
from harness.model.errors import EvidenceError
from tests.support import bundles

MEMBERS = sorted(bundles.STORED - {"manifest.json", "manifest.json.sha256"})
CHECKSUM_REASON = "manifest.json.sha256 does not name the digest of manifest.json"


def reasons(folder: Path) -> tuple[str, ...]:
    """Why the folder does not verify; fails when it does, or when reading it changes anything."""
    before = bundles.files(folder)
    with pytest.raises(EvidenceError) as caught:
        read_bundle(folder)
    assert bundles.files(folder) == before
    assert str(folder) in caught.value.where
    assert caught.value.exit_code == 4
    return caught.value.reasons


def digest_reason(name: str) -> str:
    return f"{name} does not have the digest that the manifest states"


def test_untouched_bundle_reads_back_whole(bundle: Path) -> None:
    read = read_bundle(bundle)
    assert set(bundles.files(bundle)) == bundles.STORED
    assert set(read.manifest.files) == set(MEMBERS)
    assert read.stimulus == bundles.STIMULUS
    assert read.read("session.jsonl.gz") == bundles.MEMBERS["session.jsonl"]
    assert read.read("children/c1.jsonl.gz") == bundles.MEMBERS["children/c1.jsonl"]
    assert read.read("workspace.before.json") == bundles.MEMBERS["workspace.before.json"]
    assert read.manifest.session == "session.jsonl.gz"
    assert read.manifest.children == ("children/c1.jsonl.gz",)
    with pytest.raises(KeyError):
        read.read("session.jsonl")


@pytest.mark.parametrize("name", sorted(bundles.STORED))
def test_flipped_byte_at_any_position_is_caught(bundle: Path, name: str) -> None:
    path = bundle / name
    content = path.read_bytes()
    expected = digest_reason(name) if name in MEMBERS else CHECKSUM_REASON
    with path.open("r+b", buffering=0) as stream:
        for position, byte in enumerate(content):
            os.pwrite(stream.fileno(), bytes([byte ^ 1 << position % 8]), position)
            with pytest.raises(EvidenceError) as caught:
                read_bundle(bundle)
            assert caught.value.reasons == (expected,), f"byte {position} of {name}"
            os.pwrite(stream.fileno(), bytes([byte]), position)
    assert path.read_bytes() == content
    assert read_bundle(bundle).manifest.observation == "reads-notes.local-agent"


@pytest.mark.parametrize("name", sorted(bundles.STORED))
def test_file_cut_at_any_length_is_caught(bundle: Path, name: str) -> None:
    path = bundle / name
    content = path.read_bytes()
    for length in range(len(content) - 1, -1, -1 if len(content) < 100 else -41):
        os.truncate(path, length)
        with pytest.raises(EvidenceError) as caught:
            read_bundle(bundle)
        expected = (
            f"{name} has {length} bytes, the manifest says {len(content)}" if name in MEMBERS else CHECKSUM_REASON
        )
        assert caught.value.reasons == (expected,)


@pytest.mark.parametrize("name", sorted(bundles.STORED))
def test_byte_added_to_a_file_is_caught(bundle: Path, name: str) -> None:
    size = (bundle / name).stat().st_size
    with (bundle / name).open("ab") as stream:
        stream.write(b"\n")
    assert reasons(bundle) == ((f"{name} is larger than {size} bytes",) if name in MEMBERS else (CHECKSUM_REASON,))


@pytest.mark.parametrize("name", MEMBERS)
def test_dropped_member_is_caught(bundle: Path, name: str) -> None:
    (bundle / name).unlink()
    if name.startswith("children/"):
        (bundle / "children").rmdir()
    assert reasons(bundle) == (f"{name!r} is missing",)


@pytest.mark.parametrize("name", ["manifest.json", "manifest.json.sha256"])
def test_dropped_manifest_or_checksum_is_caught(bundle: Path, name: str) -> None:
    (bundle / name).unlink()
    assert reasons(bundle) == (f"{name} is missing",)


@pytest.mark.parametrize("name", ["extra.json", ".hidden", "children/c2.jsonl.gz", "further/member.json"])
def test_added_file_is_caught(bundle: Path, name: str) -> None:
    (bundle / name).parent.mkdir(exist_ok=True)
    (bundle / name).write_bytes(b"")
    assert reasons(bundle) == (f"{name!r} is not in the manifest",)


def test_added_empty_folder_is_caught(bundle: Path) -> None:
    (bundle / "empty").mkdir()
    assert reasons(bundle) == ("the folder 'empty' is empty",)


def test_renamed_member_is_caught_under_both_names(bundle: Path) -> None:
    (bundle / "workspace.before.json").rename(bundle / "workspace.after.json")
    assert reasons(bundle) == ("'workspace.before.json' is missing", "'workspace.after.json' is not in the manifest")


def test_members_that_change_places_are_caught(bundle: Path) -> None:
    first, second = bundle / "session.jsonl.gz", bundle / "children/c1.jsonl.gz"
    one, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other)
    second.write_bytes(one)
    found = reasons(bundle)
    assert len(found) == 2
    assert any(reason.startswith("session.jsonl.gz ") for reason in found)
    assert any(reason.startswith("children/c1.jsonl.gz ") for reason in found)


@pytest.mark.parametrize("name", sorted(bundles.STORED - {"stimulus.json"}))
def test_file_of_another_bundle_is_caught(tmp_path: Path, bundle: Path, name: str) -> None:
    other = tmp_path / "other"
    members = {member: content.swapcase() for member, content in bundles.MEMBERS.items()}
    bundles.write(other, members | {"stimulus.json": bundles.MEMBERS["stimulus.json"]}, observation="other.local-agent")
    assert read_bundle(other).manifest.observation == "other.local-agent"
    foreign = (other / name).read_bytes()
    assert foreign != (bundle / name).read_bytes()
    (bundle / name).write_bytes(foreign)
    (found,) = reasons(bundle)
    assert name in found


def test_old_manifest_with_its_checksum_does_not_cover_newer_members(tmp_path: Path, bundle: Path) -> None:
    newer = bundles.MEMBERS | {"session.jsonl": b'{"type":"session"}\n{"type":"MESSAGE"}\n'}
    again = tmp_path / "again"
    bundles.write(again, newer)
    for name in ("manifest.json", "manifest.json.sha256"):
        (again / name).write_bytes((bundle / name).read_bytes())
    (found,) = reasons(again)
    assert found.startswith("session.jsonl.gz ")


def test_every_damage_is_reported_at_once(bundle: Path) -> None:
    for name in MEMBERS:
        (bundle / name).write_bytes(b"?")
    found = reasons(bundle)
    assert len(found) == len(MEMBERS)
    assert all(any(reason.startswith(f"{name} ") for reason in found) for name in MEMBERS)


def test_stimulus_of_another_scenario_is_caught_though_every_digest_fits(
    tmp_path: Path, content: dict[str, bytes]
) -> None:
    changed = bundles.resealed(content, lambda plain: plain.update(stimulus_sha256="0" * 64))
    assert reasons(bundles.lay(tmp_path / "laid", changed)) == (
        "stimulus.json is not the stimulus that the manifest is bound to",
    )


@pytest.mark.parametrize(("member", "wrong"), [("sha256", "0" * 64), ("size", 40)])
def test_content_digest_is_checked_beside_the_stored_one(
    tmp_path: Path, content: dict[str, bytes], member: str, wrong: object
) -> None:
    changed = bundles.resealed(content, lambda plain: plain["files"]["session.jsonl.gz"].update({member: wrong}))
    folder = bundles.lay(tmp_path / "laid", changed)
    assert reasons(folder) == ("the content of session.jsonl.gz is not what the manifest states",)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: path.parent.stat(), "is not there"),
        (lambda path: path.write_text("a file"), "is not a folder"),
        (lambda path: path.symlink_to(path.with_name("run")), "is not a folder"),
        (lambda path: path.symlink_to(path), "is not a folder"),
        (lambda path: path.mkdir(), "manifest.json is missing"),
    ],
    ids=["nothing", "file", "link to a bundle", "link to itself", "empty folder"],
)
def test_what_is_no_folder_is_no_bundle(
    tmp_path: Path, bundle: Path, make: Callable[[Path], object], reason: str
) -> None:
    path = tmp_path / "place"
    make(path)
    with pytest.raises(EvidenceError) as caught:
        read_bundle(path)
    assert caught.value.reasons[0] == reason
    assert caught.value.where == str(path)


def test_hidden_folder_is_never_a_bundle(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = bundle.rename(bundle.with_name(".run.partial"))
    with pytest.raises(EvidenceError, match="unfinished recording"):
        read_bundle(hidden)
    monkeypatch.chdir(hidden)
    with pytest.raises(EvidenceError, match="unfinished recording"):
        read_bundle(Path())
