"""One session's row: the findings of acceptance, none hidden, and no session's trouble that of another one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.compare import compare
from harness.model.facts import Column
from harness.model.verdict import FindingKind
from harness.project import project
from harness.records.rules import SESSION_BYTES
from harness.sweep import work
from harness.sweep.rows import Counts, Reopening, Status
from harness.sweep.rules import FINDINGS_KEPT, TEXT_CHARACTERS
from tests.support import sessions
from tests.support.sessions import Lines
from tests.support.sweeps import folder, real, session, swept

WITHOUT_A_BATCH_REPORT = ("0.104.0-killed-batch", "0.96.6-reopened-by-0.104.0-legacy-batch")
"""Runs of which only one derivation can say anything."""


@pytest.mark.parametrize("name", sessions.names())
def test_a_real_session_is_in_order(name: str, tmp_path: Path) -> None:
    (row,) = swept(folder(tmp_path / "place", real(name)))
    root, children = sessions.load(name)
    assert (row.status, row.findings, row.finding_count) == (Status.READ, (), 0)
    assert row.children == len(children)
    assert row.bytes == len(root) + sum(map(len, children.values()))
    assert (row.derivations.agree > 0) == (name not in WITHOUT_A_BATCH_REPORT)
    assert (row.reopening, row.surface) == (Reopening.NOT_ASKED, Counts())


def test_a_report_that_contradicts_the_records_gives_the_finding_of_acceptance(tmp_path: Path) -> None:
    content = session("s", total=2)
    (row,) = swept(folder(tmp_path / "place", {b"s.jsonl": content, b"fine.jsonl": session("fine")}))[1:]
    projection = project(content, {}, file="s.jsonl")
    columns = {Column.REPORT: projection.report, Column.NESTED: projection.nested}
    expected = compare(columns, projection.reference, observation="place/s.jsonl").findings
    assert [found.id for found in row.findings] == [found.id for found in expected]
    derived = {found.label: found for found in row.findings if found.kind is FindingKind.DERIVATION}
    assert (derived["Total calls"].observed, derived["Total calls"].expected) == ("2", "1 as the nested records say")
    assert derived["Total calls"].surface == Column.REPORT.value
    assert derived["Total calls"].place is not None
    assert derived["Total calls"].place.file == "s.jsonl"
    assert row.derivations.disagree == len(derived) == 2


def test_a_session_that_is_being_written_is_judged_up_to_its_last_whole_line(tmp_path: Path) -> None:
    content = session("s")
    (row,) = swept(folder(tmp_path / "place", {b"s.jsonl": content[:-40]}))
    assert row.status is Status.READ
    assert [found.requirement for found in row.findings] == ["records.line-cut"]
    assert row.cards == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no record can be read"),
        (b"\xff\xfe\x00\n", "no record can be read"),
        (b'{"a": 1}\n', "no record can be read"),
        (b"[" * 100_000 + b"\n", "no record can be read"),
        (b"\n" * 100_001, "100001 lines, over the limit of 100000"),
    ],
)
def test_what_is_no_session_is_one_finding(content: bytes, reason: str, tmp_path: Path) -> None:
    rows = swept(folder(tmp_path / "place", {b"bad.jsonl": content, b"good.jsonl": session("good")}))
    assert [(row.session, row.status) for row in rows] == [
        ("bad.jsonl", Status.UNREADABLE),
        ("good.jsonl", Status.READ),
    ]
    (found,) = rows[0].findings
    assert (found.requirement, found.surface) == ("sweep.session-readable", "archive")
    assert reason in found.observed


def test_sessions_at_the_read_limits_are_judged_and_above_them_are_not(tmp_path: Path) -> None:
    lines = Lines("s").user()
    head = lines.bytes()
    line = lines.add("note", {}).lines()[-1] + b"\n"
    most = head + line * (100_000 - 1)
    with (tmp_path / "huge.jsonl").open("wb") as stream:
        stream.truncate(SESSION_BYTES + 1)
    (tmp_path / "most.jsonl").write_bytes(most)
    rows = {row.session: row for row in swept(tmp_path)}
    assert rows["most.jsonl"].status is Status.READ
    assert rows["huge.jsonl"].status is Status.UNREADABLE
    assert rows["huge.jsonl"].findings[0].observed == f"over the limit of {SESSION_BYTES} bytes"
    assert rows["huge.jsonl"].bytes == 0


def test_a_fault_of_the_harness_is_told_of_its_session_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(content: bytes, *rest: Any, **named: Any) -> Any:
        if b'"bad"' in content:
            raise KeyError("a fault")
        return project(content, *rest, **named)

    monkeypatch.setattr(work, "project", faulty)
    rows = swept(folder(tmp_path / "place", {b"bad.jsonl": session("bad"), b"good.jsonl": session("good")}))
    assert [row.status for row in rows] == [Status.FAULT, Status.READ]
    (found,) = rows[0].findings
    assert (found.requirement, found.observed) == ("sweep.harness", "KeyError: 'a fault'")


def test_a_session_with_endless_trouble_has_bounded_findings_and_a_whole_count(tmp_path: Path) -> None:
    content = session("s") + b'{"event_type": "tool_call"}\n' * (FINDINGS_KEPT + 500)
    (row,) = swept(folder(tmp_path / "place", {b"s.jsonl": content}))
    assert row.finding_count == FINDINGS_KEPT + 500
    assert len(row.findings) == FINDINGS_KEPT


def test_what_a_hostile_session_says_is_cut_in_findings(tmp_path: Path) -> None:
    lines = Lines("s").user().result("x" * 100_000)
    (row,) = swept(folder(tmp_path / "place", {b"s.jsonl": lines.bytes()}))
    assert len(row.findings[0].observed) < TEXT_CHARACTERS + 50
    assert row.findings[0].observed.endswith(" characters)")


def test_a_finding_names_the_command_that_looks_at_its_session_again(tmp_path: Path) -> None:
    place = folder(tmp_path / "place", {b"it's.jsonl": b"", b"other.jsonl": b""})
    (row, _) = swept(place)
    assert row.findings[0].command == "harness sweep place --only 'place/it'\"'\"'s.jsonl'"
    assert [again.session for again in swept(place, only="place/it's.jsonl")] == ["it's.jsonl"]


def test_findings_of_one_session_have_ids_of_their_own(tmp_path: Path) -> None:
    content = json.dumps({"event_type": "x"}).encode() + b"\n"
    (first, second) = swept(folder(tmp_path / "place", {b"a.jsonl": content, b"b.jsonl": content}))
    assert first.findings[0].id != second.findings[0].id
