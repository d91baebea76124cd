"""What a product leaves behind must be found by whose home it has, not by whose child it is."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from harness.model.errors import ProductError
from harness.record.processes import belonging, cleaned_up, kill_all, start


def orphan(folder: Path, home: Path) -> int:
    """The id of a process whose parent has gone and that has a session of its own."""
    script = "setsid sleep 3600 >/dev/null 2>&1 & echo $!"
    started = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home)},
        capture_output=True,
        check=True,
    )
    return int(started.stdout)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return b"State:\tZ" not in Path(f"/proc/{pid}/status").read_bytes()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the state of processes from /proc")
@pytest.mark.parametrize("by", ["home", "folder"])
def test_an_orphan_is_found_by_its_home_or_its_folder_and_ended(by: str, tmp_path: Path) -> None:
    place, elsewhere = tmp_path / "place", tmp_path / "place-not"
    place.mkdir()
    elsewhere.mkdir()
    ours = orphan(place if by == "folder" else elsewhere, place if by == "home" else elsewhere)
    others = orphan(elsewhere, elsewhere)
    try:
        deadline = time.monotonic() + 5
        while ours not in [process.pid for process in belonging(place)] and time.monotonic() < deadline:
            time.sleep(0.02)
        assert [process.pid for process in belonging(place)] == [ours]
        assert kill_all(place) == 1
        assert not alive(ours)
        assert alive(others), "a process of a place whose name begins alike is not ours"
    finally:
        kill_all(tmp_path)


def test_children_are_ended_when_the_block_fails(tmp_path: Path) -> None:
    def fail() -> None:
        with cleaned_up(tmp_path):
            orphan(tmp_path, tmp_path)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert belonging(tmp_path) == []


def test_a_program_that_cannot_start_is_the_products_fault(tmp_path: Path) -> None:
    program = tmp_path / "magi-code"
    program.write_text("no program")
    program.chmod(0o755)
    with pytest.raises(ProductError, match="does not start"):
        start([str(program)], folder=tmp_path, environment={})
    with pytest.raises(ProductError, match="does not start"):
        start([str(tmp_path / "nothing")], folder=tmp_path, environment={})
