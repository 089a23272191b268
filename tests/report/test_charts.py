"""What holds for every chart: it can be drawn, says so when empty, and carries its conditions."""

import xml.etree.ElementTree as ET

import pytest

from podscale.report import frame, style
from podscale.report.charts import CHARTS
from tests.report import samples
from tests.report.drawing import texts


@pytest.mark.parametrize("width", [frame.WIDE, frame.NARROW])
@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize("name", samples.ALL)
def test_every_result_can_be_drawn(name: str, chart: str, width: int) -> None:
    """Each chart of each result is sound SVG, in the page's width or the telephone's, and has a title."""
    specification = CHARTS[chart](samples.ALL[name](), width, "white")
    root = ET.fromstring(style.svg(specification))  # our own drawing
    assert width * 0.7 < float(root.attrib["width"]) < width * 1.15
    assert "".join(specification["title"]["text"]) in texts(specification)


@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_without_data_says_so(chart: str) -> None:
    """No axes without points: a sentence instead."""
    assert any(text.startswith("No ") for text in texts(CHARTS[chart](samples.nothing_known(), frame.WIDE, "white")))


def test_conditions_are_under_every_title() -> None:
    """Work, connections and machine; a chart that travels alone still says under what it holds."""
    expected = "blocking, cpu_time_ms 20, clock cpu; connections: new; laptop, 4 cores"
    for chart in CHARTS.values():
        assert chart(samples.mixed(), frame.WIDE, "white")["title"]["subtitle"] == [expected]
    assert frame.conditions(samples.empty()) == "conditions unknown"
