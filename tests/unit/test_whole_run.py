"""What a bundle holds beside captures and records: a reopening that asked the model must be found in its log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from harness import whole_run
from harness.bundle import read_bundle
from harness.compare.tried import Tried
from harness.examine import examine
from harness.model.errors import DecodeError
from harness.model.facts import CardFacts, CardKind, Column, ColumnFacts
from harness.model.manifest import Capture
from tests.support.bundles import MEMBERS, PRODUCT, write
from tests.support.columns import card, fact
from tests.support.sessions import Lines
from tests.support.wire_frames import Wire, entry

LISTED = b'[{"path":"notes.txt","sha256":"' + b"0" * 64 + b'","size":4}]'
SAME = {"workspace.after.json": LISTED, "workspace.reopened.json": LISTED}
BEGUN = 100.0
"""When the reopening of these tests begins: the time of the first line of its capture."""


def _log(*at: float) -> bytes:
    return b"".join(json.dumps({"at": moment, "lane": "main", "step": 1}).encode() + b"\n" for moment in at)


def _captures(*columns: Column) -> tuple[Capture, ...]:
    return tuple(
        Capture(column=column, file=f"{column.value}.{_suffix(column)}", product=PRODUCT, complete=True)
        for column in columns
    )


def _suffix(column: Column) -> str:
    return "jsonl" if column.value.startswith("local") else "cast"


def _tried(
    folder: Path,
    *columns: Column,
    members: Mapping[str, bytes] = {},  # never changed
    reference: tuple[CardFacts, ...] = (),
) -> list[tuple[Column | None, Tried]]:
    """What was tried on a bundle with these members beside its own; reopened captures are made up."""
    history = Wire().initialize().open()
    history.page([entry("u")])
    content = {
        "local-agent-reopen.jsonl": history.shutdown().encode(),
        "mission-control-reopen.cast": b'{"version": 2, "width": 80, "height": 24, "timestamp": 99}\n',
    }
    own = {capture.file: content[capture.file] for capture in _captures(*columns)}
    kept = {name: data for name, data in MEMBERS.items() if not name.startswith("local-agent")}
    write(folder, {**kept, **own, **members}, captures=_captures(*columns))
    bundle = read_bundle(folder)
    shown = card(fact("Task activity", "secret answer"), path="turn1/call1/task1", kind=CardKind.TASK)
    column = Column.LOCAL_AGENT_REOPEN
    shown_columns = {column: ColumnFacts(column=column, cards=(shown,))}
    return list(whole_run.tries(bundle, shown_columns, reference, {}))


def _told(tries: list[tuple[Column | None, Tried]]) -> list[tuple[str, str, str | None]]:
    return [
        (problem.requirement, problem.observed, problem.place.file if problem.place else None)
        for _, tried in tries
        if (problem := tried.problem) is not None
    ]


@pytest.mark.parametrize("column", [Column.LOCAL_AGENT_REOPEN, Column.MISSION_CONTROL_REOPEN])
def test_a_request_after_the_first_reopening_began_is_found(tmp_path: Path, column: Column) -> None:
    inert = _tried(tmp_path / "inert", column, members={**SAME, "model.jsonl": _log(BEGUN - 0.5)})
    assert _told(inert) == []
    assert [tried.requirement for _, tried in inert].count("acceptance.no-replay") == 2
    asked = _tried(tmp_path / "asked", column, members={**SAME, "model.jsonl": _log(BEGUN - 50, BEGUN + 2)})
    assert _told(asked) == [
        ("acceptance.no-replay", "1 requests, the first 2.0 s after it began: main", "model.jsonl.gz")
    ]
    assert {surface for surface, tried in asked if tried.problem} == {None}


def test_a_file_that_a_reopening_left_is_found(tmp_path: Path) -> None:
    told = _told(_tried(tmp_path / "b", members={**SAME, "workspace.reopened.json": b"[]"}))
    assert told == [("acceptance.no-replay", "changed: notes.txt", "workspace.reopened.json")]


def test_a_bundle_of_captures_alone_is_tried_on_nothing(tmp_path: Path) -> None:
    tries = _tried(tmp_path / "b", Column.LOCAL_AGENT_REOPEN)
    assert [tried.requirement for _, tried in tries if tried.requirement == "acceptance.no-replay"] == []


def test_only_a_run_with_a_script_says_something_about_scripts(tmp_path: Path) -> None:
    script = _tried(tmp_path / "script", reference=(card(),), members=SAME)
    assert [tried.requirement for _, tried in script].count("code-mode.reopen-inert") == 1
    assert [tried.requirement for _, tried in _tried(tmp_path / "none", members=SAME)].count(
        "code-mode.reopen-inert"
    ) == 0


def test_output_of_a_task_on_a_card_is_found(tmp_path: Path) -> None:
    child = Lines("c1").answer("secret answer").bytes()
    told = _told(_tried(tmp_path / "b", members={"children/c1.jsonl": child}))
    assert [item[:2] for item in told] == [("task.activity-private", "'secret answer'")]


@pytest.mark.parametrize(
    "members",
    [
        {**SAME, "workspace.after.json": b"{}"},
        {"model.jsonl": b"[]\n"},
    ],
)
def test_a_member_that_is_not_what_its_name_says_is_refused(tmp_path: Path, members: dict[str, bytes]) -> None:
    with pytest.raises(DecodeError):
        _tried(tmp_path / "b", members=members)


def test_a_cast_without_a_time_is_refused(tmp_path: Path) -> None:
    columns = _captures(Column.MISSION_CONTROL_REOPEN)
    kept = {name: data for name, data in MEMBERS.items() if not name.startswith("local-agent")}
    write(tmp_path / "b", {**kept, "mission-control-reopen.cast": b"{}\n", "model.jsonl": _log(1.0)}, captures=columns)
    with pytest.raises(DecodeError, match="no time"):
        list(whole_run.tries(read_bundle(tmp_path / "b"), {}, (), {}))


def test_an_examined_bundle_says_what_it_was_tried_on(tmp_path: Path) -> None:
    wire = Wire().initialize().open()
    wire.page([entry("u")])
    session = Lines("s").user().answer().bytes()
    members = {"stimulus.json": MEMBERS["stimulus.json"], "session.jsonl": session}
    members |= {"local-agent-reopen.jsonl": wire.shutdown().encode(), "model.jsonl": _log(BEGUN + 1)}
    captures = _captures(Column.LOCAL_AGENT_REOPEN)
    write(tmp_path / "b", members, captures=captures, children=())
    examined = examine(read_bundle(tmp_path / "b"), None)
    assert examined.compared.cases["acceptance.no-replay"] == 1
    assert examined.compared.cases["wire.frame-bytes"] == 4
    assert examined.compared.cases["records.line-json"] == 2
    (found,) = [item for item in examined.compared.findings if item.requirement == "acceptance.no-replay"]
    assert found.surface == "run"
    assert msgspec.to_builtins(found.place)["line"] == 1


@pytest.mark.parametrize(
    "listed",
    [
        b"[]",
        LISTED,
        b'[{"path":"notes.txt","size":5,"sha256":"2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806"}]',
    ],
)
def test_a_run_that_began_with_other_files_than_its_stimulus_is_found(tmp_path: Path, listed: bytes) -> None:
    told = _told(_tried(tmp_path / "b", members={"workspace.before.json": listed}))
    assert told == [("acceptance.no-substitute", "changed: notes.txt", "workspace.before.json")]


def test_a_run_that_began_as_its_stimulus_says_is_tried_and_kept(tmp_path: Path) -> None:
    tries = _tried(tmp_path / "b")
    assert [tried.requirement for _, tried in tries if tried.requirement == "acceptance.no-substitute"]
    assert _told(tries) == []
