"""The local agent's facts: every row, once, on the right card, with its place, and no word about what was not read."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.model.errors import DecodeError
from harness.model.facts import CardFacts, CardKind, Column, ColumnFacts, Fact, Omission
from harness.model.values import NULL, NotComparable, Reason, Value, known
from harness.observe.local_agent import UNPLACED, Live, live, reopen, timeline
from harness.observe.moments import TimelineEvent
from tests.support.wire_frames import (
    SCRIPT_VALUES,
    TASK_VALUES,
    Wire,
    batch_run,
    below,
    card,
    children,
    entry,
    history,
    omitted,
    results,
    row,
    rows,
    running,
    saved,
    script_run,
)

Observe = Callable[..., ColumnFacts]
FOLDER = Path(__file__).parents[2] / "data" / "captures"


def real(name: str) -> bytes:
    return gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes())


def by_path(column: ColumnFacts) -> dict[str, CardFacts]:
    return {one.path: one for one in column.cards}


def values(facts: CardFacts) -> dict[str, str | None]:
    """Label to text of the single rows; None for null."""
    found: dict[str, str | None] = {}
    for fact in facts.facts:
        assert isinstance(fact.value, Value)
        if fact.ordinal == 0:
            found[fact.label] = fact.value.text
    return found


def repeated(facts: CardFacts, label: str) -> list[tuple[int, str]]:
    return [(fact.ordinal, str(fact.value)) for fact in facts.facts if fact.label == label]


# A script that read a file, missed one and wrote one: three calls, one of which failed, and one changed path.
# Worked out from the recipe "mixed outcomes" and card-facts.md, "Code Mode".
MIXED_SCRIPT = {
    "Script outcome": "success",
    "Code Mode intent": "Exercise mixed outcomes",
    "Total calls": "3",
    "Successful calls": "2",
    "Failed calls": "1",
    "Unknown calls": "0",
    "Running calls": "0",
    "Recoverable failures": "1",
    "Warnings": "0",
    "Changed paths": "1",
    "Change count qualifier": "exact",
    "Completed actions remain applied": "true",
    "Rollback": "false",
    "External effects may be untracked": "true",
    "Execution persistence": "recorded",
    "Completed with warnings": "true",
    "Warnings omitted": "0",
    "Changed paths omitted": "0",
    "Child references complete": "true",
    "Child references omitted": "0",
    "Changed path": "/acceptance/mixed-script/ws/out.txt",
}
# Four tasks, the second refused by its provider: card-facts.md, "Subagent batches".
MIXED_BATCH = {
    "Tasks total": "4",
    "Tasks done": "3",
    "Tasks failed": "1",
    "Tasks running": "0",
    "Tasks unknown": "0",
    "Tasks cancelled": "0",
    "Child references complete": "true",
    "Child references omitted": "0",
}
MEASURED = {"Elapsed milliseconds", "Response token estimate"}
INTENTS = ["TASK-A read things", "TASK-B fails at provider", "TASK-C writes a file", "TASK-D quick"]


@pytest.mark.parametrize("release", ["0.100.0", "0.104.0"])
def test_real_script_live_and_reopened_state_the_facts_of_the_recipe(release: str) -> None:
    one = live(real(f"{release}-mixed-script.live"), file="live.jsonl", complete=True)
    two = reopen(real(f"{release}-mixed-script.reopen"), file="reopen.jsonl", complete=True)

    for column, name in ((one, Column.LOCAL_AGENT_LIVE), (two, Column.LOCAL_AGENT_REOPEN)):
        [script] = column.cards
        stated = values(script)
        assert column.column is name
        assert column.complete is True
        assert column.unavailable is None
        assert (script.path, script.kind) == ("turn1/call1", CardKind.CODE_MODE)
        assert (script.outcome, script.changes) == ("success", "partial")
        assert {label: text for label, text in stated.items() if label not in MEASURED} == MIXED_SCRIPT
        assert stated.keys() & MEASURED == MEASURED
        assert (stated["Elapsed milliseconds"] or "").isdecimal()
        assert script.children == ("turn1/call1/call1", "turn1/call1/call2", "turn1/call1/call3")
        assert script.omissions == ()
        assert script.title is not None
        assert script.title.startswith("Code Mode • 3 calls")


@pytest.mark.parametrize(("observe", "capture"), [(live, "live"), (reopen, "reopen")])
def test_real_batch_is_numbered_as_declared_though_it_ends_out_of_order(observe: Observe, capture: str) -> None:
    column = observe(real(f"0.104.0-mixed-batch.{capture}"), file="x", complete=True)
    cards = by_path(column)

    tasks = [f"turn1/call1/task{number}" for number in range(1, 5)]
    assert list(cards) == ["turn1/call1", *tasks]
    batch = cards["turn1/call1"]
    assert (batch.kind, batch.outcome, batch.children) == (CardKind.SUBAGENT_BATCH, "failure", tuple(tasks))
    assert values(batch) == MIXED_BATCH
    assert {cards[path].kind for path in tasks} == {CardKind.TASK}
    assert [values(cards[path])["Task intent"] for path in tasks] == INTENTS
    assert [values(cards[path])["Task outcome"] for path in tasks] == ["success", "failure", "success", "success"]
    assert [values(cards[path])["Task changed paths"] for path in tasks] == ["0", "0", "1", "0"]
    assert repeated(cards[tasks[0]], "Task activity") == [(0, "read: success"), (1, "read: failure")]
    assert repeated(cards[tasks[3]], "Task activity") == []
    if capture == "live":
        assert cards[tasks[0]].children == (f"{tasks[0]}/call1", f"{tasks[0]}/call2")


def test_real_killed_run_is_cut_live_and_interrupted_when_reopened() -> None:
    cut = live(real("0.104.0-killed-script.live"), file="x", complete=True)
    after = reopen(real("0.104.0-killed-script.reopen"), file="x", complete=True)

    assert cut.complete is False
    assert cut.unavailable is None
    assert (cut.cards[0].outcome, values(cut.cards[0])["Script outcome"]) == (None, "running")
    assert values(cut.cards[0])["Total calls"] is None
    assert after.complete is True
    stated = values(after.cards[0])
    assert (after.cards[0].outcome, stated["Script outcome"]) == ("interrupted", "interrupted")
    assert (stated["Elapsed milliseconds"], stated["Response token estimate"]) == (None, None)


def test_real_legacy_tasks_without_telemetry_say_so() -> None:
    column = reopen(real("0.96.6-legacy-batch.reopen"), file="x", complete=True)
    cards = by_path(column)

    assert set(values(cards["turn1/call1"]).values()) == {None}
    for number, intent in enumerate(INTENTS, start=1):
        task = cards[f"turn1/call1/task{number}"]
        assert values(task)["Task persistence"] == "not_recorded"
        assert values(task)["Task intent"] == intent
        assert task.omissions == (Omission(subject="rows", reason="not_recorded", omitted_count=None),)


def test_real_legacy_live_cards_have_no_fact_rows() -> None:
    column = live(real("0.96.6-legacy-batch.live"), file="x", complete=True)

    assert [one.path for one in column.cards] == ["turn1/call1", *(f"turn1/call1/task{n}" for n in range(1, 5))]
    assert all(one.facts == () for one in column.cards)
    assert column.complete is True


def test_every_place_is_the_row_itself() -> None:
    capture = real("0.104.0-mixed-batch.live")
    lines = capture.splitlines()
    seen = 0
    for one in live(capture, file="live.jsonl", complete=True).cards:
        for fact in one.facts:
            place = fact.place
            assert place is not None
            assert place.file == "live.jsonl"
            assert place.line is not None
            assert place.offset is not None
            text = frame_text(lines[place.line - 1])
            assert text[place.offset :].startswith(f'{{"label":"{fact.label}","outcome":"unknown","value":'.encode())
            assert place.pointer is not None
            assert place.pointer.startswith("/data/card/blocks/")
            seen += 1
    assert seen == 8 + 27 + 25 + 26 + 25


def frame_text(line: bytes) -> bytes:
    text: str = json.loads(line)["line"]
    return text.encode()


def test_place_of_a_card_is_its_last_snapshot() -> None:
    column = live(script_run().shutdown().encode(), file="f", complete=True)

    place = column.cards[0].place
    assert place is not None
    assert (place.line, place.pointer) == (20, "/data/card")
    assert column.cards[0].facts[0].place is not None
    assert column.cards[0].facts[0].place.line == 20


def test_history_places_name_the_entry() -> None:
    column = reopen(history().encode(), file="f", complete=True)

    place = column.cards[0].place
    assert place is not None
    assert (place.line, place.pointer) == (6, "/result/entries/1/tool_card")


def test_rows_give_known_and_null_and_nothing_for_absent_rows() -> None:
    column = live(script_run().shutdown().encode(), file="f", complete=True)

    [script] = column.cards
    stated = {fact.label: fact for fact in script.facts}
    assert stated["Total calls"].value == known("2")
    assert stated["Response token estimate"].value == NULL
    assert "Warning" not in stated
    assert {fact.via for fact in script.facts} == {"row"}
    assert len(script.facts) == len(SCRIPT_VALUES) + 1


def test_repeated_rows_are_numbered_and_duplicates_are_two_readings() -> None:
    wire = script_run().shutdown()
    extra = results(row("Warning", "one"), row("Warning", "two"), row("Total calls", "9"))
    wire.cards("s")[-1]["blocks"].append(extra)

    column = live(wire.encode(), file="f", complete=True)

    [script] = column.cards
    assert repeated(script, "Warning") == [(0, "one"), (1, "two")]
    assert repeated(script, "Total calls") == [(0, "2"), (0, "9")]
    assert [(one.requirement, one.card, one.label) for one in column.problems] == [
        ("wire.fact-repeated", "turn1/call1", "Total calls")
    ]


def test_a_row_of_no_known_label_is_a_problem_and_no_fact() -> None:
    wire = script_run().shutdown()
    wire.cards("s")[-1]["blocks"].append(results(row("Mood", "good")))

    column = live(wire.encode(), file="f", complete=True)

    assert "Mood" not in {fact.label for fact in column.cards[0].facts}
    [problem] = column.problems
    assert (problem.requirement, problem.card, problem.label) == ("wire.fact-label", "turn1/call1", "Mood")
    assert problem.place is not None
    assert problem.place.pointer == "/data/card/blocks/3/rows/0/label"


def test_an_ill_spelled_value_is_read_as_it_stands_and_a_problem() -> None:
    wire = script_run().shutdown()
    wire.cards("s")[-1]["blocks"][0]["rows"][2]["value"] = "two"

    column = live(wire.encode(), file="f", complete=True)

    assert values(column.cards[0])["Total calls"] == "two"
    assert [(one.requirement, one.label) for one in column.problems] == [("wire.fact-spelling", "Total calls")]


@pytest.mark.parametrize("starts", [("t1", "t2"), ("t2", "t1")])
def test_tasks_that_start_out_of_order_keep_their_declared_places(starts: tuple[str, str]) -> None:
    column = live(batch_run(starts=starts).shutdown().encode(), file="f", complete=True)

    cards = by_path(column)
    assert [cards[f"turn1/call1/task{number}"].title for number in (1, 2)] == ["TASK-1", "TASK-2"]
    shown = tuple(f"turn1/call1/task{name[1]}" for name in starts)
    assert cards["turn1/call1"].children == shown
    assert cards["turn1/call1/task1"].children == ("turn1/call1/task1/call1",)
    assert {one.requirement for one in column.problems} == {"batch.live-snapshots"}  # nothing here counts as it goes


def test_calls_of_other_kinds_are_counted_and_not_listed() -> None:
    wire = Wire().initialize().create().start()
    wire.show(card("before"))
    script = card("s", "code_mode", blocks=[rows(SCRIPT_VALUES)])
    wire.activity("pack", kind="compaction", name="compaction")
    wire.card(card("pack", "other"))
    wire.show(script, name="code_mode")
    wire.show(card("x", "command", **below("s")))
    wire.finish()

    column = live(wire.encode(), file="f", complete=True)

    assert [one.path for one in column.cards] == ["turn1/call2"]


def test_a_batch_inside_a_task_inside_a_script_stands_below_both() -> None:
    wire = Wire().initialize().create().start()
    wire.show(card("s", "code_mode"), name="code_mode")
    wire.show(card("b", "subagent", **below("s")), name="subagents · 1 task")
    wire.show(card("t", "subagent", **below("b", "t")), kind="subagent", name="g1 · depth 1 · A")
    wire.show(card("bb", "subagent", **below("t", "t")), name="subagents · 1 task")
    wire.show(card("tt", "subagent", **below("bb", "tt")), kind="subagent", name="g1 · depth 2 · B")
    wire.show(card("cc", "code_mode", **below("tt", "tt")), name="code_mode")
    wire.finish()

    column = live(wire.encode(), file="f", complete=True)

    assert [(one.path, one.kind) for one in column.cards] == [
        ("turn1/call1", CardKind.CODE_MODE),
        ("turn1/call1/call1", CardKind.SUBAGENT_BATCH),
        ("turn1/call1/call1/task1", CardKind.TASK),
        ("turn1/call1/call1/task1/call1", CardKind.SUBAGENT_BATCH),
        ("turn1/call1/call1/task1/call1/task1", CardKind.TASK),
        ("turn1/call1/call1/task1/call1/task1/call1", CardKind.CODE_MODE),
    ]
    assert {one.requirement for one in column.problems} == {"batch.live-snapshots"}  # nothing here counts as it goes


def test_a_reference_to_a_card_that_is_not_there_is_told_and_not_invented() -> None:
    wire = script_run().shutdown()
    wire.cards("s")[-1]["blocks"][-1]["children"][1]["activity_id"] = "ghost"

    column = live(wire.encode(), file="f", complete=True)

    assert column.cards[0].children == ("turn1/call1/call1", UNPLACED)
    assert [(one.requirement, one.card) for one in column.problems] == [("wire.children-known", "turn1/call1")]


def test_a_card_whose_ancestry_is_unknown_takes_no_place() -> None:
    wire = Wire().initialize().create().start()
    lost = {
        "parent_state": "missing",
        "omissions": [omitted("ancestry", "missing_source")],
        "detail": {"availability": "truncated", "reason": "missing_source"},
    }
    wire.show(card("x", "code_mode", **lost), name="code_mode")
    wire.show(card("s", "code_mode"), name="code_mode")
    wire.finish()

    column = live(wire.encode(), file="f", complete=True)

    assert [one.path for one in column.cards] == ["turn1/unplaced1", "turn1/call1"]
    assert column.problems == ()


def test_late_and_repeated_snapshots_leave_the_final_card() -> None:
    wire = script_run(finish=False)
    final = dict(wire.cards("s")[-1])
    wire.card(final)
    wire.card(running(card("s", "code_mode"), 1))
    wire.finish()

    column = live(wire.encode(), file="f", complete=True)

    [script] = column.cards
    assert script.outcome == "success"
    assert values(script)["Total calls"] == "2"
    assert {one.requirement for one in column.problems} == {
        "wire.revision",
        "wire.finished-stays",
        "wire.facts-stay",
    }


def test_history_paged_by_the_live_process_adds_no_cards_but_its_problems() -> None:
    wire = script_run()
    wire.open()
    wire.page([entry("u1"), saved(card("s9", "code_mode", blocks=[results(row("Mood", "x"))]))])
    wire.shutdown()

    column = live(wire.encode(), file="f", complete=True)

    assert [one.path for one in column.cards] == ["turn1/call1"]
    assert [one.requirement for one in column.problems] == ["wire.fact-label"]


def test_turns_of_a_reopened_history_and_of_a_session_that_goes_on() -> None:
    wire = Wire().initialize().open()
    pages = [entry("u1"), saved(card("s1", "code_mode")), entry("u2"), saved(card("a")), saved(card("s2", "code_mode"))]
    wire.page(pages)
    saved_column = reopen(wire.encode(), file="f", complete=True)
    resumed = script_run(Wire().initialize().open()).shutdown().encode()

    assert [one.path for one in saved_column.cards] == ["turn1/call1", "turn2/call2"]
    assert [one.path for one in live(resumed, file="f", complete=True, turns_before=2).cards] == ["turn3/call1"]
    assert [one.path for one in live(resumed, file="f", complete=True).cards] == ["turn1/call1"]


def test_a_null_attachment_counts_as_a_call() -> None:
    wire = Wire().initialize().open()
    wire.page([entry("u1"), entry("n", "activity", tool_card=None), saved(card("s1", "code_mode"))])

    assert [one.path for one in reopen(wire.encode(), file="f", complete=True).cards] == ["turn1/call2"]


def test_only_the_last_revision_is_the_reopened_history() -> None:
    wire = Wire().initialize().open("saved-1")
    wire.page([entry("u1"), saved(card("s1", "code_mode", title="old"))], revision="saved-1")
    wire.open("saved-2")
    wire.page([entry("u1"), saved(card("s2", "code_mode", title="new"))], revision="saved-2")

    column = reopen(wire.encode(), file="f", complete=True)

    assert [(one.path, one.title) for one in column.cards] == [("turn1/call1", "new")]


@pytest.mark.parametrize(
    ("stated", "build", "complete"),
    [
        (True, lambda: script_run().shutdown(), True),
        (False, lambda: script_run().shutdown(), False),
        (True, lambda: script_run(finish=False), False),
        (True, lambda: script_run(script_run(), finish=False), False),
    ],
)
def test_live_is_complete_only_when_every_run_ended(stated: bool, build: Callable[[], Wire], complete: bool) -> None:
    assert live(build().encode(), file="f", complete=stated).complete is complete


def test_a_run_without_an_end_is_a_problem_where_the_product_left_in_order() -> None:
    endless = live(script_run(finish=False).shutdown().encode(), file="f", complete=True)
    assert [one.requirement for one in endless.problems] == ["wire.run-terminal"]
    assert endless.complete is False
    for wire, complete in (
        (script_run().shutdown(), True),
        (script_run(finish=False), True),
        (script_run(finish=False).shutdown(), False),
    ):
        column = live(wire.encode(), file="f", complete=complete)
        assert [one for one in column.problems if one.requirement == "wire.run-terminal"] == []


def test_a_history_with_pages_to_come_is_incomplete() -> None:
    wire = Wire().initialize().open()
    wire.page([entry("u1"), saved(card("s1", "code_mode"))], next_cursor="more", complete=False)

    column = reopen(wire.encode(), file="f", complete=True)

    assert column.complete is False
    assert [one.path for one in column.cards] == ["turn1/call1"]


def refused(method: str, code: str) -> Wire:
    wire = Wire().initialize()
    wire.answer(wire.request(method, {"session_id": "session-1"}), error={"code": code})
    return wire


def unanswered(method: str) -> Wire:
    wire = Wire().initialize()
    wire.request(method, {"session_id": "session-1", "revision": "r"})
    return wire


def plain() -> Wire:
    wire = Wire()
    wire.ask("initialize", {"required_capabilities": []}, {"capabilities": ["turn.start"]})
    return wire.create().start().finish()


@pytest.mark.parametrize(
    ("observe", "build", "reason", "words"),
    [
        (live, Wire, Reason.NOT_CAPTURED, "no turn.start"),
        (reopen, Wire, Reason.NOT_CAPTURED, "no history.page"),
        (live, lambda: unanswered("turn.start"), Reason.CAPTURE_CUT, "turn.start"),
        (reopen, lambda: unanswered("history.page"), Reason.CAPTURE_CUT, "history.page"),
        (live, lambda: refused("turn.start", "busy"), Reason.NOT_CAPTURED, "busy"),
        (reopen, lambda: refused("session.open", "session_busy"), Reason.NOT_CAPTURED, "session_busy"),
        (live, plain, Reason.NOT_CAPTURED, "did not agree"),
    ],
)
def test_a_capture_that_shows_no_cards_says_why(
    observe: Observe, build: Callable[[], Wire], reason: Reason, words: str
) -> None:
    column = observe(build().encode(), file="f", complete=True)

    assert isinstance(column.unavailable, NotComparable)
    assert column.unavailable.reason is reason
    assert words in column.unavailable.detail
    assert column.cards == ()


def test_cards_that_nobody_agreed_on_are_no_cards_of_the_column() -> None:
    """Sent all the same, they would agree with every record, and a product that negotiates nothing would pass."""
    agreed = script_run().encode()
    uninvited = agreed.replace(b'\\"tool.cards\\"', b'\\"tool.other\\"')
    assert uninvited != agreed
    column = live(uninvited, file="f", complete=True)
    assert isinstance(column.unavailable, NotComparable)
    assert column.cards == ()
    assert live(agreed, file="f", complete=True).cards != ()


def test_what_is_no_capture_is_damage_with_its_line() -> None:
    for observe in (live, reopen):
        with pytest.raises(DecodeError, match="line 1"):
            observe(b"\x89PNG\n", file="f", complete=True)


def test_observing_twice_gives_the_same_column() -> None:
    capture = real("0.104.0-mixed-batch.live")

    assert live(capture, file="f", complete=True) == live(capture, file="f", complete=True)


def test_timeline_follows_the_run() -> None:
    wire = batch_run(starts=("t2", "t1"))
    wire.request("turn.cancel", {"session_id": "session-1", "run_id": wire.run})
    events = timeline(wire.shutdown().encode())

    assert events[0] == TimelineEvent(at=0.0, kind="frame_to_product", text="initialize")
    assert [one.at for one in events] == sorted(one.at for one in events)
    assert events[1].at == 0.01
    told = [(one.kind, one.path, one.text) for one in events if one.kind not in ("snapshot", "frame_to_product")]
    assert ("turn_start", "", "input.persisted") in told
    assert ("turn_end", "", "completed") in told
    assert [one[1:] for one in told if one[0] == "task_start"] == [
        ("turn1/call1/task2", "started"),
        ("turn1/call1/task1", "started"),
    ]
    assert [one[1:] for one in told if one[0] == "task_end"] == [
        ("turn1/call1/task2", "completed"),
        ("turn1/call1/task1", "completed"),
    ]
    assert [one.text for one in events if one.kind == "cancel"] == ["turn.cancel"]
    snapshots = [(one.path, one.revision, one.text) for one in events if one.kind == "snapshot"]
    assert snapshots[0] == ("turn1/call1", 0, "running")
    assert snapshots[-1] == ("turn1/call1", 1, "success")
    assert ("turn1/call1/task1/call1", 1, "success") in snapshots


def test_timeline_of_nothing_is_empty() -> None:
    assert timeline(b"") == ()


def test_task_values_are_on_the_task() -> None:
    column = live(batch_run().shutdown().encode(), file="f", complete=True)

    task = by_path(column)["turn1/call1/task1"]
    assert values(task) == TASK_VALUES
    assert all(isinstance(fact, Fact) for fact in task.facts)
    assert children(card("k"), total=None)["total"] is None


def test_a_capture_that_was_not_read_for_its_moments_has_no_timeline() -> None:
    capture = script_run().encode()
    read = Live(capture, timed=True)
    assert read.timeline() == timeline(capture)
    assert read.facts(file="live", complete=True) == live(capture, file="live", complete=True)
    with pytest.raises(ValueError, match="not kept"):
        Live(capture).timeline()
