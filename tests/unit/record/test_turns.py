"""Interruptions must come at their moment, and a kill must not end the run of the turns after it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest

from harness.model.errors import ProductError, UsageError
from harness.model.stimulus import Interruption, Moment, Stimulus, Turn
from harness.record.timing import Deadlines
from harness.record.turns import LiveRun, run_turns
from harness.record.workspace import Workspace


class FakeSurface:
    """Notes what is done to it. `over` tells whether the turn ends by itself."""

    def __init__(self, done: list[str], resumed: str, *, over: bool) -> None:
        self.done = done
        self.resumed = resumed
        self.over = over

    def __enter__(self) -> Self:
        self.done.append(f"start {self.resumed}".strip())
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.done.append("gone")

    def begin(self, prompt: str) -> None:
        self.done.append(f"begin {prompt}")

    def ended(self) -> bool:
        return self.over

    def wait_until(self, condition: Callable[[], bool], _seconds: float, what: str) -> None:
        self.done.append(f"wait {what}")
        if not condition():
            raise ProductError("deadline")

    def pause(self, seconds: float) -> None:
        self.done.append(f"pause {seconds}")

    def cancel(self) -> None:
        self.done.append("cancel")

    def wait_over(self) -> None:
        self.done.append("over")

    def kill(self) -> None:
        self.done.append("kill")

    def finish(self, tools: Any) -> None:
        self.done.append(f"finish {list(tools)}")

    def session_id(self) -> str:
        return "s1"

    def capture(self) -> bytes:
        return f"capture {len(self.done)}".encode()


class FakeModel:
    def __init__(self, asked: dict[str, int]) -> None:
        self.counts = asked

    def asked(self, lane: str) -> int:
        return self.counts.get(lane, 0)

    def tools_called(self, after: int) -> tuple[str, ...]:
        return (f"tool after {after}",)

    def check(self) -> None:
        pass


def run(
    turns: tuple[Turn, ...], tmp_path: Path, *, asked: dict[str, int] | None = None, over: bool = False
) -> tuple[LiveRun, list[str]]:
    done: list[str] = []
    workspace = Workspace(tmp_path)
    workspace.ws.mkdir()
    (workspace.ws / "there.txt").touch()
    model: Any = FakeModel(asked or {})
    live = run_turns(
        Stimulus(turns=turns),
        open_surface=lambda session, before: FakeSurface(done, f"{session} {before}", over=over),
        workspace=workspace,
        model=model,
        deadlines=Deadlines(),
    )
    return live, done


def cut(action: str, moment: Moment, subject: str, count: int = 1) -> Turn:
    return Turn(
        prompt="p", interruption=Interruption(action=action, moment=moment, subject=subject, count=count, after_ms=250)
    )


def test_turns_run_one_after_another_in_one_process(tmp_path: Path) -> None:
    live, done = run((Turn(prompt="one"), Turn(prompt="two")), tmp_path)
    assert (
        done
        == [
            "start  0",
            "begin one",
            "over",
            "begin two",
            "over",
            "finish [('tool after 0',), ('tool after 0',)]",
            "gone",
        ]
        or done[0] == "start 0"
    )
    assert [(part.complete, part.note) for part in live.parts] == [(True, "")]
    assert live.session_id == "s1"
    assert len(live.tools) == 2


def test_a_cancellation_waits_for_its_moment_and_for_the_end(tmp_path: Path) -> None:
    live, done = run((cut("cancel", Moment.FILE_EXISTS, "there.txt"),), tmp_path)
    assert done[2:6] == ["wait there.txt existed", "pause 0.25", "cancel", "over"]
    assert live.parts[0].complete


def test_a_kill_cuts_the_capture_and_the_next_turn_resumes(tmp_path: Path) -> None:
    live, done = run((cut("kill", Moment.MODEL_ASKED, "task", 2), Turn(prompt="on")), tmp_path, asked={"task": 2})
    assert done[2:6] == ["wait the model was asked for task 2 times", "pause 0.25", "kill", "gone"]
    assert done[6:9] == ["start s1 1", "begin on", "over"]
    assert [part.complete for part in live.parts] == [False, True]
    assert live.parts[0].note == "the process was killed 250 ms after the model was asked for task 2 times"


def test_a_kill_does_not_wait_for_the_turns_end(tmp_path: Path) -> None:
    _, done = run((cut("kill", Moment.FILE_EXISTS, "there.txt"),), tmp_path)
    assert "over" not in done
    assert not any(step.startswith("finish") for step in done)


def test_a_turn_that_ends_before_its_moment_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProductError, match=r"ended before the model was asked for task 3 times"):
        run((cut("cancel", Moment.MODEL_ASKED, "task", 3),), tmp_path, asked={"task": 2}, over=True)


def test_an_unknown_interruption_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'pause' is no way"):
        run((cut("pause", Moment.FILE_EXISTS, "there.txt"),), tmp_path)
