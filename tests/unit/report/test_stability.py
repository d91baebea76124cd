"""What reports say of repeated recordings: a variation left out, a declared one taken for an undeclared one."""

from __future__ import annotations

import json
import re
from html import unescape

import msgspec
import pytest

from harness.model.stability import StabilityState
from harness.report import render_all
from harness.report.stability import place, sentence, subject
from tests.support.acceptances import HOSTILE, rejected
from tests.support.stabilities import STEADY, repeated, varied

BAD = " ".join(HOSTILE.values())
DECLARED, OWN = varied("Warnings"), varied(BAD)
STATE = StabilityState(repeated=repeated(DECLARED, OWN), undeclared=(OWN,), fault=f"other recordings {BAD}")


def rendered(state: StabilityState) -> dict[str, bytes]:
    return render_all(msgspec.structs.replace(rejected(), stability=state))


def section(state: StabilityState) -> str:
    """The page's section on stability."""
    page = rendered(state)["report.html"].decode()
    found = re.search(r'<section id="stability".*?</section>', page, re.DOTALL)
    assert found is not None
    return found[0]


def test_the_sentence_says_how_much_was_repeated_and_how_much_varied() -> None:
    assert sentence(STATE) == (
        "2 recordings of 0.104.0, 1 run in more than one: 88 facts on surfaces compared, 8 could not be; "
        "2 things varied, 1 of them as their scenarios declare."
    )
    assert sentence(StabilityState(fault="f")) == "Nothing says whether these runs come out alike a second time."


def test_each_variation_stands_in_the_page_with_its_values_and_whether_it_is_declared() -> None:
    rows = re.findall(r"<tr>(<th scope=\"row\">.*?)</tr>", section(STATE), re.DOTALL)
    assert len(rows) == 2
    assert "Warnings" in rows[0]
    for row, word in zip(rows, ("yes", "no"), strict=True):
        text = unescape(re.sub(r"<[^>]+>", "", row))
        assert "3 (agree), then 4 (disagree)" in text
        assert text.rstrip().endswith(word)


def test_hostile_words_are_data_in_every_format() -> None:
    assert "<script>" not in section(STATE)
    markdown = rendered(STATE)["report.md"].decode()
    part = markdown[markdown.index("## The same runs, recorded again") :]
    assert "<script>" not in part
    assert "\x1b" not in part
    assert "| yes |" in part
    assert "| no |" in part


def test_verdict_json_has_every_variation_exactly() -> None:
    said = json.loads(rendered(STATE)["verdict.json"])["stability"]
    assert said["recordings"] == 2
    assert said["runs"] == 1
    assert [(item["label"], item["declared"]) for item in said["variations"]] == [("Warnings", True), (BAD, False)]
    assert said["fault"] == STATE.fault
    steady = json.loads(rendered(STEADY)["verdict.json"])["stability"]
    assert (steady["fault"], steady["variations"]) == ("", [])
    nothing = json.loads(rendered(StabilityState(fault="f"))["verdict.json"])["stability"]
    assert (nothing["recordings"], nothing["runs"], nothing["fault"]) == (0, 0, "f")


@pytest.mark.parametrize(
    ("what", "detail", "label", "words"),
    [
        ("fact", "", "Warning", "Warning 2"),
        ("card", "outcome", "", "the card's outcome"),
        ("capture", "", "", "the capture"),
        ("finding", "F-1 wire.seq", "seq", "finding F-1 wire.seq: seq 2"),
        ("finding", "F-1 wire.seq", "", "finding F-1 wire.seq"),
    ],
)
def test_what_varied_is_named(what: str, detail: str, label: str, words: str) -> None:
    item = msgspec.structs.replace(varied(label), what=what, detail=detail, ordinal=1)
    assert subject(item) == words
    assert place(item) == "handled.local-agent turn1/call1 local-agent-live"
    assert place(msgspec.structs.replace(item, card="")) == "handled.local-agent local-agent-live"
