"""Writes the report of a result into a folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from podscale.report import comparison, frame, style
from podscale.report.charts import CHARTS, Chart
from podscale.report.comparison.charts import CHARTS as COMPARISON_CHARTS
from podscale.report.comparison.page import comparison_page
from podscale.report.page import page
from podscale.sweep.results import Result, writing_into

PAGE_FILE = "report.html"
# The balance chart is in the page alone.
PICTURES: dict[str, Chart] = {name: CHARTS[name] for name in ("scaling", "latency")}


def write(result: Result, folder: Path) -> list[Path]:
    """Write `report.html`, and its pictures as PNG and SVG; returns the paths, the page first.

    Any result can be written: one without stages, without a valid stage, or aborted. What is missing is said.
    """
    compared = comparison.is_one(result)
    charts = COMPARISON_CHARTS if compared else PICTURES
    return write_page(
        comparison_page(result) if compared else page(result),
        {name: chart(result, frame.WIDE, "white") for name, chart in charts.items()},
        folder,
    )


def write_page(html: str, pictures: Mapping[str, dict[str, Any]], folder: Path) -> list[Path]:
    """Write a page, and its pictures by their names; returns the paths, the page first. Raises ResultError."""
    written = [folder / PAGE_FILE]
    with writing_into(folder):
        folder.mkdir(parents=True, exist_ok=True)
        written[0].write_text(html, encoding="utf-8")
        for name, specification in pictures.items():
            for suffix, content in ((".png", style.png(specification)), (".svg", style.svg(specification).encode())):
                path = folder / f"{name}{suffix}"
                path.write_bytes(content)
                written.append(path)
    return written
