"""Writes the report of a result into a folder."""

from pathlib import Path

from podscale.report import comparison, frame, style
from podscale.report.charts import CHARTS, Chart
from podscale.report.comparison.charts import CHARTS as COMPARISON_CHARTS
from podscale.report.comparison.page import comparison_page
from podscale.report.page import page
from podscale.sweep.results import Result

PAGE_FILE = "report.html"
# The balance chart is in the page alone.
PICTURES: dict[str, Chart] = {name: CHARTS[name] for name in ("scaling", "latency")}


def write(result: Result, folder: Path) -> list[Path]:
    """Write `report.html`, and its pictures as PNG and SVG; returns the paths, the page first.

    Any result can be written: one without stages, without a valid stage, or aborted. What is missing is said.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / PAGE_FILE]
    compared = comparison.is_one(result)
    written[0].write_text(comparison_page(result) if compared else page(result), encoding="utf-8")
    for name, chart in (COMPARISON_CHARTS if compared else PICTURES).items():
        specification = chart(result, frame.WIDE, "white")
        for suffix, content in ((".png", style.png(specification)), (".svg", style.svg(specification).encode())):
            path = folder / f"{name}{suffix}"
            path.write_bytes(content)
            written.append(path)
    return written
