"""What an archive and its sessions must be like, as a table: one rule id and its sentence for everything that is found
outside of the records themselves, and the limits that keep a sweep bounded."""

from __future__ import annotations

from typing import Final

from harness.model.facts import Column, Place, Problem
from harness.records.rules import SESSION_BYTES

STORED_BYTES: Final = SESSION_BYTES
"""Most bytes that are read of one file, compressed or not: the product's own read limit of a session."""
RUN_BYTES: Final = 4 * SESSION_BYTES
"""Most bytes of one session with all its children: 256 MiB. Ours; the product keeps no such limit."""
RUN_CHILDREN: Final = 10_000
"""Most child sessions of one session. Ours: ten tasks a batch, some hundred batches, some of them nested."""
FINDINGS_KEPT: Final = 1_000
"""Most findings of one session that are kept in full; the count is always whole."""
TEXT_CHARACTERS: Final = 1_000
"""Most characters of what a finding says was expected or observed; what follows is counted."""
TRIES: Final = 2
"""How often a session is handed to a fresh worker of its own before its death is taken for the session's doing."""

RULES: Final[dict[str, str]] = {
    "sweep.archive-whole": "an archive can be read to its end",
    "sweep.no-links": "sessions are regular files of the archive; links are not followed",
    "sweep.session-readable": "a session is a readable file within the product's read limits (64 MiB, 100,000 lines)",
    "sweep.child-readable": "a child session is a readable file within the product's read limits",
    "sweep.child-once": "one child session is saved once",
    "sweep.run-size": "a session and its children have at most 256 MiB and 10,000 files",
    "sweep.worker-survives": "reading a session does not end the process that reads it",
    "sweep.harness": "the harness can judge every session",
    "sweep.reopenable": "a session has an id that can be the name of a file",
    "sweep.product-reopens": "the product opens a saved session and pages its whole history",
}
"""Rule id to the sentence that must hold."""

SOURCES: Final[dict[str, str]] = {
    "sweep.product-reopens": Column.LOCAL_AGENT_REOPEN.value,
    "sweep.reopenable": Column.LOCAL_AGENT_REOPEN.value,
}
"""What a finding of a rule is said of (`Finding.surface`), where that is a surface; else it is the archive."""
ARCHIVE: Final = "archive"


def broken(rule: str, observed: str, *, file: str) -> Problem:
    """`rule` does not hold in the member `file`; `observed` is a few words without anything that chance decides."""
    return Problem(requirement=rule, card="", label="", expected=RULES[rule], observed=observed, place=Place(file=file))
