"""The recorder on the real product: what a fake can never show.

Runs when a product is in the user's cache (``harness record --product VERSION`` builds one) or when HARNESS_PRODUCT
names a version or a path; skipped otherwise.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.model.errors import UsageError
from harness.model.facts import Column
from harness.model.stimulus import Interruption, Moment, Reply, Stimulus, ToolCall, Turn
from harness.record import model_script, products
from harness.record.processes import belonging
from harness.record.recorder import DRIVERS, RecordedRun, record
from harness.terminal import Screen

PRODUCT = os.environ.get("HARNESS_PRODUCT", "0.104.0")

SCRIPT = """
const a = tools.call("read", {intent: "Read a", paths: ["a.txt"]});
const b = tools.call("read", {intent: "Read missing", paths: ["missing.txt"]});
const c = tools.call("write", {intent: "Write out", path: "out.txt", content: "hello\\n"});
return {a: a.success, b: b.success, c: c.success};
"""
WAITING = """
tools.call("write", {intent: "Write one", path: "one.txt", content: "1"});
tools.call("bash", {intent: "Wait", command: "touch waiting; sleep 60"});
tools.call("write", {intent: "Write two", path: "two.txt", content: "2"});
"""


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def script(code: str, intent: str) -> Reply:
    return Reply(calls=(call("code_mode", code=code, intent=intent),))


MIXED_SCRIPT = Stimulus(
    files={"a.txt": "alpha\n"},
    lanes={"main": (script(SCRIPT, "Mixed outcomes"), Reply(text="Done."))},
    turns=(Turn(prompt="Run the script."),),
)
MIXED_BATCH = Stimulus(
    files={"a.txt": "alpha\n"},
    lanes={
        "main": (
            Reply(
                calls=(
                    call(
                        "subagents",
                        intent="Mixed batch",
                        concurrency=3,
                        tasks=[
                            {"intent": "First task"},
                            {"intent": "Second task"},
                            {"intent": "Third task", "agent": "writer"},
                        ],
                    ),
                )
            ),
            Reply(text="All done."),
        ),
        "First task": (
            Reply(calls=(call("read", intent="Read", paths=["a.txt"]),), delay_ms=400),
            Reply(text="First done."),
        ),
        "Second task": (Reply(status=400, text="refused"),),
        "Third task": (
            Reply(calls=(call("write", intent="Write", path="c.txt", content="c"),)),
            Reply(text="Third done."),
        ),
    },
    turns=(Turn(prompt="Run the batch."),),
)


@pytest.fixture(scope="module")
def product() -> Path:
    try:
        return products.locate(PRODUCT)
    except UsageError as error:
        pytest.skip(f"no real product on this machine: {error}")


@pytest.fixture
def prompts(monkeypatch: pytest.MonkeyPatch) -> set[bytes]:
    """Collects, while a test records, every long line of what the product itself says to the model."""
    lines: set[bytes] = set()
    admit = model_script.ModelScript.admit

    def spy(self: model_script.ModelScript, body: bytes) -> model_script.LogEntry:
        for message in json.loads(body)["messages"]:
            if message["role"] in ("system", "developer"):
                lines.update(line.strip().encode() for line in str(message["content"]).split("\n") if len(line) > 60)
        return admit(self, body)

    monkeypatch.setattr(model_script.ModelScript, "admit", spy)
    return lines


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "acceptance"
    yield folder
    assert belonging(folder.resolve()) == [], "a process of the product outlived its recording"


def run(stimulus: Stimulus, product: Path, root: Path, driver: str) -> RecordedRun:
    return record(
        stimulus,
        observation="end-to-end",
        scenario="end_to_end.feature::End to end",
        classes=("agreement",),
        release=products.identify(product).version,
        driver=driver,
        product=product,
        root=root,
    )


def markers(cast: bytes) -> dict[str, Screen]:
    """Marker to a screen that shows what stood there."""
    header, *events = [json.loads(line) for line in cast.splitlines()]
    found, output = {}, ""
    for _, kind, text in events:
        output += text if kind == "o" else ""
        if kind == "m":
            found[text] = Screen(header["width"], header["height"])
            found[text].feed(output)
    return found


def saved_cards(capture: bytes) -> list[dict[str, Any]]:
    """Cards of a saved history in order. Its first page is asked for once more at the end."""
    frames = [json.loads(json.loads(line)["line"]) for line in capture.splitlines() if b'"from_product"' in line]
    *pages, first = [frame["result"] for frame in frames if "entries" in frame.get("result", {})]
    assert first == pages[0]
    entries = [entry for page in pages for entry in page["entries"]]
    return [entry["tool_card"] for entry in entries if entry.get("tool_card")]


def facts(card: dict[str, Any]) -> dict[str, str | None]:
    rows = [row for block in card["blocks"] if block["type"] == "results" for row in block["rows"]]
    return {row["label"]: row["value"] for row in rows}


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_script_is_captured_on_every_surface(driver: str, product: Path, root: Path, prompts: set[bytes]) -> None:
    recorded = run(MIXED_SCRIPT, product, root, driver)
    assert [capture.column for capture in recorded.captures] == [
        Column(f"{driver}-live"),
        Column.LOCAL_AGENT_REOPEN,
        Column.MISSION_CONTROL_REOPEN,
    ]
    assert all(capture.complete and capture.product == recorded.products[0] for capture in recorded.captures)
    assert [file["path"] for file in json.loads(recorded.members["workspace.after.json"])] == ["a.txt", "out.txt"]
    assert recorded.members["workspace.reopened.json"] == recorded.members["workspace.after.json"]
    card = facts(saved_cards(recorded.members["local-agent.reopen.jsonl"])[0])
    assert (card["Total calls"], card["Successful calls"], card["Failed calls"]) == ("3", "2", "1")
    for name in (capture.file for capture in recorded.captures if capture.file.endswith(".cast")):
        screens = markers(recorded.members[name])
        assert list(screens) == ["card", "tree", "detail:turn1/call1", "end"]
        assert "2 succeeded · 1 failed" in screens["card"].text()
        assert '"recoverable_failures": 1' in screens["detail:turn1/call1"].text()
    assert len(prompts) > 10, "the spy saw no prompt, so its absence below would prove nothing"
    for name, content in recorded.members.items():
        leaked = [line for line in prompts if line in content or json.dumps(line.decode())[1:-1].encode() in content]
        assert leaked == [], name


def test_both_drivers_leave_the_same_facts(product: Path, root: Path) -> None:
    measured = {"Elapsed milliseconds", "Response token estimate"}
    seen = []
    for driver in DRIVERS:
        cards = saved_cards(run(MIXED_SCRIPT, product, root, driver).members["local-agent.reopen.jsonl"])
        seen.append([{label: text for label, text in facts(card).items() if label not in measured} for card in cards])
    assert seen[0] == seen[1]
    assert len(seen[0]) == 4, "the script and its three calls"


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_batch_shows_every_task_in_the_order_of_its_delays(driver: str, product: Path, root: Path) -> None:
    recorded = run(MIXED_BATCH, product, root, driver)
    assert len(recorded.children) == 3
    log = [json.loads(line) for line in recorded.members["model.jsonl"].splitlines()]
    answered = [entry["lane"] for entry in log if entry["lane"] not in ("", "main")]
    assert answered[-1] == "First task", "the delayed task goes on last"
    for name in (capture.file for capture in recorded.captures if capture.file.endswith(".cast")):
        screens = markers(recorded.members[name])
        for task, outcome in ((1, "success"), (2, "failure"), (3, "success")):
            assert f"g{task}" in screens[f"task:turn1/call1/task{task}"].text()
            assert f"Task outcome: {outcome}" in screens[f"detail:turn1/call1/task{task}"].text()
        assert '"subagent_telemetry"' in screens["detail:turn1/call1"].text()


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_cancelled_turn_keeps_what_it_did(driver: str, product: Path, root: Path) -> None:
    stimulus = Stimulus(
        lanes={"main": (script(WAITING, "Cancelled midway"),)},
        turns=(Turn(prompt="Run it.", interruption=cut("cancel")),),
    )
    recorded = run(stimulus, product, root, driver)
    assert all(capture.complete for capture in recorded.captures)
    assert [file["path"] for file in json.loads(recorded.members["workspace.after.json"])] == ["one.txt", "waiting"]


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_killed_turn_is_cut_and_the_session_goes_on(driver: str, product: Path, root: Path) -> None:
    stimulus = Stimulus(
        lanes={"main": (script(WAITING, "Killed midway"), script(SCRIPT, "After it"), Reply(text="Went on."))},
        turns=(Turn(prompt="Run it.", interruption=cut("kill")), Turn(prompt="Go on.")),
    )
    recorded = run(stimulus, product, root, driver)
    assert [capture.complete for capture in recorded.captures] == [False, True, True, True]
    first, second = recorded.captures[:2]
    assert first.column == second.column
    assert "killed" in first.note
    outcomes = [facts(card).get("Script outcome") for card in saved_cards(recorded.members["local-agent.reopen.jsonl"])]
    assert [outcome for outcome in outcomes if outcome] == ["interrupted", "success"]
    assert "detail:turn2/call1" in markers(recorded.members["mission-control.reopen.cast"])


def test_an_unsaved_session_has_one_reading(product: Path, root: Path) -> None:
    recorded = run(msgspec.structs.replace(MIXED_SCRIPT, session=False), product, root, "mission-control")
    assert [capture.column for capture in recorded.captures] == [Column.MISSION_CONTROL_LIVE]
    assert recorded.session == ""


def cut(action: str) -> Interruption:
    return Interruption(action=action, moment=Moment.FILE_EXISTS, subject="waiting", after_ms=200)
