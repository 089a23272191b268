"""The pages in a real browser: nothing fails or overflows, the answer comes first, and nobody is shut out."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from podscale.report.comparison.page import comparison_page
from podscale.report.page import page
from podscale.report.reproduction.page import reproduction_page
from tests.browser import chromium, visit
from tests.report import samples
from tests.report.comparison import samples as compared
from tests.report.reproduction import samples as reproduced

# Names of the tables that are wider than their place, with what they want and have.
CUT_OFF = (
    "all => all.filter(e => e.scrollWidth > e.clientWidth)"
    ".map(e => [e.getAttribute('aria-label'), e.scrollWidth, e.clientWidth])"
)
SCREENS = {360: 740, 768: 1024, 1280: 800}
# Good, void, aborted and empty, of each kind of page.
PAGES: dict[str, Callable[[], str]] = {
    "mixed": lambda: page(samples.mixed()),
    "all_void": lambda: page(samples.all_void()),
    "aborted": lambda: page(samples.aborted()),
    "empty": lambda: page(samples.empty()),
    "comparison": lambda: comparison_page(compared.one_machine()),
    "comparison_spoiled": lambda: comparison_page(compared.spoiled()),
    "comparison_empty": lambda: comparison_page(compared.nothing()),
    "rows": lambda: reproduction_page(reproduced.mixed()),
    "rows_empty": lambda: reproduction_page(reproduced.empty()),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of this file."""
    with chromium() as started:
        yield started


def written(folder: Path, text: str) -> str:
    """The page as a file, and its address."""
    path = folder / "report.html"
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["mixed", "hostile", "empty", "many"])
def test_a_browser_shows_it(browser: Browser, tmp_path: Path, name: str, width: int) -> None:
    """From a file, without an error or a request, each chart in full, and no scrolling sideways."""
    url = written(tmp_path, page(samples.ALL[name]()))
    with visit(browser, url, width) as opened:
        assert opened.problems == []
        assert opened.requests == [url]
        assert opened.overflow_pixels() == 0
        charts = opened.page.locator("figure.chart svg:visible")
        assert charts.count() == {"mixed": 6, "hostile": 4, "empty": 0, "many": 4}[name]
        for index in range(charts.count()):
            box = charts.nth(index).bounding_box()
            assert box is not None
            assert box["width"] > 250
            assert box["height"] > 60
            assert box["x"] + box["width"] <= width


def test_marks_name_their_figures(browser: Browser, tmp_path: Path) -> None:
    """Pointing at a mark shows its stage and figure, as an SVG title; the void one says so."""
    with visit(browser, written(tmp_path, page(samples.mixed()))) as opened:
        titles = opened.page.locator("#scaling .wide title").all_text_contents()
    assert "2 pods, repeat 2: 94.8 requests/s" in titles
    assert "2 pods, repeat 1: 31.2 requests/s (void)" in titles


@pytest.mark.parametrize("size", SCREENS.items(), ids=lambda size: "x".join(map(str, size)))
@pytest.mark.parametrize("name", ["mixed", "aborted", "all_void", "comparison"])
def test_the_answer_needs_no_scrolling(browser: Browser, tmp_path: Path, name: str, size: tuple[int, int]) -> None:
    """Sentence and cards lie whole within the first screen, on a telephone as on a desk; the figures are large."""
    with visit(browser, written(tmp_path, PAGES[name]()), *size) as opened:
        boxes = opened.page.locator("h1, .cards > div").all()
        assert len(boxes) == (4 if name == "comparison" else 5)
        for box in (each.bounding_box() for each in boxes):
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= size[0]
            assert box["y"] + box["height"] <= size[1]
        sizes = opened.page.locator(".cards .figure").evaluate_all(
            "all => all.map(each => parseFloat(getComputedStyle(each).fontSize))"
        )
        assert all(pixels >= 30 for pixels in sizes)


@pytest.mark.parametrize("name", PAGES)
def test_nobody_is_shut_out(browser: Browser, tmp_path: Path, name: str) -> None:
    """At three widths and in both colour schemes, axe finds nothing serious or critical."""
    with visit(browser, written(tmp_path, PAGES[name]())) as opened:
        for width, height in SCREENS.items():
            opened.page.set_viewport_size({"width": width, "height": height})
            for scheme in ("light", "dark"):
                opened.page.emulate_media(color_scheme=scheme)
                assert opened.barriers() == [], f"{width} pixels, {scheme}"
                assert opened.overflow_pixels() == 0


def test_an_empty_alternative_would_be_found(browser: Browser, tmp_path: Path) -> None:
    """The check can fail: pale text and a picture without words are barriers."""
    broken = page(samples.empty()).replace("--muted: #57606a", "--muted: #d0d0d0")
    broken = broken.replace("</main>", '<svg role="img" width="9" height="9"></svg></main>')
    with visit(browser, written(tmp_path, broken)) as opened:
        found = " ".join(opened.barriers())
    assert "color-contrast" in found
    assert "svg-img-alt" in found


def test_the_keyboard_reaches_all_that_scrolls(browser: Browser, tmp_path: Path) -> None:
    """Tab stops at each table that is wider than a telephone, and where it stands can be seen."""
    with visit(browser, written(tmp_path, page(samples.mixed())), 360, 740) as opened:
        regions = opened.page.locator(".scroll, pre").count()
        reached = set()
        for _ in range(120):
            opened.page.keyboard.press("Tab")
            found = opened.page.evaluate(
                "(e => [e.getAttribute('aria-label'), getComputedStyle(e).outlineStyle])(document.activeElement)"
            )
            if found[0] in reached:
                break
            if found[0]:
                assert found[1] == "solid"
                reached.add(found[0])
        assert len(reached) == regions


def test_headings_go_down_in_order(browser: Browser, tmp_path: Path) -> None:
    """One title, and no level is left out; one main part, and a list of what is on the page."""
    for name in ("mixed", "comparison", "rows"):
        with visit(browser, written(tmp_path, PAGES[name]())) as opened:
            levels = opened.page.locator("h1, h2, h3, h4").evaluate_all("all => all.map(each => +each.tagName[1])")
            assert levels.count(1) == 1
            assert levels[0] == 1
            assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
            assert opened.page.get_by_role("main").count() == 1
            assert opened.page.get_by_role("navigation").count() == (0 if name == "rows" else 1)


def test_paper_is_light_and_has_all_of_it(browser: Browser, tmp_path: Path) -> None:
    """On A4 across, from a dark screen: dark on white, closed parts open, nothing cut off, no list of links."""
    with visit(browser, written(tmp_path, page(samples.mixed())), 1032, 703) as opened:
        opened.page.emulate_media(media="print", color_scheme="dark")
        background = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
        ink = opened.page.locator("svg:visible text").first.evaluate("each => getComputedStyle(each).fill")
        assert (background, ink) == ("rgb(255, 255, 255)", "rgb(27, 31, 36)")
        assert opened.page.locator("details li").first.is_visible()
        assert not opened.page.get_by_role("navigation").is_visible()
        assert opened.page.locator(".scroll").evaluate_all(CUT_OFF) == []
        paper = opened.page.pdf(prefer_css_page_size=True)
        assert paper.startswith(b"%PDF-")
