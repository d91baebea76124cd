"""Texts that no fact may show: what a tool or a model said must be found, and a tool's name must not."""

from __future__ import annotations

import json

from harness.records.private import private_texts
from tests.support.sessions import Lines


def _result(content: object, tool: str = "read") -> dict[str, object]:
    return {"call_id": "c", "result": {"content": content, "success": True, "tool_name": tool}}


def test_every_long_line_of_output_and_answers_is_private() -> None:
    lines = Lines().user("the prompt").call("c", "read")
    lines.add("tool_result", _result("first line\n  second line  \n\nabc\n"))
    lines.add("code_mode_tool_result", _result("inner output", "bash"))
    lines.add("reasoning_summary", {"text": "some thought"})
    lines.add("assistant_chunk", {"text": "a chunk of it"}).answer("the answer")
    assert private_texts(lines.bytes()) == {
        "first line",
        "second line",
        "inner output",
        "some thought",
        "a chunk of it",
        "the answer",
    }


def test_what_the_user_and_the_calls_say_is_not_private_here() -> None:
    assert (
        private_texts(Lines().user("the whole prompt").call("c", "read", {"intent": "a long intent"}).bytes()) == set()
    )


def test_a_line_of_four_characters_is_too_short_to_look_for_and_a_tool_name_is_no_secret() -> None:
    assert private_texts(Lines().add("tool_result", _result("abcd\nabcde")).bytes()) == {"abcde"}
    assert private_texts(Lines().add("tool_result", _result("list_files", "list_files")).bytes()) == set()


def test_what_is_no_record_or_has_no_text_is_passed_over() -> None:
    odd = [
        b"not json",
        b"[1]",
        b"\xff\xfe",
        json.dumps({"event_type": "tool_result", "payload": {"result": "text of it"}}).encode(),
        json.dumps({"event_type": "tool_result", "payload": _result(["a list of", "texts"])}).encode(),
        json.dumps({"event_type": "assistant_output", "payload": {}}).encode(),
        b"[" * 100_000,
        json.dumps({"event_type": "assistant_output", "payload": {"text": "still read"}}).encode(),
    ]
    assert private_texts(b"\n".join(odd)) == {"still read"}
    assert private_texts(b"") == frozenset()
