"""A whole capture: several processes, turns over all of them, captures that end early, and little memory."""

from __future__ import annotations

import tracemalloc

from harness.wire.capture import Line
from harness.wire.frames import Frame, Request
from harness.wire.reading import fold_capture, read_capture
from tests.support.wire_frames import Wire, batch_run, big_script, card, entry, history, saved, script_run


def test_a_run_is_read_with_its_folded_cards() -> None:
    reading = read_capture(script_run().shutdown().encode())

    [run] = reading.runs
    assert run.turn == 1
    assert run.finished is not None
    assert run.finished.outcome == "completed"
    assert {key: one.snapshot.card.revision for key, one in run.activities.items() if one.snapshot} == {
        "s": 2,
        "c1": 1,
        "c2": 1,
    }
    assert [one.id for one in sorted(run.activities.values(), key=lambda one: one.order)] == ["s", "c1", "c2"]
    assert reading.methods == {"initialize", "session.create", "turn.start", "shutdown"}
    assert (reading.footer, reading.cut, reading.negotiated) == (True, False, True)


def test_a_killed_run_is_neither_finished_nor_blamed_for_it() -> None:
    wire = script_run(finish=False)
    del wire.frames[-4:]

    reading = read_capture(wire.encode())

    assert reading.runs[0].finished is None
    assert reading.breaches == ()
    assert reading.footer is False


def test_a_cut_last_line_is_left_out() -> None:
    whole = script_run().encode()

    reading = read_capture(whole[:-20])

    assert reading.cut is True
    assert reading.lines == whole.count(b"\n") - 1
    assert reading.runs[0].finished is None


def test_a_process_that_takes_over_is_no_breach_and_turns_go_on() -> None:
    killed = script_run(finish=False)
    after = Wire(instance="instance-2").initialize().open()
    after = script_run(after).shutdown()

    reading = read_capture(killed.encode() + after.encode())

    assert reading.breaches == ()
    assert [(run.turn, run.finished is None) for run in reading.runs] == [(1, True), (2, False)]
    assert [set(run.activities) for run in reading.runs] == [{"s", "c1", "c2"}] * 2


def test_turns_count_from_a_history_that_was_paged_first() -> None:
    wire = Wire().initialize().open()
    wire.page([entry("u1"), saved(card("a1")), entry("u2"), entry("x", "assistant")])
    wire = script_run(wire).shutdown()

    reading = read_capture(wire.encode())

    assert reading.breaches == ()
    assert [run.turn for run in reading.runs] == [3]


def test_two_turns_of_one_process_are_numbered_in_order() -> None:
    wire = script_run(script_run()).shutdown()

    reading = read_capture(wire.encode())

    assert reading.breaches == ()
    assert [run.turn for run in reading.runs] == [1, 2]


def test_history_is_assembled_over_pages() -> None:
    [read] = read_capture(history().encode()).histories

    assert [(one.kind, one.message_id) for one in read.entries] == [
        ("user", "u1"),
        ("activity", "s"),
        ("activity", "c1"),
        ("assistant", "a1"),
    ]
    assert (read.read, read.complete, read.turns) == (True, True, 1)
    assert [one.snapshot.card.tool_kind for one in read.entries if one.snapshot] == ["code_mode", "read"]


def test_any_page_of_a_history_that_was_read_may_be_asked_for_again() -> None:
    """Its cursor then leads to a page that was read before, which is no page that leads back."""
    wire = Wire().initialize().open()
    pages = ((None, "1", "u1"), ("1", "2", "u2"), ("2", None, "u3"))
    for cursor, following, id_ in (*pages, *pages[:2]):
        wire.page([entry(id_)], cursor=cursor, next_cursor=following, complete=following is None)
    reading = read_capture(wire.shutdown().encode())
    assert reading.breaches == ()
    (history_,) = reading.histories
    assert history_.read
    assert [one.message_id for one in history_.entries] == ["u1", "u2", "u3"]


def test_history_without_its_last_page_is_unread() -> None:
    wire = Wire().initialize().open()
    wire.page([entry("u1")], next_cursor="more", complete=False)

    [read] = read_capture(wire.encode()).histories

    assert (read.read, read.complete) == (False, False)


def test_a_skipped_page_leaves_the_history_unread() -> None:
    wire = Wire().initialize().open()
    wire.page([entry("u1")], next_cursor="page-2", complete=False)
    wire.page([entry("u3")], cursor="page-3")

    [read] = read_capture(wire.encode()).histories

    assert read.read is False
    assert [one.message_id for one in read.entries] == ["u1"]


def test_parts_of_one_entry_are_one_entry() -> None:
    wire = Wire().initialize().open()
    wire.page([entry("u1"), entry("a1", "assistant", last_part=False)], next_cursor="more", complete=False)
    wire.page([entry("a1", "assistant", part=1)], cursor="more")

    reading = read_capture(wire.encode())

    assert reading.breaches == ()
    assert [one.message_id for one in reading.histories[0].entries] == ["u1", "a1"]


def test_a_null_attachment_is_an_entry_without_a_card() -> None:
    wire = Wire().initialize().open()
    wire.page([entry("u1"), entry("a1", "activity", tool_card=None)])

    reading = read_capture(wire.encode())

    assert reading.breaches == ()
    assert [one.snapshot for one in reading.histories[0].entries] == [None, None]


def test_refusals_are_kept_with_their_method() -> None:
    wire = Wire().initialize()
    wire.answer(wire.request("session.open", {"session_id": "session-1"}), error={"code": "session_busy"})

    reading = read_capture(wire.encode())

    assert [(one.method, one.code, one.line) for one in reading.refusals] == [("session.open", "session_busy", 4)]
    assert reading.breaches == ()


def test_answers_may_come_in_any_order_and_errors_without_an_id() -> None:
    wire = Wire().initialize()
    first, second = wire.request("status", {}), wire.request("session.list", {})
    wire.answer(second, result={"sessions": []})
    wire.answer(first, result={"state": "idle"})
    wire.answer(None, error={"code": "invalid_request"})

    assert read_capture(wire.encode()).breaches == ()


def test_cards_that_were_not_agreed_on_are_told() -> None:
    wire = Wire()
    wire.ask("initialize", {"required_capabilities": []}, {"capabilities": ["turn.start"], "limits": {}})

    assert read_capture(wire.encode()).negotiated is False
    assert read_capture(b"").negotiated is None


def test_a_card_that_nobody_finished_is_found_in_a_finished_run_only() -> None:
    wire = batch_run()
    wire.drop(wire.find("tool.card", "t2")[-1])

    names = {breach.rule for breach in read_capture(wire.encode()).breaches}
    wire.drop(wire.find("run.finished")[0])
    cut = {breach.rule for breach in read_capture(wire.encode()).breaches}

    assert names == {"wire.final-snapshot"}
    assert cut == set()


def test_unfinished_cards_are_told_with_how_the_run_ended() -> None:
    wire = script_run(finish=False)
    wire.drop(wire.find("tool.card", "c2")[-1])
    wire.event("run.finished", error_code="output_unavailable", outcome="failed", persistence="durable", revision="r")

    [breach] = read_capture(wire.encode()).breaches

    assert breach.rule == "wire.final-snapshot"
    assert breach.observed == "revision 0 is running as the run ends (failed, output_unavailable)"
    assert breach.pointer == "/event"


def test_a_process_without_a_name_is_a_process() -> None:
    wire = script_run(Wire(instance="").initialize().create())

    assert read_capture(wire.encode()).runs[0].finished is not None


def test_every_line_is_shown_to_the_watcher_once() -> None:
    wire = script_run().shutdown()
    wire.frames.insert(4, ("from_product", "nonsense"))
    seen: list[tuple[int, str]] = []

    def watch(line: Line, frame: Request | Frame | None) -> None:
        seen.append((line.number, type(frame).__name__))

    reading = read_capture(wire.encode(), watch)

    assert [number for number, _ in seen] == list(range(1, reading.lines + 1))
    assert seen[0][1] == "Request"
    assert seen[1][1] == "Frame"
    assert seen[4][1] == "NoneType"
    assert seen[-1][1] == "NoneType"


def test_memory_follows_the_cards_and_not_the_lines() -> None:
    lines = big_script(12).encode().splitlines(keepends=True)
    session, repeated = lines[:-1], lines[10:-1]

    def peak(times: int) -> int:
        tracemalloc.start()
        fold_capture(line for part in [session, *[repeated] * times] for line in part)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1)  # fills what is remembered for good
    few, many = peak(1), peak(12)

    assert many < few * 1.5
