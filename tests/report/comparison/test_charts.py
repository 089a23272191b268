"""The pictures of a comparison."""

from pathlib import Path

import pytest

from podscale.report.comparison.charts import CHARTS
from podscale.report.frame import NARROW, WIDE
from podscale.report.writer import write
from tests.report.comparison import samples
from tests.report.drawing import texts, tooltips


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("name", samples.ALL)
@pytest.mark.parametrize("chart", CHARTS)
def test_every_picture_can_be_drawn(chart: str, name: str, width: int) -> None:
    """Whatever was measured: a drawing with a title, or one that says why there is nothing."""
    assert texts(CHARTS[chart](samples.ALL[name](), width, "white"))


def test_the_tail_shows_all_topologies_and_both_arrivals() -> None:
    """Each topology has its row in each size, and the marks say their figures."""
    drawn = texts(CHARTS["tail"](samples.cluster(), WIDE, "white"))
    for word in ("workers", "pods", "pods-unlimited", "pods-large", "constant", "Poisson", "Size 4, 16 requests/s"):
        assert word in drawn
    said = tooltips(CHARTS["tail"](samples.cluster(), WIDE, "white"))
    assert len(said) == 2 * 4 * 2 * 2
    assert "4 pods, load constant, repeat 1: p99 1,915 ms" in said


def test_the_causes_name_the_one_that_leads() -> None:
    """In the title, and each bar has its milliseconds."""
    drawn = texts(CHARTS["causes"](samples.cluster(), WIDE, "white"))
    assert any("CPU quota leads" in text for text in drawn)
    assert {"CPU quota", "random choice", "queueing", "the work itself", "50 ms"} <= set(drawn)


def test_a_comparison_leaves_its_own_pictures(tmp_path: Path) -> None:
    """The folder holds the page and three pictures, each as PNG and SVG; written twice they are the same."""
    first = {path.name: path.read_bytes() for path in write(samples.cluster(), tmp_path)}
    assert set(first) == {"report.html"} | {f"{name}{end}" for name in CHARTS for end in (".png", ".svg")}
    assert first == {path.name: path.read_bytes() for path in write(samples.cluster(), tmp_path)}
