"""Tests of the terminal's tables of rows."""

import io

from rich.console import Console, RenderableType

from podscale.report.reproduction import terminal
from tests.report.reproduction import samples


def printed(renderable: RenderableType) -> str:
    """What a terminal of 80 columns shows."""
    console = Console(file=io.StringIO(), width=80)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert all(len(line) <= 80 for line in text.splitlines())
    return text


def test_every_claim_stands_beside_the_articles_ratio() -> None:
    """One line for each claim, its bounds, whether it holds; below it the figures and why a stage does not count."""
    text = printed(terminal.results(samples.mixed()))
    line = next(line for line in text.splitlines() if line.startswith("blocking"))
    assert line.split() == ["blocking", "the", "last", "takes", "three", "jobs", "2.7", "3", "2.8", "to", "3.4", "yes"]
    assert "first 10 s, median 20 s, last 30 s, cores 0.967" in text
    assert "2.0 of 2 cores busy" in text
    assert "2 of 4 rows hold; not: worker; not known: primes." in text


def test_cores_of_different_speed_are_named() -> None:
    """A claim that they decide has a question mark, and a line with both figures below."""
    text = printed(terminal.results(samples.uneven()))
    assert next(line for line in text.splitlines() if line.startswith("primes")).split()[-1] == "?"
    assert "the same answer cost 1.25 times as much CPU" in " ".join(text.split())
    assert "At equal cost the ratio would be 2." in " ".join(text.split())
    assert "0 of 1 rows hold; not known: primes." in text


def test_a_run_without_rows_says_so() -> None:
    """No empty table."""
    assert "No row was measured." in printed(terminal.results(samples.empty()))


def test_markup_in_a_text_is_shown_and_not_obeyed() -> None:
    """A host's name may be anything."""
    assert "<script>" in printed(terminal.results(samples.hostile()))
