"""report.html: one file that says everything, links to every proof, and does nothing that evidence tells it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser

import msgspec
import pytest

from harness.model.facts import Column, Place
from harness.model.verdict import Acceptance, Damage, Missing, Verdict
from harness.report import render_all
from tests.support import suppliers
from tests.support.acceptances import AT, DIGEST, HOSTILE, accepted_of, finding, observed, rejected


class Page(HTMLParser):
    """Tags with attributes, ids, and the text outside scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.texts.append(data)

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the base's
        self._inside = ""

    @property
    def ids(self) -> Counter[str]:
        return Counter(value for _, attributes in self.tags if (value := attributes.get("id")))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.texts))


def html_of(acceptance: Acceptance, *, evidence: bool = True) -> str:
    if not evidence:
        return render_all(acceptance)["report.html"].decode()
    return render_all(
        acceptance, excerpts=suppliers.excerpts, pictures=suppliers.pictures, timelines=suppliers.timelines
    )["report.html"].decode()


@pytest.fixture(scope="module")
def html() -> str:
    return html_of(rejected())


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


@pytest.fixture(scope="module")
def tame() -> set[str]:
    """The elements of a page without hostile evidence."""
    return {tag for tag, _ in Page(html_of(accepted_of((observed("a", extra=(finding("a"),)),)))).tags}


def test_the_top_answers_what_of_which_binary_when_by_whom_and_why(page: Page) -> None:
    top = page.text[: page.text.index("What is missing")]
    for part in ("Rejected", "magi-code 0.104.0", DIGEST, AT, "release-authority (sha256:ab12cd34)", "6 observations"):
        assert part in top
    for reason in rejected().reasons:
        assert reason in top


def test_nothing_is_loaded_and_only_the_own_script_may_run(html: str, page: Page) -> None:
    (policy,) = [item["content"] for item in page.of("meta") if item.get("http-equiv") == "Content-Security-Policy"]
    script = re.search(r"<script>(.*?)</script>", html, re.DOTALL)
    assert script is not None
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'"
    )
    assert len(page.of("script")) == 1
    assert not {"img", "link", "iframe", "object", "embed", "base", "audio", "video"} & {tag for tag, _ in page.tags}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert not [item for item in page.of("a") if not (item["href"] or "").startswith("#")]
    assert not {"src", "action", "srcset", "data", "poster"} & {key for _, item in page.tags for key in item}


def test_every_link_leads_somewhere_and_every_id_is_one(page: Page) -> None:
    assert [name for name, number in page.ids.items() if number > 1] == []
    targets = {(item["href"] or "")[1:].partition("?")[0] for item in page.of("a")} - {""}
    assert targets - page.ids.keys() == set()


def test_every_displayed_reading_links_to_its_place(html: str) -> None:
    acceptance = rejected()
    placed = {
        (item.id, fact.place)
        for item in acceptance.observations
        for row in item.rows
        for cell in row.cells.values()
        for fact in cell.readings
        if fact.place is not None and str(fact.value) != "(not displayed)"
    }
    cited = {(item.observation, item.place) for item in acceptance.findings if item.place is not None}
    assert len(set(re.findall(r"id=\"?(o\d+p\d+)", html))) == len(placed | cited)


def test_disagreements_come_first_in_every_card(html: str) -> None:
    tables = re.findall(r'<table class="facts">(.*?)</table>', html, re.DOTALL)
    assert len(tables) == sum(len(item.cards) for item in rejected().observations)
    for table in tables:
        kinds = re.findall(r"<tr id=o\d+r\d+ class=([xan])>", table)
        assert kinds == sorted(kinds, key="xan".index)
    assert "x" in "".join(re.findall(r"<tr id=o\d+r\d+ class=([xan])>", tables[0]))


def test_all_seven_columns_stand_in_their_order(html: str) -> None:
    heads = re.search(r'<table class="facts">.*?<thead>(.*?)<tbody>', html, re.DOTALL)
    assert heads is not None
    assert re.findall(r"<th scope=\"col\">([^<]+)", heads[1]) == [
        "Fact",
        "Expected",
        "Report",
        "Nested records",
        "Local agent live",
        "Local agent reopened",
        "Mission Control live",
        "Mission Control reopened",
    ]
    row = re.search(r"<tr id=o1r1 .*", html)
    assert row is not None
    assert row[0].count("<td") == len(Column)


def test_findings_waived_ones_too_have_rule_place_command_and_issue_text(page: Page, html: str) -> None:
    for item in rejected().findings:
        assert f"finding-{item.id}" in page.ids
        assert item.command in page.text
    assert "waived by W-2026-01" in page.text
    assert html.count("Issue text to paste") == len(page.of("article")) == 25


def test_the_matrix_traces_every_requirement_to_its_observations(page: Page) -> None:
    acceptance = rejected()
    for row in acceptance.requirements:
        assert f"requirement-{row.id}" in page.ids
    assert "8 observations" in page.text
    assert "not reachable" in page.text


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_and_reasons_stay_text_everywhere(name: str, tame: set[str]) -> None:
    hostile = HOSTILE[name]
    observation, findings = observed(hostile, extra=(finding(hostile, label=hostile, expected=hostile),))
    observation = msgspec.structs.replace(
        observation,
        classes=(hostile,),
        scenario=hostile,
        gherkin=hostile,
        driver=hostile,
        release=hostile,
        bundle=hostile,
        authorization_detail=hostile,
        recorded_at=hostile,
        manifest_sha256=hostile,
        cards=tuple(msgspec.structs.replace(card, title=hostile) for card in observation.cards),
        captures=tuple(msgspec.structs.replace(item, note=hostile, file=hostile) for item in observation.captures),
    )
    acceptance = msgspec.structs.replace(
        accepted_of(((observation, findings),)),
        reasons=(hostile,),
        at=hostile,
        missing=(Missing(class_=hostile, reason=hostile),),
        damaged=(Damage(bundle=hostile, reasons=(hostile,)),),
        release=msgspec.structs.replace(rejected().release, name=hostile, version=hostile),
    )
    found = Page(html_of(acceptance))
    assert len(found.of("script")) == 1
    assert {tag for tag, _ in found.tags} - tame <= {"i", "bdi", "h3", "b", "br"}
    assert not [key for _, attributes in found.tags for key in attributes if key.startswith("on")]
    assert "\x1b" not in found.text
    assert "\u202e" not in found.text


def test_templates_are_not_rendered_from_evidence() -> None:
    text = Page(html_of(accepted_of((observed("a"),), reasons=("{{ 7*7 }} {% if %}",)))).text
    assert "{{ 7*7 }} {% if %}" in text


def test_the_ends_of_the_scale_render() -> None:
    for verdict in Verdict:
        empty = msgspec.structs.replace(accepted_of((), verdict, reasons=()), requirements=())
        text = Page(html_of(empty, evidence=False)).text
        assert verdict.value.capitalize() in text
        assert "No observation was judged." in text
        assert "No reason was given." in text


def test_without_suppliers_every_place_still_has_its_anchor_and_a_word() -> None:
    found = Page(html_of(rejected(), evidence=False))
    assert "no excerpt was supplied" in found.text
    assert "no picture was supplied" in found.text
    targets = {(item["href"] or "")[1:].partition("?")[0] for item in found.of("a")} - {""}
    assert targets <= found.ids.keys()


def test_evidence_beside_the_facts_is_marked_and_drawn(page: Page, html: str) -> None:
    assert re.search(r'<mark id=o\d+p\d+ title="Script outcome">&#34;0&#34;</mark>', html)
    assert page.of("svg")
    assert "&lt;script&gt;window.hurt=3" in html
    assert "☠ killed" in page.text


def test_same_arguments_same_bytes(html: str) -> None:
    assert html_of(rejected()) == html


def test_several_releases_get_rows_of_their_own_in_the_matrix() -> None:
    text = html_of(accepted_of((observed("a"), observed("b", release="0.100.0"))))
    matrix = text[text.index('<table class="matrix">') :]
    matrix = matrix[: matrix.index("</table>")]
    assert re.findall(r'<a href="#\?class=mixed-outcomes&amp;release=([0-9.]+)">', matrix) == ["0.100.0", "0.104.0"]
    assert '<th scope="col">Release</th>' in matrix
    single = html_of(accepted_of((observed("a"),)))
    assert '<th scope="col">Release</th>' not in single


def test_a_long_list_of_observations_of_a_rule_ends_in_a_note() -> None:
    text = Page(html_of(accepted_of(tuple(observed(f"run-{at:02}") for at in range(23))), evidence=False)).text
    assert "23 observations" in text
    assert "… 3 more in verdict.json" in text


def test_what_is_expected_leads_to_the_line_of_the_scenario_that_says_so() -> None:
    """Its author's sentence is the proof; where the line is not in the text there is no link, and the value all the
    same."""
    seen, _ = observed("a")
    row = seen.rows[0]
    stated = row.cells[Column.EXPECTED].readings[0]
    gherkin = "Scenario: S\n  Then the facts of the script are\n    | label | value |\n    | Script outcome | x |\n"

    def page(line: int) -> Page:
        place = Place(file="f.feature", line=line)
        cell = msgspec.structs.replace(
            row.cells[Column.EXPECTED], readings=(msgspec.structs.replace(stated, place=place),)
        )
        rows = (msgspec.structs.replace(row, cells={**row.cells, Column.EXPECTED: cell}), *seen.rows[1:])
        changed = msgspec.structs.replace(seen, rows=rows, gherkin=gherkin, gherkin_lines=(7, 8, 9, 10))
        return Page(html_of(accepted_of(((changed, ()),))))

    found = page(10)
    assert found.ids["o1g10"] == 1
    assert "#o1g10" in [link.get("href") for link in found.of("a")]
    assert {link["href"] for link in page(99).of("a") if str(link.get("href")).startswith("#o1g")} == set()
