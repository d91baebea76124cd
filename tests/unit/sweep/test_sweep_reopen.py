"""A copy that differs from its original in more than its place, or touches it, spoils the reopening."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from harness.model.errors import ProductError
from harness.model.facts import Column
from harness.record.timing import Deadlines
from harness.sweep.reopen import Candidate, candidate, moved, same_here
from harness.sweep.rows import Reopening, Row, Status
from harness.sweep.sweeping import Plan, sweep
from harness.sweep.table import json_line
from tests.support import sessions
from tests.support.sessions import Lines
from tests.support.sweeps import fake_product, folder, session, swept

SHORT = Deadlines(ready=20, answer=20, close=10)


@pytest.fixture
def fake(tmp_path: Path) -> Candidate:
    return msgspec.structs.replace(candidate(fake_product(tmp_path / "magi-code")), deadlines=SHORT)


def reopened(place: Path, fake: Candidate, jobs: int = 1) -> dict[str, Row]:
    return {row.session: row for row in swept(place, jobs=jobs, candidate=fake)}


@pytest.mark.parametrize("name", sessions.names())
def test_a_moved_session_differs_in_its_folder_alone(name: str) -> None:
    for content in (sessions.load(name)[0], *sessions.load(name)[1].values()):
        copy = moved(content, '/somewhere else/"ws"')
        assert copy.count(b"\n") == content.count(b"\n")
        for old, new in zip(content.splitlines(), copy.splitlines(), strict=True):
            before, after = json.loads(old), json.loads(new)
            assert after["cwd"] == '/somewhere else/"ws"'
            assert list(after) == list(before)
            same = {"cwd": before["cwd"]} | (
                {"session_path": before["session_path"]} if "session_path" in before else {}
            )
            assert after | same == before
            payload = old.index(b'"payload":')
            assert new.endswith(old[payload:])


def test_lines_that_name_no_folder_or_are_no_records_stay_as_they_are() -> None:
    content = b'{"a": 1.0, "b":[1, 2]}\n\xff\n{"cwd": null , "x": 2}\n[1]\n\n{"cut": tr'
    assert moved(content, "/ws") == content


def test_every_session_gets_a_copy_of_its_own(tmp_path: Path, fake: Candidate) -> None:
    files = {b"s/%s.jsonl" % name: session(name.decode()) for name in (b"one", b"two")}
    place = folder(tmp_path / "place", files)
    rows = reopened(place, fake)
    assert {row.reopening for row in rows.values()} == {Reopening.REOPENED}
    assert {name: (place / name.decode()).read_bytes() for name in files for name in [name]} == files
    assert sorted(path.name for path in place.rglob("*")) == ["one.jsonl", "s", "two.jsonl"]


def test_cards_that_the_candidate_does_not_show_are_findings(tmp_path: Path, fake: Candidate) -> None:
    (row,) = reopened(folder(tmp_path / "place", {b"s.jsonl": session("s")}), fake).values()
    assert row.status is Status.READ
    missing = [found for found in row.findings if found.surface == Column.LOCAL_AGENT_REOPEN.value]
    assert [(found.card, found.observed) for found in missing if found.kind == "card"] == [
        ("turn1/call1", "no card there")
    ]
    assert row.surface.agree == 0
    assert row.surface.not_comparable > 0


def test_a_product_that_crashes_on_one_session_is_one_finding(tmp_path: Path, fake: Candidate) -> None:
    crash = Lines("b").user("CRASH").bytes()
    files = {b"a.jsonl": Lines("a").user().bytes(), b"b.jsonl": crash, b"c.jsonl": Lines("c").user().bytes()}
    rows = reopened(folder(tmp_path / "place", files), fake)
    assert {name: row.reopening for name, row in rows.items()} == {
        "a.jsonl": Reopening.REOPENED,
        "b.jsonl": Reopening.FAILED,
        "c.jsonl": Reopening.REOPENED,
    }
    assert {name: row.finding_count for name, row in rows.items()} == {"a.jsonl": 0, "b.jsonl": 1, "c.jsonl": 0}
    (found,) = rows["b.jsonl"].findings
    assert (found.requirement, found.surface) == ("sweep.product-reopens", Column.LOCAL_AGENT_REOPEN.value)
    assert found.observed == "the process ended while an answer to session.open was awaited; exit status 101"


def test_what_chance_decides_is_in_no_finding(tmp_path: Path, fake: Candidate) -> None:
    files = {b"b.jsonl": Lines("b").user("CRASH").bytes(), b"n.jsonl": Lines("n").user("NONSENSE").bytes()}
    place = folder(tmp_path / "place", files)
    first, second = (list(reopened(place, fake, jobs).values()) for jobs in (1, 2))
    assert first == second
    assert [row.reopening for row in first] == [Reopening.FAILED] * 2


def test_an_id_that_is_no_file_name_reaches_no_product(tmp_path: Path, fake: Candidate) -> None:
    (row,) = reopened(folder(tmp_path / "place", {b"x.jsonl": Lines("../../x").user().bytes()}), fake).values()
    assert row.reopening is Reopening.NOT_POSSIBLE
    assert [found.requirement for found in row.findings] == ["sweep.reopenable"]


def test_a_session_that_cannot_be_read_is_not_reopened(tmp_path: Path, fake: Candidate) -> None:
    (row,) = reopened(folder(tmp_path / "place", {b"x.jsonl": b"nothing"}), fake).values()
    assert (row.status, row.reopening, row.finding_count) == (Status.UNREADABLE, Reopening.NOT_ASKED, 1)


def test_another_program_in_the_candidate_s_place_ends_the_sweep(tmp_path: Path, fake: Candidate) -> None:
    other = msgspec.structs.replace(fake, product=msgspec.structs.replace(fake.product, sha256="0" * 64))
    with pytest.raises(ProductError, match="another program"):
        same_here(other)
    with pytest.raises(ProductError, match="another program"):
        swept(folder(tmp_path / "place", {b"s.jsonl": session("s")}), candidate=other, jobs=2)


def test_the_summary_names_the_product_and_counts_reopenings(tmp_path: Path, fake: Candidate) -> None:
    files = {b"a.jsonl": Lines("a").user().bytes(), b"b.jsonl": Lines("b").user("CRASH").bytes(), b"c.jsonl": b""}
    place = folder(tmp_path / "place", files)
    summary = sweep(Plan(archives=(place,), jobs=1, candidate=fake), lambda _: None)
    assert summary.product == fake.product
    assert (summary.reopened, summary.reopening_failed, summary.unreadable) == (1, 1, 1)
    assert json.loads(json_line(summary))["summary"]["product"]["version"] == "0.0.1"
