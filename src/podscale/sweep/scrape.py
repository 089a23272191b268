"""Reads what the pods count of themselves: their /metrics pages, and differences between two readings."""

import time
from collections.abc import Iterable, Mapping, Sequence

import httpx
import msgspec
from prometheus_client.parser import text_string_to_metric_families

from podscale import contract
from podscale.sweep.results import Throttled

# The pod answers its admin port within a second even under full load; more is a fault worth knowing.
SCRAPE_TIMEOUT_SECONDS = 5


class PodReading(msgspec.Struct, frozen=True, kw_only=True):
    """Counters of one pod at one moment. None is unknown."""

    pod: str
    at_seconds: float  # time.monotonic; of counters with times of their own seconds since the epoch
    alive: bool = True  # whether it answered, or is known to run
    requests: float | None = None
    in_progress: float | None = None
    queue_seconds_sum: float | None = None
    queue_seconds_count: float | None = None
    cpu_seconds: float | None = None
    cpu_limit_cores: float | None = None  # inf where there is no limit
    periods: float | None = None
    throttled_periods: float | None = None
    throttled_seconds: float | None = None
    memory_bytes: float | None = None
    workers_lost: float | None = None  # None also of a pod of one process


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What all pods together used between two readings. None where one pod's value is unknown."""

    seconds: float
    requests: int | None = None
    cpu_seconds: float | None = None
    cpu_seconds_per_request: float | None = None
    cpu_limit_cores: float | None = None
    mean_queue_seconds: float | None = None
    throttled: Throttled = Throttled()
    memory_bytes: int | None = None
    workers_lost: int | None = None


# Our metric -> field of a PodReading; several series of one name add up.
_FIELDS: Mapping[str, str] = {
    contract.REQUESTS: "requests",
    contract.IN_PROGRESS: "in_progress",
    f"{contract.QUEUE_SECONDS}_sum": "queue_seconds_sum",
    f"{contract.QUEUE_SECONDS}_count": "queue_seconds_count",
    contract.CGROUP_CPU_SECONDS: "cpu_seconds",
    contract.CGROUP_CPU_LIMIT_CORES: "cpu_limit_cores",
    contract.CGROUP_PERIODS: "periods",
    contract.CGROUP_THROTTLED_PERIODS: "throttled_periods",
    contract.CGROUP_THROTTLED_SECONDS: "throttled_seconds",
    contract.CGROUP_MEMORY_BYTES: "memory_bytes",
    contract.WORKERS_LOST: "workers_lost",
}


def scrape(pod: str, admin_url: str, client: httpx.Client) -> PodReading:
    """Read one pod; what cannot be read is None."""
    try:
        answer = client.get(admin_url + contract.METRICS, timeout=SCRAPE_TIMEOUT_SECONDS)
        answer.raise_for_status()
    except httpx.HTTPError:
        return PodReading(pod=pod, at_seconds=time.monotonic(), alive=False)
    return parse(pod, answer.text, time.monotonic())


def parse(pod: str, text: str, at_seconds: float) -> PodReading:
    """A reading from the Prometheus text format."""
    values: dict[str, float] = {}
    # The parser is thorough and slow: it gets the few lines that are asked for. Sixty-four pods are read at once.
    wanted = "\n".join(line for line in text.splitlines() if line.startswith(tuple(_FIELDS)))
    for family in text_string_to_metric_families(wanted + "\n"):
        for sample in family.samples:
            field = _FIELDS.get(sample.name)
            if field is not None:
                values[field] = values.get(field, 0.0) + sample.value
    if contract.IN_PROGRESS in text:
        # A counter with labels has no series before its first request: that is a known 0.
        values.setdefault("requests", 0.0)
    return msgspec.structs.replace(PodReading(pod=pod, at_seconds=at_seconds), **values)


def usage(before: Sequence[PodReading], after: Sequence[PodReading]) -> Usage:
    """What happened between two readings of the same pods."""
    start = {reading.pod: reading for reading in before}
    pairs = [(start[reading.pod], reading) for reading in after if reading.pod in start]
    if not pairs or len(pairs) != len(before):
        return Usage(seconds=0.0)
    requests = _delta(pairs, "requests")
    seconds = sum(last.at_seconds - first.at_seconds for first, last in pairs) / len(pairs)
    cpu_seconds = _over(pairs, "cpu_seconds", seconds)
    queue_sum, queue_count = _delta(pairs, "queue_seconds_sum"), _delta(pairs, "queue_seconds_count")
    return Usage(
        seconds=seconds,
        requests=None if requests is None else round(requests),
        cpu_seconds=cpu_seconds,
        cpu_seconds_per_request=cpu_seconds / requests if cpu_seconds is not None and requests else None,
        cpu_limit_cores=_total(last.cpu_limit_cores for _, last in pairs),
        mean_queue_seconds=queue_sum / queue_count if queue_sum is not None and queue_count else None,
        throttled=Throttled(
            periods=_whole(_delta(pairs, "periods")),
            throttled_periods=_whole(_delta(pairs, "throttled_periods")),
            seconds=_delta(pairs, "throttled_seconds"),
        ),
        memory_bytes=memory([last for _, last in pairs]),
        workers_lost=_whole(_delta(pairs, "workers_lost")),
    )


def memory(readings: Sequence[PodReading]) -> int | None:
    """Bytes of all pods together, by the last reading of each."""
    last = {reading.pod: reading.memory_bytes for reading in readings}
    return _whole(_total(last.values())) if last else None


def _over(pairs: Sequence[tuple[PodReading, PodReading]], field: str, seconds: float) -> float | None:
    """What all pods together used in `seconds`, at the pace of each between its own two readings."""
    spans = [last.at_seconds - first.at_seconds for first, last in pairs]
    deltas = [_delta([pair], field) for pair in pairs]
    if None in deltas or min(spans) <= 0:
        return None
    return sum((delta or 0.0) / span for delta, span in zip(deltas, spans, strict=True)) * seconds


def _delta(pairs: Sequence[tuple[PodReading, PodReading]], field: str) -> float | None:
    firsts = [getattr(first, field) for first, _ in pairs]
    lasts = [getattr(last, field) for _, last in pairs]
    if None in firsts or None in lasts:
        return None
    # A counter that fell belongs to a process that began anew: the difference is not known.
    differences = [last - first for first, last in zip(firsts, lasts, strict=True)]
    return sum(differences) if min(differences) >= 0 else None


def _total(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
