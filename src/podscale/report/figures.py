"""Figures that follow from a result: shared by charts, page and terminal, so that all three say the same."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from podscale.analysis import words
from podscale.analysis.queueing import random_choice_quantile, shared_queue_quantile
from podscale.sweep.results import Result, Stage

UNKNOWN_POD = "unknown"


@dataclass(frozen=True)
class Theory:
    """The p99 that queueing gives for a goal stage, in seconds; infinite where no queue settles."""

    random_choice_seconds: float
    shared_queue_seconds: float


def instances(stage: Stage) -> str:
    """What was scaled: "2 pods", "1 worker"."""
    return words.pods(stage.size) if stage.topology == "pods" else words.pods(stage.size).replace("pod", "worker")


def name(stage: Stage) -> str:
    """A stage in words: "2 pods, repeat 1" for capacity, "2 pods, goal" for the goal."""
    repeat = f"repeat {stage.repeat}" if stage.purpose == "capacity" or stage.repeat > 1 else ""
    return ", ".join(filter(None, [instances(stage), "goal" if stage.purpose == "goal" else "", repeat]))


def in_order(stages: Sequence[Stage]) -> list[Stage]:
    """For reading: capacity before goal, by size and repeat. They were measured in random order."""
    return sorted(stages, key=lambda stage: (stage.purpose, stage.topology, stage.size, stage.repeat))


def load(stage: Stage) -> str:
    """The load that was asked for: "closed, 32 users" or "open, 104/s constant"."""
    asked = stage.asked
    if asked.model == "closed":
        return "closed, users unknown" if asked.users is None else f"closed, {asked.users:,} users"
    rate = "rate unknown" if asked.rate_per_second is None else f"{words.number(asked.rate_per_second)}/s"
    return f"open, {rate} {asked.arrivals or ''}".strip()


def capacity_by_size(result: Result, topology: str = "pods") -> dict[int, float]:
    """Mean throughput per second of the valid capacity stages, by size."""
    rates: dict[int, list[float]] = {}
    for stage in result.stages:
        if stage.purpose == "capacity" and stage.topology == topology and stage.valid and stage.throughput_per_second:
            rates.setdefault(stage.size, []).append(stage.throughput_per_second)
    return {size: fmean(values) for size, values in sorted(rates.items())}


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
    """Answers by pod, the silent pods with 0; empty where no answer named its pod."""
    counts = {pod: count for pod, count in stage.requests_by_pod.items() if pod != UNKNOWN_POD}
    silent = stage.size - len(counts) if counts else 0
    return counts | {f"silent pod {index + 1}": 0 for index in range(silent)}


def busiest_over_mean(stage: Stage) -> float | None:
    """Requests of the busiest pod over the mean of all: 1 is even."""
    counts = requests_by_pod(stage).values()
    return max(counts) * len(counts) / sum(counts) if sum(counts) else None


def verdict(code: str) -> str:
    """A verdict's code in words: "pods_limit" is "pods limit"."""
    return code.replace("_", " ")


def verdicts(stage: Stage) -> str:
    """All verdicts of a stage in words."""
    return ", ".join(verdict(found.code) for found in stage.verdicts) or "none"
