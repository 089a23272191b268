"""Schedules of arrivals, without any clock."""

import itertools
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podscale.contract import Arrivals
from podscale.load.arrivals import due_times


def _times(arrivals: Arrivals, count: int, *, rate: float, worker: int = 0, workers: int = 1) -> list[float]:
    times = due_times(
        arrivals, started_at=1000.0, rate_per_second=rate, worker=worker, workers=workers, seed=f"x/{worker}"
    )
    return list(itertools.islice(times, count))


@given(st.integers(1, 20), st.floats(0.01, 100_000))
def test_workers_together_are_evenly_spaced(workers: int, rate: float) -> None:
    """The constant schedules of all workers, laid together, are every tick of one clock exactly once."""
    together = sorted(
        due for worker in range(workers) for due in _times("constant", 5, rate=rate, worker=worker, workers=workers)
    )
    assert together == [1000.0 + tick / rate for tick in range(5 * workers)]


def test_a_constant_schedule_does_not_drift() -> None:
    """After a day at 1,000/3 a second it is where it should be."""
    rate = 1000 / 3
    last = next(
        itertools.islice(
            due_times("constant", started_at=0, rate_per_second=rate, worker=0, workers=1, seed=""), 28_800_000, None
        )
    )
    assert last == pytest.approx(86_400, abs=1e-6)


def test_chance_arrivals_are_independent_exponential_gaps() -> None:
    """Mean and standard deviation of the gaps are both one over the worker's share of the rate."""
    times = _times("poisson", 20_000, rate=400, worker=1, workers=4)
    gaps = [after - before for before, after in itertools.pairwise([1000.0, *times])]
    assert statistics.mean(gaps) == pytest.approx(0.01, rel=0.05)
    assert statistics.pstdev(gaps) == pytest.approx(0.01, rel=0.05)
    assert min(gaps) > 0


def test_chance_arrivals_are_repeatable_and_differ_between_workers() -> None:
    """The same seed draws the same times, another worker others."""
    assert _times("poisson", 10, rate=5) == _times("poisson", 10, rate=5)
    assert _times("poisson", 10, rate=5, workers=2) != _times("poisson", 10, rate=5, worker=1, workers=2)
