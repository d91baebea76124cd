"""A made session that passes for a real one, or differs from its recording in what it says, is a forgery or useless."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harness.model.errors import UsageError
from harness.sweep.names import MARKER, SYNTHETIC
from harness.sweep.rows import Row
from harness.sweep.sweeping import Plan, sweep
from harness.sweep.synthetic import members, recordings, unpacked_bytes, write
from tests.support import sessions
from tests.support.sweeps import folder, real, session, swept

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NAMES = ("0.104.0-mixed-batch", "0.104.0-task-of-task", "0.96.6-reopened-by-0.104.0-legacy-script")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return folder(tmp_path / "real", {name: content for one in NAMES for name, content in real(one).items()})


def made(sources: Path, number: int, seed: int = 0) -> dict[str, bytes]:
    return dict(members(recordings([sources]), sessions=number, seed=seed))


def roots(files: dict[str, bytes]) -> list[str]:
    return [name for name in files if name.startswith("sessions/") and "subagents" not in name]


def test_everything_made_says_so_in_name_and_content(sources: Path) -> None:
    files = made(sources, 6)
    assert next(iter(files)) == MARKER
    assert b"no evidence" in files.pop(MARKER)
    for name, content in files.items():
        stem = Path(name).stem
        assert stem.startswith(SYNTHETIC)
        assert {json.loads(line)["session_id"] for line in content.splitlines()} == {stem}


def test_no_id_of_a_recording_is_left_and_none_is_made_twice(sources: Path) -> None:
    before = {match[0] for content in real_files() for match in UUID.finditer(content.decode())}
    files = made(sources, 9)
    names = [name for name in files if name != MARKER]
    assert len(before) > 5
    assert len({*names}) == len(names)
    for name in names:
        assert not before & {match[0] for match in UUID.finditer(files[name].decode())}


def real_files() -> list[bytes]:
    return [content for name in NAMES for content in (sessions.load(name)[0], *sessions.load(name)[1].values())]


def test_the_same_seed_makes_the_same_archive_and_another_one_another(sources: Path) -> None:
    assert made(sources, 5) == made(sources, 5)
    assert list(made(sources, 5)) == list(made(sources, 5))
    assert not set(made(sources, 5)) & (set(made(sources, 5, seed=1)) - {MARKER})
    first = made(sources, 9)
    assert {name: content for name, content in first.items() if name != MARKER}.items() >= {
        name: content for name, content in made(sources, 4).items() if name != MARKER
    }.items()


def test_a_made_session_says_what_its_recording_says(sources: Path, tmp_path: Path) -> None:
    originals = {row.session: row for row in swept(sources)}
    write(tmp_path / "made.tar", recordings([sources]), sessions=6, seed=3, progress=lambda _: None)
    rows = swept(tmp_path / "made.tar")

    def said(row: Row) -> tuple[object, ...]:
        return row.status, row.cards, row.children, row.derivations, row.finding_count

    assert len(rows) == 6
    assert all(row.synthetic for row in rows)
    assert not any(row.synthetic for row in originals.values())
    assert sorted(map(said, rows), key=str) == sorted([said(row) for row in originals.values()] * 2, key=str)


def test_times_move_together_and_orders_vary(sources: Path) -> None:
    source, children = sessions.load("0.104.0-mixed-batch")
    gaps = seconds(source)
    orders, days, places = set(), set(), set()
    files = made(sources, 60)
    names = list(files)
    for name in roots(files):
        if len(files[name]) - len(source) > 2_000 or b"mixed-batch" not in files[name]:
            continue
        assert seconds(files[name]) == gaps
        days.add(json.loads(files[name].splitlines()[0])["timestamp"][:10])
        announced = [
            json.loads(line)["payload"]["session_id"]
            for line in files[name].splitlines()
            if b"subagent_session" in line
        ]
        indices = [names.index(f"sessions/subagents/{child}.jsonl") for child in announced]
        places.add(min(indices) < names.index(name))
        tasks = [re.search(rb"Subagent g(\d)", files[f"sessions/subagents/{child}.jsonl"]) for child in announced]
        orders.add(tuple(task[1] for task in tasks if task))
    assert len(children) == 4
    assert len(days) > 10
    assert len(orders) > 3
    assert places == {True, False}


def seconds(content: bytes) -> list[float]:
    from datetime import datetime  # noqa: PLC0415

    moments = [datetime.fromisoformat(json.loads(line)["timestamp"][:26]) for line in content.splitlines()]
    return [(moment - moments[0]).total_seconds() for moment in moments]


@pytest.mark.parametrize("kind", ["a.tar", "a.tar.gz", "a.tar.zst", "a.zip", "a"])
def test_every_kind_of_archive_can_be_made_and_swept(kind: str, sources: Path, tmp_path: Path) -> None:
    done: list[int] = []
    write(tmp_path / kind, recordings([sources]), sessions=4, seed=0, progress=done.append)
    rows: list[Row] = []
    summary = sweep(Plan(archives=(tmp_path / kind,), jobs=1), rows.append)
    assert (summary.sessions, summary.read, summary.synthetic, summary.orphans) == (4, 4, 4, 0)
    assert summary.children == sum(row.children for row in rows) == 10
    assert done[-1] == 4


def test_the_marker_alone_makes_every_session_of_an_archive_synthetic(tmp_path: Path) -> None:
    files = {b"SYNTHETIC.txt": b"", b"renamed.jsonl": session("renamed")}
    assert [row.synthetic for row in swept(folder(tmp_path / "place", files))] == [True]


def test_made_sessions_are_not_varied_again(sources: Path, tmp_path: Path) -> None:
    write(tmp_path / "a.tar", recordings([sources]), sessions=2, seed=0, progress=lambda _: None)
    with pytest.raises(UsageError, match="synthetic itself"):
        recordings([tmp_path / "a.tar"])


def test_nothing_is_overwritten_and_nothing_made_of_nothing(sources: Path, tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(b"precious")
    with pytest.raises(UsageError, match="already there"):
        write(tmp_path / "a.tar", recordings([sources]), sessions=2, seed=0, progress=lambda _: None)
    assert (tmp_path / "a.tar").read_bytes() == b"precious"
    with pytest.raises(UsageError, match="no session to vary"):
        recordings([folder(tmp_path / "empty", {})])


def test_how_large_it_becomes_is_known_before(sources: Path) -> None:
    for number in (1, 2, 7):
        size = sum(len(content) for name, content in made(sources, number).items() if name != MARKER)
        assert unpacked_bytes(recordings([sources]), number) == pytest.approx(size, rel=0.05)


@pytest.mark.parametrize("name", ["made.tar", "made"])
def test_what_does_not_fit_is_not_begun(name: str, sources: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"take some [0-9,]+ MB, and [0-9,]+ MB are free"):
        write(tmp_path / name, recordings([sources]), sessions=10**10, seed=0, progress=lambda _: pytest.fail("begun"))
    assert [path.name for path in tmp_path.iterdir()] == ["real"]


@pytest.mark.parametrize("name", ["made.tar", "made.tar.gz", "made.tar.zst", "made.zip", "made"])
def test_one_that_was_stopped_is_not_there_and_can_be_made_again(name: str, sources: Path, tmp_path: Path) -> None:
    def stop(done: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    out = tmp_path / name
    with pytest.raises(KeyboardInterrupt):
        write(out, recordings([sources]), sessions=3, seed=0, progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == ["real"]
    write(out, recordings([sources]), sessions=3, seed=0, progress=lambda _: None)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["real", name])
    assert len(swept(out)) == 3


@pytest.mark.parametrize("name", ["made.tar", "made.zip", "made"])
def test_what_came_there_meanwhile_stays(name: str, sources: Path, tmp_path: Path) -> None:
    out = tmp_path / name

    def come(done: int) -> None:
        if done == 2 and not out.exists():
            out.write_text("precious")

    with pytest.raises(UsageError, match="already there"):
        write(out, recordings([sources]), sessions=3, seed=0, progress=come)
    assert out.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["real", name])


def test_two_at_once_do_not_meet(sources: Path, tmp_path: Path) -> None:
    out = tmp_path / "made"

    def another(done: int) -> None:
        if done == 2 and not out.exists():
            write(out, recordings([sources]), sessions=5, seed=1, progress=lambda _: None)

    with pytest.raises(UsageError, match="already there"):
        write(out, recordings([sources]), sessions=3, seed=0, progress=another)
    assert len(swept(out)) == 5


@pytest.mark.parametrize("name", ["made.tgz", "made.tar.xz", "made.TAR", "made.Zip", "a file/made.tar"])
def test_names_that_cannot_be_made_are_refused(name: str, sources: Path, tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    with pytest.raises(UsageError):
        write(tmp_path / name, recordings([sources]), sessions=1, seed=0, progress=lambda _: None)


def test_a_link_to_nothing_is_there_already(sources: Path, tmp_path: Path) -> None:
    (tmp_path / "made.tar").symlink_to("nowhere")
    with pytest.raises(UsageError, match="already there"):
        write(tmp_path / "made.tar", recordings([sources]), sessions=1, seed=0, progress=lambda _: None)
    assert (tmp_path / "made.tar").is_symlink()
