"""A resumed sweep that shows old rows for new bytes, and a table that is half written, are worse than none."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.model.errors import HarnessError, UsageError
from harness.model.manifest import Product
from harness.sweep import rules, state, table
from harness.sweep.reopen import Candidate
from harness.sweep.rows import Row, Status, Summary, Totals
from harness.sweep.state import State
from harness.sweep.sweeping import Plan, Progress, sweep
from harness.sweep.table import Table, json_line
from tests.support.sweeps import folder, session, swept

FILES = {b"s%d.jsonl" % number: session(f"s{number}", total=1 + number % 2) for number in range(6)}


def run(place: Path, kept: Path, *, resume: bool) -> tuple[list[Row], Progress]:
    rows: list[Row] = []
    seen: list[Progress] = []
    sweep(Plan(archives=(place,), jobs=1, state=kept, resume=resume), rows.append, seen.append)
    return rows, seen[-1]


def test_a_stopped_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    place, kept = folder(tmp_path / "place", FILES), tmp_path / "out.state"

    class Stopped(Exception):  # noqa: N818
        pass

    found: list[Row] = []

    def stop(row: Row) -> None:
        found.append(row)
        if len(found) == 4:
            raise Stopped

    with pytest.raises(Stopped):
        sweep(Plan(archives=(place,), jobs=1, state=kept), stop)
    rows, last = run(place, kept, resume=True)
    assert (last.done, last.total, last.known) == (6, 6, 4)
    assert rows == swept(place)


def test_only_the_very_bytes_that_were_judged_are_known(tmp_path: Path) -> None:
    place, kept = folder(tmp_path / "place", FILES), tmp_path / "out.state"
    run(place, kept, resume=False)
    (place / "s0.jsonl").write_bytes(session("s0", total=2))
    (place / "s1.jsonl").rename(place / "t.jsonl")
    rows, last = run(place, kept, resume=True)
    assert last.known == 4
    assert rows == swept(place)
    assert {row.session: row.derivations.disagree for row in rows}["s0.jsonl"] == 2


def test_another_harness_or_candidate_knows_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, kept = folder(tmp_path / "place", FILES), tmp_path / "out.state"
    run(place, kept, resume=False)
    monkeypatch.setattr(state, "__version__", "another")
    assert run(place, kept, resume=True)[1].known == 0
    monkeypatch.undo()
    assert run(place, kept, resume=True)[1].known == 6
    one, two = (Candidate(path="p", product=Product(version="1.0.0", sha256=digit * 64)) for digit in "ab")
    (row, *_) = swept(place)
    with State(tmp_path / "c.state", one, resume=False) as first:
        first.keep(row)
        unit: Any = row
        assert first.known(unit) == row
    for candidate, expected in ((one, row), (two, None), (None, None)):
        with State(tmp_path / "c.state", candidate, resume=True) as again:
            assert again.known(unit) == expected


def test_without_resume_nothing_is_known(tmp_path: Path) -> None:
    place, kept = folder(tmp_path / "place", FILES), tmp_path / "out.state"
    run(place, kept, resume=False)
    assert run(place, kept, resume=False)[1].known == 0


def test_faults_are_tried_again(tmp_path: Path) -> None:
    (row,) = swept(folder(tmp_path / "place", {b"a.jsonl": session("a")}))
    unit: Any = row
    with State(tmp_path / "s", None, resume=False) as kept:
        kept.keep(msgspec.structs.replace(row, status=Status.FAULT))
        assert kept.known(unit) is None


def test_a_file_that_is_no_state_is_refused_and_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "out.state"
    other.write_bytes(b"precious" * 100)
    with pytest.raises(UsageError, match="no state of a sweep"):
        run(folder(tmp_path / "place", FILES), other, resume=True)
    assert other.read_bytes() == b"precious" * 100


def test_resuming_needs_a_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to resume"):
        swept(folder(tmp_path / "place", FILES), resume=True)


def summary_of(rows: list[Row]) -> Summary:
    totals = Totals()
    for row in rows:
        totals.add(row)
    return totals.summary(harness="h", product=None, archives=("place",), orphans=0)


def written(path: Path, rows: list[Row]) -> Path:
    with Table(path) as made:
        for row in rows:
            made.add(row)
        made.finish(summary_of(rows))
    return path


def test_json_lines_are_the_rows_and_then_the_summary(tmp_path: Path) -> None:
    rows = swept(folder(tmp_path / "place", FILES))
    lines = [json.loads(line) for line in written(tmp_path / "o.jsonl", rows).read_bytes().splitlines()]
    assert [line["session"] for line in lines[:-1]] == [f"s{number}.jsonl" for number in range(6)]
    assert lines[1]["findings"][0]["place"]["file"] == "s1.jsonl"
    summary = lines[-1]["summary"]
    assert (summary["sessions"], summary["read"], summary["cards"]) == (6, 6, 6)
    assert summary["sessions_with_findings"] == 3
    assert summary["findings"] == sum(len(line["findings"]) for line in lines[:-1])
    assert sum(summary["by_requirement"].values()) == summary["findings"]


def test_parquet_and_duckdb_hold_every_row_and_finding(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    rows = swept(folder(tmp_path / "place", FILES | {b"bad.jsonl": b"\x00'; DROP TABLE"}))
    ids = sorted(found.id for row in rows for found in row.findings)
    parquet = written(tmp_path / "it's.parquet", rows)
    quoted = str(parquet).replace("'", "''")
    with duckdb.connect(":memory:") as store:
        found = store.execute(
            f"SELECT session, status, bytes, derivations.disagree, finding_count FROM '{quoted}'"  # noqa: S608
        ).fetchall()
        assert found == [
            (row.session, row.status.value, row.bytes, row.derivations.disagree, row.finding_count) for row in rows
        ]
        every = store.execute(
            f"SELECT f.id, f.place.file FROM (SELECT unnest(findings) AS f FROM '{quoted}')"  # noqa: S608
        ).fetchall()
        assert sorted(id_ for id_, _ in every) == ids
        assert {file for _, file in every} == {"bad.jsonl", "s1.jsonl", "s3.jsonl", "s5.jsonl"}
    with duckdb.connect(str(written(tmp_path / "o.duckdb", rows)), read_only=True) as store:
        assert sorted(id_ for (id_,) in store.execute("SELECT id FROM findings").fetchall()) == ids
        assert store.execute("SELECT count(*) FROM sessions").fetchall() == [(7,)]
        (text,) = store.execute("SELECT summary FROM summary").fetchone()
        assert json.loads(text)["unreadable"] == 1


def test_the_same_rows_give_the_same_table(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not installed")
    rows = swept(folder(tmp_path / "place", FILES))
    first, second = (written(tmp_path / name, rows).read_bytes() for name in ("a.parquet", "b.parquet"))
    assert first == second


def test_the_longest_row_fits_into_a_table(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not installed")
    hostile = session("s") + b"".join(
        b'{"event_type": "tool_result", "timestamp": "", "session_id": "s", "payload": {"call_id": "%s%d", '
        b'"result": {"success": true}}}\n' % ("語".encode() * 2_000, number)
        for number in range(rules.FINDINGS_KEPT)
    )
    rows = swept(folder(tmp_path / "place", {b"s.jsonl": hostile}))
    assert len(rows[0].findings) == rules.FINDINGS_KEPT
    assert 3_000_000 < len(json_line(rows[0])) < table._OBJECT_BYTES
    assert written(tmp_path / "o.parquet", rows).stat().st_size > 1_000


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".duckdb"])
def test_a_sweep_that_fails_leaves_the_old_table_and_nothing_else(suffix: str, tmp_path: Path) -> None:
    if suffix != ".jsonl":
        pytest.importorskip("duckdb", reason="DuckDB is not installed")
    out = tmp_path / "out" / f"o{suffix}"
    out.parent.mkdir()
    out.write_bytes(b"the old one")
    (row, *_) = swept(folder(tmp_path / "place", FILES))
    with Table(out) as made:
        made.add(row)
    assert [path.name for path in out.parent.iterdir()] == [out.name]
    assert out.read_bytes() == b"the old one"


def test_a_table_that_duckdb_cannot_write_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not installed")
    monkeypatch.setattr(table, "_MEMORY", "1MB")
    with pytest.raises(HarnessError, match="cannot be written"):
        written(tmp_path / "o.parquet", swept(folder(tmp_path / "place", FILES)))


def test_a_table_of_an_unknown_kind_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "d.parquet").mkdir()
    for name, message in (("o.csv", "no table"), ("o", "no table"), ("d.parquet", "is a folder")):
        with pytest.raises(UsageError, match=message):
            table.check(tmp_path / name)


def test_missing_duckdb_is_told_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(UsageError, match=r"\[table\]"):
        table.check(tmp_path / "o.parquet")
    table.check(tmp_path / "o.jsonl")


def test_missing_dask_is_told_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(UsageError, match=r"\[cluster\]"):
        swept(folder(tmp_path / "place", FILES), scheduler="tcp://127.0.0.1:1")


def test_the_summary_adds_up(tmp_path: Path) -> None:
    place = folder(tmp_path / "place", FILES | {b"bad.jsonl": b"", b"subagents/nobody.jsonl": session("nobody")})
    rows: list[Row] = []
    summary = sweep(Plan(archives=(place,), jobs=1), rows.append)
    assert (summary.sessions, summary.read, summary.unreadable, summary.faults) == (7, 6, 1, 0)
    assert (summary.orphans, summary.children, summary.synthetic) == (1, 0, 0)
    assert summary.bytes == sum(map(len, FILES.values()))
    assert summary.derivations.disagree == 6
    assert summary.archives == ("place",)
    assert summary.product is None
