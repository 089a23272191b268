"""What a comparison says of each topology at each size, over its repeats: shared by charts, page and terminal."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from podscale.analysis import words
from podscale.report import cells, figures
from podscale.sweep.results import Budget, Recovery, Result, Stage, TopologyName

ORDER: tuple[TopologyName, ...] = ("workers", "pods", "pods-unlimited", "pods-large")
ARRIVALS = {"constant": "constant", "poisson": "Poisson"}

Figure = Callable[[Stage], float | None]


@dataclass(frozen=True)
class Spread:
    """Mean of the valid repeats, the least and the most of them, and how many there are."""

    mean: float
    low: float
    high: float
    count: int

    def shown(self, scale: float = 1.0, *, between: bool = True) -> str:
        """The mean, with the least and the most in brackets where there are several: "54 (52 to 55)"."""
        mean = words.number(self.mean * scale)
        if self.count < 2 or not between:
            return mean
        return f"{mean} ({words.number(self.low * scale)} to {words.number(self.high * scale)})"


@dataclass(frozen=True)
class Variant:
    """One topology at one size: its budget and its stages."""

    size: int
    topology: TopologyName
    budget: Budget | None
    stages: tuple[Stage, ...]

    def throughput(self) -> Spread | None:
        """The most that it can do, per second."""
        return spread(self._of("capacity"), lambda stage: stage.throughput_per_second)

    def quantile(self, arrivals: str, name: str) -> Spread | None:
        """p50 or p99 in seconds at the offered load."""
        return spread(self._of("load", arrivals), lambda stage: getattr(stage.latency_seconds, name, None))

    def at_load(self, figure: Figure) -> Spread | None:
        """A figure over all stages at the offered load."""
        return spread(self._of("load"), figure)

    def ready_seconds(self) -> Spread | None:
        """From none to all ready, wherever it had to start."""
        return spread(self.stages, lambda stage: stage.ready_seconds)

    def recovery(self) -> Recovery | None:
        """What a killed process cost."""
        return next((stage.recovery for stage in self._of("recovery") if stage.recovery and stage.valid), None)

    def _of(self, purpose: str, arrivals: str | None = None) -> list[Stage]:
        return [stage for stage in self.stages if stage.purpose == purpose and arrivals in {None, stage.asked.arrivals}]


def variants(result: Result) -> list[Variant]:
    """All that was measured, by size and in the order of the topologies."""
    places = sorted({(stage.size, ORDER.index(stage.topology)) for stage in result.stages})
    return [_variant(result, size, ORDER[index]) for size, index in places]


def sizes(result: Result) -> list[int]:
    """All sizes that were measured."""
    return sorted({stage.size for stage in result.stages})


def rates(result: Result) -> dict[int, float]:
    """The offered load by size."""
    loads = [stage for stage in result.stages if stage.purpose == "load"]
    return {stage.size: stage.asked.rate_per_second for stage in loads if stage.asked.rate_per_second}


def spread(stages: Iterable[Stage], figure: Figure) -> Spread | None:
    """Over the stages that count and have the figure; None where there is none."""
    values = [value for stage in stages if stage.valid and (value := figure(stage)) is not None]
    return Spread(fmean(values), min(values), max(values), len(values)) if values else None


def shown(found: Spread | None, scale: float = 1.0, *, between: bool = True) -> str:
    """A spread as a table shows it."""
    return cells.UNKNOWN if found is None else found.shown(scale, between=between)


def throttled_fraction(stage: Stage) -> float | None:
    """Share of quota periods in which the kernel stopped a pod."""
    throttled = stage.throttled
    if not throttled.periods or throttled.throttled_periods is None:
        return None
    return throttled.throttled_periods / throttled.periods


def budget(found: Budget | None) -> str:
    """A budget in words: "4 pods of 1 process, 0.25 cores each"."""
    if found is None:
        return cells.UNKNOWN
    processes = f"{found.processes_per_pod} process{'' if found.processes_per_pod == 1 else 'es'}"
    each = " each" if found.pods > 1 else ""
    kind = "limit" if found.limited else "no limit"
    memory = "" if found.memory_bytes_per_pod is None else f", {cells.megabytes(found.memory_bytes_per_pod)} MB"
    cores = f"{words.number(found.cpu_cores_per_pod)} core{'' if found.cpu_cores_per_pod == 1 else 's'}"
    return f"{words.pods(found.pods)} of {processes}, {cores} ({kind}){memory}{each}"


def full_after(found: Recovery | None, stages: Sequence[Stage]) -> str:
    """Seconds until as many processes served as before, or why that is not known."""
    if found is None or found.killed is None:
        return cells.UNKNOWN
    if found.seconds_until_full is not None:
        return words.number(found.seconds_until_full)
    windows = [stage.measured_seconds for stage in stages if stage.purpose == "recovery" and stage.measured_seconds]
    return f"over {words.number(max(windows))}" if windows else cells.UNKNOWN


def _variant(result: Result, size: int, topology: TopologyName) -> Variant:
    stages = [stage for stage in figures.in_order(result.stages) if (stage.size, stage.topology) == (size, topology)]
    return Variant(size, topology, next((stage.budget for stage in stages), None), tuple(stages))
