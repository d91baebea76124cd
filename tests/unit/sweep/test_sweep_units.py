"""A unit that lacks a child, or holds too much, or has the digest of another one, judges the wrong session."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.sweep import units
from harness.sweep.names import Role, named, shown
from harness.sweep.rows import Row
from harness.sweep.units import announced
from tests.support import sessions
from tests.support.sessions import Lines
from tests.support.sweeps import folder, session, swept


def rules(row: Row) -> list[str]:
    return [found.requirement for found in row.findings]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (b"a.jsonl", (Role.SESSION, b"", b"a")),
        (b"x/y/a.jsonl.gz", (Role.SESSION, b"x/y", b"a")),
        (b"x/subagents/a.jsonl", (Role.CHILD, b"x", b"a")),
        (b"subagents/deep/er/a.jsonl.zst", (Role.CHILD, b"", b"a")),
        (b"x/children/subagents/a.jsonl", (Role.CHILD, b"x", b"a")),
        (b"x/local-agent.live.jsonl.gz", None),
        (b"x/model.jsonl", None),
        (b"x/._a.jsonl", None),
        (b"a.json", None),
        (b"a.jsonl.lock", None),
    ],
)
def test_a_member_is_what_its_name_says(name: bytes, expected: tuple[Role, bytes, bytes] | None) -> None:
    found = named(name)
    assert (found and (found.role, found.base, found.stem)) == expected


def test_no_two_names_are_shown_alike() -> None:
    names = [b"a\xff", rb"a\xff", b"a\\\xff", "aÿ".encode()]
    assert [shown(name) for name in names] == ["a\\xff", "a\\\\xff", "a\\\\\\xff", "aÿ"]


@pytest.mark.parametrize("name", sessions.names())
def test_every_announcement_of_a_real_session_is_found(name: str) -> None:
    root, children = sessions.load(name)
    expected = [
        event["payload"]["session_id"]
        for content in (root, *children.values())
        for event in map(json.loads, content.splitlines())
        if event["event_type"] == "subagent_session"
    ]
    found = [identity for content in (root, *children.values()) for identity in announced(content)]
    assert found == expected
    assert set(found) == set(children)


def test_text_that_looks_like_an_announcement_is_none() -> None:
    lines = Lines().user('"subagent_session"').add("subagent_session", {"session_id": 7}).announce("real")
    assert list(announced(lines.bytes() + b'{"event_type":"subagent_session","payl')) == ["real"]


def chain(*links: tuple[str, str]) -> dict[bytes, bytes]:
    """Sessions that announce one another; ``root`` is none's child."""
    return {
        (b"%s.jsonl" if parent == "root" else b"subagents/%s.jsonl") % parent.encode(): Lines(parent)
        .user()
        .announce(child)
        .bytes()
        for parent, child in links
    }


def test_children_of_children_are_found_and_circles_end(tmp_path: Path) -> None:
    files = chain(("root", "one"), ("one", "two"), ("two", "one"))
    rows = swept(folder(tmp_path / "place", files))
    assert [(row.session, row.children) for row in rows] == [("root.jsonl", 2)]


def test_a_child_of_another_folder_s_session_is_not_taken(tmp_path: Path) -> None:
    files = {b"x/root.jsonl": chain(("root", "one"))[b"root.jsonl"], b"y/subagents/one.jsonl": session("one")}
    assert [row.children for row in swept(folder(tmp_path / "place", files))] == [0]


def test_a_child_that_is_saved_twice_is_told(tmp_path: Path) -> None:
    files = chain(("root", "one")) | {b"subagents/one.jsonl": session("one"), b"subagents/b/one.jsonl": session("one")}
    (row,) = swept(folder(tmp_path / "place", files))
    assert row.children == 1
    assert "sweep.child-once" in rules(row)
    assert row.findings[0].place is not None
    assert row.findings[0].place.file == "subagents/b/one.jsonl"


def test_a_child_that_cannot_be_read_is_told_and_missed(tmp_path: Path) -> None:
    place = folder(tmp_path / "place", chain(("root", "one")))
    (place / "subagents").mkdir()
    (place / "subagents" / "one.jsonl").symlink_to("/etc/passwd")
    (row,) = swept(place)
    assert row.children == 0
    assert [found.observed for found in row.findings if found.requirement == "sweep.child-readable"] == ["a link"]


def test_a_run_that_is_too_large_is_judged_with_what_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = chain(("root", "one"), ("one", "two")) | {b"subagents/two.jsonl": session("two")}
    place = folder(tmp_path / "place", files)
    (row,) = swept(place)
    assert row.children == 2
    monkeypatch.setattr(units, "RUN_BYTES", row.bytes - 1)
    (smaller,) = swept(place)
    assert (smaller.children, "sweep.run-size" in rules(smaller)) == (1, True)
    monkeypatch.setattr(units, "RUN_CHILDREN", 0)
    (alone,) = swept(place)
    assert (alone.children, "sweep.run-size" in rules(alone)) == (0, True)


def test_a_digest_covers_every_byte_and_name_that_is_judged(tmp_path: Path) -> None:
    files = chain(("root", "one")) | {b"subagents/one.jsonl": session("one")}
    variants = [
        files,
        files | {b"root.jsonl": files[b"root.jsonl"] + b"\n"},
        files | {b"subagents/one.jsonl": session("one") + b"\n"},
        {b"root.jsonl": files[b"root.jsonl"]},
        {b"subagents/one.jsonl": session("one"), b"renamed.jsonl": files[b"root.jsonl"]},
        {b"root.jsonl": files[b"root.jsonl"], b"subagents/x/one.jsonl": session("one")},
    ]
    digests = [
        swept(folder(tmp_path / str(number) / "place", variant))[0].digest for number, variant in enumerate(variants)
    ]
    assert len(set(digests)) == len(variants)
    assert swept(folder(tmp_path / "again" / "place", files))[0].digest == digests[0]
