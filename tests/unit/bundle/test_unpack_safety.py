"""Reading a hostile bundle opens nothing but its own plain files, and never more bytes than it was told of."""

from __future__ import annotations

import gzip
import hashlib
import os
import socket
import stat
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.bundle import layout, read_bundle
from harness.bundle.folder import OpenFolder
from harness.model.errors import EvidenceError
from tests.support import bundles

MEGABYTE = 1_048_576
BOMB = gzip.compress(bytes(16 * MEGABYTE), compresslevel=1, mtime=0)


def reasons(folder: Path) -> tuple[str, ...]:
    with pytest.raises(EvidenceError) as caught:
        read_bundle(folder)
    return caught.value.reasons


def listing(content: dict[str, bytes], name: str, stored: bytes, **entry: object) -> dict[str, bytes]:
    """The bundle whose manifest lists `stored` as one more member, with fitting digests unless `entry` has others."""
    described: dict[str, object] = {"size": len(stored), "stored_size": len(stored)}
    described |= dict.fromkeys(("sha256", "stored_sha256"), hashlib.sha256(stored).hexdigest())
    described |= entry

    def change(plain: dict[str, Any]) -> None:
        ordered = {member: described[member] for member in ("size", "sha256", "stored_size", "stored_sha256")}
        plain["files"] = dict(sorted({**plain["files"], name: ordered}.items()))

    return bundles.resealed(content, change)


def with_member(content: dict[str, bytes], name: str, stored: bytes, **entry: object) -> dict[str, bytes]:
    """`listing`, and the file is there."""
    return {**listing(content, name, stored, **entry), name: stored}


def test_the_way_these_tests_add_a_member_is_a_valid_one(tmp_path: Path, content: dict[str, bytes]) -> None:
    folder = bundles.lay(tmp_path / "laid", with_member(content, "more.json", b"{}"))
    assert read_bundle(folder).read("more.json") == b"{}"


@pytest.mark.parametrize("name", ["session.jsonl.gz", "manifest.json", "children/c1.jsonl.gz"])
def test_link_to_the_very_same_bytes_is_refused(tmp_path: Path, bundle: Path, name: str) -> None:
    outside = tmp_path / "outside"
    (bundle / name).rename(outside)
    (bundle / name).symlink_to(outside)
    assert any(reason.startswith(f"{name!r} is n") for reason in reasons(bundle))


def test_folder_that_is_a_link_is_refused(tmp_path: Path, bundle: Path) -> None:
    (bundle / "children").rename(tmp_path / "outside")
    (bundle / "children").symlink_to(tmp_path / "outside")
    assert reasons(bundle) == ("'children' is neither a plain file nor a folder",)


def test_link_to_nothing_is_refused(bundle: Path) -> None:
    (bundle / "more.json").symlink_to("nowhere")
    assert reasons(bundle) == ("'more.json' is neither a plain file nor a folder",)


def test_hard_link_reads_as_what_it_is_and_a_change_through_its_other_name_is_caught(
    tmp_path: Path, bundle: Path
) -> None:
    other = tmp_path / "other name"
    os.link(bundle / "session.jsonl.gz", other)
    assert read_bundle(bundle).read("session.jsonl.gz") == bundles.MEMBERS["session.jsonl"]
    stored = other.read_bytes()
    with other.open("r+b") as stream:
        stream.write(b"?")
    assert reasons(bundle) == ("session.jsonl.gz does not have the digest that the manifest states",)
    assert len(stored) == other.stat().st_size


@pytest.mark.usefixtures("promptly")
@pytest.mark.parametrize("name", ["more.json", "session.jsonl.gz", "manifest.json", "children/c2.jsonl.gz"])
def test_pipe_is_refused_without_being_waited_for(bundle: Path, name: str) -> None:
    (bundle / name).unlink(missing_ok=True)
    os.mkfifo(bundle / name)
    assert reasons(bundle)[0].startswith(f"{name!r} is n")


def test_socket_is_refused(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bundle)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s")
        assert reasons(bundle) == ("'s' is neither a plain file nor a folder",)


def test_device_is_refused_without_being_read(bundle: Path) -> None:
    (bundle / "session.jsonl.gz").unlink()
    try:
        os.mknod(bundle / "session.jsonl.gz", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root makes devices")
    assert reasons(bundle) == ("'session.jsonl.gz' is neither a plain file nor a folder",)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _link(path: Path) -> None:
    path.rename(path.with_name("away"))
    path.symlink_to("away")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.usefixtures("promptly")
@pytest.mark.parametrize("swap", [_pipe, _link, _folder, Path.unlink])
def test_file_swapped_after_it_was_listed_is_refused(bundle: Path, swap: Callable[[Path], None]) -> None:
    with OpenFolder(bundle) as opened:
        assert opened.names() == bundles.STORED
        swap(bundle / "session.jsonl.gz")
        with pytest.raises(EvidenceError, match=r"^[^:]+: session\.jsonl\.gz (is not a plain file|cannot be read)"):
            opened.read("session.jsonl.gz", 100)


def test_folder_swapped_for_a_link_after_it_was_listed_is_not_followed(tmp_path: Path, bundle: Path) -> None:
    with OpenFolder(bundle) as opened:
        opened.names()
        (bundle / "children").rename(tmp_path / "outside")
        (bundle / "children").symlink_to(tmp_path / "outside")
        with pytest.raises(EvidenceError, match=r"children/c1\.jsonl\.gz cannot be read"):
            opened.read("children/c1.jsonl.gz", 100)


def test_folder_in_a_folder_is_refused(bundle: Path) -> None:
    (bundle / "children" / "deeper").mkdir()
    (bundle / "children" / "deeper" / "x.json").write_bytes(b"")
    assert reasons(bundle) == ("'children/deeper' is not a plain file",)


@pytest.mark.parametrize("kind", ["files", "folders", "files in a folder"])
def test_countless_files_or_folders_are_given_up_on(bundle: Path, kind: str) -> None:
    for number in range(1_030):
        match kind:
            case "files":
                (bundle / f"f{number}").touch()
            case "folders":
                (bundle / f"f{number}").mkdir()
            case _:
                (bundle / "children" / f"f{number}").touch()
    assert reasons(bundle)[-1] == "more than 1024 files and folders"


def test_more_files_than_a_bundle_may_have_are_refused(bundle: Path) -> None:
    for number in range(512 - len(bundles.STORED)):
        (bundle / f"f{number}").touch()
    assert all(reason.endswith("is not in the manifest") for reason in reasons(bundle))
    (bundle / "one too many").touch()
    assert reasons(bundle) == ("more than 512 files",)


def test_name_that_would_drive_a_terminal_is_reported_escaped(bundle: Path) -> None:
    (bundle / "\x1b[31m\n").touch()
    (bundle / os.fsdecode(b"\xff")).touch()
    found = reasons(bundle)
    assert found == ("'\\x1b[31m\\n' is not in the manifest", "'\\udcff' is not in the manifest")
    assert "\n".join(found).encode().isascii()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("session.jsonl.gz", "session.jsonl.gz is larger than {size} bytes"),
        ("manifest.json", "manifest.json is larger than 1048576 bytes"),
        ("manifest.json.sha256", "manifest.json.sha256 is larger than 256 bytes"),
    ],
)
def test_enormous_file_is_not_read_into_memory(bundle: Path, name: str, reason: str) -> None:
    size = (bundle / name).stat().st_size
    os.truncate(bundle / name, 1_024 * MEGABYTE)
    tracemalloc.start()
    found = reasons(bundle)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == (reason.format(size=size),)
    assert peak < 4 * MEGABYTE


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        (10, "bomb.jsonl.gz unpacks to more than the declared 10 bytes"),
        (0, "bomb.jsonl.gz unpacks to more than the declared 0 bytes"),
        (-1, "bomb.jsonl.gz has a negative size"),
        (-5, "bomb.jsonl.gz has a negative size"),
        (layout.MEMBER_BYTES + 1, "bomb.jsonl.gz is larger than 67108864 bytes"),
    ],
)
def test_gzip_bomb_is_never_unpacked(tmp_path: Path, content: dict[str, bytes], size: int, reason: str) -> None:
    folder = bundles.lay(tmp_path / "laid", with_member(content, "bomb.jsonl.gz", BOMB, size=size))
    tracemalloc.start()
    found = reasons(folder)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == (reason,)
    assert peak < 2 * MEGABYTE


def test_negative_stored_size_is_refused(tmp_path: Path, content: dict[str, bytes]) -> None:
    folder = bundles.lay(tmp_path / "laid", with_member(content, "more.json", b"{}", stored_size=-1))
    assert reasons(folder) == ("more.json has a negative size",)


@pytest.mark.parametrize("member", ["size", "stored_size"])
def test_members_that_are_too_large_only_together_are_refused_before_any_is_read(
    tmp_path: Path, content: dict[str, bytes], member: str
) -> None:
    for number in range(5):
        content = with_member(content, f"part{number}.jsonl.gz", b"", **{member: layout.MEMBER_BYTES})
    assert reasons(bundles.lay(tmp_path / "laid", content)) == ("the members are larger than 268435456 bytes together",)


RAW = b'{"type":"session"}\n'
PACKED = gzip.compress(RAW, mtime=0)


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (PACKED + b"\n", "1 bytes follow the gzip stream"),
        (PACKED + PACKED, f"{len(PACKED)} bytes follow the gzip stream"),
        (PACKED[:-1], "the gzip stream is cut short"),
        (PACKED[:5], "the gzip stream is cut short"),
        (b"", "the gzip stream is cut short"),
        (RAW, "is not a readable gzip stream: Error -3 while decompressing data: incorrect header check"),
        (
            zlib.compress(RAW),
            "is not a readable gzip stream: Error -3 while decompressing data: incorrect header check",
        ),
        (
            PACKED[:-8] + b"\0\0\0\0" + PACKED[-4:],
            "is not a readable gzip stream: Error -3 while decompressing data: incorrect data check",
        ),
        (
            PACKED[:-4] + b"\xff\xff\xff\xff",
            "is not a readable gzip stream: Error -3 while decompressing data: incorrect length check",
        ),
    ],
    ids=["byte after", "second stream", "last byte cut", "header only", "empty", "raw", "zlib", "crc", "length"],
)
def test_gzip_stream_that_is_not_exactly_one_whole_is_refused(
    tmp_path: Path, content: dict[str, bytes], stored: bytes, reason: str
) -> None:
    described = {"size": len(RAW), "sha256": hashlib.sha256(RAW).hexdigest()}
    folder = bundles.lay(tmp_path / "laid", with_member(content, "more.jsonl.gz", stored, **described))
    assert reasons(folder) == (f"more.jsonl.gz {reason}",)


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../outside.json",
        "children/../../outside.json",
        "children/../x.json",
        "a/b/c.json",
        "",
        ".",
        "..",
        ".hidden",
        "children/.hidden",
        "children/",
        "/",
        "//x",
        "./x.json",
        "a\\b.json",
        "C:x.json",
        "a b.json",
        "a\n",
        "a\x00b",
        "ü.json",
        "a" * 101,
    ],
)
def test_manifest_that_names_a_place_elsewhere_is_refused(tmp_path: Path, content: dict[str, bytes], name: str) -> None:
    (tmp_path / "outside.json").write_bytes(b"{}")
    found = reasons(bundles.lay(tmp_path / "laid", listing(content, name, b"{}")))
    assert f"{name!r} is not a plain relative name of at most one folder" in found


@pytest.mark.parametrize("name", ["manifest.json", "manifest.json.sha256"])
def test_manifest_that_lists_itself_or_its_checksum_is_refused(
    tmp_path: Path, content: dict[str, bytes], name: str
) -> None:
    folder = bundles.lay(tmp_path / "laid", listing(content, name, b"{}"))
    assert reasons(folder) == (f"{name!r} is missing",)


def test_names_that_some_file_systems_hold_for_one_are_refused(tmp_path: Path, content: dict[str, bytes]) -> None:
    folder = bundles.lay(tmp_path / "laid", with_member(content, "Session.jsonl.gz", content["session.jsonl.gz"]))
    if len(list(folder.iterdir())) == len(content) - 1:
        pytest.skip("this file system holds them for one")
    assert "Session.jsonl.gz and session.jsonl.gz differ only in capitals" in reasons(folder)


def test_name_that_is_a_file_and_a_folder_is_refused(tmp_path: Path, content: dict[str, bytes]) -> None:
    found = reasons(bundles.lay(tmp_path / "laid", listing(content, "children", b"{}")))
    assert "children is a file and the folder of children/c1.jsonl.gz" in found


def test_file_without_permission_is_named(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really = os.open

    def refusing(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == "session.jsonl.gz":
            raise PermissionError(13, "Permission denied")
        return really(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refusing)
    assert reasons(bundle) == ("session.jsonl.gz cannot be read: Permission denied",)


def test_folder_without_permission_is_named(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(path: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refusing)
    assert reasons(bundle) == ("cannot be read: Permission denied",)
