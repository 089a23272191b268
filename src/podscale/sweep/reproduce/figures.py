"""The figures that rows speak of, each read from one measured stage. Pure. None where the stage does not have it."""

import math
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from podscale.analysis.queueing import random_choice_quantile, shared_queue_quantile
from podscale.contract import Model
from podscale.sweep.reproduce.row import FigureName
from podscale.sweep.results import Latency, Stage


class Figure(msgspec.Struct, frozen=True):
    """What it is, its unit as shown, and where it comes from. In `reproduce.json` it is in base units.

    `model`: the only model that it makes sense in; a stage of the other one does not have it at all.
    `by_cost`: the power of an answer's CPU time that it goes with: -1 for a rate of answers, 1 for the time of work.
    """

    says: str
    unit: str
    read: Callable[[Stage], float | None]
    model: Model | None = None
    by_cost: Literal[-1, 0, 1] = 0


def figures_of(stage: Stage, names: tuple[FigureName, ...]) -> dict[FigureName, float | None]:
    """These figures of a stage; of one that does not count there are none."""
    here = [name for name in names if FIGURES[name].model in {None, stage.asked.model}]
    return {name: FIGURES[name].read(stage) if stage.valid else None for name in here}


def cost_seconds(stage: Stage) -> float | None:
    """CPU time of one answer; in a burst, whose window says nothing, over the whole stage."""
    if stage.purpose != "burst":
        return stage.cpu_seconds_per_request
    return stage.total_cpu_seconds / stage.requests if stage.total_cpu_seconds and stage.requests else None


def _throughput(stage: Stage) -> float | None:
    return stage.throughput_per_second


def _capacity(stage: Stage) -> float | None:
    """Of so many processes with a core each, by the CPU that one answer takes."""
    cost = stage.cpu_seconds_per_request
    return None if not cost else stage.size / cost


def _job(stage: Stage) -> float | None:
    """What one takes on its own. A quota stretches CPU time, and not the time of day."""
    asked, budget = stage.asked.options.get("cpu_time_ms"), stage.budget
    if asked is None:
        return None
    quota = budget is not None and budget.limited and stage.asked.options.get("clock") == "cpu"
    return float(asked) / 1000 / (min(1.0, budget.cpu_cores_per_pod) if quota and budget else 1.0)


def _first(stage: Stage) -> float | None:
    """Of three: what is left of their sum without the second and the last."""
    latency = stage.latency_seconds
    if latency is None or stage.requests != 3 or stage.errors:
        return None
    return 3 * latency.mean - latency.p50 - latency.max


def _quantile(name: str) -> Callable[[Stage], float | None]:
    def read(stage: Stage) -> float | None:
        latency: Latency | None = stage.latency_seconds
        return None if latency is None else float(getattr(latency, name))

    return read


def _p99_by_queueing(stage: Stage) -> float | None:
    """At the same rate, and work that no quota holds up: pods are chosen at random, workers share a queue.

    None if no queue would settle.
    """
    work, asked, budget = stage.asked.options.get("cpu_time_ms"), stage.asked, stage.budget
    if work is None or not asked.rate_per_second or budget is None:
        return None
    quantile = shared_queue_quantile if budget.processes_per_pod > 1 else random_choice_quantile
    arrivals = asked.arrivals or "poisson"
    found = quantile(0.99, asked.rate_per_second, float(work) / 1000, budget.processes, arrivals)
    return found if math.isfinite(found) else None


def _last(stage: Stage) -> float | None:
    """Only if all came back: else the last one is not known."""
    latency = stage.latency_seconds
    return None if latency is None or stage.errors else latency.max


def _cores(stage: Stage) -> float | None:
    """On average from the first request to the last answer."""
    last = _last(stage)
    return None if not last or stage.total_cpu_seconds is None else stage.total_cpu_seconds / last


def _memory(stage: Stage) -> float | None:
    return stage.memory_bytes


def _unevenness(stage: Stage) -> float | None:
    counts = _counts(stage)
    return max(counts) * stage.size / sum(counts) if counts else None


def _processes(stage: Stage) -> float | None:
    return len(_counts(stage)) or None


def _until_full(stage: Stage) -> float | None:
    return stage.recovery.seconds_until_full if stage.recovery else None


def _failed(stage: Stage) -> float | None:
    return stage.recovery.failed_requests if stage.recovery else None


def _counts(stage: Stage) -> list[int]:
    return [count for name, count in stage.requests_by_process.items() if name != "unknown"]


FIGURES: Mapping[FigureName, Figure] = {
    "throughput": Figure("good answers a second", "/s", _throughput, by_cost=-1),
    "capacity": Figure("answers a second that the CPU of all processes allows", "/s", _capacity),
    "job": Figure("one job", "s", _job),
    "first": Figure("the first answer", "s", _first),
    "median": Figure("the median answer", "s", _quantile("p50")),
    "mean": Figure("the mean answer", "s", _quantile("mean")),
    "p99": Figure("99 of 100 answers", "s", _quantile("p99")),
    "p99_by_queueing": Figure("what queueing alone gives for it, without a quota", "s", _p99_by_queueing, model="open"),
    "last": Figure("the last answer", "s", _last, by_cost=1),
    "cores": Figure("cores used until the last answer", "", _cores),
    "memory": Figure("memory", "B", _memory),
    "unevenness": Figure("the busiest process over the mean", "", _unevenness),
    "processes": Figure("processes that answered", "", _processes),
    "until_full": Figure("from the kill until all served again", "s", _until_full),
    "failed": Figure("requests that failed", "", _failed),
}
