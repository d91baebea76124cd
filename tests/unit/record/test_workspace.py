"""The place of a run must be empty, private and accounted for; anything else makes its listings a lie."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from harness.model.errors import HarnessError, ProductError, UsageError
from harness.record.workspace import prepared


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", "", "a\0b"])
def test_a_file_outside_of_the_workspace_is_refused(name: str, tmp_path: Path) -> None:
    with prepared(tmp_path / "r", "one") as place, pytest.raises(UsageError, match="not a path inside"):
        place.write_files({name: "x"})
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("name", ["", "..", "a/b", "Ab", ".hidden", "x" * 101])
def test_a_name_that_is_no_folder_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot name an observation"), prepared(tmp_path, name):
        pass


def test_two_recordings_cannot_share_a_place(tmp_path: Path) -> None:
    with prepared(tmp_path, "one") as first:
        with pytest.raises(UsageError, match="being recorded"), prepared(tmp_path, "one"):
            pass
        assert first.ws.is_dir(), "the refused one must not have removed it"
        with prepared(tmp_path, "two"):
            pass
    with prepared(tmp_path, "one"):
        pass


def test_what_a_killed_recorder_left_is_not_taken_for_the_runs_own(tmp_path: Path) -> None:
    left = tmp_path / "one" / "ws"
    left.mkdir(parents=True)
    (left / "stale.txt").write_text("old")
    (left / "locked").mkdir(mode=0o500)
    with prepared(tmp_path, "one") as place:
        assert place.listing() == ()
    assert not (tmp_path / "one").exists()


def test_a_root_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(UsageError, match="writable by somebody else"), prepared(tmp_path, "one"):
        pass


def test_a_listing_tells_path_size_and_digest_in_order(tmp_path: Path) -> None:
    with prepared(tmp_path, "one") as place:
        place.write_files({"b/ä.txt": "ü", "a.txt": "", "b.txt": "x"})
        listing = place.listing()
    assert [(file.path, file.size) for file in listing] == [("a.txt", 0), ("b.txt", 1), ("b/ä.txt", 2)]
    assert listing[1].sha256 == hashlib.sha256(b"x").hexdigest()


def test_a_link_in_the_workspace_is_no_file_of_the_run(tmp_path: Path) -> None:
    with prepared(tmp_path, "one") as place:
        (place.ws / "link").symlink_to("/etc/hostname")
        with pytest.raises(ProductError, match="no regular file"):
            place.listing()


def test_a_copied_home_is_apart_from_the_runs_own(tmp_path: Path) -> None:
    with prepared(tmp_path, "one") as place:
        sessions = place.home.state / "sessions"
        (sessions / "subagents").mkdir(parents=True)
        (sessions / "s1.jsonl").write_text("{}\n")
        (sessions / "subagents" / "c1.jsonl").write_text("{}\n")
        copy = place.copy_home("reading")
        (copy.state / "sessions" / "s1.jsonl").write_text("changed\n")
        assert place.home.session_file("s1").read_text() == "{}\n"
        assert [file.name for file in copy.child_files()] == ["c1.jsonl"]
        assert [file.stem for file in copy.session_files()] == ["s1"]


@pytest.mark.parametrize("identity", ["../../x", "a/b", "", "-x"])
def test_a_session_id_cannot_lead_elsewhere(identity: str, tmp_path: Path) -> None:
    with prepared(tmp_path, "one") as place, pytest.raises(ProductError, match="no session id"):
        place.home.session_file(identity)


def test_a_recording_that_fails_leaves_no_folder(tmp_path: Path) -> None:
    def fail() -> None:
        with prepared(tmp_path, "one") as place:
            (place.ws / "x").write_text("x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not (tmp_path / "one").exists()


def test_a_workspace_that_is_gone_is_not_an_empty_one(tmp_path: Path) -> None:
    with prepared(tmp_path, "one") as place:
        place.ws.rmdir()
        with pytest.raises(ProductError, match="cannot be listed"):
            place.listing()


@pytest.mark.parametrize("replaced", [False, True])
def test_a_place_that_somebody_removed_is_noticed(tmp_path: Path, *, replaced: bool) -> None:
    with prepared(tmp_path, "one") as place:
        place.check_untouched()
        place.ws.rename(place.folder / "aside")  # keeps the inode, so that the new folder cannot get it
        if replaced:
            place.ws.mkdir()
        with pytest.raises(HarnessError, match="removed or replaced") as caught:
            place.check_untouched()
    assert caught.value.exit_code == 70
