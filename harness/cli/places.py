"""Where things are by default, and what time it is: the folder one stands in, else the project's own clone."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path

from harness.model.errors import UsageError

PASSPHRASE = "HARNESS_KEY_PASSPHRASE"  # noqa: S105 # the variable's name, not a passphrase
_PROJECT = Path(__file__).resolve().parent.parent.parent
_RFC3339 = re.compile(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(Z|[+-]\d{2}:\d{2}))?")


def default_folder(name: str) -> Path:
    """``./NAME`` when it is there, else the clone's own."""
    here = Path(name)
    return here if here.is_dir() else _PROJECT / name


def shown(path: Path) -> str:
    """A path as the next command may name it: relative where it lies below the folder one stands in."""
    here = Path.cwd()
    return str(path.resolve().relative_to(here)) if path.resolve().is_relative_to(here) else str(path)


def in_reports(evidence: Path | None) -> str:
    """What reports call the evidence folder that was named, "" for the one that commands take by themselves.

    A path below the folder one stands in is called so. Any other is one machine's own, and no report holds that.
    """
    from harness.report import ELSEWHERE  # noqa: PLC0415 # most commands write no report

    if evidence is None or evidence.resolve() == default_folder("evidence").resolve():
        return ""
    if evidence.is_absolute() or ".." in evidence.parts:
        return ELSEWHERE
    return evidence.as_posix()


def parse_time(text: str | None) -> str:
    """RFC 3339 UTC with second precision, for a time or a date on the command line; None is now.

    Raises UsageError for anything else.
    """
    if text is None:
        return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if not _RFC3339.fullmatch(text):
        raise UsageError(f"{text!r} is not a time", hint="write 2026-11-30 or 2026-11-30T12:00:00Z")
    try:
        moment = datetime.fromisoformat(text)
        utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{text!r} is not a time: {error}") from error
    return utc.isoformat(timespec="seconds").replace("+00:00", "Z")


def write_file(path: Path, content: bytes) -> None:
    """Replace `path` by `content` at once: a reader sees the old file or the new one, never a part.

    Raises UsageError where nothing can be written.
    """
    staging = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            staging.write_bytes(content)
            staging.replace(path)
        finally:
            staging.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot be written: {error.strerror or error}", where=str(path), hint="name another folder, or free space"
        ) from error


def existing(path: Path) -> Path:
    """The path of a bundle that somebody named. Raises UsageError when nothing is there: that is a mistyped name."""
    if not path.exists():
        raise UsageError("there is no such bundle or folder", where=str(path), hint="`harness verify` lists those here")
    return path


def one_bundle(path: Path) -> Path:
    """The folder of one bundle that somebody named. Raises UsageError for what nobody can have meant for one: nothing,
    a file, or a folder that has bundles in it. Whether it is whole is for whoever reads it to say."""
    from harness.bundle.layout import MANIFEST  # noqa: PLC0415 # most commands name no bundle

    if not existing(path).is_dir():
        raise UsageError("is no bundle: a bundle is a folder", where=str(path), hint="name its folder")
    if not (path / MANIFEST).exists():
        inside = sorted(item.parent for depth in ("*", "*/*") for item in path.glob(f"{depth}/{MANIFEST}"))
        if inside:
            number = f"{len(inside)} bundles" if len(inside) > 1 else "a bundle"
            raise UsageError(f"has {number} in it and is none", where=str(path), hint=f"name one, such as {inside[0]}")
    return path


def passphrase() -> bytes | None:
    """The passphrase of private keys, from the environment; None when the variable is not set."""
    text = os.environ.get(PASSPHRASE)
    return text.encode() if text else None


def key_file(path: Path) -> bytes:
    """The bytes of a key file. Raises UsageError when there is none."""
    if not path.is_file():
        raise UsageError("there is no such key file", where=str(path))
    return path.read_bytes()
