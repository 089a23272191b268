"""What one pod has counted up to now, from its own page of metrics. Pure.

A page has 200 lines, most of them buckets of histograms, and 64 of them come every two seconds: so it is read by hand
here. Prometheus' own parser takes ten times as long, 1.5 ms a page, which alone is 5 % of a core.
"""

import re
from collections.abc import Mapping

import msgspec

from podscale import contract


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Counters and gauges of one pod at one moment. None is unknown."""

    at_seconds: float  # any clock, but one clock for all readings of a pod
    requests: float | None = None
    buckets: Mapping[float, float] = {}  # upper bound in seconds: requests of all routes that took at most this long
    cpu_seconds: float | None = None
    cpu_limit_cores: float | None = None
    periods: float | None = None
    throttled_periods: float | None = None
    memory_bytes: float | None = None
    memory_limit_bytes: float | None = None
    queue_length: float | None = None
    started_at_seconds: float | None = None  # since the epoch


OWN = {
    contract.REQUESTS: "requests",
    contract.QUEUE_LENGTH: "queue_length",
    contract.PROCESS_START_SECONDS: "started_at_seconds",
}
# Of a pod that has a cgroup to itself, as on Kubernetes.
OF_CGROUP = {
    contract.CGROUP_CPU_SECONDS: "cpu_seconds",
    contract.CGROUP_CPU_LIMIT_CORES: "cpu_limit_cores",
    contract.CGROUP_PERIODS: "periods",
    contract.CGROUP_THROTTLED_PERIODS: "throttled_periods",
    contract.CGROUP_MEMORY_BYTES: "memory_bytes",
    contract.CGROUP_MEMORY_LIMIT_BYTES: "memory_limit_bytes",
}
# Of pods on one machine, whose cgroup is that of all of them: what it uses and is refused is not theirs alone.
OF_PROCESSES = {
    contract.PROCESS_CPU_SECONDS: "cpu_seconds",
    contract.PROCESS_MEMORY_BYTES: "memory_bytes",
}
_BUCKET = f"{contract.REQUEST_SECONDS}_bucket{{"
_LE = re.compile(r'\ble="([^"]*)"')


def parse(page: str, at_seconds: float, *, own_cgroup: bool) -> Counts:
    """Read a page in the Prometheus text format; `own_cgroup`: whether the pod's cgroup is its own."""
    fields = OWN | (OF_CGROUP if own_cgroup else OF_PROCESSES)
    values: dict[str, float] = {}
    buckets: dict[float, float] = {}
    for line in page.splitlines():
        if line.startswith("#"):
            continue
        series, _, value = line.rpartition(" ")
        if line.startswith(_BUCKET):
            bound = _LE.search(series)
            if bound is not None:
                seconds = float(bound[1])
                buckets[seconds] = buckets.get(seconds, 0.0) + float(value)
            continue
        field = fields.get(series.partition("{")[0])
        if field is not None:
            values[field] = values.get(field, 0.0) + float(value)
    if contract.IN_PROGRESS in page:
        # A counter with labels has no series before its first request: that is a known 0.
        values.setdefault("requests", 0.0)
    return msgspec.structs.replace(Counts(at_seconds=at_seconds, buckets=buckets), **values)
