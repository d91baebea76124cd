"""What a saved session file must be like, as a table: one rule id and its sentence for every problem a reader reports.

The limits on a whole file are the product's own read limits (product.md, "Saved session", and its stored-history
bound); the limit on one line and on nesting are ours, far above anything a release writes.
"""

from __future__ import annotations

from typing import Final

SESSION_BYTES: Final = 67_108_864
"""Most bytes of one session file: 64 MiB."""
SESSION_LINES: Final = 100_000
"""Most lines of one session file."""
LINE_BYTES: Final = 16_777_216
"""Most bytes of one line without its newline: 16 MiB, twice what the host keeps for a whole script."""
JSON_NESTING: Final = 200
"""Deepest nesting of one line; the decoder's own recursion limit."""

RULES: Final[dict[str, str]] = {
    "records.line-size": "a line is at most 16 MiB",
    "records.line-utf8": "a line is UTF-8",
    "records.line-json": "a line is one JSON object, nested at most 200 deep, without NaN or Infinity",
    "records.line-duplicate-key": "no object in a line names a member twice",
    "records.line-cut": "the last line is whole",
    "records.envelope": "a record has event_type, timestamp and session_id as text, and a payload",
    "records.payload": "the payload of a kind that carries facts has its members, each of its type",
    "records.session-id": "every record of a file names the session whose file it is",
    "records.event-id": "no two records of a file have one event_id",
    "records.turn": "tool calls and their results follow the user input that begins their turn",
    "records.call-id": "no two tool calls of one turn have one id",
    "records.result-call": "a tool result follows a call of its id in the same turn",
    "records.result-once": "a tool call has at most one result",
    "records.nested-parent": "a nested record follows exactly one call with its parent id in the same turn",
    "records.nested-once": "within one parent, nested calls have distinct ids and each at most one result",
    "records.child-file": "every announced child session is saved, can be read and belongs to the run",
    "records.child-task": "a child session's first input names the declared task it works on, and no two name the same",
}
"""Rule id to the sentence that must hold."""
