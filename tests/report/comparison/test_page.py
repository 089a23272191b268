"""The page of a comparison: complete, honest, and shown by a real browser."""

from pathlib import Path

import pytest

from podscale.report.comparison.page import comparison_page
from podscale.report.writer import write
from tests.browser import chromium, visit
from tests.report.comparison import samples
from tests.report.html import Reader


@pytest.mark.parametrize("name", samples.ALL)
def test_any_comparison_makes_a_page_without_network(name: str) -> None:
    """No script, nothing loaded, whatever was measured."""
    reader = Reader(comparison_page(samples.ALL[name]()))
    for tag, attributes in reader.tags:
        assert tag not in {"script", "link"} or attributes.get("rel") == "icon"
        assert not (attributes.get("src") or "").startswith("http")


def test_all_variants_stand_side_by_side() -> None:
    """Speed with intervals and budget, cost, and what a kill cost, of each topology at each size."""
    reader = Reader(comparison_page(samples.cluster()))
    speed = reader.row("Speed side by side", "4: pods")
    assert speed["Offered /s"] == "16"
    assert speed["p99 constant"] == "1,966 (1,915 to 2,017)"
    assert speed["Budget"] == "4 pods of 1 process, 0.25 cores (limit), 128 MB each"
    assert reader.row("Speed side by side", "4: pods-unlimited")["Budget"].endswith("(no limit), 128 MB each")
    cost = reader.row("Cost side by side", "4: workers")
    assert cost["Memory MB"] == "160 (160 to 160)"
    assert cost["Failed requests, killed"] == "3"
    assert cost["Full after s, killed"] == "2.3"
    assert len(reader.tables["Speed side by side"]) == 1 + 8


def test_the_causes_stand_with_interval_theory_and_evidence() -> None:
    """The quota leads with its throttled periods; the headline says so."""
    page = comparison_page(samples.cluster())
    reader = Reader(page)
    rows = reader.tables["What the p99 of pods is made of"]
    quota = next(row for row in rows if row[0] == "4, constant" and row[1].startswith("quota"))
    assert quota[1] == "quota (leads)"
    assert "45% of its periods" in quota[4]
    assert "to" in quota[2]
    assert "<h1>The CPU quota costs most" in page
    assert "leading cause measured" in page


def test_without_a_quota_none_is_named() -> None:
    """On one machine the quota is not measured, and the page says so instead of a number."""
    reader = Reader(comparison_page(samples.one_machine()))
    quota = next(row for row in reader.tables["What the p99 of pods is made of"] if row[1] == "quota")
    assert quota[2] == "unknown"
    assert "no CPU quota" in quota[4]


def test_what_went_wrong_has_no_number() -> None:
    """Void and unreached stages give no variant a figure; a kill that was not allowed says why."""
    page = comparison_page(samples.spoiled())
    reader = Reader(page)
    assert reader.row("Speed side by side", "4: pods")["p99 Poisson"] == "unknown"
    assert "there is no right to run a command" in reader.row("Cost side by side", "4: workers")["Killed"]
    assert "Ended early" in page


@pytest.mark.parametrize("width", [1280, 390])
def test_a_browser_shows_it(tmp_path: Path, width: int) -> None:
    """No error, no sideways scrolling, all three pictures are there; details open."""
    page = write(samples.cluster(), tmp_path)[0]
    with chromium() as browser, visit(browser, page.as_uri(), width=width) as opened:
        assert opened.problems == []
        assert opened.overflow_pixels() == 0
        charts = opened.page.locator("figure svg")
        assert sum(charts.nth(number).is_visible() for number in range(charts.count())) == 3
        opened.page.get_by_text("Each stage by itself").click()
        assert opened.page.get_by_role("heading", name="Load generator").is_visible()
        assert opened.overflow_pixels() == 0
