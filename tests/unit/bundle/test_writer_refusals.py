"""What would not verify is never written, and a refusal leaves the disk as it was."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.bundle import layout, read_bundle, write_bundle
from harness.model.errors import EvidenceError, UsageError
from harness.model.facts import Column
from harness.model.manifest import Capture, Product
from tests.support import bundles


def refused(folder: Path, members: Mapping[str, bytes] = bundles.MEMBERS, **changes: object) -> EvidenceError:
    """The refusal, after which not even the parent folder was made."""
    with pytest.raises(EvidenceError) as caught:
        write_bundle(folder, bundles.manifest(**changes), members)
    assert not folder.parent.exists()
    return caught.value


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../x.json", "a/b/c.json", "", ".", "..", ".x", "a b", "a\\b", "ü.json", "x/../y.json", "a" * 101],
)
def test_unsafe_member_name_is_refused(tmp_path: Path, name: str) -> None:
    error = refused(tmp_path / "release" / "run", bundles.MEMBERS | {name: b"{}"})
    assert error.message == f"member {name!r} is not a plain relative name of at most one folder"
    assert error.where == name


@pytest.mark.parametrize("name", ["manifest.json", "manifest.json.sha256", "session.jsonl.gz", "other.gz"])
def test_name_that_the_layout_gives_itself_is_refused(tmp_path: Path, name: str) -> None:
    error = refused(tmp_path / "release" / "run", bundles.MEMBERS | {name: b"{}"})
    assert error.message == f"a member must not be named {name!r}"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Stimulus.json", "Stimulus.json and stimulus.json differ only in capitals"),
        ("children", "children is a file and the folder of children/c1.jsonl.gz"),
    ],
)
def test_names_that_cannot_lie_beside_each_other_everywhere_are_refused(tmp_path: Path, name: str, reason: str) -> None:
    assert refused(tmp_path / "release" / "run", bundles.MEMBERS | {name: b"{}"}).reasons == (reason,)


@pytest.mark.parametrize("name", ["stimulus.json", "session.jsonl", "children/c1.jsonl", "local-agent.live.jsonl"])
def test_manifest_that_refers_to_a_member_not_given_is_refused(tmp_path: Path, name: str) -> None:
    members = {member: content for member, content in bundles.MEMBERS.items() if member != name}
    error = refused(tmp_path / "release" / "run", members)
    assert error.reasons == (f"the manifest names {layout.stored_name(name)!r}, which it does not list",)
    assert error.message.startswith("would not verify: ")


def test_stimulus_other_than_the_one_the_manifest_is_bound_to_is_refused(tmp_path: Path) -> None:
    error = refused(tmp_path / "release" / "run", stimulus_sha256="0" * 64)
    assert error.reasons == ("stimulus.json is not the stimulus that the manifest is bound to",)


def test_manifest_of_another_schema_is_refused(tmp_path: Path) -> None:
    assert "schema 2" in refused(tmp_path / "release" / "run", schema=2).message


def test_manifest_that_is_no_unicode_is_refused(tmp_path: Path) -> None:
    assert "cannot be written as UTF-8" in refused(tmp_path / "release" / "run", workspace="\ud800").message


@pytest.mark.parametrize("name", ["big.json", "big.jsonl"])
def test_member_larger_than_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(layout, "MEMBER_BYTES", 1_000)
    error = refused(tmp_path / "release" / "run", bundles.MEMBERS | {name: bytes(1_001)})
    assert error.message == "1001 bytes are more than the 1000 that a member may have"
    bundles.write(tmp_path / "release" / "run", bundles.MEMBERS | {name: bytes(1_000)})
    assert read_bundle(tmp_path / "release" / "run").read(layout.stored_name(name)) == bytes(1_000)


def test_member_that_only_packing_makes_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MEMBER_BYTES", 1_000)
    error = refused(tmp_path / "release" / "run", bundles.MEMBERS | {"noise.jsonl": os.urandom(1_000)})
    assert error.reasons == ("noise.jsonl.gz is larger than 1000 bytes",)


def test_members_too_large_together_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "BUNDLE_BYTES", 1_000)
    error = refused(tmp_path / "release" / "run", bundles.MEMBERS | {"a.jsonl": bytes(500), "b.jsonl": bytes(500)})
    assert error.reasons == ("the members are larger than 1000 bytes together",)


def test_more_members_than_a_bundle_may_have_are_refused(tmp_path: Path) -> None:
    more = {f"m{number}.json": b"{}" for number in range(510 - len(bundles.MEMBERS))}
    assert refused(tmp_path / "release" / "run", bundles.MEMBERS | more | {"m.json": b""}).reasons == (
        "more than 512 files",
    )
    bundles.write(tmp_path / "release" / "run", bundles.MEMBERS | more)
    assert len(read_bundle(tmp_path / "release" / "run").manifest.files) == 510


def test_manifest_larger_than_its_limit_is_refused(tmp_path: Path) -> None:
    error = refused(tmp_path / "release" / "run", workspace="/" + "a" * layout.MANIFEST_BYTES)
    assert error.reasons == ("manifest.json is larger than 1048576 bytes",)


def test_bundle_that_is_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    folder = tmp_path / "release" / "run"
    bundles.write(folder)
    before = bundles.files(tmp_path)
    with pytest.raises(UsageError) as caught:
        bundles.write(folder, observation="other.local-agent")
    assert caught.value.where == str(folder)
    assert "--replace" in caught.value.hint
    assert bundles.files(tmp_path) == before


def test_replaced_bundle_leaves_none_of_its_members(tmp_path: Path) -> None:
    folder = tmp_path / "release" / "run"
    bundles.write(folder, bundles.MEMBERS | {"older.json": b"{}", "further/older.json": b"{}"})
    bundles.write(folder, observation="newer.local-agent", replace=True)
    assert set(bundles.files(tmp_path)) == {f"release/run/{name}" for name in bundles.STORED}
    assert read_bundle(folder).manifest.observation == "newer.local-agent"


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("kind", ["file", "link to a folder", "link to nothing"])
def test_something_else_in_the_place_is_left_alone(tmp_path: Path, kind: str, replace: bool) -> None:
    folder = tmp_path / "run"
    (tmp_path / "elsewhere").mkdir()
    match kind:
        case "file":
            folder.write_text("precious")
        case "link to a folder":
            folder.symlink_to("elsewhere")
        case _:
            folder.symlink_to("nowhere")
    before = folder.lstat()
    with pytest.raises(UsageError, match="something else than a bundle is there"):
        bundles.write(folder, replace=replace)
    assert os.path.samestat(folder.lstat(), before)
    assert {path.name for path in tmp_path.iterdir()} == {"run", "elsewhere"}
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("name", [".hidden", ".run.partial"])
def test_hidden_place_that_no_reader_would_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="hidden"):
        bundles.write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_stored_bytes_depend_on_the_content_alone(tmp_path: Path) -> None:
    one = bundles.write(tmp_path / "one")
    os.umask(before := os.umask(0o022))
    other = bundles.write(tmp_path / "other")
    assert one == other
    assert bundles.files(tmp_path / "one") == bundles.files(tmp_path / "other")
    packed = (tmp_path / "one" / "session.jsonl.gz").read_bytes()
    assert packed[4:8] == b"\0\0\0\0"
    assert packed[3] == 0
    assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o777 & ~before


def test_completed_manifest_states_what_lies_on_the_disk(tmp_path: Path) -> None:
    product = Product(version="0.96.6", sha256="1" * 64)
    capture = Capture(column=Column.LOCAL_AGENT_LIVE, file="local-agent.live.jsonl", product=product, complete=False)
    complete = write_bundle(
        tmp_path / "run", bundles.manifest(captures=(capture,), files={"made up": None}), bundles.MEMBERS
    )
    on_disk = bundles.files(tmp_path / "run")
    assert set(complete.files) == bundles.STORED - {"manifest.json", "manifest.json.sha256"}
    for name, entry in complete.files.items():
        assert entry.stored_size == len(on_disk[name])
        assert entry.size == len(bundles.MEMBERS[name.removesuffix(".gz")])
    assert complete.captures[0].file == "local-agent.live.jsonl.gz"
    assert complete.captures[0].product == product
    assert complete.session == "session.jsonl.gz"
    assert read_bundle(tmp_path / "run").manifest == complete
