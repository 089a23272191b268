"""From counters to what happened between two readings: of one pod, and of all together. Pure."""

import math
from collections.abc import Mapping, Sequence

import msgspec

from podscale.sweep.watch.counts import Counts
from podscale.sweep.watch.results import PodRow, Total


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A pod as it stands at one reading. `key` changes when it is replaced or begins anew."""

    pod: str
    key: str
    node: str | None = None
    state: str
    ready: bool = False
    runs: bool = True  # False where it has no process yet, or no more, or ends and is silent: it counts no more
    restarts: int | None = None
    uptime_seconds: float | None = None
    cpu_limit_cores: float | None = None
    memory_limit_bytes: float | None = None
    counts: Sequence[Counts] = ()  # the newest, in order; the same ones again where no newer are there; none if unknown


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """What one pod did in `seconds`. None is unknown."""

    seconds: float
    requests: float | None = None
    buckets: Mapping[float, float] | None = None
    cpu_seconds: float | None = None
    periods: float | None = None
    throttled_periods: float | None = None


class History:
    """The last counters of each pod, and its last span: readings that are some seconds old stay until newer come."""

    def __init__(self) -> None:
        self._last: dict[str, Counts] = {}
        self._spans: dict[str, Span] = {}

    def take(self, pods: Sequence[Seen]) -> tuple[list[PodRow], Total]:
        """The rows of these pods and their total; all others are forgotten."""
        keys = {seen.key for seen in pods}
        self._last = {key: counts for key, counts in self._last.items() if key in keys}
        self._spans = {key: one for key, one in self._spans.items() if key in keys}
        for seen in pods:
            for counts in seen.counts:
                self._add(seen.key, counts)
            if not seen.counts:
                self._spans.pop(seen.key, None)
        spans = {seen.pod: self._spans.get(seen.key) for seen in pods}
        rows = [row(seen, self._last.get(seen.key) if seen.counts else None, spans[seen.pod]) for seen in pods]
        running = [seen.pod for seen in pods if seen.runs]
        return rows, total(rows, running, [spans[pod] for pod in running])

    def _add(self, key: str, counts: Counts) -> None:
        before = self._last.get(key)
        if before is not None and counts.at_seconds <= before.at_seconds:
            return
        self._last[key] = counts
        if before is not None:
            self._spans[key] = span(before, counts)


def span(first: Counts, last: Counts) -> Span:
    """What happened from one reading to a later one of the same pod."""
    buckets = {bound: last.buckets[bound] - first.buckets.get(bound, 0.0) for bound in last.buckets}
    fell = any(count < 0 for count in buckets.values())
    return Span(
        seconds=last.at_seconds - first.at_seconds,
        requests=_delta(first.requests, last.requests),
        buckets=buckets if buckets and not fell else None,
        cpu_seconds=_delta(first.cpu_seconds, last.cpu_seconds),
        periods=_delta(first.periods, last.periods),
        throttled_periods=_delta(first.throttled_periods, last.throttled_periods),
    )


def row(seen: Seen, counts: Counts | None, done: Span | None) -> PodRow:
    """The pod's line; what was not heard of it is unknown."""
    now = counts or Counts(at_seconds=0.0)
    did = done or Span(seconds=1.0)
    cpu_limit, memory_limit = seen.cpu_limit_cores, seen.memory_limit_bytes
    return PodRow(
        pod=seen.pod,
        node=seen.node,
        state=seen.state,
        ready=seen.ready,
        restarts=seen.restarts,
        uptime_seconds=seen.uptime_seconds,
        cpu_cores=_rate(did.cpu_seconds, did.seconds),
        cpu_limit_cores=now.cpu_limit_cores if cpu_limit is None else cpu_limit,
        throttled_share=_share(did.throttled_periods, did.periods),
        memory_bytes=now.memory_bytes,
        memory_limit_bytes=now.memory_limit_bytes if memory_limit is None else memory_limit,
        requests_per_second=_rate(did.requests, did.seconds),
        p99_seconds=None if did.buckets is None else quantile(0.99, did.buckets),
        queue_length=now.queue_length,
    )


def total(rows: Sequence[PodRow], running: Sequence[str], spans: Sequence[Span | None]) -> Total:
    """All pods together; those that do not run add nothing. `spans` are of those that do, in their order."""
    names = set(running)
    live = [row for row in rows if row.pod in names]
    buckets = _together([None if one is None else one.buckets for one in spans])
    return Total(
        ready=sum(row.ready for row in rows),
        pods=len(rows),
        restarts=_whole(_sum([row.restarts for row in rows])),
        cpu_cores=_sum([row.cpu_cores for row in live]),
        cpu_limit_cores=_sum([row.cpu_limit_cores for row in live]),
        throttled_share=_share(
            _sum([None if one is None else one.throttled_periods for one in spans]),
            _sum([None if one is None else one.periods for one in spans]),
        ),
        memory_bytes=_sum([row.memory_bytes for row in live]),
        requests_per_second=_sum([row.requests_per_second for row in live]),
        p99_seconds=None if buckets is None else quantile(0.99, buckets),
        queue_length=_sum([row.queue_length for row in live]),
    )


def quantile(share: float, buckets: Mapping[float, float]) -> float | None:
    """A quantile from a histogram's cumulative buckets (upper bound in seconds: how many took at most this long).

    As Prometheus' histogram_quantile: within the bucket all are taken as evenly spread, so that the value is as coarse
    as the bucket is wide. Unlike there, one beyond the last bound is inf. None where nothing was counted.
    https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile
    """
    bounds = sorted(buckets)
    count = buckets[bounds[-1]] if bounds else 0.0
    if count <= 0:
        return None
    rank, below, low = share * count, 0.0, 0.0
    for bound in bounds:
        if buckets[bound] >= rank:
            inside = buckets[bound] - below
            return bound if math.isinf(bound) or inside <= 0 else low + (bound - low) * (rank - below) / inside
        below, low = buckets[bound], bound
    return math.inf


def _together(histograms: Sequence[Mapping[float, float] | None]) -> dict[float, float] | None:
    """Histograms of the same bounds, added up; None where one is unknown."""
    added: dict[float, float] = {}
    for each in histograms:
        if each is None:
            return None
        for bound, count in each.items():
            added[bound] = added.get(bound, 0.0) + count
    return added


def _delta(first: float | None, last: float | None) -> float | None:
    """None where one is unknown, and where a counter fell: then another process counts."""
    return None if first is None or last is None or last < first else last - first


def _rate(amount: float | None, seconds: float) -> float | None:
    return None if amount is None or seconds <= 0 else amount / seconds


def _share(part: float | None, whole: float | None) -> float | None:
    """0 where no period passed in which CPU was wanted: then none was refused."""
    if part is None or whole is None:
        return None
    return part / whole if whole > 0 else 0.0


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
