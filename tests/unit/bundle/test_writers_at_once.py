"""Writers of one place wait for each other, a dead one stops nobody, and readers never see half of two bundles."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from harness.bundle import publish, read_bundle
from harness.model.errors import EvidenceError, UsageError
from tests.support import bundles

WRITERS, ROUNDS = 3, 4


def session(number: int) -> dict[str, bytes]:
    """Members of which the session and the child say who wrote them: a mixture would show."""
    text = b'{"type":"session","writer":%d}\n' % number
    return bundles.MEMBERS | {"session.jsonl": text, "children/c1.jsonl": text}


def forked(act: object) -> int:
    """The id of a child process that does `act` and leaves with 0 when nothing was raised."""
    assert callable(act)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    return child


def hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.parent.iterdir() if path.name != folder.name)


def test_writers_that_replace_each_other_leave_one_whole_bundle_and_readers_see_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "release" / "run"
    bundles.write(folder, session(0))

    def write_some(number: int) -> None:
        for _ in range(ROUNDS):
            bundles.write(folder, session(number), replace=True)

    children = [forked(lambda number=number: write_some(number)) for number in range(1, WRITERS + 1)]
    reads = 0
    unread: set[tuple[str, ...]] = set()
    statuses: dict[int, int] = {}
    while len(statuses) < WRITERS:
        try:
            read = read_bundle(folder)
        except EvidenceError as error:
            unread.add(error.reasons)
        else:
            assert read.read("session.jsonl.gz") == read.read("children/c1.jsonl.gz")
            reads += 1
        child, status = os.waitpid(-1, os.WNOHANG)
        if child:
            statuses[child] = status
    assert statuses == dict.fromkeys(children, 0)
    assert reads > 0
    last = read_bundle(folder).read("session.jsonl.gz")
    assert last in {session(number)["session.jsonl"] for number in range(1, WRITERS + 1)}
    assert hidden(folder) == []
    # Only a system that cannot let two folders swap their names shows nothing for an instant.
    assert unread <= (set() if publish.exchange(folder, _written(tmp_path / "other", 9)) else {("is not there",)})


def test_only_one_of_two_writers_that_must_not_replace_gets_the_place(tmp_path: Path) -> None:
    folder = tmp_path / "release" / "run"
    outcomes: list[str] = []
    start = threading.Barrier(2)

    def write(number: int) -> None:
        start.wait()
        try:
            bundles.write(folder, session(number))
        except UsageError as error:
            outcomes.append(error.message)
        else:
            outcomes.append(f"{number}")

    threads = [threading.Thread(target=write, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = {"1", "2"} & set(outcomes)
    assert sorted(outcomes) == [winner, "a bundle is already there"]
    assert read_bundle(folder).read("session.jsonl.gz") == session(int(winner))["session.jsonl"]
    assert hidden(folder) == []


def test_writer_waits_for_another_and_leaves_its_unfinished_folder_alone(tmp_path: Path) -> None:
    folder = tmp_path / "release" / "run"
    second = threading.Thread(target=bundles.write, args=(folder, session(2)), kwargs={"replace": True})
    with publish.staged(folder, replace=True) as staging:
        for name, content in bundles.files(_written(tmp_path / "elsewhere" / "run", 1)).items():
            (staging / name).parent.mkdir(exist_ok=True)
            (staging / name).write_bytes(content)
        second.start()
        time.sleep(0.1)
        assert second.is_alive()
        assert set(bundles.files(staging)) == bundles.STORED
        assert not folder.exists()
    second.join(timeout=10)
    assert not second.is_alive()
    assert read_bundle(folder).read("session.jsonl.gz") == session(2)["session.jsonl"]
    assert hidden(folder) == []


def _written(folder: Path, number: int) -> Path:
    bundles.write(folder, session(number))
    return folder


@pytest.mark.usefixtures("promptly")
def test_killed_writer_does_not_keep_its_lock(tmp_path: Path) -> None:
    folder = tmp_path / "release" / "run"
    inside, told = os.pipe()

    def stay() -> None:
        with publish.staged(folder, replace=True) as staging:
            (staging / "half").write_bytes(b"")
            os.write(told, b"x")
            time.sleep(60)

    child = forked(stay)
    try:
        assert os.read(inside, 1) == b"x"
        assert hidden(folder) == [".run.partial"]
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(inside)
        os.close(told)
    assert not folder.exists()
    bundles.write(folder)
    assert read_bundle(folder).manifest.observation == "reads-notes.local-agent"
    assert hidden(folder) == []


def test_bundle_replaced_while_it_is_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _written(tmp_path / "release" / "run", 1)
    really = os.open
    replaced: list[str] = []

    def replacing(path: str | Path, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == "session.jsonl.gz" and not replaced:
            replaced.append(path)
            bundles.write(folder, session(2), replace=True)
        return really(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", replacing)
    read = read_bundle(folder)
    assert replaced == ["session.jsonl.gz"]
    assert read.read("session.jsonl.gz") == session(2)["session.jsonl"]
    assert read.read("children/c1.jsonl.gz") == session(2)["children/c1.jsonl"]


def test_bundle_removed_while_it_is_read_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _written(tmp_path / "release" / "run", 1)
    really = os.open

    def removing(path: str | Path, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == "session.jsonl.gz":
            folder.rename(tmp_path / "moved")
            (tmp_path / "moved" / "session.jsonl.gz").unlink()
        return really(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", removing)
    with pytest.raises(EvidenceError) as caught:
        read_bundle(folder)
    assert caught.value.reasons == ("is not there",)
