"""Tests of a run of rows with pretended pods and load; the real ones are in tests/e2e."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podscale.sweep.locust import LocustError
from podscale.sweep.measure import Interrupted
from podscale.sweep.reproduce import results
from podscale.sweep.reproduce.plan import make_reproduce_plan
from podscale.sweep.reproduce.run import Reproduce
from podscale.sweep.results import ResultError
from podscale.sweep.topologies import Base
from tests.sweep.test_compare import PretendedArrangedLoad, PretendedArranger
from tests.sweep.test_run import Watcher


class Places(PretendedArrangedLoad):
    """Remembers what stood when each order came."""

    def run(self, order: Any, on_report: Callable[[Any], None]) -> Any:
        report = super().run(order, on_report)
        assert self.arranger.budget is not None
        self.seen = [*getattr(self, "seen", []), (order["scenario"], self.arranger.budget.processes)]
        return report


def run_of(folder: Path, *rows: str, plot: Callable[[int], None] = lambda _: None) -> tuple[Reproduce, Places, Watcher]:
    """A run on pretended pods of a core each, four at most."""
    watcher = Watcher()
    load = Places(PretendedArranger(Base()), plot)
    plan = make_reproduce_plan(cores=4, base=Base(), rows=rows, quick=True)
    return Reproduce(plan, load.arranger, load, folder=folder, observer=watcher), load, watcher


def test_rows_are_measured_step_by_step_and_kept(tmp_path: Path) -> None:
    """Each step has its own users and its own arrangement; file, observer and result say the same."""
    run, load, watcher = run_of(tmp_path, "primes", "timestamp")
    found = run.run()
    assert load.seen == [("Timestamp", 1), ("Timestamp", 4), ("Primes", 1), ("Primes", 4)]
    assert [row.row for row in found.rows] == ["timestamp", "primes"]
    primes = found.rows[1]
    assert (primes.ratio, primes.holds) == (4.0, True)
    assert (found.quick, found.n, found.aborted) == (True, 4, None)
    assert results.load(tmp_path) == found
    assert watcher.ended == [stage for row in found.rows for stage in row.stages]
    assert load.closed
    assert load.arranger.closed


def test_the_killed_process_is_killed_in_its_own_row(tmp_path: Path) -> None:
    """Its stage has a recovery; nobody is killed in another row."""
    run, _, _ = run_of(tmp_path, "cluster", "restart")
    cluster, restart = run.run().rows
    assert cluster.stages[0].recovery is None
    assert restart.stages[0].asked.rate_per_second == pytest.approx(80.0)


def test_a_void_stage_is_measured_once_more_and_kept(tmp_path: Path) -> None:
    """The load breaks in the first of two stages: measured again it counts, and the void one is in the result too."""

    def plot(number: int) -> None:
        if number == 1:
            raise LocustError("the Locust master does not answer")

    run, load, watcher = run_of(tmp_path, "primes", plot=plot)
    (row,) = run.run().rows
    assert len(load.orders) == 3
    assert (row.ratio, row.holds) == (4.0, True)
    assert [stage.valid for stage in (*row.void, *row.stages)] == [False, True, True]
    assert len(watcher.planned_stages) == 3


def test_what_is_void_twice_stays_unknown(tmp_path: Path) -> None:
    """No third time, and no figure."""

    def plot(number: int) -> None:
        if number <= 2:
            raise LocustError("the Locust master does not answer")

    run, load, _ = run_of(tmp_path, "primes", plot=plot)
    (row,) = run.run().rows
    assert len(load.orders) == 3
    assert row.holds is None
    assert row.measured["one pod"]["throughput"] is None


def test_what_was_measured_before_an_interruption_is_kept(tmp_path: Path) -> None:
    """The second of two stages is broken off: the first has its figures, the row is not decided, pods are put back."""

    def plot(number: int) -> None:
        if number == 2:
            raise Interrupted("SIGINT")

    run, load, _ = run_of(tmp_path, "primes", "restart", plot=plot)
    found = run.run()
    assert found.aborted == "SIGINT"
    assert [row.row for row in found.rows] == ["primes"]
    assert found.rows[0].measured["one pod"]["throughput"] == 20.0
    assert found.rows[0].measured["n pods"]["throughput"] is None
    assert found.rows[0].holds is None
    assert results.load(tmp_path) == found
    assert load.arranger.closed


def test_a_file_that_is_none_of_ours_is_refused(tmp_path: Path) -> None:
    """Missing, something else, or of another version: which file, and what is wrong with it."""
    with pytest.raises(ResultError, match=r"no reproduce.json in .*podscale reproduce writes it"):
        results.load(tmp_path)
    (tmp_path / results.RESULT_FILE).write_text("[]")
    with pytest.raises(ResultError, match="is not a result of podscale reproduce"):
        results.load(tmp_path)
    run_of(tmp_path, "cluster")[0].run()
    text = (tmp_path / results.RESULT_FILE).read_text()
    (tmp_path / results.RESULT_FILE).write_text(text.replace('"schema_version": 1', '"schema_version": 9'))
    with pytest.raises(ResultError, match="schema version 9"):
        results.load(tmp_path)
