"""A scripted model that mixes lanes up, serves them one after another or logs prompts would spoil every recording."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from harness.model.errors import ProductError
from harness.model.stimulus import Reply, Stimulus, ToolCall, Turn, Usage
from harness.record.model_server import ScriptedModel

SECRET = "You are the product's own prompt."
STIMULUS = Stimulus(
    lanes={
        "main": (
            Reply(calls=(ToolCall(name="read", arguments={"paths": ["ä.txt"]}), ToolCall(name="write", arguments={}))),
            Reply(text="Fertig.", usage=Usage(prompt=7, completion=3, cached=None)),
        ),
        "Slow task": (Reply(text="slow", delay_ms=600),),
        "Slow task, longer": (Reply(text="quick", usage=None),),
        "Refused": (Reply(status=429, text="not now"),),
    },
    turns=(Turn(prompt="Do the Slow task."),),
)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(STIMULUS) as model:
        yield model


def ask(model: ScriptedModel, text: Any, path: str = "/v1/chat/completions") -> tuple[int, str]:
    messages = [{"role": "system", "content": SECRET}, {"role": "user", "content": text}]
    connection = http.client.HTTPConnection("127.0.0.1", int(model.url.rsplit(":", 1)[1].split("/")[0]), timeout=10)
    try:
        connection.request("POST", path, json.dumps({"stream": True, "messages": messages}))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def task(intent: str) -> str:
    return f"Subagent g1 task intent:\n{intent}\n\nAgent label/persona: writer\n"


def chunks(body: str) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in body.split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def test_a_stream_has_the_role_the_calls_the_reason_and_the_usage_in_this_order(model: ScriptedModel) -> None:
    status, body = ask(model, "Do the Slow task.")
    role, first, second, reason, usage = chunks(body)
    assert status == 200
    assert role["choices"][0]["delta"] == {"role": "assistant"}
    calls = [chunk["choices"][0]["delta"]["tool_calls"][0] for chunk in (first, second)]
    assert [(call["index"], call["function"]["name"]) for call in calls] == [(0, "read"), (1, "write")]
    assert json.loads(calls[0]["function"]["arguments"]) == {"paths": ["ä.txt"]}
    assert calls[0]["id"] != calls[1]["id"]
    assert reason["choices"][0]["finish_reason"] == "tool_calls"
    assert usage["usage"]["prompt_tokens_details"] == {"cached_tokens": 10}
    assert usage["usage"]["total_tokens"] == 120


def test_no_cache_accounting_is_not_the_same_as_zero_cached_tokens(model: ScriptedModel) -> None:
    ask(model, "Do the Slow task.")
    usage = chunks(ask(model, "Do the Slow task.")[1])[-1]["usage"]
    assert usage == {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


def test_a_reply_without_usage_reports_none_at_all(model: ScriptedModel) -> None:
    assert "usage" not in ask(model, task("Slow task, longer"))[1]


def test_a_prompt_that_mentions_a_task_is_not_that_task(model: ScriptedModel) -> None:
    assert "Fertig" not in ask(model, "Do the Slow task.")[1]
    assert (model.asked("main"), model.asked("Slow task")) == (1, 0)


def test_a_task_whose_intent_begins_like_another_gets_its_own_reply(model: ScriptedModel) -> None:
    assert '"quick"' in ask(model, task("Slow task, longer"))[1]
    assert '"slow"' in ask(model, task("Slow task"))[1]


def test_a_message_in_parts_is_read_too(model: ScriptedModel) -> None:
    parts = [{"type": "text", "text": "Do the Slow task."}, {"type": "image_url"}]
    assert ask(model, parts)[0] == 200
    assert model.asked("main") == 1


def test_a_delay_in_one_lane_holds_up_no_other(model: ScriptedModel) -> None:
    finished: list[str] = []

    def run(intent: str) -> None:
        ask(model, task(intent))
        finished.append(intent)

    slow = threading.Thread(target=run, args=("Slow task",))
    slow.start()
    while model.asked("Slow task") == 0:
        time.sleep(0.01)
    run("Slow task, longer")
    slow.join()
    assert finished == ["Slow task, longer", "Slow task"]


def test_a_refusal_has_its_status_and_is_no_fault_of_the_script(model: ScriptedModel) -> None:
    status, body = ask(model, task("Refused"))
    assert status == 429
    assert json.loads(body)["error"]["message"] == "not now"
    model.check()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (task("Refused"), "lane 'Refused' was asked 2 times but its script has 1 replies"),
        ("Nothing of the kind", "belongs to no lane"),
    ],
)
def test_a_request_that_the_script_does_not_foresee_is_a_fault(text: str, message: str, model: ScriptedModel) -> None:
    ask(model, task("Refused"))
    assert ask(model, text)[0] == 500
    with pytest.raises(ProductError, match="scripted model") as caught:
        model.check()
    assert message in str(caught.value)
    assert message in model.log().decode()


def test_a_body_that_is_no_request_is_a_fault_and_no_crash(model: ScriptedModel) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", int(model.url.rsplit(":", 1)[1].split("/")[0]), timeout=10)
    for body in (b"", b"[1]", b"\xff", b'{"messages": 3}', b'{"messages": [7, {"role": "user", "content": 7}]}'):
        connection.request("POST", "/v1/chat/completions", body)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 500
    connection.close()
    assert len(model.log().splitlines()) == 5


def test_another_address_is_a_fault_but_the_list_of_models_is_not(model: ScriptedModel) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", int(model.url.rsplit(":", 1)[1].split("/")[0]), timeout=10)
    connection.request("GET", "/v1/models")
    assert json.loads(connection.getresponse().read())["data"][0]["id"] == "scripted"
    model.check()
    connection.request("GET", "/v1/files")
    assert connection.getresponse().read()
    connection.close()
    with pytest.raises(ProductError, match="GET /v1/files"):
        model.check()


def test_the_log_names_requests_by_digest_and_never_by_text(model: ScriptedModel) -> None:
    ask(model, "Do the Slow task.")
    ask(model, task("Refused"))
    log = model.log()
    entries = [json.loads(line) for line in log.splitlines()]
    assert [(entry["lane"], entry["step"], entry["status"]) for entry in entries] == [
        ("main", 1, 200),
        ("Refused", 1, 429),
    ]
    assert all(len(entry["request_sha256"]) == 64 and entry["request_bytes"] > 0 for entry in entries)
    assert [entry["delivery"] for entry in entries] == ["whole", "whole"]
    assert SECRET.encode() not in log
    assert b"task intent:" not in log


def test_calls_are_those_of_the_turn_alone(model: ScriptedModel) -> None:
    ask(model, "Do the Slow task.")
    ask(model, "Do the Slow task.")
    assert model.tools_called(after=0) == ("read", "write")
    assert model.tools_called(after=1) == ()
    assert model.unused() == {"Slow task": 1, "Slow task, longer": 1, "Refused": 1}


def test_a_reply_that_nobody_waited_for_is_cut(model: ScriptedModel) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", int(model.url.rsplit(":", 1)[1].split("/")[0]), timeout=10)
    content = json.dumps({"messages": [{"role": "user", "content": task("Slow task")}]})
    connection.request("POST", "/v1/chat/completions", content)
    while model.asked("Slow task") == 0:
        time.sleep(0.01)
    connection.close()
    deadline = time.monotonic() + 5
    while (delivery := json.loads(model.log())["delivery"]) == "pending" and time.monotonic() < deadline:
        time.sleep(0.02)
    assert delivery == "cut"


def test_stopping_does_not_wait_for_a_delay() -> None:
    stimulus = Stimulus(lanes={"main": (Reply(delay_ms=60_000),)}, turns=(Turn(prompt="Wait."),))
    with ScriptedModel(stimulus) as model:

        def wait() -> None:
            with pytest.raises(http.client.HTTPException):
                ask(model, "Wait.")

        waiting = threading.Thread(target=wait)
        waiting.start()
        while model.asked("main") == 0:
            time.sleep(0.01)
        started = time.monotonic()
    waiting.join(5)
    assert time.monotonic() - started < 5
    assert not waiting.is_alive()
    assert json.loads(model.log())["delivery"] == "pending"
