"""Measured points of a sweep, in plain numbers, and whether a size held a latency goal."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from podscale.analysis import words


@dataclass(frozen=True)
class CapacityPoint:
    """How much `size` pods did when they had more than enough to do."""

    size: int
    throughput_per_second: float | None
    p99_seconds: float | None = None
    valid: bool = True


@dataclass(frozen=True)
class GoalPoint:
    """What `size` pods did at an open rate; None is unknown. `error_fraction` is of all requests of the window.

    `arrived_per_second` is the rate that came in truth (Poisson arrivals are never exactly on the mean), and
    `measured_seconds` the length of the window, for the few requests that stand on its edges.
    """

    size: int
    rate_per_second: float
    p99_seconds: float | None
    error_fraction: float | None
    throughput_per_second: float | None
    valid: bool = True
    arrived_per_second: float | None = None
    measured_seconds: float | None = None


@dataclass(frozen=True)
class GoalRule:
    """What holding a goal means beside its latency."""

    highest_error_fraction: float = 0.001
    lowest_throughput_fraction: float = 0.99


GOAL_RULE = GoalRule()


@dataclass(frozen=True)
class Outcome:
    """Whether a size held the goal in every measurement, and the figure that shows it ("212 ms")."""

    holds: bool
    figure: str


def mean_capacity(points: Sequence[CapacityPoint]) -> dict[int, float]:
    """Mean throughput per second by size, of the valid points."""
    by_size: dict[int, list[float]] = {}
    for point in points:
        if point.valid and point.throughput_per_second:
            by_size.setdefault(point.size, []).append(point.throughput_per_second)
    return {size: fmean(values) for size, values in sorted(by_size.items())}


def interpolated(per_size: dict[int, float], size: int) -> float:
    """Throughput at `size`, on the straight line between its measured neighbours."""
    return float(np.interp(size, list(per_size), list(per_size.values())))


def judge(points: Sequence[GoalPoint], slo_p99_seconds: float | None, rule: GoalRule = GOAL_RULE) -> dict[int, Outcome]:
    """The outcome by size. Void points do not count, and a size holds only if all its points do."""
    outcomes = {}
    for size in sorted({point.size for point in points if point.valid}):
        mine = sorted((point for point in points if point.size == size and point.valid), key=_p99_or_worse)
        misses = [missed for point in mine if (missed := _misses(point, slo_p99_seconds, rule))]
        if not misses:
            outcomes[size] = Outcome(holds=True, figure=_latency(mine[-1]))
            continue
        often = "" if len(misses) == len(mine) else f", in {len(misses)} of {len(mine)} measurements"
        outcomes[size] = Outcome(holds=False, figure=misses[-1] + often)
    return outcomes


def _p99_or_worse(point: GoalPoint) -> float:
    return math.inf if point.p99_seconds is None else point.p99_seconds


def _misses(point: GoalPoint, slo_p99_seconds: float | None, rule: GoalRule) -> str:
    """The first thing that the point missed, with its figure; empty where it held all."""
    checks = (
        _latency_missed(point, slo_p99_seconds),
        _errors_missed(point, rule),
        _throughput_missed(point, slo_p99_seconds, rule),
    )
    return next(filter(None, checks), "")


def _latency_missed(point: GoalPoint, slo_p99_seconds: float | None) -> str:
    return _latency(point) if slo_p99_seconds is not None and _p99_or_worse(point) > slo_p99_seconds else ""


def _errors_missed(point: GoalPoint, rule: GoalRule) -> str:
    if point.error_fraction is None:
        return "errors unknown"
    return f"{point.error_fraction:.2%} errors" if point.error_fraction > rule.highest_error_fraction else ""


def _throughput_missed(point: GoalPoint, slo_p99_seconds: float | None, rule: GoalRule) -> str:
    """Answers fell behind arrivals, by more than the requests that may stand on the edges of the window."""
    if point.throughput_per_second is None:
        return "throughput unknown"
    arrived = point.rate_per_second if point.arrived_per_second is None else point.arrived_per_second
    # Each pod may hold one request at an edge, and an arrival more or less may fall into the window. Where the goal
    # allows requests to wait, as many as arrive in that time may be under way (Little's law).
    waiting = arrived * (slo_p99_seconds or 0.0)
    edge = (point.size + 1 + waiting) / point.measured_seconds if point.measured_seconds else 0.0
    if point.throughput_per_second >= rule.lowest_throughput_fraction * arrived - edge:
        return ""
    return f"only {words.number(point.throughput_per_second)} of {words.per_second(arrived)} answered"


def _latency(point: GoalPoint) -> str:
    return "p99 unknown" if point.p99_seconds is None else words.milliseconds(point.p99_seconds)
