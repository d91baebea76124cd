"""Reading one folder of captures: two runs taken for one, a cut taken for an end, a file that is not what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.bundle import layout
from harness.foreign import ForeignRun, read
from harness.model.errors import DecodeError, EvidenceError, HarnessError, UsageError
from harness.model.facts import Column
from tests.support.foreign import SAMPLES, changed_records, files_of, lay, live_cast, session_of

LA_LIVE, LA_REOPEN = Column.LOCAL_AGENT_LIVE, Column.LOCAL_AGENT_REOPEN
MC_LIVE, MC_REOPEN = Column.MISSION_CONTROL_LIVE, Column.MISSION_CONTROL_REOPEN


def incomplete(run: ForeignRun) -> dict[Column, str]:
    return {item.column: item.note for item in run.captures if not item.complete}


RECORDED_AT = {
    "mixed-script": "2026-11-30T11:54:48Z",
    "killed-script": "2026-11-30T11:55:14Z",
    "cancelled-script": "2026-11-30T11:55:06Z",
    "mixed-batch": "2026-11-30T11:54:56Z",
    "older-script": "2026-11-30T11:55:25Z",
    "legacy-script": "2026-11-30T11:55:33Z",
    "legacy-batch": "2026-11-30T11:55:33Z",
}
"""The second of the first record of each session, which begins in the same second as the first frame."""


@pytest.mark.parametrize("sample", SAMPLES)
def test_real_captures_say_where_when_and_by_whom(tmp_path: Path, sample: str) -> None:
    run = read(lay(tmp_path / sample, sample))

    name = "mixed-script" if sample == "older-script" else sample
    assert run.driver == "local-agent"
    assert run.workspace == f"/acceptance/{name}/ws"
    assert run.recorded_at == RECORDED_AT[sample]
    assert run.session == "session.jsonl"
    assert run.legacy is sample.startswith("legacy")
    assert len(run.children) == (4 if sample.endswith("batch") else 0)
    assert [item.column for item in run.captures] == [LA_LIVE, LA_REOPEN, MC_REOPEN]
    killed = {LA_LIVE: "the capture ends before its last run is finished"} if sample == "killed-script" else {}
    assert incomplete(run) == killed
    assert run.members == files_of(sample)


def test_renderings_are_left_out_and_said(tmp_path: Path) -> None:
    run = read(lay(tmp_path / "run", more={"mission-control.reopen.card.txt": b"drawn", ".DS_Store": b"\0"}))

    assert set(run.members) == set(files_of("mixed-script"))
    (note,) = run.notes
    assert "'mission-control.reopen.card.txt'" in note
    assert "'.DS_Store'" in note


# Two runs in one folder


def test_captures_of_two_sessions_are_no_run(tmp_path: Path) -> None:
    other = files_of("cancelled-script")
    for name in ("session.jsonl", "local-agent.reopen.jsonl", "local-agent.live.jsonl"):
        folder = lay(tmp_path / name, more={name: other[name]})

        with pytest.raises(EvidenceError, match="is of the session") as caught:
            read(folder)

        assert "57c0e43f-b4ed-4636-88d9-6b436058c296" in caught.value.message
        assert "82d19ec9-c751-4b09-bf3f-b4166a6ff109" in caught.value.message


def test_a_child_session_under_another_name_is_refused(tmp_path: Path) -> None:
    folder = lay(tmp_path / "run", "mixed-batch")
    (child, *_) = sorted((folder / "children").iterdir())
    child.rename(child.with_name("11111111-1111-4111-8111-111111111111.jsonl"))

    with pytest.raises(EvidenceError, match=f"holds the session {child.stem}"):
        read(folder)


# Where a capture ends


def cut_line(content: bytes) -> bytes:
    return content[: content.rstrip(b"\n").rfind(b"\n") + 40]


def frames_until(content: bytes, last: str) -> bytes:
    """The lines of a capture up to the first one that holds `last`."""
    kept = []
    for line in content.splitlines(keepends=True):
        kept.append(line)
        if last in json.loads(line)["line"]:
            return b"".join(kept)
    raise AssertionError(last)


@pytest.mark.parametrize(
    ("name", "column", "note"),
    [
        ("local-agent.live.jsonl", LA_LIVE, "the capture ends in the middle of a line"),
        ("mission-control.reopen.cast", MC_REOPEN, "the capture ends in the middle of a line"),
    ],
)
def test_a_file_that_ends_inside_of_a_line_was_cut(tmp_path: Path, name: str, column: Column, note: str) -> None:
    run = read(lay(tmp_path / "run", more={name: cut_line(files_of("mixed-script")[name])}))

    assert incomplete(run) == {column: note}
    assert f"{name}: {note}" in run.notes


@pytest.mark.parametrize(
    ("name", "last", "column", "note"),
    [
        (
            "local-agent.live.jsonl",
            '"method": "turn.start"',
            LA_LIVE,
            "the capture ends before an answer to turn.start",
        ),
        ("local-agent.live.jsonl", '"event":"activity"', LA_LIVE, "the capture ends before its last run is finished"),
        ("local-agent.live.jsonl", '"method": "initialize"', LA_LIVE, "the capture holds no turn.start"),
        ("local-agent.reopen.jsonl", '"method": "history.page"', LA_REOPEN, "the capture holds no history"),
    ],
)
def test_a_capture_that_ends_early_is_not_complete(
    tmp_path: Path, name: str, last: str, column: Column, note: str
) -> None:
    run = read(lay(tmp_path / "run", more={name: frames_until(files_of("mixed-script")[name], last)}))

    assert incomplete(run) == {column: note}


@pytest.mark.parametrize("saved", ["0.104.0-killed-script", "0.104.0-killed-batch"])
def test_a_live_screen_of_a_killed_product_is_cut_by_what_the_session_says(tmp_path: Path, saved: str) -> None:
    """Others' casts have no markers, so these are taken out. The second session took a further turn after the kill."""
    lines = live_cast("0.104.0-killed-batch-live").splitlines(keepends=True)
    plain = b"".join(lines[:1] + [line for line in lines[1:] if json.loads(line)[1] != "m"])
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "mission-control.live.cast").write_bytes(plain)
    (folder / "session.jsonl").write_bytes(session_of(saved))

    run = read(folder)

    assert run.driver == "mission-control"
    assert incomplete(run) == {MC_LIVE: "a turn of the saved session has no end: the product was killed"}


def test_a_marked_cast_without_its_end_is_not_complete(tmp_path: Path) -> None:
    name = "mission-control.reopen.cast"
    marked = files_of("mixed-script")[name] + b'[9999.0, "m", "card"]\n'

    assert incomplete(read(lay(tmp_path / "cut", more={name: marked}))) == {
        MC_REOPEN: "the capture has moments marked, and its end is not among them"
    }
    assert incomplete(read(lay(tmp_path / "end", more={name: marked + b'[9999.5, "m", "end"]\n'}))) == {}


# Where and when


def with_cwd(session: bytes, cwd: object) -> bytes:
    return changed_records(session, lambda record: record.update(cwd=cwd))


@pytest.mark.parametrize("cwd", ["ws", "/a/../../etc", "/a\x1b[31m", ""])
def test_a_cwd_that_is_no_absolute_path_is_refused(tmp_path: Path, cwd: str) -> None:
    session = with_cwd(files_of("mixed-script")["session.jsonl"], cwd)

    with pytest.raises(EvidenceError, match="no absolute path") as caught:
        read(lay(tmp_path / "run", more={"session.jsonl": session}))

    assert "\x1b" not in str(caught.value)


def test_a_session_without_a_cwd_is_refused(tmp_path: Path) -> None:
    session = with_cwd(files_of("mixed-script")["session.jsonl"], None)

    with pytest.raises(EvidenceError, match="no record names a cwd"):
        read(lay(tmp_path / "run", more={"session.jsonl": session}))


def test_the_time_is_of_the_first_clock_that_there_is(tmp_path: Path) -> None:
    """Reopened later than recorded: at 1796039688.39 on the local agent, in the second 1796039688 on the terminal."""
    agents = ("local-agent.live.jsonl", "local-agent.reopen.jsonl")
    cast = files_of("mixed-script")["mission-control.reopen.cast"]
    header, rest = cast.split(b"\n", 1)
    moved = json.dumps({**json.loads(header), "timestamp": 1796125000}).encode() + b"\n" + rest
    timeless = json.dumps({"version": 2, "width": 140, "height": 100}).encode() + b"\n" + rest
    name = "mission-control.reopen.cast"

    assert read(lay(tmp_path / "a", without=agents, more={name: moved})).recorded_at == "2026-12-01T11:36:40Z"
    assert read(lay(tmp_path / "b", without=agents, more={name: timeless})).recorded_at == "2026-11-30T11:54:48Z"
    with pytest.raises(EvidenceError, match="nothing says when"):
        read(lay(tmp_path / "c", without=(*agents, "session.jsonl"), more={name: timeless}))


# Files that are not what their names say


BAD: dict[str, tuple[dict[str, bytes], type[HarnessError], str]] = {
    "an empty capture": ({"local-agent.live.jsonl": b""}, EvidenceError, "is empty"),
    "an empty session": ({"session.jsonl": b""}, EvidenceError, "is empty"),
    "a capture that is not UTF-8": ({"local-agent.live.jsonl": b'{"at": 1, "\xff": 2}\n'}, DecodeError, "line 1"),
    "a session that is not UTF-8": ({"session.jsonl": b"\xff\xfe\n"}, DecodeError, "no record can be read"),
    "a capture of other lines": ({"local-agent.reopen.jsonl": b'{"frame": {}}\n'}, DecodeError, "line 1"),
    "a capture that is no JSON": ({"local-agent.live.jsonl": b"hello\nworld\n"}, DecodeError, "line 1"),
    "a cast that is text": ({"mission-control.reopen.cast": b"hello\n"}, DecodeError, "not an asciicast header"),
    "a cast of another version": (
        {"mission-control.reopen.cast": b'{"version": 3, "width": 80, "height": 24}\n'},
        DecodeError,
        "version 3",
    ),
    "a packed capture": ({"local-agent.live.jsonl.gz": b"\x1f\x8b"}, UsageError, "no file of this layout"),
    "a file of another kind": ({"notes.md": b"hello"}, UsageError, "'notes.md' is no file of this layout"),
    "another spelling": ({"Session.jsonl": b"{}\n"}, UsageError, "'Session.jsonl' is no file"),
    "a second live capture": ({"local-agent.live.2.jsonl": b"{}\n"}, UsageError, "no file of this layout"),
    "an unsafe child": ({"children/..jsonl": b"{}\n"}, UsageError, "no file of this layout"),
    "a child of another kind": ({"children/c.json": b"{}\n"}, UsageError, "no file of this layout"),
    "a folder that is none": ({"parents/c.jsonl": b"{}\n"}, UsageError, "no file of this layout"),
    "a child that is no session": ({"children/c.jsonl": b"hello\n"}, DecodeError, "children/c.jsonl"),
    "a child's child": ({"children/a/c.jsonl": b"{}\n"}, EvidenceError, "not a plain file"),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_file_is_refused_by_name(tmp_path: Path, fault: str) -> None:
    more, kind, said = BAD[fault]
    folder = lay(tmp_path / "run", more=more)

    with pytest.raises(kind, match=said) as caught:
        read(folder)

    (name,) = more
    assert name.removesuffix("/c.jsonl") in str(caught.value)


@pytest.mark.parametrize("name", ["session.jsonl", "children/c.jsonl", "local-agent.live.jsonl"])
def test_a_link_is_refused(tmp_path: Path, name: str) -> None:
    folder = lay(tmp_path / "run", without=(name,))
    target = tmp_path / "elsewhere"
    target.write_bytes(b"{}\n")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).symlink_to(target)

    with pytest.raises(EvidenceError, match="plain file"):
        read(folder)


def test_a_folder_without_a_surface_is_refused(tmp_path: Path) -> None:
    captures = ("local-agent.live.jsonl", "local-agent.reopen.jsonl", "mission-control.reopen.cast")

    with pytest.raises(UsageError, match="no capture of a surface"):
        read(lay(tmp_path / "run", without=captures))


def test_no_file_and_no_folder_is_read_beyond_what_a_bundle_may_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = lay(tmp_path / "run")
    monkeypatch.setattr(layout, "MEMBER_BYTES", 100_000)
    with pytest.raises(EvidenceError, match=r"mission-control\.reopen\.cast is larger than 100000 bytes"):
        read(folder)

    monkeypatch.undo()
    monkeypatch.setattr(layout, "BUNDLE_BYTES", 100_000)
    with pytest.raises(EvidenceError, match="is larger than"):
        read(folder)
