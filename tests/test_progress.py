"""Tests of the lines that a running sweep leaves in the terminal."""

import io

import msgspec
import pytest
from rich.console import Console

from podscale.progress import TerminalObserver
from podscale.sweep.plan import StagePlan
from podscale.sweep.results import Stage
from tests.sweep import builders

THREE = msgspec.structs.replace(builders.stage(1), purpose="burst", requests=3, throughput_per_second=0.0)


@pytest.mark.parametrize(
    ("name", "stage", "line"),
    [
        (None, builders.stage(2), "2 pods"),
        ("primes, n pods", builders.stage(2), "primes, n pods  "),
        ("blocking, three at once", THREE, "3 answers, the last after"),
        (None, builders.stage(1, valid=False, verdicts=[]), "void: unknown"),
    ],
)
def test_a_stage_that_ended_leaves_one_line(name: str | None, stage: Stage, line: str) -> None:
    """Its name where the user knows it by one, else size and load; a burst has answers and no rate; 80 columns."""
    console = Console(width=80, file=io.StringIO(), record=True)
    with TerminalObserver(console, 10) as observer:
        planned = StagePlan(name=name, purpose=stage.purpose, size=stage.size, repeat=1, asked=stage.asked)
        observer.planned([planned])
        observer.started(planned)
        observer.finished(stage)
    text = console.export_text()
    assert line in text
    assert ("0/s" in text) == (stage.purpose != "burst")
    assert len(text.splitlines()) == 1
    assert len(text.strip("\n")) <= 80
