"""Looking for captures: a folder that is passed over in silence is evidence that nobody misses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness import foreign_folders
from harness.foreign_folders import driver_of, find
from harness.model.errors import UsageError

LIVE = "local-agent.live.jsonl"


def touched(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    return folder


def below(folder: Path, paths: tuple[Path, ...]) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in paths]


def test_a_folder_of_captures_is_found_itself(tmp_path: Path) -> None:
    touched(tmp_path, LIVE, "mission-control.reopen.card.txt")

    found = find(tmp_path)

    assert found.folders == (tmp_path,)
    assert found.refused == ()
    assert found.notes == ()


def test_folders_three_levels_below_are_found_and_deeper_ones_are_refused_by_name(tmp_path: Path) -> None:
    for path in ("one", "a/two", "a/b/three", "a/b/c/four"):
        touched(tmp_path / path, LIVE)

    found = find(tmp_path)

    assert below(tmp_path, found.folders) == ["a/b/three", "a/two", "one"]
    assert [(Path(item.folder).name, item.exit_code) for item in found.refused] == [("four", 2)]
    assert "more than 3 levels" in found.refused[0].reason


def test_what_stands_beside_folders_of_captures_is_said(tmp_path: Path) -> None:
    touched(tmp_path, "README.md", "run/session.jsonl", ".hidden/local-agent.live.jsonl")

    found = find(tmp_path)

    assert below(tmp_path, found.folders) == ["run"]
    assert [note.removeprefix(f"{tmp_path}/") for note in found.notes] == [
        ".hidden: not looked at",
        "README.md: not looked at",
    ]


@pytest.mark.parametrize(
    ("names", "said"), [((), "nothing"), (("notes.txt",), "only 'notes.txt'"), (("Session.jsonl",), "'Session.jsonl'")]
)
def test_a_folder_without_captures_is_refused_with_what_is_in_it(
    tmp_path: Path, names: tuple[str, ...], said: str
) -> None:
    (tmp_path / "run").mkdir()
    touched(tmp_path / "run", *names)

    found = find(tmp_path)

    assert found.folders == ()
    (refused,) = found.refused
    assert refused.folder == str(tmp_path / "run")
    assert "holds no capture" in refused.reason
    assert said in refused.reason


def test_links_are_refused_and_not_followed(tmp_path: Path) -> None:
    outside = touched(tmp_path / "outside", LIVE)
    captures = tmp_path / "captures"
    touched(captures / "good", LIVE)
    (captures / "linked").symlink_to(outside, target_is_directory=True)
    (captures / "alone").mkdir()
    (captures / "alone" / "up").symlink_to("..", target_is_directory=True)

    found = find(captures)

    assert below(captures, found.folders) == ["good"]
    assert {Path(item.folder).name for item in found.refused} == {"linked", "up"}
    assert all("is a link" in item.reason for item in found.refused)


def test_a_folder_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touched(tmp_path, "run/session.jsonl", "shut/session.jsonl")
    real = os.scandir

    def scan(path: Path) -> object:
        if Path(path).name == "shut":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scan)
    found = find(tmp_path)

    assert below(tmp_path, found.folders) == ["run"]
    assert [(Path(item.folder).name, item.reason) for item in found.refused] == [
        ("shut", "cannot be read: Permission denied")
    ]


@pytest.mark.parametrize(("name", "said"), [("gone", "no such folder"), ("file", "not a folder")])
def test_what_is_no_folder_is_a_mistake_of_the_caller(tmp_path: Path, name: str, said: str) -> None:
    touched(tmp_path, "file")

    with pytest.raises(UsageError, match=said) as caught:
        find(tmp_path / name)

    assert caught.value.where == str(tmp_path / name)
    assert caught.value.hint


def test_a_whole_disk_is_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_folders, "ENTRIES", 5)
    touched(tmp_path, *(f"run{number}/session.jsonl" for number in range(4)))

    with pytest.raises(UsageError, match="more than 5 files and folders"):
        find(tmp_path)


@pytest.mark.parametrize(
    ("names", "driver"),
    [
        (["local-agent.live.jsonl", "mission-control.reopen.cast"], "local-agent"),
        (["mission-control.live.cast", "local-agent.reopen.jsonl"], "mission-control"),
        (["mission-control.reopen.cast", "local-agent.reopen.jsonl"], ""),
        (["mission-control.live.cast", "local-agent.live.jsonl"], ""),
    ],
)
def test_the_live_capture_tells_who_drove_when_there_is_just_one(names: list[str], driver: str) -> None:
    assert driver_of(names) == driver
