"""Reading saved session files: what is refused, where the problem stands, and that the rest is still read."""

from __future__ import annotations

import json

import pytest

from harness.model.errors import DecodeError
from harness.records import Session, decode, read_session, rules
from harness.records.payloads import NestedWarning, Other, SessionUsage, ToolCall, ToolResult
from harness.records.rules import RULES
from tests.support.sessions import Lines, load, names

GOOD = Lines().user().call("c1", "read").result("c1").lines()


def read(*lines: bytes, end: bytes = b"\n") -> Session:
    return read_session(b"\n".join(lines) + end, file="s.jsonl")


def only(session: Session) -> tuple[str, int | None, int | None, str | None]:
    """Rule, line, offset and pointer of the only problem."""
    (problem,) = session.problems
    assert problem.place is not None
    assert problem.place.file == "s.jsonl"
    assert problem.expected == RULES[problem.requirement]
    return problem.requirement, problem.place.line, problem.place.offset, problem.place.pointer


def test_good_lines_become_typed_records_with_their_lines() -> None:
    session = read(*GOOD)
    assert [(record.line, record.index, record.kind) for record in session.records] == [
        (1, 0, "user_input"),
        (2, 1, "tool_call"),
        (3, 2, "tool_result"),
    ]
    call, result = session.records[1].payload, session.records[2].payload
    assert isinstance(call, ToolCall)
    assert call.id == "c1"
    assert isinstance(result, ToolResult)
    assert result.result.success is True
    assert result.changed_paths == ()
    assert session.problems == ()
    assert session.session_id == "root-session"
    assert not session.legacy


@pytest.mark.parametrize("name", names())
def test_sessions_that_real_releases_saved_are_read_without_a_problem(name: str) -> None:
    main, children = load(name)
    for data in (main, *children.values()):
        session = read_session(data, file="s.jsonl")
        assert session.problems == ()
        assert len(session.records) == data.count(b"\n")
        assert session.legacy == name.startswith("0.96.6")


def test_a_record_torn_by_a_kill_is_cut_and_not_merely_bad() -> None:
    session = read(*GOOD, GOOD[1][:40], end=b"")
    assert only(session) == ("records.line-cut", 4, 39, None)
    assert len(session.records) == 3


def test_a_bad_last_line_that_has_its_newline_was_not_cut() -> None:
    assert only(read(*GOOD, GOOD[1][:40]))[0] == "records.line-json"
    assert only(read(GOOD[0], GOOD[1][:40], GOOD[2], end=b""))[:2] == ("records.line-json", 2)


def test_a_whole_last_record_without_its_newline_is_read() -> None:
    session = read(*GOOD, end=b"")
    assert session.problems == ()
    assert len(session.records) == 3


@pytest.mark.parametrize(
    ("line", "rule", "offset"),
    [
        (b'{"event_type": "x", }', "records.line-json", 20),
        (b'{"a": 1} {"b": 2}', "records.line-json", 9),
        (b'{"a": NaN}', "records.line-json", 6),
        (b"", "records.line-json", 0),
        (b'["user_input"]', "records.line-json", 0),
        (b'{"a": ' + b"[" * 201 + b"]" * 201 + b"}", "records.line-json", 206),
        (b'{"a": "\xff"}', "records.line-utf8", 7),
        # the byte after the repeated name's colon
        (b'{"a": 1, "a": 2}', "records.line-duplicate-key", 13),
        (b'{"p": {"x": 1, "y": {"z": 1, "z": 2}}}', "records.line-duplicate-key", 33),
    ],
)
def test_a_bad_line_is_a_problem_at_its_byte_and_the_rest_is_read(line: bytes, rule: str, offset: int) -> None:
    session = read(GOOD[0], line, *GOOD[1:])
    assert only(session) == (rule, 2, offset, None)
    assert [record.line for record in session.records] == [1, 3, 4]


def test_a_line_over_its_bound_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode, "LINE_BYTES", 600)
    session = read(GOOD[0], b'{"a": "' + b"x" * 600 + b'"}', GOOD[1])
    assert only(session)[:2] == ("records.line-size", 2)
    assert len(session.records) == 2


@pytest.mark.parametrize(
    ("change", "rule", "pointer"),
    [
        ({"event_type": None}, "records.envelope", "/event_type"),
        ({"session_id": 7}, "records.envelope", "/session_id"),
        ({"event_id": 7}, "records.envelope", "/event_id"),
        ({"payload": {"call_id": "c1", "result": {"success": 1}}}, "records.payload", "/payload/result/success"),
        ({"payload": {"call_id": "c1", "result": None}}, "records.payload", "/payload/result"),
        ({"payload": "text"}, "records.payload", "/payload"),
        (
            {"payload": {"call_id": "c", "result": {"success": True}, "changed_paths": [1]}},
            "records.payload",
            "/payload/changed_paths/0",
        ),
        (
            {
                "payload": {
                    "call_id": "c",
                    "result": {"success": True},
                    "execution_effects": {"changed_path_count": -1},
                }
            },
            "records.payload",
            "/payload/execution_effects/changed_path_count",
        ),
    ],
)
def test_a_member_of_a_wrong_type_is_named_by_its_pointer(change: dict[str, object], rule: str, pointer: str) -> None:
    wrong = json.dumps(json.loads(GOOD[2]) | change).encode()
    session = read(*GOOD[:2], wrong)
    assert only(session) == (rule, 3, None, pointer)
    assert len(session.records) == 2


def test_a_missing_envelope_member_is_a_problem() -> None:
    record = json.loads(GOOD[1])
    del record["payload"]
    assert only(read(GOOD[0], json.dumps(record).encode()))[0] == "records.envelope"


def test_unknown_kinds_and_members_are_tolerated_and_counted() -> None:
    lines = Lines().user().add("brand_new", {"x": [1]}).add("brand_new", None).add("turn_status", {"status": "failed"})
    lines.records[0]["new_member"] = {"deep": 1}
    session = read(*lines.lines())
    assert session.problems == ()
    assert session.others == {"brand_new": 2}
    assert isinstance(session.records[1].payload, Other)


def test_a_payload_of_a_kind_without_facts_may_be_anything() -> None:
    session = read(*Lines().user().add("assistant_chunk", 7).lines())
    assert session.problems == ()
    assert session.others == {"assistant_chunk": 1}


def test_output_text_is_not_kept_anywhere() -> None:
    session = read(*Lines().user().call("c1", "read").result("c1").lines())
    assert "text" not in repr(session.records[2].payload)


def test_warnings_and_usage_are_decoded_with_their_numbers() -> None:
    lines = Lines().user().script().inner(1).warning(1, "mind this").usage("b/g1", 2, (5, 6, 7), final=True)
    records = read(*lines.lines()).records
    warning, usage = records[3].payload, records[4].payload
    assert warning == NestedWarning(parent_call_id="c", sequence=1, warning="mind this")
    assert isinstance(usage, SessionUsage)
    assert (usage.request_sequence, usage.final_usage) == (2, True)
    assert (usage.usage.effective_input, usage.usage.output, usage.usage.cache_read) == (5, 6, 7)
    assert usage.usage.cache_known is True


def test_two_records_with_one_event_id_are_a_problem_and_both_are_kept() -> None:
    lines = Lines().user().call("c1", "read").add("hook", {}, event_id="root-session-1")
    session = read(*lines.lines())
    assert only(session) == ("records.event-id", 3, None, "/event_id")
    assert len(session.records) == 3


def test_a_record_of_another_session_is_a_problem() -> None:
    lines = Lines().user().add("hook", {}, session_id="stranger")
    assert only(read(*lines.lines())) == ("records.session-id", 2, None, "/session_id")


@pytest.mark.parametrize("data", [b"", b"\n", b"not json\n", b"\xff\xfe\n{}\n"])
def test_a_file_without_any_record_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        read_session(data, file="s.jsonl")
    assert "s.jsonl" in str(caught.value)
    assert caught.value.exit_code == 4


@pytest.mark.parametrize(("limit", "value"), [("SESSION_BYTES", 200), ("SESSION_LINES", 2)])
def test_a_file_over_the_products_read_limits_is_refused(
    monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    assert len(read(*GOOD).records) == 3
    monkeypatch.setattr(decode, limit, value)
    with pytest.raises(DecodeError, match=str(value)):
        read(*GOOD)


def test_the_limits_are_those_of_the_product() -> None:
    assert rules.SESSION_BYTES == 64 * 1024 * 1024
    assert rules.SESSION_LINES == 100_000
