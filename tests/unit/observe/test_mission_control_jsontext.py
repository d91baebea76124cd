"""JSON that a window cuts off: what is whole is read, nothing is made up, and nonsense is refused."""

from __future__ import annotations

import pytest

from harness.observe.mission_control.jsontext import NotJsonError, parse


def test_values_know_where_they_stand_whatever_script_they_are_in() -> None:
    text = '{"é漢": {"n": -1.50, "ok": true}, "list": [null, "🙂\\n"]}'
    value = parse(text)
    number = value.members["é漢"].members["n"]
    assert (number.kind, number.text) == ("number", "-1.50"), "as spelled"
    assert text[number.start : number.end] == "-1.50"
    string = value.members["list"].items[1]
    assert (string.text, text[string.start : string.end]) == ("🙂\n", '"🙂\\n"')
    assert value.members["list"].items[0].kind == "null"
    assert not value.cut


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ('{"a": 1, "b": {"c": [1, 2', {"a": "1"}),
        ('{"a": 1, "b": {"c": [1, 2\n', {"a": "1"}),
        ('{"a": 1, "b": tru', {"a": "1"}),
        ('{"a": 1, "b": "no end', {"a": "1"}),
        ('{"a": 1, "b', {"a": "1"}),
        ('{"a": 1, "b":', {"a": "1"}),
        ('{"a": 1,', {"a": "1"}),
        ('{"a": 1', {}),
        ("{", {}),
    ],
)
def test_what_is_cut_off_is_not_there_and_its_object_is_marked(text: str, whole: dict[str, str]) -> None:
    value = parse(text)
    assert value.cut
    assert {name: member.text for name, member in value.members.items() if member.kind == "number"} == whole
    assert value.end <= len(text)
    assert all(member.cut for member in value.members.values() if member.kind in {"object", "array"})


def test_an_object_that_closes_before_the_cut_is_whole() -> None:
    value = parse('{"a": {"x": 1}, "b": {"y": 2')
    assert not value.members["a"].cut
    assert value.members["b"].cut


def test_members_that_stand_twice_are_told() -> None:
    value = parse('{"a": 1, "b": 2, "a": 3}')
    assert value.twice == {"a"}
    assert value.members["a"].text == "1"


@pytest.mark.parametrize("text", ["", "x", '{"a" 1}', '{"a": }', "{]", "[1 2]", '{"a": 1}}', "[" * 500, '{"a": "\\q"}'])
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(NotJsonError):
        parse(text)
