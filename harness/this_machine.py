"""The machine that the harness runs on, as `harness doctor` asks it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Mapping, Sequence
from importlib import metadata
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console

from harness.acceptance import load_scenarios, releases
from harness.doctor import Found, Terminal
from harness.model.errors import HarnessError
from harness.record import products
from harness.record.workspace import DEFAULT_ROOT

DISTRIBUTION = "card-acceptance-harness"
_PINNED = re.compile(r"([A-Za-z0-9._-]+)==([^ ;]+)$")
_ANSWER_WITHIN = 20.0
_ROWS = 500


class ThisMachine:
    """Answers of `harness.doctor.Machine`. `folders` maps names of default folders to where they are, if they are."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = {name: path for name, path in folders.items() if path.is_dir()}

    def python(self) -> tuple[int, int, int]:
        return sys.version_info[:3]

    def packages(self) -> Mapping[str, tuple[str, str]]:
        try:
            wanted = metadata.requires(DISTRIBUTION) or []
        except metadata.PackageNotFoundError:
            return {DISTRIBUTION: ("", "")}
        pinned = {match[1]: match[2] for text in wanted if (match := _PINNED.match(text.strip()))}
        return {name: (version, _installed(name)) for name, version in sorted(pinned.items())}

    def folder(self, name: str) -> str:
        return str(self._folders.get(name, ""))

    def releases(self) -> Sequence[str]:
        with contextlib.suppress(HarnessError):
            return releases(self._folders["evidence"])
        return ()

    def writable(self, path: str) -> str:
        there = _nearest(Path(path))
        if Path(path).is_symlink():
            return "is a link"
        if not there.is_dir():
            return f"{there} is no folder"
        try:
            with tempfile.TemporaryFile(dir=there):
                return ""
        except OSError as error:
            return error.strerror or "cannot be written to"

    def free(self, path: str) -> int:
        return shutil.disk_usage(_nearest(Path(path))).free

    def cores(self) -> int:
        return os.cpu_count() or 1

    def shared_memory(self) -> str:
        try:
            get_context("spawn").Lock()
        except OSError as error:
            return f"no shared memory: {error.strerror}"
        return ""

    def loopback(self) -> str:
        try:
            with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname(), 5):
                return ""
        except OSError as error:
            return f"127.0.0.1: {error.strerror or error}"

    def pseudo_terminal(self) -> str:
        try:
            ends = os.openpty()
        except OSError as error:
            return f"none can be had: {error.strerror}"
        try:
            fcntl.ioctl(ends[1], termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, 140, 0, 0))
            rows = struct.unpack("HHHH", fcntl.ioctl(ends[1], termios.TIOCGWINSZ, bytes(8)))[0]
        except OSError as error:
            return f"cannot be made {_ROWS} rows high: {error.strerror}"
        finally:
            for end in ends:
                os.close(end)
        return "" if rows == _ROWS else f"has {rows} rows instead of {_ROWS}"

    def program(self, name: str) -> tuple[str, str]:
        path = shutil.which(name)
        if path is None:
            return "", ""
        option = "-V" if name == "tmux" else "--version"
        try:
            done = subprocess.run(
                [path, option], capture_output=True, stdin=subprocess.DEVNULL, timeout=_ANSWER_WITHIN, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return path, ""
        lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
        return path, lines[0] if lines and done.returncode == 0 else ""

    def terminal(self) -> Terminal:
        screen = Console()
        return Terminal(
            interactive=screen.is_terminal,
            columns=screen.width,
            rows=screen.height,
            colours="no colour" if screen.no_color or not screen.color_system else f"{screen.color_system} colours",
            encoding=sys.stdout.encoding or "unknown",
        )

    def products(self) -> Sequence[Found]:
        folder = products.cache_folder() / "products"
        if not folder.is_dir():
            return ()
        return tuple(_found(path) for path in sorted(folder.iterdir()) if products.is_version(path.name))

    def recorded_by(self) -> Sequence[str]:
        if "features" not in self._folders:
            return ()
        with contextlib.suppress(HarnessError):
            scenarios = load_scenarios(self._folders["features"])
            return sorted({item.stimulus.recorded_by for item in scenarios if item.stimulus.recorded_by})
        return ()

    def cache(self) -> str:
        return str(products.cache_folder())

    def neutral(self) -> tuple[str, str]:
        problem = self.writable(str(DEFAULT_ROOT))
        if not problem and DEFAULT_ROOT.is_dir():
            status = DEFAULT_ROOT.stat()
            if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                problem = "belongs to somebody else, or somebody else can write to it"
        return str(DEFAULT_ROOT), problem


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _nearest(path: Path) -> Path:
    """The path, or the nearest folder above it that is there."""
    path = path.absolute()
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _found(folder: Path) -> Found:
    program = folder / "bin" / products.PROGRAM
    try:
        told = products.identify(program)
    except HarnessError as error:
        return Found(version=folder.name, path=str(program), product=None, problem=error.message)
    if told.version != folder.name:
        problem = f"says that it is {told.version}"
        return Found(version=folder.name, path=str(program), product=None, problem=problem)
    return Found(version=folder.name, path=str(program), product=told)
