"""Whatever text evidence holds, every format stays whole and shows it as text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from harness.model.facts import SURFACES
from harness.model.values import known
from harness.report import render_all
from harness.report.marks import Mark, marked
from harness.report.text import block, one_line, visible, visible_html
from tests.support.acceptances import accepted_of, observed

ANY_TEXT = st.text(st.characters(), max_size=60) | st.text("<>&\"'`|@#[]()*_~\\\n\r\x1b\u202e ", max_size=30)
LIVE = SURFACES[0]


class Shape(HTMLParser):
    """The sequence of tags, and the text outside of them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(str(html))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the base's
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@given(ANY_TEXT)
def test_shown_text_is_legal_xml_and_one_line_is_one_line(text: str) -> None:
    ElementTree.fromstring(f"<a>{visible_html(visible(text))}</a>".replace("class=c", "class='c'"))  # noqa: S314 - ours
    assert len(one_line(text).splitlines()) <= 1
    for shown in (visible(text), block(text)):
        assert not re.search(
            "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown
        )


@given(ANY_TEXT)
def test_shown_html_holds_the_text_and_only_the_own_elements(text: str) -> None:
    shape = Shape(visible_html(text))
    assert set(shape.tags) <= {"i", "bdi"}
    assert shape.text == visible(text)


@given(ANY_TEXT, st.lists(st.tuples(st.integers(-2, 70), st.integers(-2, 70)), max_size=8), st.integers(1, 60))
def test_marks_always_balance_and_lose_no_character(text: str, spans: list[tuple[int, int]], limit: int) -> None:
    marks = [Mark(start=a, end=b, anchor=f"m{at}", title="<") for at, (a, b) in enumerate(spans)]
    html, placed = marked(text, marks, limit)
    assert html.count("<mark") == html.count("</mark>")
    assert placed == set(re.findall("id=(m[0-9]+)", html))
    if len(text) <= limit and text.isascii() and text.isprintable():
        assert Shape(html).text == text


@settings(max_examples=25, deadline=None)
@given(ANY_TEXT, ANY_TEXT)
def test_no_text_changes_the_structure_of_any_report(value: str, name: str) -> None:
    part = observed(name, overrides={("turn1/call1", "Code Mode intent", LIVE): known(value)})
    acceptance = msgspec.structs.replace(accepted_of((part,)), reasons=(value, name))
    files = render_all(acceptance)
    shape = Shape(files["report.html"].decode())
    assert shape.tags.count("script") == 1
    assert shape.tags.count("article") == len({finding.requirement for finding in acceptance.findings})
    assert "img" not in shape.tags
    assert json.loads(files["verdict.json"])["verdict"] == "rejected"
    ElementTree.fromstring(files["junit.xml"])  # noqa: S314 - our own bytes
    html = MarkdownIt("commonmark").enable("table").render(files["report.md"].decode())
    findings = html[html.index("<h2>Findings</h2>") : html.index("<h2>Requirements</h2>")]
    assert findings.count("<td>") == 5 * findings.count("<tr>") - 5 * findings.count("<thead>")
