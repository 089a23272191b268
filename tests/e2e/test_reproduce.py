"""`podscale reproduce` on this machine: every row for real, and what is left when it is broken off."""

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podscale.sweep.reproduce import results
from podscale.sweep.reproduce.results import Reproduction, RowResult
from podscale.sweep.reproduce.rows import ROWS
from tests.e2e.commands import Command, podscale
from tests.e2e.reproducing import rows_of, stands
from tests.processes import wait_until

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    """All rows, quick."""
    out = tmp_path_factory.mktemp("reproduce") / "out"
    with contextlib.ExitStack() as stack:
        command = stack.enter_context(podscale("reproduce", "--quick", "--out", str(out), out=out))
        command.wait(600)
        yield command


@pytest.fixture(scope="module")
def result(quick: Command) -> Reproduction:
    """What it wrote."""
    return results.load(quick.out)


@pytest.fixture(scope="module")
def rows(result: Reproduction, tmp_path_factory: pytest.TempPathFactory) -> dict[str, RowResult]:
    """Its rows, where necessary in full."""

    def in_full(names: list[str]) -> Reproduction:
        out = tmp_path_factory.mktemp("in-full") / "out"
        with podscale("reproduce", *names, "--out", str(out), out=out) as command:
            command.wait(900)
        return results.load(out)

    return rows_of(result, in_full)


@pytest.mark.parametrize("name", ROWS)
def test_every_row_holds_its_claims(rows: dict[str, RowResult], name: str) -> None:
    """Each claim of the table, as the ratio that it is; every figure that the row shows was measured."""
    row = rows[name]
    void = [(step, stage.verdicts) for step, stage in zip(row.steps, row.stages, strict=True) if not stage.valid]
    assert stands(row), (row.claims, void)
    for step, figures in row.measured.items():
        # Two sieves, and a generator that reads their long answers, may be more than two cores can do: no claim is.
        assert None not in figures.values() or (name, step) == ("algorithm", "sieve, n pods"), step
    assert row.why
    assert row.article.headline


def test_the_whole_is_printed_kept_and_drawn(quick: Command, result: Reproduction) -> None:
    """One table within 80 columns, the result, and a page with a picture of each row; exit code 0 if all hold."""
    held = sum(row.holds is True for row in result.rows)
    assert quick.process.returncode == (0 if held == len(ROWS) else 1), quick.stdout
    assert f"{held} of 11 rows hold" in quick.stdout
    assert "quick: jobs and times were shortened" in " ".join(quick.stdout.split())
    assert all(len(line) <= 80 for line in quick.stdout.splitlines() if not line.startswith("Report:"))
    kept: dict[str, Any] = json.loads((quick.out / "reproduce.json").read_text())
    for row in kept["rows"]:
        assert {"row", "target", "article", "claim", "measured", "ratio", "holds", "why"} <= set(row)
        assert (quick.out / f"{row['row']}.png").is_file()
    assert "<svg" in (quick.out / "report.html").read_text()
    assert result.environment["cores"]
    assert not quick.processes()


def test_an_interruption_keeps_what_was_measured(tmp_path: Path) -> None:
    """SIGINT in the second step: exit code 130, the first step's figures are there, and no process is left."""
    out = tmp_path / "out"
    with podscale("reproduce", "memory", "primes", "--quick", "--out", str(out), out=out) as command:
        wait_until((out / "reproduce.json").is_file, 60, "the first step")
        os.kill(command.process.pid, signal.SIGINT)
        assert command.wait(60) == 130, command.stderr
        found = results.load(out)
        assert found.aborted == "SIGINT"
        assert found.rows[0].measured["one pod"]["memory"]
        assert found.rows[0].holds is None
        assert "Ended early: SIGINT" in command.stdout
        assert not command.processes()
