"""Commands in reports: one that looks in other evidence than was judged, or a report that tells where it was made."""

from __future__ import annotations

import functools
import html
import json
import re
import shlex

import pytest

from harness.report import ELSEWHERE, github_step_summary, render_all
from tests.support.acceptances import rejected

_COMMAND = re.compile(r"harness (?:accept|verify|show|trends)\b[^<`\n«]*")
FORMATS = ("report.html", "report.md", "junit.xml", "ctrf.json")


@functools.cache
def rendered(evidence: str) -> dict[str, str]:
    files = render_all(rejected(), evidence=evidence)
    texts = {name: html.unescape(content.decode()) for name, content in files.items()}
    tests = json.loads(files["ctrf.json"])["results"]["tests"]
    texts["ctrf.json"] = "\n".join(str(value) for test in tests for value in test.values())
    return texts | {"summary.md": html.unescape(github_step_summary(rejected(), evidence=evidence))}


def commands(text: str) -> list[list[str]]:
    return [shlex.split(found) for found in _COMMAND.findall(text)]


@pytest.mark.parametrize("name", [*FORMATS, "summary.md"])
@pytest.mark.parametrize("evidence", ["recorded", "some where/evidence", "it's", ELSEWHERE])
def test_no_command_forgets_the_evidence_that_was_judged(evidence: str, name: str) -> None:
    found = commands(rendered(evidence)[name])
    assert {words[1] for words in found} >= (
        {"accept", "verify", "show"} if name.endswith(("html", "md")) else {"show"}
    )
    assert [words for words in found if words[-2:] != ["--evidence", evidence]] == []


@pytest.mark.parametrize("name", [*FORMATS, "summary.md"])
def test_evidence_that_commands_look_in_by_themselves_is_not_named(name: str) -> None:
    found = commands(rendered("")[name])
    assert found
    assert [words for words in found if "--evidence" in words] == []


@pytest.mark.parametrize("name", ["report.html", "report.md", "summary.md"])
def test_a_word_that_stands_for_a_folder_is_explained(name: str) -> None:
    said = "is the whole path of the folder that holds this evidence"
    assert said in rendered(ELSEWHERE)[name]
    assert said not in rendered("recorded")[name]
    assert said not in rendered("")[name]


def test_the_verdict_is_the_same_bytes_wherever_the_evidence_lies() -> None:
    """Its digest is signed, and whoever judges again may have laid the evidence elsewhere."""
    assert len({rendered(evidence)["verdict.json"] for evidence in ("", "recorded", ELSEWHERE)}) == 1
