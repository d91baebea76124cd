"""What a broken wire rule says word for word, what tells it apart, and to which member it points.

A finding that points beside its fault, or swaps what should be with what is, sends its reader the wrong way. Bounds are
those that the product advertises (product.md, "Local agent") and those of card-facts.md.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.wire.reading import read_capture
from tests.support.wire_frames import (
    SCRIPT_VALUES,
    Json,
    Wire,
    batch_run,
    below,
    card,
    children,
    compact,
    entry,
    omitted,
    progress,
    results,
    row,
    rows,
    running,
    saved,
    script_run,
    text,
)

CARD = "/data/card"
CHILD = f"{CARD}/blocks/0/children/0"
SUMMARY = f"{CARD}/metadata/public_protection/summary"
LONG = {"availability": "truncated", "reason": "size_limit"}
ENDED = "null while running, else a word"
Told = tuple[str, str, str, str, str]
"""Rule without its prefix, label, pointer, what is expected and what is there."""


def setting(activity: str = "c1", **members: object) -> Wire:
    """The script run, with members of the final snapshot of one activity replaced."""
    wire = script_run().shutdown()
    wire.cards(activity)[-1].update(members)
    return wire


def blocks(*made: Json, **members: object) -> Wire:
    wire = setting(blocks=list(made))
    wire.cards("c1")[-1].update(members)
    return wire


def metadata(**members: object) -> Wire:
    wire = script_run().shutdown()
    wire.cards("c1")[-1]["metadata"].update(members)
    return wire


def protection(**members: object) -> Wire:
    return metadata(public_protection={"decision": "allowed", "summary": None} | members)


def child_row(**members: object) -> Json:
    made = children(card("c1"), total=1)
    made["children"][0].update(members)
    return made


def diff(*lines: Json, **members: object) -> Json:
    made: Json = {"application": "applied", "lines": list(lines), "new_path": None, "old_path": None, "type": "diff"}
    return made | members


def diff_line(kind: str, old: int | None, new: int | None, said: str = "x") -> Json:
    return {"kind": kind, "new_line": new, "old_line": old, "text": said}


def command(**members: object) -> Json:
    made: Json = {"command": None, "exit_code": 0, "signal": None, "type": "command", "working_directory": None}
    return made | members


def resources(*made: Json) -> Json:
    return {"rows": list(made), "type": "resources"}


def resource(**members: object) -> Json:
    return {"availability": "unknown", "kind": "resource", "label": "out", "location": "/w"} | members


def script_rows(*more: Json, **values: str) -> Wire:
    shown = children(card("c1", **below("s")), card("c2", **below("s"), outcome="failure"), total=2)
    said: dict[str, str | None] = {name.replace("_", " "): value for name, value in values.items()}
    return setting("s", blocks=[rows(SCRIPT_VALUES | said), results(*more), shown])


def event(change: Callable[[Wire], object]) -> Wire:
    """The script run with something more in it before it ends."""
    wire = script_run(finish=False)
    change(wire)
    return wire.finish().shutdown()


def whole(change: Callable[[Wire], object]) -> Wire:
    wire = script_run().shutdown()
    change(wire)
    return wire


def shown(*snapshots: Json) -> Wire:
    return event(lambda wire: [wire.show(snapshot) for snapshot in snapshots])


def more(snapshot: Json) -> Wire:
    return event(lambda wire: wire.card(snapshot))


def paged(*entries: Json, **members: object) -> Wire:
    wire = Wire().initialize().open()
    wire.page([entry("u1"), *entries])["result"].update(members)
    return wire.shutdown()


def saved_card(**members: object) -> Wire:
    return paged(saved(card("a1")) | {"tool_card": card("a1", origin="saved") | members})


def other_card() -> Wire:
    def change(wire: Wire) -> None:
        wire.activity("x")
        wire.card(card("x"))["data"]["card"].update(activity_id="y", card_id="y")

    return event(change)


def cycle() -> Wire:
    return event(
        lambda wire: [
            wire.show(card("x")),
            wire.show(card("y", **below("x"))),
            wire.card(card("x", **below("y"), revision=2)),
        ]
    )


def foreign_task() -> Wire:
    wire = batch_run().shutdown()
    for snapshot in wire.cards("k"):
        snapshot["task_id"] = "t2"
    return wire


def pages(*cursors: tuple[str | None, str | None, str]) -> Wire:
    """Pages asked for with a cursor, each with the next one and the id of its entry."""
    wire = Wire().initialize().open()
    for cursor, following, identity in cursors:
        wire.page([entry(identity)], cursor=cursor, next_cursor=following, complete=following is None)
    return wire.shutdown()


OF_CARDS: list[tuple[Wire, Told]] = [
    (setting(card_id="c2"), ("card-identity", "card_id", f"{CARD}/card_id", "c1", "c2")),
    (other_card(), ("card-identity", "event", f"{CARD}/activity_id", "x", "y")),
    (setting(outcome=None), ("outcome-state", "", f"{CARD}/outcome", ENDED, "finished, None")),
    (
        shown(card("x", parent_state="available")),
        ("parent-state", "", f"{CARD}/parent_state", "no id for root, an id for available", "available, None"),
    ),
    (
        shown(card("x", parent_activity_id="s")),
        ("parent-state", "", f"{CARD}/parent_state", "no id for root, an id for available", "root, s"),
    ),
    (
        setting(detail={"availability": "complete", "reason": "size_limit"}),
        ("detail-reason", "reason", f"{CARD}/detail", "a reason for truncated and unavailable, else null",
           "complete, size_limit"),
    ),
    (
        setting(omissions=[omitted("rows")]),
        ("detail-reason", "omissions", f"{CARD}/detail", "truncated or unavailable, size_limit", "complete, None"),
    ),
    (
        setting(omissions=[omitted("rows", count=1), omitted("rows", count=2)], detail=LONG),
        ("omission-subjects", "", f"{CARD}/omissions", "one omission for each subject", "rows, rows"),
    ),
    (setting(title="€" * 86), ("title-bytes", "title", f"{CARD}/title", "at most 256 bytes", "258 bytes")),
    *(
        (metadata(**{name: "ä" * 257}),
         ("metadata-bytes", name, f"{CARD}/metadata/{name}", "at most 512 bytes", "514 bytes"))
        for name in ("resource_path", "tool_name", "working_directory")
    ),
    (protection(summary="x" * 257), ("metadata-bytes", "summary", SUMMARY, "at most 256 bytes", "257 bytes")),
    (
        blocks(results(*(row(f"Line {number}", "1") for number in range(33)))),
        ("block-size", "rows", f"{CARD}/blocks/0/rows", "at most 32 rows", "33 rows"),
    ),
    (
        blocks(text("x"), resources(*(resource() for _ in range(33)))),
        ("block-size", "rows", f"{CARD}/blocks/1/rows", "at most 32 rows", "33 rows"),
    ),
    (
        blocks(diff(*(diff_line("context", 1, 1) for _ in range(129)))),
        ("block-size", "lines", f"{CARD}/blocks/0/lines", "at most 128 lines", "129 lines"),
    ),
    (blocks(text("x" * 4097)), ("text-bytes", "text", f"{CARD}/blocks/0/text", "at most 4096 bytes", "4097 bytes")),
    (
        blocks(text("x") | {"language": "x" * 65}),
        ("text-bytes", "language", f"{CARD}/blocks/0/language", "at most 64 bytes", "65 bytes"),
    ),
    *(
        (blocks(command(**{name: "x" * (most + 1)})),
         ("text-bytes", name, f"{CARD}/blocks/0/{name}", f"at most {most} bytes", f"{most + 1} bytes"))
        for name, most in (("command", 4096), ("working_directory", 512), ("signal", 64))
    ),
    *(
        (blocks(diff(**{name: "x" * 513})),
         ("text-bytes", name, f"{CARD}/blocks/0/{name}", "at most 512 bytes", "513 bytes"))
        for name in ("old_path", "new_path")
    ),
    (
        blocks(diff(diff_line("context", 1, 1), diff_line("added", None, 2, "x" * 1025))),
        ("text-bytes", "lines.text", f"{CARD}/blocks/0/lines/1/text", "at most 1024 bytes", "1025 bytes"),
    ),
    *(
        (blocks(resources(resource(), resource(**{name: "x" * 1025}))),
         ("text-bytes", name, f"{CARD}/blocks/0/rows/1/{name}", "at most 1024 bytes", "1025 bytes"))
        for name in ("label", "location")
    ),
    *(
        (blocks(results(row("Lines", "1"), row("Lines", "1") | {name: "€" * 342})),
         ("text-bytes", name, f"{CARD}/blocks/0/rows/1/{name}", "at most 1024 bytes", "1026 bytes"))
        for name in ("label", "value")
    ),
    (
        blocks(progress(1, 2) | {"label": "x" * 1025}),
        ("text-bytes", "label", f"{CARD}/blocks/0/label", "at most 1024 bytes", "1025 bytes"),
    ),
    *(
        (blocks(diff(diff_line(kind, old, new))),
         ("diff-lines", kind, f"{CARD}/blocks/0/lines/0", "only the numbers of its kind",
          f"{kind} with old {old}, new {new}"))
        for kind, old, new in (
            ("added", 1, 2), ("removed", 1, 2), ("no_newline", 1, None), ("hunk_header", None, 2),
        )
    ),
    (
        setting("s", blocks=[child_row(title="x" * 257)]),
        ("title-bytes", "child", f"{CHILD}/title", "at most 256 bytes", "257 bytes"),
    ),
    (setting("s", blocks=[child_row(outcome=None)]), ("outcome-state", "child", f"{CHILD}/outcome", ENDED,
                                                      "finished, None")),
    (setting("s", blocks=[child_row(state="running")]), ("outcome-state", "child", f"{CHILD}/outcome", ENDED,
                                                         "running, success")),
    (
        setting("s", blocks=[children(card("c1"), card("c2"), total=1)]),
        ("children-total", "", f"{CARD}/blocks/0/total", "at least 2", "1"),
    ),
    (
        setting("s", blocks=[children(card("c1"), card("c2"), total=5)]),
        ("children-omitted", "", f"{CARD}/blocks/0", "3 children omitted, or null", "not omitted"),
    ),
    (
        setting("s", blocks=[children(card("c1"), total=5)], omissions=[omitted("children", count=3)], detail=LONG),
        ("children-omitted", "", f"{CARD}/blocks/0", "4 children omitted, or null", "3 omitted"),
    ),
    (setting(colour="red"), ("exact-members", "/colour", f"{CARD}/colour", "no such member", "a member")),
    (
        blocks(text("x") | {"rows": None}),
        ("exact-members", "text.rows", f"{CARD}/blocks/0/rows", "no such member", "a member"),
    ),
    (blocks(progress(3, 2)), ("progress", "", f"{CARD}/blocks/0/completed", "at most 2", "3")),
    (
        script_rows(row("Changed path", "/w", "success")),
        ("fact-outcome", "Changed path", f"{CARD}/blocks/1/rows/0/outcome", "unknown", "success"),
    ),
    (
        script_rows(row("Mood", "good")),
        ("fact-label", "Mood", f"{CARD}/blocks/1/rows/0/label", "a label of code_mode cards", "'Mood'"),
    ),
    (script_rows(row("Rollback", "false")), ("fact-repeated", "Rollback", f"{CARD}/blocks", "one row", "2 rows")),
    (
        script_rows(*(row("Warning", "x") for _ in range(3))),
        ("fact-rows", "Warning", f"{CARD}/blocks", "at most 2 rows", "3 rows"),
    ),
    (
        script_rows(Total_calls="02"),
        ("fact-spelling", "Total calls", f"{CARD}/blocks/0/rows/2/value", "count", "'02' is not a base-10 count"),
    ),
    (
        script_rows(row("Warning", "é" * 257)),
        ("fact-bytes", "Warning", f"{CARD}/blocks/1/rows/0/value", "at most 512 bytes", "514 bytes"),
    ),
]  # fmt: skip

OF_ORDER: list[tuple[Wire, Told]] = [
    (
        whole(lambda wire: wire.find("tool.card", "c1")[0]["data"].update(part=1)),
        ("single-part", "", CARD, "part 0, the last", "part 1, last True"),
    ),
    (
        whole(lambda wire: wire.find("tool.card", "c1")[0]["data"].update(last_part=False)),
        ("single-part", "", CARD, "part 0, the last", "part 0, last False"),
    ),
    (setting(origin="saved"), ("origin", "", f"{CARD}/origin", "live", "saved")),
    (
        whole(lambda wire: wire.cards("c1")[0].update(revision=1)),
        ("revision", "first", f"{CARD}/revision", "0 first", "1"),
    ),
    (more(card("c1", **below("s"), revision=0)), ("revision", "order", f"{CARD}/revision", "more than 1", "0")),
    (more(running(card("c1", **below("s")), 2)), ("finished-stays", "", f"{CARD}/state", "finished as before",
                                                   "running")),
    (
        more(card("c1", **below("s"), revision=2, outcome="failure")),
        ("facts-stay", "outcome", f"{CARD}/outcome", "success as before", "failure"),
    ),
    (
        whole(lambda wire: wire.cards("c1")[0].update(changes="applied")),
        ("facts-stay", "changes", f"{CARD}/changes", "applied or partial as before", "unknown"),
    ),
    (
        whole(lambda wire: wire.find("run.finished")[0]["data"].update(mood="good")),
        ("exact-members", "/data/mood", "/data/mood", "no such member", "a member"),
    ),
    (
        whole(lambda wire: wire.cards("c1")[0]["metadata"]["public_protection"].update(decision="denied")),
        ("facts-stay", "decision", f"{CARD}/metadata/public_protection/decision", "a decision as before",
         "not_reported"),
    ),
    (
        shown(card("x", **below("nobody"))),
        ("parent-known", "order", f"{CARD}/parent_activity_id", "an activity shown before", "nobody"),
    ),
    (shown(card("x", **below("nobody"))), ("parent-known", "", f"{CARD}/parent_activity_id", "a card",
                                           "no card nobody")),
    (cycle(), ("hierarchy", "", f"{CARD}/parent_activity_id", "at most 8 parents", "a cycle")),
    (
        foreign_task(),
        ("task-scope", "", f"{CARD}/task_id", "null, its own id or that of its parent's task, t1", "t2"),
    ),
    (
        setting("s", blocks=[children(card("ghost"), total=1)]),
        ("children-known", "missing", CHILD, "a card that names this one as its parent", "no such card"),
    ),
    (
        setting("c2", blocks=[children(card("c1"), total=1)]),
        ("children-known", "parent", CHILD, "a card that names this one as its parent", "a card with parent s"),
    ),
    (
        whole(lambda wire: wire.drop(wire.find("activity", "c1")[0])),
        ("activity-first", "started", CARD, "a started base activity first", "none"),
    ),
    (
        event(lambda wire: wire.activity("c1", "failed")),
        ("activity-first", "ended", "/data/state", "the base activity ends before its first finished card",
         "failed after a finished card"),
    ),
    (
        whole(lambda wire: wire.drop(wire.find("input.persisted")[0])),
        ("input-first", "activity", "/event", "first input.persisted", "activity"),
    ),
    (
        event(lambda wire: wire.event("input.persisted", durable=True, message_id="m", revision="r")),
        ("input-first", "input.persisted", "/event", "one input.persisted", "one more"),
    ),
    (
        whole(lambda wire: wire.event("diagnostic", code="late", summary="x")),
        ("run-terminal", "diagnostic", "/event", "nothing after run.finished", "diagnostic"),
    ),
    (
        event(lambda wire: wire.event("message.reconcile", message_id="m2", part=1, text="x", last_part=True,
                                      partial=False)),
        ("message-parts", "", "/data/part", "part 0", "part 1"),
    ),
    (
        whole(lambda wire: wire.drop(wire.find("tool.card", "c1")[-1])),
        ("final-snapshot", "", "/event", "a finished snapshot before run.finished",
         "revision 0 is running as the run ends (completed, no error)"),
    ),
    (
        shown(card("a b")),
        ("id-grammar", "id", "/data/activity_id", "1 to 64 of A-Z a-z 0-9 . _ -", "'a b'"),
    ),
    (
        event(lambda wire: wire.event("tool.cord", activity_id="c1")),
        ("unknown-event", "tool.cord", "/event", "a documented event", "tool.cord"),
    ),
    (
        whole(lambda wire: wire.frames[-1][1].update(instance_id="instance-2", seq=1)),
        ("one-instance", "", "/instance_id", "instance-1", "instance-2"),
    ),
    (whole(lambda wire: wire.frames[1][1].update(seq=2)), ("seq", "first", "/seq", "1 first", "2")),
    (whole(lambda wire: wire.frames[5][1].update(seq=1)), ("seq", "order", "/seq", "more than 2", "1")),
    (whole(lambda wire: wire.answer(None, result={})), ("response", "unnamed", "/id", "an id", "no id and a result")),
    (
        whole(lambda wire: wire.answer(None, error={"code": "busy", "message": "x"})),
        ("response", "unnamed", "/id", "an id", "no id and busy"),
    ),
    (
        whole(lambda wire: wire.frames[1][1]["result"]["extensions"]["tool.cards"].update(card_bytes=20_000)),
        ("descriptor", "card_bytes", "/result/extensions/tool.cards/card_bytes", "16384", "20000"),
    ),
    (
        whole(lambda wire: wire.frames[1][1]["result"]["extensions"]["tool.cards"].pop("event")),
        ("descriptor", "event", "/result/extensions/tool.cards", "tool.card", "not there"),
    ),
]  # fmt: skip

OF_HISTORY: list[tuple[Wire, Told]] = [
    (
        paged(*(entry(f"a{number}", "assistant") for number in range(100))),
        ("page-entries", "", "/result/entries", "at most 100 entries", "101 entries"),
    ),
    (paged(revision="saved-2"), ("page-chain", "revision", "/result/revision", "saved-1", "saved-2")),
    (paged(session_id="session-2"), ("page-chain", "session_id", "/result/session_id", "session-1", "session-2")),
    (
        paged(complete=True, next_cursor="more"),
        ("page-chain", "cursor", "/result", "a new cursor, complete on the last page only", "complete with more pages"),
    ),
    (
        pages((None, "more", "u1"), ("more", "more", "u2")),
        ("page-chain", "cursor", "/result", "a new cursor, complete on the last page only",
         "the cursor of a page before"),
    ),
    (
        pages((None, "more", "u1"), (None, "more", "u2"), ("more", None, "u3")),
        ("page-repeat", "", "/result", "the page as it was", "another page"),
    ),
    (
        paged(entry("a1", "assistant", last_part=False)),
        ("entry-parts", "last", "/result", "a last part", "the history ends"),
    ),
    (
        paged(entry("a1", "assistant", last_part=False), entry("a2", "assistant", part=1)),
        ("entry-parts", "number", "/result/entries/2/part", "part 1 of a1", "part 1 of a2"),
    ),
    (paged(entry("u1")), ("entry-parts", "id", "/result/entries/1", "a new id", "an id that stands before")),
    (
        paged(entry("a1", "assistant", tool_card=None)),
        ("attachment", "assistant", "/result/entries/1", "no tool_card", "part 0 of assistant"),
    ),
    (
        paged(entry("a1", "activity")),
        ("attachment", "activity", "/result/entries/1", "a card or null", "part 0 of activity"),
    ),
    (
        paged(saved(card("a1")) | {"message_id": "a2"}),
        ("saved-card", "id", "/result/entries/1/tool_card/activity_id", "a2", "a1"),
    ),
    (
        saved_card(state="running", outcome=None),
        ("saved-card", "state", "/result/entries/1/tool_card/state", "finished", "running"),
    ),
    (saved_card(revision=1), ("saved-card", "revision", "/result/entries/1/tool_card/revision", "0", "1")),
    (saved_card(origin="live"), ("origin", "", "/result/entries/1/tool_card/origin", "saved", "live")),
    (
        saved_card(colour="red"),
        ("exact-members", "/colour", "/result/entries/1/tool_card/colour", "no such member", "a member"),
    ),
]  # fmt: skip


def told(wire: Wire) -> list[Told]:
    return [
        (breach.rule.removeprefix("wire."), breach.label, breach.pointer, breach.expected, breach.observed)
        for breach in read_capture(wire.encode()).breaches
    ]


@pytest.mark.parametrize(("wire", "breach"), [*OF_CARDS, *OF_ORDER, *OF_HISTORY])
def test_a_breach_says_what_should_be_what_is_and_where(wire: Wire, breach: Told) -> None:
    assert breach in told(wire)


def test_a_card_that_is_too_large_says_how_large_it_is() -> None:
    wire = blocks(results(*(row(f"Line {number}", "x" * 1000) for number in range(17))))
    size = len(compact(wire.cards("c1")[-1]).encode())
    assert told(wire) == [("card-bytes", "", CARD, "at most 16384 bytes", f"{size} bytes")]


def test_a_core_that_is_too_large_says_how_large_it_is() -> None:
    lost = [omitted("blocks"), omitted("title")]
    wire = blocks(
        results(*(row(f"Line {number}", "x" * 900) for number in range(3))), omissions=lost, detail=LONG, title="Tool"
    )
    size = len(compact(wire.cards("c1")[-1]).encode())
    assert told(wire) == [("core-bytes", "", CARD, "at most 2048 bytes", f"a core of {size} bytes")]


def test_one_revision_with_two_contents_names_the_line_of_the_other() -> None:
    wire = script_run(finish=False)
    before = read_capture(wire.encode()).lines
    wire.card(card("c2", **below("s"), outcome="failure", revision=2))
    wire.card(card("c2", **below("s"), outcome="failure", revision=2, title="Read on"))
    wire.finish().shutdown()
    seen = f"other bytes than in line {before + 1}"
    assert told(wire) == [("revision", "content", f"{CARD}/revision", "one content of revision 2", seen)]
