"""The wire rules as a table: the checks name their rule by its id, and the documentation is printed from here.

Each `source` names the section that states the rule: *protocol* is the product's ``local-agent-protocol.md``, *cards*
its ``local-agent-tool-cards.md``, *facts* the normative ``card-facts.md``. Texts are in our own words.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from harness.spec import bounds


class Scope(StrEnum):
    """What one check of a rule looks at."""

    FRAME = "frame"
    CARD = "card"
    """One snapshot by itself."""
    ORDER = "order"
    """Frames one after another."""
    HISTORY = "history"


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    scope: Scope
    text: str
    source: str


def _table(scope: Scope, *entries: tuple[str, str, str]) -> tuple[Rule, ...]:
    return tuple(Rule(id=f"wire.{name}", scope=scope, text=text, source=source) for name, text, source in entries)


_FRAME = _table(
    Scope.FRAME,
    (
        "frame-bytes",
        f"a frame has at most {bounds.FRAME_BYTES} bytes with its newline",
        "protocol, Bounds and failure policy",
    ),
    (
        "frame-json",
        "every line is one JSON object in UTF-8 in which no member stands twice",
        "protocol, Frames; cards, Privacy and decoder policy",
    ),
    ("json-depth", f"at most {bounds.JSON_DEPTH} containers are nested", "protocol, Bounds and failure policy"),
    (
        "envelope",
        "a frame is a response with one of result and error, or an event with data, of this protocol and version",
        "protocol, Frames, correlation and compatibility",
    ),
    (
        "schema",
        "every required member is there, with its type and within its word list",
        "cards, Card schema; protocol, Turns, approvals and events",
    ),
    (
        "schema-version",
        f"cards have schema version {bounds.CARD_SCHEMA_VERSION}, the one that was agreed on",
        "cards, Compatibility matrix; facts, opening paragraph",
    ),
    (
        "exact-members",
        "cards, their blocks and rows, and event data have the members of their shape and no other",
        "cards, Card schema and Typed display blocks (each is said to be exactly its members)",
    ),
    ("unknown-event", "only documented events are sent", "protocol, Frames, correlation and compatibility"),
    (
        "descriptor",
        "initialize advertises the tool-card extension with the bounds of schema 1",
        "cards, Negotiation and advertisement",
    ),
    ("request", "the client's frames are requests of this protocol", "protocol, Frames"),
)

_CARD = _table(
    Scope.CARD,
    ("card-bytes", f"a serialized card has at most {bounds.CARD_BYTES} bytes", "cards, Bounds and oversized detail"),
    (
        "core-bytes",
        f"a card reduced to its core has at most {bounds.CORE_BYTES} bytes",
        "cards, Bounds and oversized detail",
    ),
    (
        "card-identity",
        "card_id, activity_id and the id beside the card are one id",
        "cards, Card schema and Live event and ordering",
    ),
    ("id-grammar", f"ids have 1 to {bounds.ID_BYTES} bytes of A-Z a-z 0-9 . _ -", "protocol, Frames"),
    ("outcome-state", "the outcome of a card or child row is null while it runs, and only then", "cards, Card schema"),
    (
        "parent-state",
        "a root card has no parent id, and an available parent has one",
        "cards, Card schema, parent_state",
    ),
    (
        "detail-reason",
        (
            "detail has a reason exactly when it is truncated or unavailable; with omissions it is one of these, "
            "and its reason is the first in priority among theirs"
        ),
        "cards, Card schema, detail and omissions",
    ),
    ("omission-subjects", "each subject is omitted at most once in a card", "cards, Card schema, omissions"),
    ("title-bytes", f"titles have at most {bounds.TITLE_BYTES} bytes", "cards, Card schema, title"),
    (
        "metadata-bytes",
        f"metadata strings have at most {bounds.METADATA_BYTES} bytes, the protection summary 256",
        "cards, Card schema, metadata",
    ),
    ("blocks", f"a card has at most {bounds.BLOCKS_PER_CARD} blocks", "cards, Card schema, blocks"),
    (
        "block-size",
        (
            f"a block has at most {bounds.ROWS_PER_BLOCK} rows, {bounds.CHILDREN_PER_BLOCK} children or "
            f"{bounds.DIFF_LINES_PER_BLOCK} diff lines"
        ),
        "cards, Typed display blocks",
    ),
    (
        "text-bytes",
        f"strings in blocks have at most {bounds.STRING_BYTES} bytes where no other bound is given for them",
        "cards, Typed display blocks",
    ),
    ("progress", "known progress does not exceed its known total", "cards, Typed display blocks, progress"),
    ("children-total", "a known total is at least the number of displayed children", "cards, Typed display blocks"),
    (
        "children-omitted",
        "children that are known and not displayed are named in the omissions, with their count or null",
        "cards, Hierarchy",
    ),
    ("diff-lines", "a diff line has the line numbers that its kind can have", "cards, Typed display blocks, diff line"),
    ("fact-outcome", "rows of Code Mode and subagent cards have outcome unknown", "facts, opening paragraph"),
    (
        "fact-label",
        "rows of Code Mode and subagent cards have labels of the fact catalogue",
        "facts, Code Mode, Subagent batches and Tasks",
    ),
    ("fact-repeated", "a label stands once in a card, preview rows excepted", "facts, tables of labels"),
    ("fact-spelling", "known values are spelled as their type asks", "facts, opening paragraph"),
    (
        "fact-bytes",
        f"task texts have at most {bounds.TASK_TEXT_BYTES} bytes, warnings {bounds.WARNING_BYTES}",
        "facts, Code Mode and Tasks",
    ),
    (
        "fact-rows",
        (
            f"a card shows at most {bounds.WARNING_ROWS_DISPLAYED} warnings, {bounds.PATH_ROWS_DISPLAYED} changed "
            f"paths and {bounds.TASK_ACTIVITY_ENTRIES} task activities"
        ),
        "facts, Code Mode and Tasks",
    ),
)

_ORDER = _table(
    Scope.ORDER,
    ("seq", "seq begins at 1 and grows from frame to frame of a process", "protocol, Frames"),
    ("one-instance", "one process has one instance id", "protocol, Frames"),
    (
        "response",
        "a response answers a request that was sent and not answered yet; without an id it is an error",
        "protocol, Frames, correlation and compatibility",
    ),
    ("admission", "the answer to turn.start comes before the events of its run", "protocol, Turns, approvals, events"),
    (
        "input-first",
        "input.persisted comes before the first activity or card of a run, and once",
        "protocol, Turns, approvals and events; cards, Live event and ordering",
    ),
    (
        "activity-first",
        "a base activity starts before its first card, and ends before its first finished card if it ends at all",
        "cards, Live event and ordering",
    ),
    ("single-part", "a snapshot is one part, number 0 and the last", "cards, Live event and ordering"),
    ("origin", "cards of events are live, cards of history are saved", "cards, Card schema, origin"),
    (
        "revision",
        "revisions of a card begin at 0 and grow, and one revision has one content",
        "cards, Card schema, revision; Live event and ordering",
    ),
    ("finished-stays", "no running snapshot follows a finished one", "cards, Live event and ordering"),
    (
        "facts-stay",
        "a later snapshot keeps the outcome, does not lose known changes and does not forget a protection decision",
        "cards, Live event and ordering; Card schema, metadata",
    ),
    (
        "parent-known",
        "an available parent is an activity that the same run has already shown",
        "cards, Card schema, parent_state",
    ),
    (
        "hierarchy",
        f"parents form no cycle and are at most {bounds.CHILDREN_DEPTH} deep",
        "cards, Hierarchy",
    ),
    ("task-scope", "a card below a task has that task's id or null", "cards, Card schema, task_id"),
    (
        "children-known",
        "a displayed child is a card of the same run or history that names this card as its parent",
        "cards, Typed display blocks, children",
    ),
    ("final-snapshot", "every card has a finished snapshot before its run ends", "cards, Live event and ordering"),
    ("run-terminal", "a run ends once and nothing of it follows", "protocol, Turns, approvals and events"),
    (
        "message-parts",
        "reconciled parts of a message are numbered from 0 without gaps",
        "protocol, Turns, approvals and events",
    ),
    (
        "run-budget",
        (
            f"a run has at most {bounds.CARDS_PER_RUN} cards, {bounds.SNAPSHOTS_PER_RUN} snapshots, "
            f"{bounds.RUN_SNAPSHOT_BYTES} bytes of snapshots and {bounds.RETAINED_CARD_BYTES} bytes of latest ones"
        ),
        "cards, Bounds and oversized detail",
    ),
)

_HISTORY = _table(
    Scope.HISTORY,
    (
        "page-bytes",
        f"a history result has at most {bounds.HISTORY_PAGE_BYTES} bytes",
        "protocol, Bounds and failure policy",
    ),
    ("page-entries", "a history page has at most 100 entries", "protocol, Bounds and failure policy"),
    (
        "page-chain",
        "pages belong to the session and revision asked for, and complete stands on the last page only",
        "protocol, Owned sessions and chat history",
    ),
    (
        "page-repeat",
        "a page asked for again has the same content",
        "cards, Negotiated saved history",
    ),
    (
        "entry-parts",
        "parts of an entry are numbered from 0 without gaps until the last one",
        "protocol, Owned sessions and chat history",
    ),
    (
        "attachment",
        "a card, or null, stands on part 0 of every activity entry and nowhere else",
        "cards, Negotiated saved history",
    ),
    (
        "saved-card",
        "a saved card is finished, has revision 0 and the id of its entry",
        "cards, Negotiated saved history",
    ),
)

RULES: tuple[Rule, ...] = _FRAME + _CARD + _ORDER + _HISTORY
_BY_ID = {one.id: one for one in RULES}


def rule(identity: str) -> Rule:
    """The rule of an id. Raises KeyError when there is none."""
    return _BY_ID[identity]


def as_markdown() -> str:
    """The table as documentation, in the order in which a frame meets the rules."""
    rows = [f"| `{one.id}` | {one.scope.value} | {one.text} | {one.source} |" for one in RULES]
    return "\n".join(["| Rule | Looks at | Says | Source |", "| --- | --- | --- | --- |", *rows, ""])
