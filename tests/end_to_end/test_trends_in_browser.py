"""trends.html in a real browser: harmless, accessible, readable on a phone, filtered by link, whole without script."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from harness.report.trends import trends_html
from tests.support.histories import hostile, long

AXE = importlib.util.find_spec("axe_playwright_python")

OPEN_ALL = "() => { for (const part of document.querySelectorAll('details')) part.open = true; }"
Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("trends") / "trends.html"
    path.write_bytes(trends_html(hostile()))
    return path.as_uri()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


def sideways(page: Page) -> int:
    """Pixels by which the page is wider than its window."""
    return int(page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.mark.skipif(AXE is None, reason="axe-playwright-python is not installed")
@pytest.mark.parametrize(("scheme", "size"), [("light", (1280, 900)), ("dark", (360, 740))])
def test_axe_finds_nothing_wrong(browser: Browser, address: str, scheme: Scheme, size: tuple[int, int]) -> None:
    assert AXE is not None
    assert AXE.origin is not None
    context = browser.new_context(color_scheme=scheme, viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    page.goto(address)
    page.evaluate(OPEN_ALL)
    # Rows alike are judged once: axe-core looks at each element for long.
    page.evaluate(
        "() => [...document.querySelectorAll('tbody')].forEach(b => [...b.rows].slice(12).forEach(r => r.remove()))"
    )
    page.evaluate(Path(AXE.origin).with_name("axe.min.js").read_text(encoding="utf-8"))
    result: dict[str, Any] = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    context.close()
    assert [(item["id"], item["nodes"][0]["html"][:160]) for item in result["violations"]] == []


def test_it_asks_for_nothing_complains_about_nothing_and_hostile_evidence_does_nothing(
    page: Page, address: str
) -> None:
    requests: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    page.evaluate(OPEN_ALL)
    page.mouse.wheel(0, 30_000)
    page.wait_for_timeout(100)
    assert (requests, complaints) == ([address], [])
    assert page.evaluate("() => window.hurt") is None
    assert page.locator("main img, main iframe, main script").count() == 0
    expect(page.get_by_text("<script>window.hurt=1</script>").first).to_be_attached()
    assert page.locator("table:not(:has(caption))").count() == 0
    assert page.locator("h1").count() == 1


@pytest.mark.parametrize("width", [320, 390, 760])
def test_a_phone_never_scrolls_sideways(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    page.goto(address)
    assert sideways(page) == 0
    page.evaluate(OPEN_ALL)
    assert sideways(page) == 0


def test_a_filter_comes_with_the_link(page: Page, address: str) -> None:
    page.goto(f"{address}#?change=display&surface=local-agent-live&card=task")
    rows = page.locator("#facts tbody > tr:visible")
    shown = rows.count()
    assert 0 < shown < page.locator("#facts tbody > tr").count()
    expect(page.locator("#shown")).to_contain_text(f"{shown} of ")
    for number in range(shown):
        row = rows.nth(number)
        assert row.get_attribute("data-s") == "local-agent-live"
        assert row.get_attribute("data-k") == "task"
        assert "display" in str(row.get_attribute("data-h"))
    expect(page.locator("#active")).to_be_visible()
    expect(page.locator("#facts-h")).to_be_in_viewport()


def test_filtering_by_hand_makes_a_link_that_gives_the_same_again(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_label("Search").fill("total calls")
    page.locator("[name=change]").select_option("any")
    expect(page.locator("#shown")).not_to_be_empty()
    page.wait_for_timeout(300)
    said, link = page.locator("#shown").inner_text(), page.url
    page.goto("about:blank")
    page.goto(link)
    assert page.locator("#shown").inner_text() == said
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("#shown")).to_be_empty()
    assert "q=" not in page.url


def test_a_link_to_a_step_opens_it(page: Page, address: str) -> None:
    page.goto(f"{address}#step1-appeared")
    expect(page.locator("#step1")).to_have_attribute("open", "")
    expect(page.locator("#step1-appeared")).to_be_in_viewport()


def test_without_script_nothing_but_the_filter_is_missing(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#filter")).to_be_hidden()
    expect(page.locator("#facts tbody > tr").first).to_be_visible()
    page.locator("#step1 > summary").click()
    expect(page.locator("#step1 table").first).to_be_visible()
    context.close()


def test_words_say_what_colours_say(page: Page, address: str) -> None:
    page.goto(address)
    page.emulate_media(forced_colors="active")
    changed = page.locator("#facts td.to").first
    expect(changed).to_contain_text("changed:")
    for word in ("displayed", "not displayed", "sometimes", "absent", "not captured", "unreadable"):
        expect(page.locator(".legend").get_by_text(word).first).to_be_attached()


def test_thirty_releases_open_quickly(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "trends.html"
    path.write_bytes(trends_html(long(30)))
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(path.as_uri())
    painted = page.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0].startTime")
    page.close()
    assert painted < 2_000
