"""Archives that lead outside, never end, or end too early: each costs its own findings and nothing else."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from harness.model.errors import UsageError
from harness.sweep import archives, members
from harness.sweep.rows import Status
from tests.support.sweeps import KINDS, folder, real, session, swept, tar, tar_bytes, tar_gz, zip_

FILES = {b"sessions/a.jsonl": session("a"), b"sessions/b.jsonl": session("b"), b"notes.txt": b"x"}


def told(path: Path) -> dict[str, tuple[str, ...]]:
    """Session to the rules that its findings name."""
    return {row.session: tuple(found.requirement for found in row.findings) for row in swept(path)}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_archive_gives_the_same_rows(kind: str, tmp_path: Path) -> None:
    files = real("0.104.0-mixed-batch") | real("0.104.0-mixed-script")
    expected = swept(folder(tmp_path / "one" / "archive", files))
    rows = swept(KINDS[kind](tmp_path / "archive", dict(reversed(files.items()))))
    assert [row.session for row in rows] == [
        "sessions/0.104.0-mixed-batch.jsonl",
        "sessions/0.104.0-mixed-script.jsonl",
    ]
    assert [row.children for row in rows] == [4, 0]
    assert [(row.status, row.cards, row.finding_count) for row in rows] == [(Status.READ, 5, 0), (Status.READ, 1, 0)]
    assert rows == expected


@pytest.mark.parametrize("kind", ["folder", "tar", "tar.gz"])
def test_a_name_that_is_not_utf_8_is_a_session_like_any_other(kind: str, tmp_path: Path) -> None:
    rows = swept(KINDS[kind](tmp_path / "archive", {b"caf\xe9/\\x.jsonl": session("x")}))
    assert [(row.session, row.status, row.finding_count) for row in rows] == [("caf\\xe9/\\\\x.jsonl", Status.READ, 0)]


def test_links_are_told_and_never_followed(tmp_path: Path) -> None:
    outside = folder(tmp_path / "outside", {b"secret.jsonl": session("secret")})
    place = folder(tmp_path / "place", FILES)
    (place / "loop").symlink_to(place)
    (place / "circle").symlink_to(place / "circle")
    (place / "out").symlink_to(outside)
    (place / "sessions" / "c.jsonl").symlink_to(outside / "secret.jsonl")
    assert told(place) == {
        "loop": ("sweep.no-links",),
        "out": ("sweep.no-links",),
        "sessions/a.jsonl": (),
        "sessions/b.jsonl": (),
        "sessions/c.jsonl": ("sweep.no-links",),
    }


def test_a_named_archive_that_is_a_link_is_followed(tmp_path: Path) -> None:
    folder(tmp_path / "real", FILES)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert len(swept(tmp_path / "link")) == 2


def test_links_and_devices_in_a_tar_are_told(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as made:
        for name, kind in (("l.jsonl", tarfile.SYMTYPE), ("h.jsonl", tarfile.LNKTYPE), ("f.jsonl", tarfile.FIFOTYPE)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            made.addfile(entry)
    (tmp_path / "t.tar").write_bytes(stream.getvalue())
    assert told(tmp_path / "t.tar") == {
        "f.jsonl": ("sweep.session-readable",),
        "h.jsonl": ("sweep.no-links",),
        "l.jsonl": ("sweep.no-links",),
    }


def test_a_pipe_with_the_name_of_a_session_is_not_waited_for(tmp_path: Path) -> None:
    place = folder(tmp_path / "place", FILES)
    os.mkfifo(place / "sessions" / "pipe.jsonl")
    rows = {row.session: row for row in swept(place)}
    assert rows["sessions/pipe.jsonl"].status is Status.UNREADABLE
    assert rows["sessions/pipe.jsonl"].findings[0].observed == "no regular file"
    assert rows["sessions/a.jsonl"].status is Status.READ


def test_names_that_lead_outside_are_names_only(tmp_path: Path) -> None:
    files = {b"../../evil.jsonl": session("evil"), b"/tmp/evil.jsonl": session("evil2")}
    rows = swept(tar(tmp_path / "t.tar", files))
    assert {row.session for row in rows} == {"../../evil.jsonl", "/tmp/evil.jsonl"}  # noqa: S108 # a name in a tar
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["t.tar"]


def test_a_file_and_a_folder_that_may_not_be_read_stop_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder(tmp_path / "place", FILES | {b"closed/c.jsonl": session("c")})
    real_open, real_scan = os.open, os.scandir

    def refuse(path: Any, *rest: Any, **named: Any) -> int:
        if isinstance(path, bytes) and path.endswith(b"/a.jsonl"):
            raise PermissionError(13, "Permission denied", path)
        return real_open(path, *rest, **named)

    def scan(path: Any) -> Any:
        if isinstance(path, bytes) and path.endswith(b"/closed"):
            raise PermissionError(13, "Permission denied", path)
        return real_scan(path)

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(os, "scandir", scan)
    rows = {row.session: row for row in swept(place)}
    assert {name: row.status for name, row in rows.items()} == {
        "closed": Status.UNREADABLE,
        "sessions/a.jsonl": Status.UNREADABLE,
        "sessions/b.jsonl": Status.READ,
    }
    assert rows["closed"].findings[0].requirement == "sweep.archive-whole"
    observed = rows["sessions/a.jsonl"].findings[0].observed
    assert observed == "PermissionError: Permission denied"
    assert str(tmp_path) not in observed


def last_row(path: Path) -> tuple[set[str], list[str]]:
    rows = swept(path)
    return {row.session for row in rows if row.status is Status.READ}, [
        found.requirement for row in rows for found in row.findings
    ]


def test_a_tar_cut_in_the_middle_says_so_and_gives_what_came_before(tmp_path: Path) -> None:
    whole = tar_bytes(FILES)
    second = whole.index(b"sessions/b.jsonl")
    for end, read in (
        (second + 600, {"sessions/a.jsonl"}),
        (second, {"sessions/a.jsonl"}),
        (second + 512, {"sessions/a.jsonl"}),
    ):
        (tmp_path / "t.tar").write_bytes(whole[:end])
        sessions, rules = last_row(tmp_path / "t.tar")
        assert sessions == read
        assert "sweep.archive-whole" in rules, end


def test_a_tar_with_nonsense_instead_of_a_member_says_so(tmp_path: Path) -> None:
    whole = bytearray(tar_bytes(FILES))
    second = whole.index(b"sessions/b.jsonl")
    whole[second : second + 512] = b"\x07" * 512
    (tmp_path / "t.tar").write_bytes(whole)
    assert last_row(tmp_path / "t.tar") == ({"sessions/a.jsonl"}, ["sweep.archive-whole"])


@pytest.mark.parametrize("kind", ["tar.gz", "tar.zst"])
def test_compressed_data_that_ends_early_says_so(kind: str, tmp_path: Path) -> None:
    files = {b"s/%d.jsonl" % number: session(f"s{number}") + os.urandom(20_000) for number in range(12)}
    path = KINDS[kind](tmp_path / "archive", files)
    path.write_bytes(path.read_bytes()[:-60_000])
    rows = swept(path)
    assert rows[0].session == ""
    assert rows[0].findings[0].requirement == "sweep.archive-whole"
    assert rows[0].findings[0].observed.startswith("its compressed data ends early or is damaged")
    assert 3 <= sum(row.status is Status.READ for row in rows) < 12


def test_an_archive_that_would_fill_the_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tar_gz(tmp_path / "t.tgz", FILES)
    monkeypatch.setattr(archives, "SPARE_BYTES", 1 << 60)
    with pytest.raises(UsageError, match="needs more disk"):
        swept(path)


def test_of_two_members_with_one_name_the_last_counts(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as made:
        for content in (b"damaged", session("a")):
            entry = tarfile.TarInfo("a.jsonl")
            entry.size = len(content)
            made.addfile(entry, io.BytesIO(content))
    (tmp_path / "t.tar").write_bytes(stream.getvalue())
    assert [(row.session, row.status) for row in swept(tmp_path / "t.tar")] == [("a.jsonl", Status.READ)]


def test_damaged_and_encrypted_members_of_a_zip_are_findings(tmp_path: Path) -> None:
    path = zip_(tmp_path / "z.zip", FILES | {b"sessions/c.jsonl": session("c")})
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as packed:
        at = packed.getinfo("sessions/a.jsonl").header_offset + 30 + len("sessions/a.jsonl")
    data[at : at + 8] = b"\xff" * 8
    entry = data.rindex(b"PK\x01\x02", 0, data.rindex(b"sessions/c.jsonl"))
    data[entry + 8] |= 1
    path.write_bytes(data)
    rows = {row.session: row for row in swept(path)}
    assert rows["sessions/a.jsonl"].status is Status.UNREADABLE
    assert rows["sessions/b.jsonl"].status is Status.READ
    assert rows["sessions/c.jsonl"].findings[0].observed == "encrypted"


def test_a_session_over_the_product_s_read_limit_is_one_finding_and_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(members, "STORED_BYTES", 5_000)
    files = {b"big.jsonl": b"x" * 5_001, b"bomb.jsonl.gz": b"", b"c.jsonl": session("c")}
    path = folder(tmp_path / "place", files)
    (path / "bomb.jsonl.gz").write_bytes(gzip.compress(b"\0" * 3_000_000))
    rows = {row.session: row for row in swept(path)}
    assert rows["big.jsonl"].findings[0].observed == "over the limit of 5000 bytes"
    assert rows["bomb.jsonl.gz"].findings[0].observed == "over the limit of 5000 bytes when unpacked"
    assert rows["c.jsonl"].status is Status.READ


def test_what_is_no_archive_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"hello" * 1_000)
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04" + b"x" * 1_000)
    for name, message in (("text", "neither a folder"), ("missing", "no such folder"), ("bad.zip", "no zip")):
        with pytest.raises(UsageError, match=message):
            swept(tmp_path / name)


def test_archives_of_one_name_are_told_apart(tmp_path: Path) -> None:
    first = tar(tmp_path / "t.tar", FILES)
    (tmp_path / "more").mkdir()
    second = tar(tmp_path / "more" / "t.tar", FILES)
    rows = swept(first, second)
    assert [(row.archive, row.session) for row in rows] == [
        ("t.tar", "sessions/a.jsonl"),
        ("t.tar", "sessions/b.jsonl"),
        ("t.tar#2", "sessions/a.jsonl"),
        ("t.tar#2", "sessions/b.jsonl"),
    ]
    assert len({row.digest for row in rows}) == 4


def test_the_recorder_s_captures_in_a_bundle_are_no_sessions(tmp_path: Path) -> None:
    files = {b"b/session.jsonl": session("a"), b"b/local-agent.live.jsonl": b"{}", b"b/model.jsonl": b"{}"}
    assert [row.session for row in swept(folder(tmp_path / "place", files))] == ["b/session.jsonl"]
