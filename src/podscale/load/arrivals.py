"""When visits are due: pure schedules that know nothing of the server, shared out over the workers."""

import itertools
import random
from collections.abc import Iterator

from podscale.contract import Arrivals


def due_times(
    arrivals: Arrivals, *, started_at: float, rate_per_second: float, worker: int, workers: int, seed: str
) -> Iterator[float]:
    """Endless due times of one worker, in seconds of the clock that `started_at` is taken from.

    Args:
        arrivals: constant or poisson.
        started_at: when the schedule begins.
        rate_per_second: of all workers together, above 0.
        worker: index of this worker, 0 to workers - 1.
        workers: how many share the rate.
        seed: makes a Poisson schedule repeatable; workers must not share it.
    """
    if arrivals == "constant":
        return constant_times(started_at, rate_per_second, worker, workers)
    return poisson_times(started_at, rate_per_second / workers, seed)


def constant_times(started_at: float, rate_per_second: float, worker: int, workers: int) -> Iterator[float]:
    """Every `workers`-th tick of one common clock, so that all workers together are evenly spaced.

    Each time is computed from its number: a sum of gaps would drift by its rounding errors.
    """
    return (started_at + tick / rate_per_second for tick in itertools.count(worker, workers))


def poisson_times(started_at: float, rate_per_second: float, seed: str) -> Iterator[float]:
    """Independent exponential gaps. Poisson processes add up to a Poisson process, so each worker draws its own."""
    draw = random.Random(seed)
    due = started_at
    while True:
        due += draw.expovariate(rate_per_second)
        yield due
