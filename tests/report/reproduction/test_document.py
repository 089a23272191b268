"""Tests of docs/articles.md, which is made."""

import subprocess
import sys
from pathlib import Path

from podscale.report.reproduction.document import document
from podscale.sweep.reproduce import results
from podscale.sweep.reproduce.rows import ROWS
from tests.report.reproduction import samples

DOCUMENT = Path(__file__).parents[3] / "docs" / "articles.md"
RUNS = DOCUMENT.with_suffix("")


def test_without_a_run_it_has_the_articles_and_no_figure_of_ours() -> None:
    """Every row and route, and the plain word that nothing was recorded."""
    text = document([])
    for row in ROWS.values():
        assert f"### {row.name}\n\nThe article: {row.article.system} Headline: {row.article.headline}." in text
        assert row.why in text
    for route in ("/blocking", "/worker", "/prime ", "/primes", "/timestamp"):
        assert route in text
    assert "No full run" in text
    assert "wanted" not in text


def test_runs_bring_their_tables_and_environments(tmp_path: Path) -> None:
    """As the command writes it from the folders of runs: one column for each; what a run does not have is said."""
    results.save(samples.mixed(), tmp_path)
    command = [sys.executable, "-m", "podscale.report.reproduction", str(tmp_path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert "| the last takes three jobs | 3 | 2.8 to 3.4 | yes |" in text
    assert "| [blocking](#blocking) | the last takes three jobs | 2.7 | 3 (wanted 2.8 to 3.4: yes) |" in text
    assert "| [restart](#restart) | all processes serve again within 10 s | none | not measured |" in text
    assert "- one machine, n = 2: not measured" in text
    assert "| cores | 2 |" in text
    assert "No full run" not in text
    absent = subprocess.run([*command[:-1], "nowhere"], capture_output=True, text=True, check=False, timeout=60)
    assert absent.returncode == 1
    assert absent.stderr.startswith("podscale: no reproduce.json in nowhere")


def test_the_page_in_the_repository_is_as_it_would_be_made_now() -> None:
    """Made from the runs that are kept beside it: one of each target, whole, and not quick."""
    runs = [results.load(folder) for folder in sorted(RUNS.iterdir())]
    assert DOCUMENT.read_text() == document(runs)
    assert {run.rows[0].target for run in runs} == {"local", "kubernetes"}
    for run in runs:
        assert [row.row for row in run.rows] == list(ROWS)
        assert not run.quick
        assert not run.aborted
