"""trends.html: the same bytes for the same history, evidence as data, and no page that grows beyond reading."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import msgspec

from harness.model.history import History
from harness.report.trends import PLACES_SHOWN, ROWS_SHOWN, brief, trends_html
from tests.support.acceptances import HOSTILE, finding
from tests.support.histories import hostile, long

VOID = {"meta", "br", "input", "wbr"}


class Checked(HTMLParser):
    """Fails on an element that is closed out of order; collects ids, links and elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.elements: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")
            assert not name.startswith("on")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page(history: History) -> str:
    return trends_html(history).decode()


def test_the_page_is_whole_and_every_link_leads_somewhere() -> None:
    found = Checked(page(hostile()))
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)
    assert not {"img", "iframe", "object", "link", "base"} & set(found.elements)
    assert found.elements.count("script") == 1


def test_hostile_evidence_is_text() -> None:
    text = page(hostile())
    assert "<script>window" not in text
    assert "&lt;script&gt;window.hurt=1&lt;/script&gt;" in text
    assert "{{ 7*7 }}" in text
    body = text.partition("<body")[2]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200b\u202e\u2066\ufeff]", body)
    assert HOSTILE["long"] not in text
    assert "more characters" in text


def test_the_same_history_gives_the_same_bytes() -> None:
    assert trends_html(hostile()) == trends_html(hostile())


def test_it_says_what_changed_in_words() -> None:
    text = page(hostile())
    for part in (
        "0.100.0 → 0.104.0",
        "Findings that appeared in 0.104.0",
        "No finding of the release before was resolved.",
        "1 bundle damaged, and left out",
        "not displayed",
        "Only in 0.104.0: ",
    ):
        assert part in text, part


def test_one_release_says_that_there_is_nothing_to_hold_against_it() -> None:
    text = page(long(1))
    assert "1 release<" in text
    assert "There is evidence of one release only" in text
    assert Checked(text).open == []


def test_a_history_in_which_nothing_changed_says_so() -> None:
    once = long(2)
    quiet = msgspec.structs.replace(
        once.steps[0], facts=(), members=(), appeared=(), resolved=(), kinds={}, only_after=(), only_before=()
    )
    assert "nothing changed" in page(msgspec.structs.replace(once, steps=(quiet,)))


def test_what_is_too_much_for_a_page_is_left_out_with_its_number() -> None:
    once = long(2)
    findings = tuple(finding(f"run {number}") for number in range(ROWS_SHOWN + 7))
    change = msgspec.structs.replace(once.steps[0].facts[0], places=tuple(map(str, range(PLACES_SHOWN + 5))))
    step = msgspec.structs.replace(once.steps[0], appeared=findings, facts=(change,))
    text = page(msgspec.structs.replace(once, steps=(step,)))
    assert "… 7 more rows" in text
    assert "… 5 more" in text
    assert f"run {ROWS_SHOWN - 1}<" in text
    assert f"run {ROWS_SHOWN}<" not in text


def test_thirty_releases_stay_small() -> None:
    assert len(trends_html(long(30))) < 10_000_000


def test_an_empty_text_and_a_cut_are_seen() -> None:
    assert "empty text" in brief("")
    assert str(brief("x" * 210)).endswith("… 10 more characters</i>")
