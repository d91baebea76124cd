"""What a member of an archive is, by its name alone, and how names that are not UTF-8 are shown."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import msgspec

SUFFIXES: Final = (b".jsonl", b".jsonl.gz", b".jsonl.zst")
CHILD_FOLDERS: Final = frozenset((b"subagents", b"children"))
"""Where child sessions lie: below the product's own folder, and below a bundle's."""
SYNTHETIC: Final = "synthetic-"
"""How the name and the id of every made session begin; nothing whose name begins so can be evidence."""
MARKER: Final = "SYNTHETIC.txt"
"""The member of an archive that says that all of it was made."""
_NOT_SESSIONS: Final = (b"local-agent.", b"model.", b"._")
"""Line-oriented members of a bundle that are no sessions, and what one system's archiver adds to every file."""


class Role(IntEnum):
    SESSION = 0
    CHILD = 1
    OBSTACLE = 2
    """Something that cannot be read and may have held sessions."""


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """`base` is the folder that a session and its children share, `stem` the file name without its suffix."""

    role: Role
    base: bytes
    stem: bytes


def named(name: bytes) -> Named | None:
    """What the member `name` (slash-separated) is; None for what is no session file."""
    folder, _, file = name.rpartition(b"/")
    suffix = next((suffix for suffix in reversed(SUFFIXES) if file.endswith(suffix)), None)
    if suffix is None or file.startswith(_NOT_SESSIONS):
        return None
    stem = file[: -len(suffix)]
    parts = folder.split(b"/") if folder else []
    for index, part in enumerate(parts):
        if part in CHILD_FOLDERS:
            return Named(role=Role.CHILD, base=b"/".join(parts[:index]), stem=stem)
    return Named(role=Role.SESSION, base=folder, stem=stem)


def shown(name: bytes) -> str:
    """A name as text, one to one: bytes that are not UTF-8 as ``\\xff``, a backslash as two."""
    return name.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def is_synthetic(name: str) -> bool:
    """Whether a member's file name says that it was made."""
    return name.rpartition("/")[2].startswith(SYNTHETIC)
