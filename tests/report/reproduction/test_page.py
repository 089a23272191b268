"""Tests of the page of the articles' rows."""

from collections.abc import Callable
from pathlib import Path

import pytest

from podscale.report.reproduction.page import reproduction_page
from podscale.report.reproduction.writer import write
from podscale.sweep.reproduce.results import Reproduction
from tests.browser import chromium
from tests.report.html import Reader
from tests.report.reproduction import samples

SAMPLES = [samples.mixed, samples.empty, samples.uneven, samples.hostile]


def test_a_row_tells_the_article_ours_the_ratio_and_why_they_differ() -> None:
    """In words; the table has one line for each claim."""
    page = Reader(reproduction_page(samples.mixed()))
    for words in ("ended after 10, 20 and 27 s", "spin on the event loop of one pod", "One thread does one job"):
        assert words in page.text
    assert page.tables["All rows"][1] == ["blocking", "the last takes three jobs", "2.7", "3", "2.8 to 3.4", "yes"]
    assert "n pods does not count: 2.0 of 2 cores busy" in page.text
    assert "podscale reproduce blocking worker primes memory" in page.text


def test_cores_of_different_speed_are_named() -> None:
    """With the row whose claim they decide."""
    text = Reader(reproduction_page(samples.uneven())).text
    assert "cost 1.25 times as much CPU in one step as in the other" in text
    assert "At equal cost the ratio would be 2." in text
    assert "times as much CPU in one step" not in Reader(reproduction_page(samples.mixed())).text


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.__name__)
def test_nothing_runs_and_nothing_is_loaded(sample: Callable[[], Reproduction]) -> None:
    """No script, no address; texts from outside are escaped; an interruption is told."""
    html = reproduction_page(sample())
    tags = Reader(html).tags
    assert not [tag for tag, _ in tags if tag in {"script", "iframe"}]
    assert "<img" not in html
    assert ("Ended early" in html) == (sample is samples.empty)


def test_a_browser_shows_it_without_scrolling_sideways(tmp_path: Path) -> None:
    """On a desk and on a telephone; pictures lie beside the page."""
    names = {path.name for path in write(samples.mixed(), tmp_path)}
    assert {"report.html", "blocking.png", "memory.svg"} <= names
    with chromium() as browser:
        for width in (1200, 390):
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.goto((tmp_path / "report.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width
