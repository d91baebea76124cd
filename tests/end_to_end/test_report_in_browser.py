"""report.html in a real browser: harmless, readable on every screen, usable by keyboard, linkable, and quick."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from playwright.sync_api import Browser, Page, expect

from harness.model.verdict import Acceptance
from harness.report import render_all
from tests.support import suppliers
from tests.support.acceptances import many, rejected

AXE = importlib.util.find_spec("axe_playwright_python")

OPEN_ALL = "() => { for (const part of document.querySelectorAll('details')) part.open = true; }"
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
TASK = ("turn1/call1/task1",)
Scheme = Literal["light", "dark"]


class Opened:
    """A page with everything that it asked for or complained about."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(address)

    def at(self, fragment: str) -> Page:
        """The page opened anew at a fragment, as somebody who was sent the link would."""
        self.page.goto("about:blank")
        self.page.goto(self.address + fragment)
        return self.page

    def filter(self) -> dict[str, str]:
        found = self.page.evaluate("() => Object.fromEntries(new FormData(document.getElementById('filter')))")
        assert isinstance(found, dict)
        return {name: value for name, value in found.items() if value}


def rendered(acceptance: Acceptance) -> bytes:
    files = render_all(
        acceptance, excerpts=suppliers.excerpts, pictures=suppliers.pictures, timelines=suppliers.timelines
    )
    return files["report.html"]


def brief() -> Acceptance:
    """Something of everything, and not much of it: axe-core looks at each element for long."""
    whole = rejected()
    names = ("hostile <b>&'\"", "killed", "kinds")
    observations = tuple(
        msgspec.structs.replace(
            item, cards=item.cards[:2], rows=tuple(row for row in item.rows if row.card in ("turn1/call1", *TASK))
        )
        for item in whole.observations
        if item.id in names
    )
    findings = tuple(item for item in whole.findings if item.observation in names or item.waived_by)
    by_status = {row.status: row for row in whole.requirements}
    return msgspec.structs.replace(
        whole, observations=observations, findings=findings[:4] + findings[-8:], requirements=tuple(by_status.values())
    )


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_bytes(rendered(rejected()))
    return path.as_uri()


@pytest.fixture(params=[(1280, 900)])
def opened(browser: Browser, report: str, request: pytest.FixtureRequest) -> Iterator[Opened]:
    width, height = request.param
    context = browser.new_context(viewport={"width": width, "height": height})
    yield Opened(context.new_page(), report)
    context.close()


def violations(page: Page) -> list[str]:
    """What axe-core finds wrong, one line each."""
    assert AXE is not None
    assert AXE.origin is not None
    page.evaluate(Path(AXE.origin).with_name("axe.min.js").read_text(encoding="utf-8"))
    result: dict[str, Any] = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{item['id']} ({item['impact']}): {node['html'][:120]}"
        for item in result["violations"]
        for node in item["nodes"][:3]
    ]


def sideways(page: Page) -> int:
    """Pixels by which the page is wider than its window."""
    return int(page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.mark.skipif(AXE is None, reason="axe-playwright-python is not installed")
@pytest.mark.parametrize(("scheme", "size"), [("light", (1280, 900)), ("dark", (360, 740))])
def test_axe_finds_nothing_wrong(browser: Browser, tmp_path: Path, scheme: Scheme, size: tuple[int, int]) -> None:
    path = tmp_path / "report.html"
    path.write_bytes(rendered(brief()))
    context = browser.new_context(color_scheme=scheme, viewport={"width": size[0], "height": size[1]})
    page = Opened(context.new_page(), path.as_uri()).page
    page.evaluate(OPEN_ALL)
    found = violations(page)
    context.close()
    assert found == []


def test_it_asks_for_nothing_and_complains_about_nothing(opened: Opened) -> None:
    opened.page.evaluate(OPEN_ALL)
    opened.page.mouse.wheel(0, 30_000)
    opened.page.evaluate(TWO_FRAMES)
    assert opened.requests == [opened.address]
    assert opened.complaints == []


def test_hostile_evidence_does_nothing(opened: Opened) -> None:
    opened.page.evaluate(OPEN_ALL)
    opened.page.hover("h1")
    assert opened.page.evaluate("() => window.hurt") is None
    assert opened.page.title() == "Rejected: magi-code 0.104.0"
    assert opened.page.locator("main img, main iframe, main script").count() == 0
    expect(opened.page.get_by_text("<script>window.hurt=1</script>").first).to_be_attached()
    expect(opened.page.get_by_text("{{ 7*7 }}").first).to_be_attached()


def test_even_markup_that_slipped_through_could_not_run(opened: Opened) -> None:
    opened.page.evaluate(
        """() => {
            const script = document.createElement('script');
            script.textContent = 'window.hurt = 9';
            document.body.append(script);
            document.body.insertAdjacentHTML('beforeend', '<img src="https://example.org/x" onerror="window.hurt=8">');
        }"""
    )
    opened.page.evaluate(TWO_FRAMES)
    assert opened.page.evaluate("() => window.hurt") is None
    # The policy stops the picture before any request leaves the browser.
    assert any("Content Security Policy" in complaint for complaint in opened.complaints)


@pytest.mark.parametrize("opened", [(360, 740), (320, 600), (760, 900)], indirect=True)
def test_a_phone_never_scrolls_sideways(opened: Opened) -> None:
    assert sideways(opened.page) == 0
    opened.page.evaluate(OPEN_ALL)
    opened.page.evaluate(TWO_FRAMES)
    assert sideways(opened.page) == 0
    table = opened.page.locator("table.facts").first
    assert table.bounding_box() is not None
    wide = opened.page.evaluate(
        "() => { const box = document.querySelector('table.facts').parentElement; "
        "return box.scrollWidth > box.clientWidth }"
    )
    assert wide is True


def test_the_first_column_stays_while_a_table_scrolls(opened: Opened) -> None:
    opened.page.set_viewport_size({"width": 500, "height": 800})
    page = opened.at("#o1c1")
    head = page.locator("#o1r1 > th")
    before = head.bounding_box()
    page.evaluate("() => { document.querySelector('#o1c1 .scroll').scrollLeft = 300 }")
    page.evaluate(TWO_FRAMES)
    after = head.bounding_box()
    assert before is not None
    assert after is not None
    assert abs(before["x"] - after["x"]) <= 1
    cell = page.locator("#o1r1 > td").first.bounding_box()
    assert cell is not None
    assert cell["x"] < after["x"]


def test_the_verdict_stays_on_the_screen(opened: Opened) -> None:
    page = opened.at("#observations")
    expect(page.locator("header .pill")).to_be_in_viewport()
    expect(page.locator("header .pill")).to_have_text("✗ Rejected")


def test_light_and_dark_are_two_looks(browser: Browser, report: str) -> None:
    found = set()
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        page = Opened(context.new_page(), report).page
        found.add(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
        context.close()
    assert len(found) == 2


def test_print_shows_the_findings_without_controls(opened: Opened) -> None:
    page = opened.page
    page.emulate_media(media="print")
    for hidden in ("header nav", "#filters", ".do-copy"):
        assert page.locator(hidden).first.is_visible() is False
    expect(page.locator("article.group").first).to_be_visible()
    assert page.evaluate("() => getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF-")


def test_a_filter_comes_with_the_link(opened: Opened) -> None:
    page = opened.at("#?agreement=disagree&class=overflow&card=code_mode")
    expect(page.locator("#shown")).to_have_text("1 of 8 observations with 3 facts and 3 of 25 causes are shown.")
    assert opened.filter() == {"agreement": "disagree", "class": "overflow", "card": "code_mode"}
    assert page.locator("details.ob:visible h3").all_inner_texts() == ["✗ disagrees overflow"]
    rows = page.locator("details.ob:visible table.facts tbody:not(.m) > tr:visible")
    assert sorted(rows.locator("th a").all_inner_texts()) == [
        "Changed paths omitted",
        "Total calls",
        "Warnings omitted",
    ]
    expect(page.locator("#active")).to_be_visible()


def test_a_search_by_query_works_too_and_finds_scenarios(opened: Opened) -> None:
    page = opened.at("?q=no-such-words-anywhere")
    expect(page.locator("#shown")).to_contain_text("0 of 8 observations")
    page = opened.at("?q=killed")
    expect(page.locator("#shown")).to_contain_text("1 of 8 observations")
    expect(page.locator("details.ob:visible")).to_have_count(1)


def test_filtering_by_hand_makes_a_link_that_gives_the_same_again(opened: Opened) -> None:
    page = opened.page
    page.get_by_label("Search").fill("total calls")
    page.locator("[name=agreement]").select_option("disagree")
    expect(page.locator("#shown")).not_to_be_empty()
    page.wait_for_timeout(300)
    said = page.locator("#shown").inner_text()
    link = page.url
    assert "q=total+calls" in link
    assert opened.at(link.removeprefix(opened.address)).locator("#shown").inner_text() == said
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("#shown")).to_be_empty()
    expect(page.locator("details.ob:visible")).to_have_count(8)
    assert "q=" not in page.url


def test_release_and_agreement_filters_hide_what_does_not_match(opened: Opened) -> None:
    page = opened.at("#?agreement=agree")
    assert page.locator("article.group:visible").count() == 0
    assert page.evaluate("() => document.querySelectorAll('table.facts tr.x:not([hidden])').length") == 0
    page = opened.at("#?release=0.104.0")
    expect(page.locator("details.ob:visible")).to_have_count(8)


def test_a_link_to_something_filtered_away_shows_it_all_the_same(opened: Opened) -> None:
    page = opened.at("#?class=legacy")
    expect(page.locator("#o3")).to_be_hidden()
    page.evaluate("() => { location.hash = '#o3' }")
    expect(page.locator("#o3")).to_be_visible()
    expect(page.locator("#o3 > summary")).to_be_in_viewport()


def test_links_with_the_own_names_of_things_stay_valid(opened: Opened) -> None:
    found = rejected().findings[0]
    for fragment in ("#observation-killed", "#requirement-code-mode.rollback", f"#finding-{found.id}"):
        page = opened.at(fragment)
        expect(page.locator(fragment.replace(".", "\\."))).to_be_in_viewport()


def test_a_fact_leads_to_its_proof_and_back(opened: Opened) -> None:
    page = opened.at("#o1c1")
    link = page.locator("#o1r1 td.x a").first
    target = page.locator(f"{link.get_attribute('href')}")
    link.click()
    expect(target).to_be_in_viewport()
    expect(page.locator("#o1 .proofs")).to_have_attribute("open", "")
    assert page.url.endswith(str(link.get_attribute("href")))
    target.click()
    expect(page.locator("#o1r1")).to_be_in_viewport()


def test_pointing_at_a_fact_outlines_its_cells_and_the_other_way_round(opened: Opened) -> None:
    page = opened.at("#o1c1")
    page.evaluate(OPEN_ALL)
    outline = page.locator("#o1 .pic rect.mark").first
    name = outline.get_attribute("id")
    reading = page.locator(f"#o1 td a[href='#{name}']").first
    reading.hover()
    expect(outline).to_have_class("mark lit")
    page.mouse.move(1, 1)
    outline.hover()
    expect(page.locator(f"#o1 td:has(> a[href='#{name}'])").first).to_have_class(re.compile(r"\blit\b"))
    page.mouse.move(1, 1)
    reading.focus()
    expect(outline).to_have_class("mark lit")


def test_the_keyboard_reaches_everything(opened: Opened) -> None:
    page = opened.page
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the summary")).to_be_focused()
    expect(page.get_by_text("Skip to the summary")).to_be_in_viewport()
    summary = page.locator("#o1 > summary")
    summary.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#o1")).to_have_attribute("open", "")
    page.locator("#o1c1 .scroll").focus()
    page.keyboard.press("ArrowRight")
    outline = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_an_issue_text_can_be_copied(opened: Opened) -> None:
    page = opened.at("#findings")
    group = page.locator("article.group").first
    group.get_by_text("Issue text to paste").click()
    box = group.get_by_role("textbox", name="Text of the issue")
    assert "### How to see it" in box.input_value()
    group.get_by_role("button", name="Copy text").click()
    expect(group.locator(".copied")).not_to_be_empty()


def test_landmarks_headings_and_tables_are_named(opened: Opened) -> None:
    page = opened.page
    page.evaluate(OPEN_ALL)
    for role, number in (("banner", 1), ("main", 1), ("contentinfo", 1), ("navigation", 1), ("search", 1)):
        expect(page.get_by_role(role, include_hidden=False)).to_have_count(number)  # type: ignore[arg-type] # roles
    assert page.locator("h1").count() == 1
    assert page.locator("table:not(:has(caption))").count() == 0
    assert page.locator("th:not([scope])").count() == 0


def test_words_say_what_colours_say(opened: Opened) -> None:
    page = opened.at("#o1c1")
    page.emulate_media(forced_colors="active")
    wrong = page.locator("#o1r1 td.x").first
    expect(wrong).to_contain_text("✗ differs")
    for state in ("null", "absent", "not displayed", "not derivable", "capture cut", "not captured", "not stated"):
        expect(page.locator("details.ob").get_by_text(state, exact=True).first).to_be_attached()


def test_without_script_nothing_but_the_filter_is_missing(browser: Browser, report: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report)
    expect(page.locator("#filter")).to_be_hidden()
    assert "Filters need the script of this page." in page.locator("#filters").inner_text()
    page.locator("#o1 > summary").click()
    expect(page.locator("#o1r1")).to_be_visible()
    expect(page.locator("h1")).to_contain_text("Rejected")
    context.close()


def test_long_values_stay_in_their_cells(opened: Opened) -> None:
    page = opened.at("#o2")
    page.evaluate(OPEN_ALL)
    cells = page.evaluate(
        """() => [...document.querySelectorAll('#o2 table.facts td')]
            .filter(cell => cell.scrollWidth > cell.clientWidth + 1
                || cell.clientWidth > 400 || cell.clientHeight > 400)
            .map(cell => cell.textContent.slice(0, 80))"""
    )
    assert cells == []
    page.get_by_role("link", name="… all 10,000 characters").first.click()
    whole = page.locator("details.whole pre").first
    expect(whole).to_be_visible()
    assert len(whole.inner_text()) == 10_000


def test_a_hundred_observations_stay_small_and_open_quickly(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_bytes(rendered(many(100)))
    assert path.stat().st_size < 10_000_000
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    session = page.context.new_cdp_session(page)
    # Time on the main thread, not on the wall: what else the machine does is none of the page's business.
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(path.as_uri())
    page.evaluate(TWO_FRAMES)
    metrics = {item["name"]: item["value"] for item in session.send("Performance.getMetrics")["metrics"]}
    painted = page.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0].startTime")
    page.close()
    assert metrics["TaskDuration"] < 3
    assert painted < 2_000
