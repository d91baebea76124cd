"""The programs under test: found by path or by version in the user's cache, built from their crate the first time.

A build happens in a folder of its own beside the final one and is renamed when it is whole, so that a cache entry is
either there and complete or not there.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import platformdirs

from harness.model.errors import HarnessError, ProductError, UsageError
from harness.model.manifest import Product

PROGRAM = "magi-code"
APPLICATION = "card-acceptance-harness"
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?")
_ANSWER_WITHIN = 30.0
_BUILD_PROFILE = {
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "1",
}
"""Less optimization: a third of the build time, and nothing that a recording measures depends on speed."""
_LAST_LINES = 15

Progress = Callable[[str], None]


def cache_folder() -> Path:
    """Where built products are kept, per user."""
    return Path(platformdirs.user_cache_dir(APPLICATION))


def locate(product: str, cache: Path | None = None) -> Path:
    """The program for a path or a version in the cache.

    Raises UsageError when there is none; `build` makes one for a version.
    """
    if is_version(product):
        program = _program(cache or cache_folder(), product)
        if not program.is_file():
            raise UsageError(f"{PROGRAM} {product} has not been built yet", where=str(program.parent))
        return program
    path = Path(product).expanduser()
    if path.is_dir():
        path = path / PROGRAM
    if not path.is_file() or not os.access(path, os.X_OK):
        raise UsageError(
            "no program there", where=str(path), hint="give the path of a magi-code binary or a version like 0.104.0"
        )
    return path.resolve()


def is_version(product: str) -> bool:
    return _VERSION.fullmatch(product) is not None


def available(version: str, cache: Path | None = None) -> bool:
    """Whether the version stands in the cache."""
    return _program(cache or cache_folder(), version).is_file()


def build(version: str, progress: Progress = lambda _line: None, *, cache: Path | None = None) -> Path:
    """The program of a version, built from its crate unless it is in the cache already.

    Takes some minutes. `progress` gets lines like ``compiling 120: serde``. Raises UsageError for what is no version
    or without cargo, ProductError with cargo's last lines when the crate does not build.
    """
    if not is_version(version):
        raise UsageError(f"{version!r} is not a version", hint="give one like 0.104.0")
    cache = cache or cache_folder()
    program = _program(cache, version)
    cargo = shutil.which("cargo")
    with _only_one(cache, progress):
        if program.is_file():
            return program
        if cargo is None:
            raise UsageError(
                f"building {PROGRAM} {version} needs cargo", hint="install Rust (https://rustup.rs) or give a path"
            )
        staging = Path(tempfile.mkdtemp(prefix=f".{version}.", dir=program.parent.parent.parent))
        try:
            _install(cargo, version, staging, cache, progress)
            shutil.rmtree(program.parent.parent, ignore_errors=True)
            staging.rename(program.parent.parent)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    return program


@functools.lru_cache(maxsize=16)
def _identify(path: Path, _size: int, _changed: int) -> Product:
    try:
        answer = subprocess.run(
            [str(path), "--version"],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_ANSWER_WITHIN,
            check=False,
            env={"PATH": "/usr/bin:/bin", "HOME": tempfile.gettempdir(), "MC_HOME": tempfile.gettempdir()},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProductError(f"the program does not tell its version: {error}", where=path.name) from error
    words = answer.stdout.decode("utf-8", "replace").split()
    if answer.returncode != 0 or len(words) != 2 or words[0] != PROGRAM or not is_version(words[1]):
        raise ProductError(
            f"the program does not tell its version: {' '.join(words)[:200] or 'no answer'}",
            where=path.name,
            hint=f"is it {PROGRAM}?",
        )
    with path.open("rb") as file:
        return Product(version=words[1], sha256=hashlib.file_digest(file, "sha256").hexdigest())


def identify(path: Path) -> Product:
    """The version that the program tells and the sha256 of its file. Raises ProductError when it tells none."""
    try:
        status = path.stat()
    except OSError as error:
        raise UsageError(f"no program there: {error.strerror}", where=str(path)) from error
    return _identify(path, status.st_size, status.st_mtime_ns)


def _program(cache: Path, version: str) -> Path:
    return cache / "products" / version / "bin" / PROGRAM


@contextmanager
def _only_one(cache: Path, progress: Progress) -> Iterator[None]:
    """Builds share a target folder, and two builds of one version make one product: one at a time."""
    (cache / "products").mkdir(parents=True, exist_ok=True)
    with (cache / "build.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("waiting for another build to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install(cargo: str, version: str, root: Path, cache: Path, progress: Progress) -> None:
    command = [cargo, "install", PROGRAM, "--version", version, "--locked", "--root", str(root)]
    environment = {**os.environ, **_BUILD_PROFILE, "CARGO_TARGET_DIR": str(cache / "cargo-target")}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        if process.stderr is None:
            raise HarnessError("cargo was started without a pipe")
        try:
            last = _follow(process.stderr, progress)
            status = process.wait()
        except BaseException:
            process.kill()
            raise
    if status != 0 or not (root / "bin" / PROGRAM).is_file():
        raise ProductError(
            f"{PROGRAM} {version} does not build: " + " | ".join(last), hint="does the version need a newer Rust?"
        )


def _follow(stream: IO[bytes], progress: Progress) -> list[str]:
    """Reports cargo's lines as they come; returns the last ones."""
    last: list[str] = []
    compiled = 0
    for raw in stream:
        line = raw.decode("utf-8", "replace").strip()
        last = [*last, line][-_LAST_LINES:]
        verb, _, rest = line.partition(" ")
        if verb == "Compiling":
            compiled += 1
            progress(f"compiling {compiled}: {rest.split(' ')[0]}")
        elif verb in ("Updating", "Downloading", "Installing", "Finished", "Replacing"):
            progress(line)
    return last
