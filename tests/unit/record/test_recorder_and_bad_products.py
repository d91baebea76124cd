"""A product with a vice must end in an error that names it, with no bundle, no process and no folder left."""

from __future__ import annotations

import json
import time
from typing import Any

import msgspec
import pytest

from harness.model.errors import HarnessError, ProductError, UsageError
from harness.model.facts import Column
from harness.model.stimulus import Interruption, Moment, Stimulus, Turn, digest
from harness.record.recorder import RecordedRun

REACHED = {
    "silent": {"ready": 1.0},
    "never-finishes": {"turn": 1.0},
    "stays": {"close": 3.0},
    "keeps-lease": {"lease": 0.5},
    "mc-never-ready": {"ready": 1.5},
    "mc-floods": {"ready": 1.5},
    "mc-never-finishes": {"turn": 1.0},
    "mc-stays": {"close": 1.0},
}
"""The deadline that each stuck fake is to reach, in seconds."""

LOCAL_AGENT_VICES = {
    "silent": "waited for an answer to initialize",
    "refuses": "initialize was refused with 'unsupported_capability'",
    "starts-nonsense": "a line is no JSON text",
    "not-utf-8": "a line is no JSON text",
    "foreign": "a line is no magi-code.local-agent frame",
    "nests-deeply": "a line is no JSON text",
    "floods": "the process floods its output",
    "writes-outside": "the run wrote outside of its workspace: stray.txt",
    "leaves-a-link": "left something that is no regular file",
    "escapes": "is no session id",
    "dies": "the process ended while an answer to turn.start was awaited; exit status 101",
    "cuts-line": "in the middle of a line",
    "never-finishes": "waited for run.finished",
    "stays": "goes on after it was asked to stop",
    "keeps-lease": "session.open was refused with 'session_busy'",
    "asks-too-much": "lane 'main' was asked 2 times but its script has 1 replies",
    "asks-strangely": "belongs to no lane of the script",
}


@pytest.mark.parametrize("vice", LOCAL_AGENT_VICES)
def test_a_local_agent_that_misbehaves_is_named_and_gone(vice: str, one_turn: Stimulus, lab: Any) -> None:
    lab.shorten(**REACHED.get(vice, {}))
    error = lab.refused(one_turn, "local-agent", vice)
    assert LOCAL_AGENT_VICES[vice] in str(error)
    assert isinstance(error, ProductError)
    assert error.exit_code == 3


MISSION_CONTROL_VICES = {
    "mc-dies": "the program ended while Mission Control ready was awaited",
    "mc-never-ready": "waited 1.5 s for Mission Control ready",
    "mc-not-utf-8": "bytes that are no UTF-8",
    "mc-floods": "Mission Control ready",
    "mc-never-finishes": "the end of the turn",
    "mc-dies-running": "the program ended",
    "mc-two-sessions": "left 2 saved sessions",
    "mc-stays": "does not end when it is asked to",
}


@pytest.mark.parametrize("vice", MISSION_CONTROL_VICES)
def test_a_mission_control_that_misbehaves_is_named_and_gone(vice: str, one_turn: Stimulus, lab: Any) -> None:
    lab.shorten(**REACHED.get(vice, {}))
    error = lab.refused(one_turn, "mission-control", vice)
    assert MISSION_CONTROL_VICES[vice] in str(error)
    assert isinstance(error, ProductError)
    assert error.where == "Mission Control"


def test_the_error_of_a_dead_product_shows_its_last_words(one_turn: Stimulus, lab: Any) -> None:
    error = lab.refused(one_turn, "local-agent", "dies")
    assert "turn.start" in str(error)
    assert "standard error: thread 'main' panicked" in str(error)


def test_the_error_of_a_dead_terminal_program_shows_its_screen(one_turn: Stimulus, lab: Any) -> None:
    assert "Error: no session" in str(lab.refused(one_turn, "mission-control", "mc-dies"))


@pytest.mark.parametrize("driver", ["local-agent", "mission-control"])
def test_a_whole_run_leaves_every_capture_and_nothing_else(
    driver: str, one_turn: Stimulus, whole_runs: dict[str, RecordedRun]
) -> None:
    recorded = whole_runs[driver]
    live = Column(f"{driver}-live")
    assert [capture.column for capture in recorded.captures] == [
        live,
        Column.LOCAL_AGENT_REOPEN,
        Column.MISSION_CONTROL_REOPEN,
    ]
    assert all(capture.complete for capture in recorded.captures)
    assert set(recorded.members) == {
        "stimulus.json",
        "workspace.before.json",
        "workspace.after.json",
        "workspace.reopened.json",
        "model.jsonl",
        "session.jsonl",
        *(capture.file for capture in recorded.captures),
    }
    assert recorded.stimulus_sha256 == digest(one_turn)
    assert recorded.workspace.endswith("/acceptance/fake-run/ws")
    before = json.loads(recorded.members["workspace.before.json"])
    assert [(file["path"], file["size"]) for file in before] == [("folder/a.txt", 6)]


@pytest.mark.parametrize("name", ["local-agent.live.jsonl", "local-agent.reopen.jsonl"])
def test_a_local_agent_capture_holds_both_directions_and_ends_with_its_footer(
    name: str, whole_runs: dict[str, RecordedRun]
) -> None:
    lines = whole_runs["local-agent"].members[name].splitlines()
    parsed = [json.loads(line) for line in lines]
    assert all(list(line) == ["at", "direction", "line"] for line in parsed)
    assert parsed[0]["direction"] == "to_product"
    assert json.loads(parsed[0]["line"])["method"] == "initialize"
    assert "tool.cards" in json.loads(parsed[0]["line"])["params"]["required_capabilities"]
    assert parsed[-1]["direction"] == "footer"
    assert parsed[-1]["line"] == "complete"
    assert [line["at"] for line in parsed] == sorted(line["at"] for line in parsed)
    identities = [json.loads(line["line"])["id"] for line in parsed if line["direction"] == "to_product"]
    assert len(set(identities)) == len(identities)


def test_every_page_of_a_history_is_asked_for_and_the_first_once_more(whole_runs: dict[str, RecordedRun]) -> None:
    capture = whole_runs["local-agent"].members["local-agent.reopen.jsonl"]
    sent = [json.loads(line)["line"] for line in capture.splitlines() if b'"to_product"' in line]
    requests = [json.loads(line) for line in sent]
    assert [request["params"]["cursor"] for request in requests if request["method"] == "history.page"] == [
        None,
        "second",
        None,
    ]


def test_a_cast_is_asciicast_with_keys_and_markers(whole_runs: dict[str, RecordedRun]) -> None:
    lines = whole_runs["mission-control"].members["mission-control.live.cast"]
    header, *events = [json.loads(line) for line in lines.splitlines()]
    assert header["version"] == 2
    assert (header["width"], header["height"]) == (80, 24)
    assert {kind for _, kind, _ in events} == {"o", "i", "m"}
    assert "Do it." in [text for _, kind, text in events if kind == "i"]
    assert [text for _, kind, text in events if kind == "m"] == ["card", "end"]
    assert [at for at, _, _ in events] == sorted(at for at, _, _ in events)


def test_a_turn_that_fails_is_an_observation(one_turn: Stimulus, lab: Any) -> None:
    recorded = lab.run(one_turn, "local-agent", "turn-fails")
    assert b'\\"failed\\"' in recorded.members["local-agent.live.jsonl"]
    assert recorded.session == "session.jsonl"


def test_what_a_run_asks_permission_for_is_allowed(one_turn: Stimulus, lab: Any) -> None:
    recorded = lab.run(one_turn, "local-agent", "asks-permission")
    assert (
        '"allow": true'
        in json.loads(
            [line for line in recorded.members["local-agent.live.jsonl"].splitlines() if b"approval.answer" in line][-1]
        )["line"]
    )


def test_a_child_that_left_its_group_does_not_outlive_the_recording(one_turn: Stimulus, lab: Any) -> None:
    recorded = lab.run(one_turn, "local-agent", "leaves-child")
    assert all(capture.complete for capture in recorded.captures)


def test_a_moment_that_never_comes_is_said_instead_of_waited_for(one_turn: Stimulus, lab: Any) -> None:
    never = Interruption(action="cancel", moment=Moment.FILE_EXISTS, subject="never.txt")
    stimulus = msgspec.structs.replace(one_turn, turns=(Turn(prompt="Do it.", interruption=never),))
    started = time.monotonic()
    error = lab.refused(stimulus, "local-agent")
    assert "the turn ended before never.txt existed" in str(error)
    assert time.monotonic() - started < lab.deadlines.moment


@pytest.mark.parametrize(
    ("change", "driver", "message"),
    [
        ({"turns": ()}, "local-agent", "without a turn"),
        ({"session": False}, "local-agent", "always saves its session"),
        ({}, "browser", "is no surface"),
        ({"files": {"../out.txt": "x"}}, "local-agent", "not a path inside"),
        ({"environment": {"HOME": "/elsewhere"}}, "local-agent", "cannot set HOME"),
    ],
)
def test_a_stimulus_that_cannot_run_starts_nothing(
    change: dict[str, Any],
    driver: str,
    message: str,
    one_turn: Stimulus,
    lab: Any,
) -> None:
    stimulus = msgspec.structs.replace(one_turn, **change)
    error = lab.refused(stimulus, driver)
    assert isinstance(error, UsageError)
    assert message in str(error)


def test_an_unsaved_session_is_not_reopened(one_turn: Stimulus, lab: Any) -> None:
    stimulus = msgspec.structs.replace(one_turn, session=False)
    recorded = lab.run(stimulus, "mission-control")
    assert recorded.session == ""
    assert [capture.column for capture in recorded.captures] == [Column.MISSION_CONTROL_LIVE]
    assert "session.jsonl" not in recorded.members


def test_a_killed_run_is_cut_and_reopened(one_turn: Stimulus, lab: Any) -> None:
    kill = Interruption(action="kill", moment=Moment.FILE_EXISTS, subject="folder/a.txt", after_ms=300)
    stimulus = msgspec.structs.replace(one_turn, turns=(Turn(prompt="Do it.", interruption=kill),))
    recorded = lab.run(stimulus, "local-agent", "never-finishes")
    live, *reopened = recorded.captures
    assert not live.complete
    assert live.note == "the process was killed 300 ms after folder/a.txt existed"
    assert b'"footer"' not in recorded.members[live.file]
    assert [capture.complete for capture in reopened] == [True, True]


def test_another_product_can_reopen(one_turn: Stimulus, lab: Any) -> None:
    recorded = lab.run(one_turn, "local-agent", "turn-fails", reopener=lab.product())
    first, second = recorded.products
    assert first.sha256 != second.sha256
    assert [capture.product for capture in recorded.captures] == [first, second, second]


@pytest.mark.parametrize("step", ["running", "reading local-agent-reopen", "reading mission-control-reopen"])
def test_an_interrupted_recorder_cleans_up_first(step: str, one_turn: Stimulus, lab: Any) -> None:
    def interrupt(line: str) -> None:
        if line.startswith(step):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lab.run(one_turn, "mission-control", progress=interrupt)
    assert not (lab.root / "fake-run").exists()


def test_steps_are_reported_in_order(one_turn: Stimulus, lab: Any) -> None:
    lines: list[str] = []
    lab.run(one_turn, "local-agent", progress=lines.append)
    assert lines == ["running 1 turns on local-agent", "reading local-agent-reopen", "reading mission-control-reopen"]


def test_a_session_that_is_still_held_is_resumed_once_it_is_free(one_turn: Stimulus, lab: Any) -> None:
    kill = Interruption(action="kill", moment=Moment.FILE_EXISTS, subject="folder/a.txt", after_ms=300)
    turns = (Turn(prompt="Do it.", interruption=kill), Turn(prompt="Go on."))
    recorded = lab.run(msgspec.structs.replace(one_turn, turns=turns), "mission-control", "mc-busy-once")
    assert [capture.file for capture in recorded.captures[:2]] == [
        "mission-control.live.cast",
        "mission-control.live.2.cast",
    ]
    assert [capture.complete for capture in recorded.captures] == [False, True, True, True]
    assert b"is using it" not in recorded.members["mission-control.live.2.cast"], "a refused start is no capture"


@pytest.mark.parametrize("prompt", ["/quit", "  !rm -r x"])
def test_a_prompt_that_would_be_a_command_is_refused(prompt: str, one_turn: Stimulus, lab: Any) -> None:
    error = lab.refused(msgspec.structs.replace(one_turn, turns=(Turn(prompt=prompt),)), "mission-control")
    assert isinstance(error, UsageError)
    assert "for a command" in str(error)


def test_escape_stands_between_a_prompt_and_its_enter(whole_runs: dict[str, RecordedRun]) -> None:
    events = [
        json.loads(line) for line in whole_runs["mission-control"].members["mission-control.live.cast"].splitlines()
    ]
    assert [event[2] for event in events[1:] if event[1] == "i"][:3] == ["Do it.", "\x1b", "\r"]


@pytest.mark.parametrize("step", ["reading local-agent-reopen", "reading mission-control-reopen"])
def test_a_place_emptied_during_a_recording_gives_no_evidence(step: str, one_turn: Stimulus, lab: Any) -> None:
    def empty(line: str) -> None:
        if line == step:
            workspace = lab.root / "fake-run" / "ws"
            workspace.rename(lab.root / "fake-run" / "aside")
            workspace.mkdir()

    with pytest.raises(HarnessError, match="removed or replaced"):
        lab.run(one_turn, "local-agent", progress=empty)
    assert not (lab.root / "fake-run").exists()


def test_a_finished_run_without_a_saved_session_is_an_error(one_turn: Stimulus, lab: Any) -> None:
    assert "its session is not saved" in str(lab.refused(one_turn, "local-agent", "saves-nothing"))
