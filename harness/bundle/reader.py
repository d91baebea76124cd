"""Reading a bundle from a folder, also while a writer replaces it."""

from __future__ import annotations

from pathlib import Path

from harness.bundle.folder import OpenFolder
from harness.bundle.verified import Bundle, verified
from harness.model.errors import EvidenceError

_ATTEMPTS = 8


def read_bundle(folder: Path) -> Bundle:
    """Verify and read the bundle in `folder`.

    Raises EvidenceError with every reason found: missing, extra, renamed, linked, cut, grown or changed members, a
    manifest that is unreadable, of another schema or not the one its checksum names, a stimulus that is not the one
    that the manifest is bound to. A folder with a hidden name is what a killed writer left, and never a bundle.
    """
    name = folder.absolute().name
    if name.startswith(".") and name != "..":
        raise EvidenceError("is an unfinished recording, not a bundle", where=str(folder))
    for attempt in range(1, _ATTEMPTS + 1):
        with OpenFolder(folder) as opened:
            try:
                return verified(opened)
            except EvidenceError:
                # Another folder has taken the name since: what is missing here was replaced, not lost.
                if attempt == _ATTEMPTS or opened.is_at(folder):
                    raise
    raise AssertionError("the last attempt returns or raises")
