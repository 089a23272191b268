"""Figures that follow from a result: shared by charts, page and terminal, so that all three say the same."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from podscale.analysis import words
from podscale.analysis.intervals import curve_band, mean_interval
from podscale.analysis.queueing import random_choice_quantile, shared_queue_quantile
from podscale.analysis.scaling import Floats, Law
from podscale.sweep.results import Result, Stage

UNKNOWN_POD = "unknown"


@dataclass(frozen=True)
class Theory:
    """The p99 that queueing gives for a goal stage, in seconds; infinite where no queue settles."""

    random_choice_seconds: float
    shared_queue_seconds: float


_INSTANCES = {
    "pods": ("pod", "pods"),
    "workers": ("worker", "workers"),
    "pods-unlimited": ("pod without limit", "pods without limit"),
    "pods-large": ("large pod", "large pods"),
}


def instances(topology: str, size: int) -> str:
    """What was scaled: "2 pods", "1 worker"; large pods are half as many as the size says."""
    count = size // 2 if topology == "pods-large" else size
    return f"{count:,} {_INSTANCES[topology][count != 1]}"


def reasons(result: Result) -> list[str]:
    """What the advice rests on, and how much of the time went into what is not measuring."""
    found = list(result.advice.reasons) if result.advice else []
    if result.overhead_fraction is not None:
        found.append(f"{result.overhead_fraction:.0%} of the time was outside of measuring windows")
    return found


def name(stage: Stage) -> str:
    """A stage in words: "2 pods, repeat 1" for capacity, "2 pods, goal", "2 workers, load constant, repeat 1"."""
    purpose = {"capacity": "", "load": f"load {stage.asked.arrivals or ''}".strip()}.get(stage.purpose, stage.purpose)
    once = stage.purpose in {"goal", "recovery", "burst"} and stage.repeat == 1
    repeat = "" if once else f"repeat {stage.repeat}"
    return ", ".join(filter(None, [instances(stage.topology, stage.size), purpose, repeat]))


def in_order(stages: Sequence[Stage]) -> list[Stage]:
    """For reading: capacity first, by size and repeat. They were measured in random order."""
    return sorted(
        stages,
        key=lambda stage: (stage.purpose, stage.size, stage.topology, stage.asked.arrivals or "", stage.repeat),
    )


def load(stage: Stage) -> str:
    """The load that was asked for: "closed, 32 users" or "open, 104/s constant"."""
    asked = stage.asked
    if asked.model == "closed":
        return "closed, users unknown" if asked.users is None else f"closed, {asked.users:,} users"
    rate = "rate unknown" if asked.rate_per_second is None else f"{words.number(asked.rate_per_second)}/s"
    return f"open, {rate} {asked.arrivals or ''}".strip()


def capacity_by_size(result: Result, topology: str = "pods") -> dict[int, float]:
    """Mean throughput per second of the valid capacity stages, by size."""
    return {size: fmean(values) for size, values in _valid_rates(result, topology).items()}


def capacity_intervals(result: Result) -> dict[int, tuple[float, float]]:
    """Where that mean lies with 95 % confidence, of the sizes with repeats enough to tell."""
    found = {size: mean_interval(values) for size, values in _valid_rates(result, "pods").items()}
    return {size: interval for size, interval in found.items() if interval is not None}


def fit_band(result: Result, at_sizes: Floats) -> tuple[Law, Floats, Floats] | None:
    """Lows and highs of the curve of the fitted law with most coefficients, 95 %; None where there is none to show."""
    fitted = [fit for fit in result.fits if fit.coefficients and fit.law != "linear"]
    rates = _valid_rates(result, "pods")
    if not fitted or not rates:
        return None
    fit = fitted[-1]
    points = [(size, rate) for size, values in rates.items() for rate in values]
    sizes, throughputs = zip(*points, strict=True)
    band = curve_band(fit.law, fit.coefficients or {}, sizes, throughputs, at_sizes)
    return None if band is None else (fit.law, *band)


def _valid_rates(result: Result, topology: str) -> dict[int, list[float]]:
    rates: dict[int, list[float]] = {}
    for stage in result.stages:
        if stage.purpose == "capacity" and stage.topology == topology and stage.valid and stage.throughput_per_second:
            rates.setdefault(stage.size, []).append(stage.throughput_per_second)
    return dict(sorted(rates.items()))


def efficiency(result: Result, stage: Stage) -> float | None:
    """Throughput per pod against that of the smallest valid size: 1 is linear scaling. Of capacity stages only."""
    capacity = capacity_by_size(result, stage.topology)
    if stage.purpose != "capacity" or not capacity or stage.throughput_per_second is None:
        return None
    smallest = min(capacity)
    return stage.throughput_per_second / stage.size / (capacity[smallest] / smallest)


def theory(result: Result, stage: Stage) -> Theory | None:
    """Queueing at the stage's rate, with the capacity measured at its size; None where one of both is unknown."""
    capacity = capacity_by_size(result, stage.topology).get(stage.size)
    per_pod = capacity / stage.size if capacity else result.advice and result.advice.capacity_per_pod_per_second
    asked = stage.asked
    if stage.purpose != "goal" or not per_pod or not asked.rate_per_second:
        return None
    question = (0.99, asked.rate_per_second, 1 / per_pod, stage.size, asked.arrivals or "poisson")
    return Theory(random_choice_quantile(*question), shared_queue_quantile(*question))


def theory_words(seconds: float | None) -> str:
    """A predicted latency: in milliseconds, or why there is none."""
    if seconds is None:
        return "unknown"
    return words.milliseconds(seconds) if math.isfinite(seconds) else "never settles"


def error_count(stage: Stage) -> int | None:
    """Failed requests; None where no requests were counted."""
    return None if stage.requests is None else sum(stage.errors.values())


def error_fraction(stage: Stage) -> float | None:
    """Failed requests of all."""
    failed = error_count(stage)
    return None if failed is None or not stage.requests else failed / stage.requests


def requests_by_pod(stage: Stage) -> dict[str, int]:
    """Answers by pod, the silent pods with 0; empty where no answer named its pod. In a comparison, by process."""
    if stage.budget is None:
        return _shares(stage.requests_by_pod, stage.size, "pod")
    return _shares(stage.requests_by_process, stage.budget.processes, "process")


def busiest_over_mean(stage: Stage) -> float | None:
    """Requests of the busiest pod over the mean of all: 1 is even."""
    counts = requests_by_pod(stage).values()
    return max(counts) * len(counts) / sum(counts) if sum(counts) else None


def _shares(answers: dict[str, int], parts: int, what: str) -> dict[str, int]:
    counts = {name: count for name, count in answers.items() if name != UNKNOWN_POD}
    silent = parts - len(counts) if counts else 0
    return counts | {f"silent {what} {index + 1}": 0 for index in range(silent)}


def throttled_share(stage: Stage) -> float | None:
    """Of the quota periods, those in which pods were stopped; None without a quota."""
    throttled = stage.throttled
    if not throttled.periods or throttled.throttled_periods is None:
        return None
    return throttled.throttled_periods / throttled.periods


def verdict(code: str) -> str:
    """A verdict's code in words: "pods_limit" is "pods limit"."""
    return code.replace("_", " ")


def verdicts(stage: Stage) -> str:
    """All verdicts of a stage in words."""
    return ", ".join(verdict(found.code) for found in stage.verdicts) or "none"
