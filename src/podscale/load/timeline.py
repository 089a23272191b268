"""What a stage answered in each of its seconds, its form on the wire, and how the workers add up. Pure.

Latencies fall into classes that are 2 % wide: a quantile of one second is within 1 % and takes few bytes. The figures
of the whole window are exact to three digits, see recorder.py.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypedDict

from podscale.contract import TimelineReport

# A long stage has longer steps instead of more of them; what comes this many steps after the first is not kept.
STEPS = 120
MOST_STEPS = 2 * STEPS
_WIDTH = math.log(1.02)


class Step(TypedDict):
    """One step: its number from the window's opening (below 0: warm-up), failures, and classes with their counts."""

    number: int
    failures: int
    times: list[tuple[int, int]]


class Timeline:
    """Good answers and failures by when they ended.

    Args:
        started_at: when arrivals start, in seconds since the epoch.
        measure_at: when the window opens.
        end_at: when it closes.
    """

    def __init__(self, *, started_at: float, measure_at: float, end_at: float) -> None:
        self.step_seconds = step_seconds(end_at - started_at)
        self._measure_at = measure_at
        self._first = first_step(measure_at - started_at, self.step_seconds)
        self._failures: Counter[int] = Counter()
        self._times: dict[int, Counter[int]] = {}

    def answered(self, ended_at: float, latency_seconds: float) -> None:
        """A good answer, with its time since it was due."""
        if (number := self._number(ended_at)) is not None:
            self._times.setdefault(number, Counter())[_class_of(latency_seconds)] += 1

    def failed(self, ended_at: float) -> None:
        """A failure."""
        if (number := self._number(ended_at)) is not None:
            self._failures[number] += 1

    def steps(self) -> list[Step]:
        """All steps with something in them, for a message."""
        return [
            {"number": number, "failures": self._failures[number], "times": list(self._times.get(number, {}).items())}
            for number in sorted({*self._failures, *self._times})
        ]

    def _number(self, at: float) -> int | None:
        number = math.floor((at - self._measure_at) / self.step_seconds)
        return number if self._first <= number < self._first + MOST_STEPS else None


def timeline_report(
    workers: Iterable[Sequence[Step]], *, warmup_seconds: float, measure_seconds: float
) -> TimelineReport | None:
    """All workers together, every step from the first on; None where nothing was answered and nothing failed."""
    failures: Counter[int] = Counter()
    times: dict[int, Counter[int]] = {}
    for step in (step for steps in workers for step in steps):
        failures[step["number"]] += step["failures"]
        classes = times.setdefault(step["number"], Counter())
        for number, count in step["times"]:
            classes[number] += count
    if not times:
        return None
    seconds = step_seconds(warmup_seconds + measure_seconds)
    numbers = range(first_step(warmup_seconds, seconds), max(times) + 1)
    counted = [times.get(number, Counter()) for number in numbers]
    return {
        "start_seconds": numbers[0] * seconds,
        "step_seconds": seconds,
        "answers": [classes.total() for classes in counted],
        "failures": [failures[number] for number in numbers],
        "p50_seconds": [_quantile(classes, 50) for classes in counted],
        "p99_seconds": [_quantile(classes, 99) for classes in counted],
    }


def step_seconds(stage_seconds: float) -> float:
    """How long a step is: whole seconds, and as few as keep the stage within STEPS steps."""
    # Workers subtract times of the epoch, which are exact to less than a microsecond; the master has the order's.
    return float(max(1, math.ceil(round(stage_seconds, 3) / STEPS)))


def first_step(warmup_seconds: float, seconds: float) -> int:
    """The number of the step that arrivals start in."""
    return -math.ceil(round(warmup_seconds, 3) / seconds)


def _class_of(seconds: float) -> int:
    return round(math.log(max(seconds, 1e-6)) / _WIDTH)


def _quantile(classes: Counter[int], percent: float) -> float | None:
    """The time at rank round(percent * count / 100), as the histograms have it."""
    rank, passed = max(int(percent * classes.total() / 100 + 0.5), 1), 0
    for number in sorted(classes):
        passed += classes[number]
        if passed >= rank:
            return float(f"{math.exp(number * _WIDTH):.3g}")
    return None
