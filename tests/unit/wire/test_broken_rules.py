"""Every wire rule has a product that breaks just that rule, and is found to do so where it does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.spec import bounds
from harness.wire.breaches import Breach
from harness.wire.capture import Lines, split
from harness.wire.locate import locate
from harness.wire.reading import Reading, read_capture
from harness.wire.rules import RULES, as_markdown, rule
from tests.support.wire_frames import (
    SCRIPT_VALUES,
    Json,
    Wire,
    batch_run,
    below,
    card,
    child,
    children,
    compact,
    entry,
    history,
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

Vice = Callable[[], Wire]
"""Makes a capture with one fault."""


def closed(wire: Wire) -> Wire:
    return wire.finish().shutdown()


def open_script() -> Wire:
    """A script run that has not finished: the place for one frame more."""
    return script_run(finish=False)


def last(change: Callable[[Json], object], activity: str = "c1") -> Vice:
    """The final snapshot of an activity of the script run, changed."""

    def made() -> Wire:
        wire = script_run().shutdown()
        change(wire.cards(activity)[-1])
        return wire

    return made


def setting(activity: str = "c1", **members: object) -> Vice:
    return last(lambda snapshot: snapshot.update(members), activity)


def with_blocks(*blocks: Json, activity: str = "c1") -> Vice:
    return setting(activity, blocks=list(blocks))


def extra(snapshot: Json) -> Vice:
    """One more snapshot before the run ends."""

    def made() -> Wire:
        wire = open_script()
        wire.card(snapshot)
        return closed(wire)

    return made


def changed(build: Vice, change: Callable[[Wire], object]) -> Vice:
    def made() -> Wire:
        wire = build()
        change(wire)
        return wire

    return made


def script() -> Wire:
    return script_run().shutdown()


def script_rows(values: dict[str, str | None], *more: Json) -> Vice:
    shown = children(card("c1", **below("s")), card("c2", **below("s"), outcome="failure"), total=2)
    return setting("s", blocks=[rows(SCRIPT_VALUES | values), results(*more), shown])


def raw(frame: object) -> Vice:
    def made() -> Wire:
        wire = open_script()
        wire.frames.append(("from_product", frame if isinstance(frame, str) else compact(frame)))
        return closed(wire)

    return made


def nested() -> Wire:
    wire = open_script()
    deep: object = "end"
    for _ in range(bounds.JSON_DEPTH):
        deep = [deep]
    wire.ask("status", {}, {"inner": deep})
    return closed(wire)


def said(event: str, **data: object) -> Vice:
    def made() -> Wire:
        wire = open_script()
        wire.event(event, **data)
        return closed(wire)

    return made


def shown(*snapshots: Json) -> Vice:
    def made() -> Wire:
        wire = open_script()
        for snapshot in snapshots:
            wire.show(snapshot)
        return closed(wire)

    return made


def cycle() -> Wire:
    wire = open_script()
    wire.show(card("x"))
    wire.show(card("y", **below("x")))
    wire.card(card("x", **below("y"), revision=2))
    return closed(wire)


def deep_chain() -> Wire:
    wire = open_script()
    wire.show(card("d0"))
    for number in range(1, bounds.CHILDREN_DEPTH + 2):
        wire.show(card(f"d{number}", **below(f"d{number - 1}")))
    return closed(wire)


def paged(*entries: Json, **members: object) -> Vice:
    def made() -> Wire:
        wire = Wire().initialize().open()
        frame = wire.page([entry("u1"), *entries])
        frame["result"].update(members)
        return wire.shutdown()

    return made


def repeated_page() -> Wire:
    wire = Wire().initialize().open()
    wire.page([entry("u1", content="One")], next_cursor="more", complete=False)
    wire.page([entry("u1", content="Two")], next_cursor="more", complete=False)
    wire.page([entry("u2")], cursor="more")
    return wire.shutdown()


def endless_pages() -> Wire:
    wire = Wire().initialize().open()
    wire.page([entry("u1")], next_cursor="more", complete=False)
    wire.page([entry("u2")], cursor="more", next_cursor="more", complete=False)
    return wire.shutdown()


def no_answer_to_start() -> Wire:
    wire = script()
    for _, frame in list(wire.frames):
        if frame.get("type") == "response" and "run_id" in frame.get("result", {}):
            wire.drop(frame)
    return wire


def other_instance() -> Wire:
    wire = script()
    wire.frames[-1][1].update(instance_id="instance-2", seq=1)
    return wire


def sent(wire: Wire) -> int:
    """Frames from the product, which is the seq of the last one."""
    return sum(direction == "from_product" for direction, _ in wire.frames)


def late_start() -> Wire:
    wire = script()
    started = wire.find("activity", "c1")[0]
    wire.drop(started)
    return wire


def late_end() -> Wire:
    wire = open_script()
    wire.activity("c1", "completed")
    return closed(wire)


def other_card() -> Wire:
    wire = open_script()
    wire.activity("x")
    wire.card(card("x"))["data"]["card"].update(activity_id="y", card_id="y")
    return closed(wire)


TITLE, VERSION = rb"\"title\":\"Read\"", rb"\"type\":\"event\""


def twice(build: Vice, member: bytes) -> bytes:
    """The capture with the last member of this spelling standing twice."""
    before, found, after = build().encode().rpartition(member)
    assert found
    return before + member + b"," + member + after


CORE: Json = {
    "omissions": [omitted("blocks"), omitted("title")],
    "detail": {"availability": "truncated", "reason": "size_limit"},
    "title": "Tool",
}
LONG: Json = {"availability": "truncated", "reason": "size_limit"}

VICES: list[tuple[str, Vice | Callable[[], bytes]]] = [
    ("frame-bytes", said("diagnostic", code="x", summary="x" * 66_000)),
    ("frame-json", raw('{"type":"event",')),
    ("frame-json", lambda: twice(extra(card("c1", **below("s"), revision=5)), rb"\"title\":\"Read\"")),
    ("frame-json", lambda: twice(script, rb"\"type\":\"event\"")),
    ("frame-json", raw("")),
    ("json-depth", nested),
    ("json-depth", raw('{"data":' + "[" * 60_000)),
    ("json-depth", raw('{"data":' * 7_000)),
    ("envelope", raw({"type": "event", "data": {}})),
    ("envelope", raw("[1]")),
    ("schema", extra(card("c1", **below("s"), state="paused", revision=5))),
    ("schema", extra({name: value for name, value in card("c1", revision=5).items() if name != "title"})),
    ("schema", said("run.finished", outcome="exploded")),
    ("schema", changed(script, lambda wire: wire.frames[3][1]["result"].pop("session_id"))),
    ("schema-version", extra(card("c1", **below("s"), revision=5, schema_version=2))),
    ("schema-version", extra({"schema_version": 2, "activity_id": "c1", "novelty": 1})),
    ("exact-members", setting(colour="red")),
    ("exact-members", with_blocks(results(row("Lines", "1") | {"unit": "lines"}))),
    ("exact-members", with_blocks(text("x") | {"rows": None})),
    ("exact-members", changed(script, lambda wire: wire.find("run.finished")[0]["data"].update(mood="good"))),
    ("unknown-event", said("tool.cord", activity_id="c1")),
    (
        "descriptor",
        changed(script, lambda wire: wire.frames[1][1]["result"]["extensions"]["tool.cards"].update(card_bytes=20_000)),
    ),
    ("descriptor", changed(script, lambda wire: wire.frames[1][1]["result"].pop("extensions"))),
    ("request", changed(script, lambda wire: wire.frames.append(("to_product", {"id": 5})))),
    ("card-bytes", with_blocks(results(*(row(f"Line {number}", "x" * 1000) for number in range(17))))),
    ("core-bytes", setting(**CORE, blocks=[results(*(row(f"Line {number}", "x" * 900) for number in range(3)))])),
    ("card-identity", setting(card_id="c2")),
    ("card-identity", other_card),
    ("id-grammar", shown(card("a b"))),
    ("id-grammar", shown(card("x" * 65))),
    ("outcome-state", setting(outcome=None)),
    ("outcome-state", changed(script, lambda wire: wire.cards("c1")[0].update(outcome="success"))),
    (
        "outcome-state",
        changed(script, lambda wire: wire.cards("s")[-1]["blocks"][-1]["children"][0].update(outcome=None)),
    ),
    ("parent-state", shown(card("x", parent_state="available"))),
    ("parent-state", shown(card("x", parent_activity_id="s"))),
    ("detail-reason", setting(detail={"availability": "complete", "reason": "size_limit"})),
    ("detail-reason", setting(detail={"availability": "truncated", "reason": None})),
    ("detail-reason", setting(omissions=[omitted("rows")])),
    ("detail-reason", setting(omissions=[omitted("rows", "redacted"), omitted("text")], detail=LONG)),
    ("omission-subjects", setting(omissions=[omitted("rows"), omitted("rows")], detail=LONG)),
    ("title-bytes", setting(title="€" * 86)),
    (
        "title-bytes",
        changed(script, lambda wire: wire.cards("s")[-1]["blocks"][-1]["children"][0].update(title="x" * 257)),
    ),
    ("metadata-bytes", last(lambda snapshot: snapshot["metadata"].update(resource_path="ä" * 257))),
    ("metadata-bytes", last(lambda snapshot: snapshot["metadata"]["public_protection"].update(summary="x" * 257))),
    ("blocks", with_blocks(*(text("x") for _ in range(17)))),
    ("block-size", with_blocks(results(*(row(f"Line {number}", "1") for number in range(33))))),
    ("text-bytes", with_blocks(results(row("Lines", "€" * 342)))),
    ("text-bytes", with_blocks(text("x" * 4097))),
    (
        "text-bytes",
        with_blocks(
            {"command": "x" * 4097, "exit_code": 0, "signal": None, "type": "command", "working_directory": None}
        ),
    ),
    ("progress", with_blocks(progress(3, 2))),
    ("children-total", setting("s", blocks=[children(card("c1"), card("c2"), total=1)])),
    ("children-omitted", setting("s", blocks=[children(card("c1"), card("c2"), total=5)])),
    (
        "children-omitted",
        setting("s", blocks=[children(card("c1"), total=5)], omissions=[omitted("children", count=3)], detail=LONG),
    ),
    (
        "diff-lines",
        with_blocks(
            {
                "application": "applied",
                "lines": [{"kind": "added", "new_line": 2, "old_line": 1, "text": "x"}],
                "new_path": None,
                "old_path": None,
                "type": "diff",
            }
        ),
    ),
    ("fact-outcome", script_rows({}, row("Changed path", "/w", "success"))),
    ("fact-label", script_rows({}, row("Mood", "good"))),
    ("fact-label", script_rows({}, row("Task intent", "Look"))),
    ("fact-repeated", script_rows({}, row("Total calls", "2"))),
    ("fact-spelling", script_rows({"Total calls": "02"})),
    ("fact-spelling", script_rows({"Rollback": "False"})),
    ("fact-spelling", script_rows({"Script outcome": "succeeded"})),
    ("fact-bytes", changed(batch_run, lambda wire: _row(wire, "t1", "Task intent").update(value="€" * 81))),
    ("fact-bytes", script_rows({}, row("Warning", "x" * 513))),
    ("fact-rows", script_rows({}, *(row("Warning", "x") for _ in range(3)))),
    ("fact-rows", script_rows({}, *(row("Changed path", "/w") for _ in range(4)))),
    ("seq", changed(script, lambda wire: wire.frames[-1][1].update(seq=1))),
    ("seq", changed(script, lambda wire: wire.frames[1][1].update(seq=2))),
    ("seq", changed(script, lambda wire: wire.frames[-1][1].update(seq=sent(wire) - 1))),
    ("one-instance", other_instance),
    ("response", changed(script, lambda wire: wire.answer("r99", result={}))),
    ("response", changed(script, lambda wire: wire.answer("r1", result={}))),
    ("response", changed(script, lambda wire: wire.answer(None, result={}))),
    ("admission", no_answer_to_start),
    ("input-first", changed(script, lambda wire: wire.drop(wire.find("input.persisted")[0]))),
    ("input-first", said("input.persisted", durable=True, message_id="m", revision="r")),
    ("activity-first", late_start),
    ("activity-first", late_end),
    ("single-part", changed(script, lambda wire: wire.find("tool.card", "c1")[0]["data"].update(part=1))),
    ("single-part", changed(script, lambda wire: wire.find("tool.card", "c1")[0]["data"].update(last_part=False))),
    ("origin", setting(origin="saved")),
    ("revision", setting(revision=0)),
    ("revision", changed(script, lambda wire: wire.cards("c1")[0].update(revision=1))),
    ("revision", extra(card("c1", **below("s"), revision=0))),
    ("finished-stays", extra(running(card("c1", **below("s")), 2))),
    ("facts-stay", extra(card("c1", **below("s"), revision=2, outcome="failure"))),
    ("facts-stay", changed(script, lambda wire: wire.cards("c1")[0].update(changes="applied"))),
    (
        "facts-stay",
        changed(script, lambda wire: wire.cards("c1")[0]["metadata"]["public_protection"].update(decision="denied")),
    ),
    ("parent-known", shown(card("x", **below("nobody")))),
    ("hierarchy", cycle),
    ("hierarchy", deep_chain),
    ("task-scope", changed(batch_run, lambda wire: [one.update(task_id="t2") for one in wire.cards("k")])),
    ("children-known", setting("s", blocks=[children(card("ghost"), total=1)])),
    ("children-known", setting("c2", blocks=[children(card("c1"), total=1)])),
    ("final-snapshot", changed(script, lambda wire: wire.drop(wire.find("tool.card", "c1")[-1]))),
    ("run-terminal", changed(script, lambda wire: wire.event("diagnostic", code="late", summary="x"))),
    ("run-terminal", changed(script, lambda wire: wire.finish())),
    ("message-parts", said("message.reconcile", message_id="m2", part=1, text="x", last_part=True, partial=False)),
    ("page-bytes", paged(*(entry(f"a{number}", "assistant", "x" * 11_000) for number in range(3)))),
    ("page-entries", paged(*(entry(f"a{number}", "assistant") for number in range(100)))),
    ("page-chain", paged(revision="saved-2")),
    ("page-chain", paged(session_id="session-2")),
    ("page-chain", paged(complete=True, next_cursor="more")),
    ("page-chain", endless_pages),
    ("page-repeat", repeated_page),
    ("entry-parts", paged(entry("a1", "assistant", part=1))),
    ("entry-parts", paged(entry("a1", "assistant", last_part=False))),
    ("entry-parts", paged(entry("u1"))),
    ("attachment", paged(entry("a1", "assistant", tool_card=None))),
    ("attachment", paged(entry("a1", "activity"))),
    ("saved-card", paged(_saved := saved(card("a1")) | {"tool_card": card("a1", origin="saved", revision=1)})),
    ("saved-card", paged(_saved | {"message_id": "a2", "tool_card": card("a1", origin="saved")})),
    ("saved-card", paged(_saved | {"tool_card": card("a1", origin="saved", state="running", outcome=None)})),
    ("origin", paged(_saved | {"tool_card": card("a1")})),
    ("parent-known", paged(saved(card("a1", **below("nobody"))))),
    ("children-known", paged(saved(card("a1", blocks=[children(card("ghost"), total=1)])))),
    ("schema", paged(_saved | {"tool_card": card("a1", origin="saved", tool_kind="hammer")})),
    ("schema-version", paged(_saved | {"tool_card": card("a1", origin="saved", schema_version=2)})),
    ("exact-members", paged(_saved | {"tool_card": card("a1", origin="saved", colour="red")})),
]
"""(rule, a product that breaks it once and no other)."""


def _row(wire: Wire, activity: str, label: str) -> Json:
    found: list[Json] = wire.cards(activity)[-1]["blocks"][0]["rows"]
    return next(one for one in found if one["label"] == label)


def names(reading: Reading) -> list[str]:
    return sorted({breach.rule for breach in reading.breaches})


@pytest.mark.parametrize(("name", "vice"), VICES, ids=[f"{number}-{name}" for number, (name, _) in enumerate(VICES)])
def test_one_vice_breaks_one_rule_and_is_placed(name: str, vice: Vice | Callable[[], bytes]) -> None:
    made = vice()
    capture = made if isinstance(made, bytes) else made.encode()

    reading = read_capture(capture)

    assert names(reading) == [f"wire.{name}"]
    texts = {line.number: line.text for line in Lines(split(capture))}
    for breach in reading.breaches:
        assert breach.expected
        assert breach.observed
        assert breach.line in texts
        placed = locate(texts[breach.line], breach.pointer)
        if placed is not None and name != "frame-json":  # broken JSON is placed inside of the broken value
            assert breach.offset == placed


@pytest.mark.parametrize("build", [script, lambda: batch_run().shutdown(), history], ids=["script", "batch", "history"])
def test_a_well_behaved_product_breaks_nothing(build: Vice) -> None:
    reading = read_capture(build().encode())

    assert reading.breaches == ()
    assert reading.footer is True
    assert reading.negotiated is True


@pytest.mark.parametrize(
    ("bound", "value", "what"),
    [
        ("CARDS_PER_RUN", 2, "cards"),
        ("SNAPSHOTS_PER_RUN", 6, "snapshots"),
        ("RUN_SNAPSHOT_BYTES", 3_000, "bytes of snapshots"),
        ("RETAINED_CARD_BYTES", 2_000, "bytes of latest snapshots"),
    ],
)
def test_each_budget_of_a_run_is_counted(monkeypatch: pytest.MonkeyPatch, bound: str, value: int, what: str) -> None:
    capture = script().encode()
    monkeypatch.setattr(bounds, bound, value)

    reading = read_capture(capture)

    assert [(breach.rule, breach.label, breach.expected) for breach in reading.breaches] == [
        ("wire.run-budget", what, f"at most {value} {what}")
    ]


def padded(bound: int, build: Callable[[str], Wire], size: Callable[[Wire], int]) -> Callable[[], Wire]:
    """A capture in which the measured thing has exactly `bound` bytes."""

    def made() -> Wire:
        missing = bound - size(build(""))
        wire = build("x" * missing)
        assert size(wire) == bound
        return wire

    return made


def filled_card(more: str) -> Wire:
    lines = [row(f"Line {number}", "x" * 1000) for number in range(15)]
    return with_blocks(results(*lines, row("Last", more[:1000]), row("Rest", more[1000:])))()


def filled_core(more: str) -> Wire:
    lines = [row("A", more[:1000]), row("B", more[1000:])]
    return setting(**CORE, blocks=[results(*lines)])()


def filled_frame(more: str) -> Wire:
    return said("diagnostic", code="x", summary=more)()


def filled_page(more: str) -> Wire:
    return paged(*(entry(f"a{number}", "assistant", more[number::3]) for number in range(3)))()


def last_card_size(wire: Wire) -> int:
    return len(compact(wire.cards("c1")[-1]).encode())


def diagnostic_size(wire: Wire) -> int:
    numbered = [line.text for line in Lines(split(wire.encode())) if b'"event":"diagnostic"' in line.text]
    return len(numbered[0]) + 1


def page_size(wire: Wire) -> int:
    return next(
        len(compact(frame["result"]).encode()) for _, frame in wire.frames if "entries" in frame.get("result", {})
    )


def chain(parents: int) -> Wire:
    wire = open_script()
    wire.show(card("d0"))
    for number in range(1, parents + 1):
        wire.show(card(f"d{number}", **below(f"d{number - 1}")))
    return closed(wire)


def many_children() -> Wire:
    wire = open_script()
    made = [card(f"x{number}", **below("y")) for number in range(32)]
    wire.show(card("y", "other"))
    for one in made:
        wire.show(one)
    wire.card(card("y", "other", revision=2, blocks=[children(*made, total=32)]))
    return closed(wire)


@pytest.mark.parametrize(
    "build",
    [
        padded(16_384, filled_card, last_card_size),
        padded(2_048, filled_core, last_card_size),
        padded(65_536, filled_frame, diagnostic_size),
        padded(32_768, filled_page, page_size),
        setting(title="€" * 85 + "x"),
        last(lambda snapshot: snapshot["metadata"].update(resource_path="ä" * 256)),
        last(lambda snapshot: snapshot["metadata"]["public_protection"].update(summary="ä" * 128)),
        with_blocks(*(text("x") for _ in range(16))),
        with_blocks(results(*(row(f"Line {number}", "1") for number in range(32)))),
        with_blocks(results(row("Lines", "€" * 341 + "x"))),
        with_blocks(text("x" * 4096)),
        with_blocks(progress(2, 2), progress(None, 2), progress(3, None)),
        many_children,
        script_rows({}, *(row("Warning", "x" * 512) for _ in range(2)), *(row("Changed path", "/w") for _ in range(3))),
        changed(batch_run, lambda wire: _row(wire, "t1", "Task intent").update(value="€" * 80)),
        shown(card("x" * 64)),
        lambda: chain(8),
        paged(*(entry(f"a{number}", "assistant") for number in range(99))),
    ],
    ids=range(18),
)
def test_what_is_exactly_at_its_bound_breaks_nothing(build: Vice) -> None:
    assert read_capture(build().encode()).breaches == ()


def test_the_same_snapshot_once_more_breaks_nothing() -> None:
    wire = open_script()
    wire.card(wire.cards("c1")[-1])

    assert read_capture(closed(wire).encode()).breaches == ()


def test_every_rule_of_the_table_is_broken_by_some_test() -> None:
    broken = {f"wire.{name}" for name, _ in VICES} | {"wire.run-budget"}

    assert {one.id for one in RULES} == broken
    assert len({one.id for one in RULES}) == len(RULES)


def test_the_table_is_documentation_of_every_rule() -> None:
    page = as_markdown()

    for one in RULES:
        assert f"| `{one.id}` | {one.scope.value} | {one.text} | {one.source} |" in page
        assert rule(one.id) is one
    with pytest.raises(KeyError):
        rule("wire.no-such-rule")


def test_a_rule_broken_in_every_snapshot_is_one_breach_with_a_count() -> None:
    wire = script()
    for snapshot in wire.cards("s"):
        snapshot["blocks"].append(text("x") | {"rows": None})

    reading = read_capture(wire.encode())

    assert len(wire.cards("s")) == 3
    [breach] = reading.breaches
    assert (breach.rule, breach.label, breach.times) == ("wire.exact-members", "text.rows", 3)
    problem = breach.problem(file="live.jsonl", card="turn1/call1")
    assert problem.observed == "a member (3 times, the first is shown)"
    assert problem.card == "turn1/call1"
    assert problem.place is not None
    assert problem.place.line == breach.line
    assert str(problem.place).startswith("live.jsonl, line 9, byte ")


def test_breaches_of_two_cards_are_two(capsys: pytest.CaptureFixture[str]) -> None:
    wire = script()
    for activity in ("c1", "c2"):
        wire.cards(activity)[-1]["title"] = "x" * 257

    found: list[Breach] = list(read_capture(wire.encode()).breaches)

    assert [breach.key.activity for breach in found if breach.key] == ["c1", "c2"]
    assert {breach.times for breach in found} == {1}
    assert capsys.readouterr().out == ""


def test_a_flood_of_different_breaches_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.wire.breaches.DISTINCT", 5)
    wire = open_script()
    for number in range(50):
        wire.event(f"invented.{number}")
    closed(wire)

    found = read_capture(wire.encode()).breaches

    assert len(found) == 6
    assert sum(breach.times for breach in found) == 50
    assert found[-1].times == 45


def test_a_child_row_is_what_its_card_says() -> None:
    assert child(card("c1", title="Read")) == {
        "activity_id": "c1",
        "changes": "unknown",
        "outcome": "success",
        "state": "finished",
        "task_id": None,
        "title": "Read",
    }
