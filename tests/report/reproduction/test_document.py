"""Tests of docs/articles.md, which is made."""

import re
import subprocess
import sys
from pathlib import Path

from podscale.report.reproduction.document import document
from podscale.sweep.reproduce import results
from podscale.sweep.reproduce.rows import ROWS
from tests.report.reproduction import samples

DOCUMENT = Path(__file__).parents[3] / "docs" / "articles.md"


def test_without_a_run_it_has_the_articles_and_no_figure_of_ours() -> None:
    """Every row and route, and the plain word that nothing was recorded."""
    text = document([])
    for row in ROWS.values():
        assert f"| {row.name} | {row.article.system} |" in text
    for route in ("/blocking", "/worker", "/prime ", "/primes", "/timestamp"):
        assert route in text
    assert "No full run" in text
    assert "holds" not in text


def test_a_run_brings_its_table_and_its_environment(tmp_path: Path) -> None:
    """As the command writes it, from the folder of the run."""
    results.save(samples.mixed(), tmp_path)
    command = [sys.executable, "-m", "podscale.report.reproduction", str(tmp_path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert "## Measured: local" in text
    assert "| blocking | the last takes three jobs | 2.7 | 3 | 2.8 to 3.4 | yes |" in text
    assert "| cores | 2 |" in text
    assert "No full run" not in text
    absent = subprocess.run([*command[:-1], "nowhere"], capture_output=True, text=True, check=False, timeout=60)
    assert absent.returncode == 1
    assert absent.stderr.startswith("podscale: no reproduce.json in nowhere")


def test_the_page_in_the_repository_is_as_it_would_be_made_now() -> None:
    """All of it that does not come from a run: rows and routes have not moved on without it."""
    kept = DOCUMENT.read_text()
    made = document([])
    assert kept.startswith(made[: made.index("## Measured")])
    assert re.search(r"^## Measured", kept, re.MULTILINE)
