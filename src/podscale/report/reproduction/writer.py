"""Writes the report of the articles' rows into a folder."""

from pathlib import Path

from podscale.report import frame
from podscale.report.reproduction.charts import picture
from podscale.report.reproduction.page import reproduction_page
from podscale.report.writer import write_page
from podscale.sweep.reproduce.results import Reproduction


def write(result: Reproduction, folder: Path) -> list[Path]:
    """Write `report.html`, and a picture of each row as PNG and SVG; returns the paths, the page first."""
    pictures = {row.row: picture(row, frame.WIDE, "white") for row in result.rows}
    return write_page(reproduction_page(result), pictures, folder)
