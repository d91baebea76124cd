"""The folders in which captures made by others lie, with the names of the files that are looked for.

A folder is one of captures when anything in it has such a name; what else is met on the way is said, never passed
over in silence, and no link is followed.
"""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from pathlib import Path

import msgspec

from harness.model.errors import HarnessError, UsageError
from harness.model.facts import Column

CAPTURES: dict[str, Column] = {
    "local-agent.live.jsonl": Column.LOCAL_AGENT_LIVE,
    "local-agent.reopen.jsonl": Column.LOCAL_AGENT_REOPEN,
    "mission-control.live.cast": Column.MISSION_CONTROL_LIVE,
    "mission-control.reopen.cast": Column.MISSION_CONTROL_REOPEN,
}
"""File name to the surface that it is a capture of; the order is that of the bundle's manifest."""
_DRIVERS = {"local-agent.live.jsonl": "local-agent", "mission-control.live.cast": "mission-control"}
SESSION = "session.jsonl"
CHILDREN = "children"
LEVELS = 3
"""Folders below the one that is named in which captures are looked for."""
ENTRIES = 10_000
"""Files and folders looked at before giving up: more than that is not the folder that was meant."""


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that gave no bundle, why, and what the command's exit code says of it."""

    folder: str
    reason: str
    exit_code: int


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The folders that hold captures, by name, those that were looked at and hold none, and what was passed over."""

    folders: tuple[Path, ...]
    refused: tuple[Refused, ...]
    notes: tuple[str, ...]


def find(captures: Path) -> Found:
    """Every folder of captures in `captures`: itself, or those at most `LEVELS` below it.

    Raises UsageError when it is no folder, or far more than a folder of captures.
    """
    if not captures.is_dir():
        what = "is not a folder" if captures.exists() else "there is no such folder"
        raise UsageError(what, where=str(captures), hint="name a folder of captures, or a folder of such folders")
    walk = _Walk()
    walk.look(captures, 0)
    return Found(folders=tuple(walk.folders), refused=tuple(walk.refused), notes=tuple(walk.notes))


class _Walk:
    def __init__(self) -> None:
        self.folders: list[Path] = []
        self.refused: list[Refused] = []
        self.notes: list[str] = []
        self._entries = 0

    def look(self, folder: Path, depth: int) -> None:
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            self._refuse(folder, f"cannot be read: {error.strerror}")
            return
        self._entries += len(entries)
        if self._entries > ENTRIES:
            raise UsageError(f"there are more than {ENTRIES} files and folders", where=str(folder))
        if any(entry.name in (*CAPTURES, SESSION, CHILDREN) for entry in entries):
            self.folders.append(folder)
            return
        below: list[Path] = []
        others: list[str] = []
        for entry in entries:
            if entry.is_symlink():
                self._refuse(Path(entry.path), "is a link, and links are not followed")
            elif entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                below.append(Path(entry.path))
            else:
                others.append(entry.name)
        if not below and not any(entry.is_symlink() for entry in entries):
            seen = f"only {listed(others)}" if others else "nothing"
            self._refuse(folder, f"holds no capture, {seen}", hint=f"the names are {', '.join(CAPTURES)}")
            return
        self.notes.extend(f"{folder / name}: not looked at" for name in others)
        for path in below:
            if depth < LEVELS:
                self.look(path, depth + 1)
            else:
                self._refuse(path, f"is more than {LEVELS} levels below the folder that was named")

    def _refuse(self, path: Path, reason: str, *, hint: str = "") -> None:
        self.refused.append(refused(path, UsageError(reason, hint=hint)))


def refused(folder: Path, error: HarnessError) -> Refused:
    """An error that keeps one folder from becoming a bundle, as a value."""
    where = "" if error.where in ("", str(folder)) else f"{error.where.removeprefix(f'{folder}/')}: "
    hint = f" ({error.hint})" if error.hint else ""
    return Refused(folder=str(folder), reason=f"{where}{error.message}{hint}", exit_code=error.exit_code)


def driver_of(names: Container[str]) -> str:
    """The surface that drove the run, by the live capture among the names; "" when there is none, or one of each."""
    drivers = [driver for name, driver in _DRIVERS.items() if name in names]
    return drivers[0] if len(drivers) == 1 else ""


def listed(names: Sequence[str], shown: int = 4) -> str:
    """Some names as one clause."""
    rest = len(names) - shown
    return ", ".join(repr(name) for name in names[:shown]) + (f" and {rest} more" if rest > 0 else "")
