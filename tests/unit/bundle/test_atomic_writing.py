"""A writer that is killed, or that the disk refuses, at any instant leaves the older bundle or the new one, whole."""

from __future__ import annotations

import errno
import itertools
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from harness.bundle import publish, read_bundle, write_bundle, writer
from harness.model.errors import EvidenceError, UsageError
from harness.model.manifest import Manifest
from tests.support import bundles

OLD, NEW = b'{"type":"session"}\n{"old":1}\n', b'{"type":"session"}\n{"new":1}\n'
DONE, REFUSED, SURPRISED, NOT_REACHED = range(4)
KILLED = -signal.SIGKILL


def write(folder: Path, session: bytes, *, replace: bool = True) -> Manifest:
    """A bundle with few members: every step on the disk costs a process here."""
    members = {"stimulus.json": bundles.MEMBERS["stimulus.json"], "saved/s.jsonl": session}
    manifest = bundles.manifest(captures=(), children=(), session="saved/s.jsonl")
    return write_bundle(folder, manifest, members, replace=replace)


def shown(folder: Path) -> bytes | None:
    """The session of the bundle in `folder`, or None when nothing is there; fails when what is there is damaged."""
    return read_bundle(folder).read("saved/s.jsonl.gz") if folder.exists() else None


def hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.parent.iterdir() if path.name != folder.name)


def in_child(act: Callable[[], object]) -> int:
    """How `act` ends in a process of its own: DONE, REFUSED by the disk, what it exits with, or minus a signal."""
    child = os.fork()
    if child == 0:
        code = SURPRISED
        try:
            act()
            code = DONE
        except OSError:
            code = REFUSED
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def at_step(number: int, fault: Callable[[], None], act: Callable[[], object]) -> Callable[[], None]:
    """`act`, with `fault` just before its `number`-th step on the disk; exits with NOT_REACHED when it has fewer.

    Only for a child process: audit hooks cannot be taken back.
    """
    steps = 0
    exchange = publish.exchange

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal steps
        if event in ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "step"):
            steps += 1
            if steps == number:
                fault()

    def audited_exchange(first: Path, second: Path) -> bool:
        sys.audit("step")
        return exchange(first, second)

    def audited_fsync(descriptor: int) -> None:
        sys.audit("step")

    def run() -> None:
        publish.exchange = audited_exchange
        os.fsync = audited_fsync  # type: ignore[assignment] # takes descriptors only
        sys.addaudithook(hook)
        act()
        if steps < number:
            os._exit(NOT_REACHED)

    return run


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def disk_full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def no_exchange(first: Path, second: Path) -> bool:
    """A system that cannot let two folders swap their names in one step."""
    return False


SITUATIONS = [(None, "one step"), (OLD, "one step"), (OLD, "several steps")]
situations = pytest.mark.parametrize(
    ("before", "system"), SITUATIONS, ids=["nothing there", "older bundle", "older bundle, no exchange"]
)
"""What is in the place where the new bundle goes, and how the system lets the two change places."""


@pytest.fixture
def places(tmp_path: Path, before: bytes | None, system: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Places for bundles, each with `before` in it, on a system of that kind."""

    def make() -> Iterator[Path]:
        if system == "several steps":
            monkeypatch.setattr(publish, "exchange", no_exchange)
        for number in itertools.count():
            folder = tmp_path / str(number) / "run"
            folder.parent.mkdir()
            if before is not None:
                write(folder, before)
            yield folder

    return make()


@situations
def test_writer_killed_before_any_step_leaves_the_older_bundle_or_the_new_one(
    places: Iterator[Path], before: bytes | None, system: str
) -> None:
    seen: set[bytes | None] = set()
    for step, folder in enumerate(places, 1):
        status = in_child(at_step(step, kill, partial(write, folder, NEW)))
        if status == NOT_REACHED:
            break
        assert status == KILLED, step
        for name in hidden(folder):
            with pytest.raises(EvidenceError, match="unfinished recording"):
                read_bundle(folder.parent / name)
        left = shown(folder)
        seen.add(left)
        if left is None and before is not None:
            assert system == "several steps"
            with pytest.raises(UsageError, match="already there"):
                write(folder, NEW, replace=False)
            assert shown(folder) == OLD, f"the older bundle is lost at step {step}"
        assert left in (before, NEW, None)
        write(folder, NEW + b"{}\n")
        assert shown(folder) == NEW + b"{}\n"
        assert hidden(folder) == []
    assert step > 10
    assert {before, NEW} <= seen
    assert (None in seen) == (before is None or system == "several steps")


@situations
def test_writer_that_the_disk_refuses_at_any_step_changes_nothing(
    places: Iterator[Path], before: bytes | None, system: str
) -> None:
    refused = 0
    for step, folder in enumerate(places, 1):
        was = bundles.files(folder.parent)
        status = in_child(at_step(step, disk_full, partial(write, folder, NEW)))
        if status == NOT_REACHED:
            break
        if status == REFUSED:
            refused += 1
            assert bundles.files(folder.parent) == was, f"step {step}"
            assert hidden(folder) == []
            continue
        # The parent folder was there already, or what was replaced is still there: the next writer removes it.
        assert status == DONE, step
        assert shown(folder) == NEW
        write(folder, NEW)
        assert shown(folder) == NEW
        assert hidden(folder) == []
    assert refused > 10


@situations
@pytest.mark.parametrize("deadly", [False, True], ids=["refused", "killed"])
def test_writer_stopped_in_the_middle_of_a_file_changes_nothing(
    places: Iterator[Path], before: bytes | None, deadly: bool
) -> None:
    probe = next(places)
    write(probe, NEW)
    largest = (probe / "manifest.json").stat().st_size
    for size in (0, 1, 79, 200, largest - 1):
        folder = next(places)
        was = bundles.files(folder.parent)

        def limited(folder: Path = folder, size: int = size) -> None:
            if deadly:
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            write(folder, NEW)

        assert in_child(limited) == (-signal.SIGXFSZ if deadly else REFUSED)
        assert shown(folder) == before
        if deadly:
            assert hidden(folder) == [".run.partial"]
            assert any(len(content) == size for content in bundles.files(folder.parent / ".run.partial").values())
        else:
            assert bundles.files(folder.parent) == was
        write(folder, NEW)
        assert shown(folder) == NEW
        assert hidden(folder) == []


@situations
def test_interrupted_writer_changes_nothing(places: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(path: Path, content: bytes) -> None:
        path.write_bytes(content[:1])
        raise KeyboardInterrupt

    folder = next(places)
    was = bundles.files(folder.parent)
    monkeypatch.setattr(writer, "_write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(folder, NEW)
    assert bundles.files(folder.parent) == was
    assert hidden(folder) == []


def test_folder_without_write_permission_is_left_alone(tmp_path: Path) -> None:
    """As nobody when the tests run as root, whom permissions do not stop."""
    tmp_path.chmod(0o755)
    folder = tmp_path / "release" / "run"
    write(folder, OLD)
    folder.parent.chmod(0o555)
    descriptor = os.open(folder.parent.parent, os.O_RDONLY)

    def as_nobody() -> None:
        os.fchdir(descriptor)
        if os.geteuid() == 0:
            os.setgroups([])
            os.setuid(65_534)
        write(Path("release/run"), NEW)

    try:
        assert in_child(as_nobody) == REFUSED
        assert shown(folder) == OLD
        assert hidden(folder) == []
    finally:
        os.close(descriptor)
        folder.parent.chmod(0o755)


def test_parent_that_is_a_file_is_refused_by_the_disk(tmp_path: Path) -> None:
    (tmp_path / "release").write_text("a file")
    with pytest.raises(OSError, match=r"File exists|Not a directory"):
        write(tmp_path / "release" / "run", NEW)
    assert bundles.files(tmp_path) == {"release": b"a file"}


def test_everything_is_durable_before_it_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "release" / "run"
    synced: list[str] = []
    renamed: list[int] = []
    rename = Path.rename

    def fsync(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        synced.append(path.relative_to(tmp_path).as_posix().replace(".run.partial", "*"))

    def note(path: Path, target: Path) -> Path:
        renamed.append(len(synced))
        return rename(path, target)

    if not Path("/proc/self/fd").is_dir():
        pytest.skip("needs /proc to tell which file a descriptor is")
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "rename", note)
    bundles.write(folder)
    assert renamed == [len(synced) - 1]
    assert set(synced[: -len(["release/*/children", "release/*", "release"])]) == {
        f"release/*/{name}" for name in bundles.STORED
    }
    assert synced[-4:] == ["release/*/manifest.json", "release/*/children", "release/*", "release"]


def test_two_folders_swap_names_in_one_step(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    (one / "a").touch()
    if not publish.exchange(one, other):
        pytest.skip("this file system cannot")
    assert [path.name for path in other.iterdir()] == ["a"]
    assert list(one.iterdir()) == []
    with pytest.raises(FileNotFoundError) as caught:
        publish.exchange(one, tmp_path / "missing")
    assert caught.value.filename == str(one)
    assert caught.value.filename2 == str(tmp_path / "missing")
    assert one.is_dir()
