"""Writes the report of the articles' rows into a folder."""

from pathlib import Path

from podscale.report import frame, style
from podscale.report.reproduction.charts import picture
from podscale.report.reproduction.page import reproduction_page
from podscale.report.writer import PAGE_FILE
from podscale.sweep.reproduce.results import Reproduction


def write(result: Reproduction, folder: Path) -> list[Path]:
    """Write `report.html`, and a picture of each row as PNG and SVG; returns the paths, the page first."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / PAGE_FILE]
    written[0].write_text(reproduction_page(result), encoding="utf-8")
    for row in result.rows:
        specification = picture(row, frame.WIDE, "white")
        for suffix, content in ((".png", style.png(specification)), (".svg", style.svg(specification).encode())):
            path = folder / f"{row.row}{suffix}"
            path.write_bytes(content)
            written.append(path)
    return written
