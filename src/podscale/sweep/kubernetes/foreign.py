"""CPU, memory and throttling of pods that do not count for themselves: by the kubelets, else by the metrics API.

Both are some seconds old and carry their own times. The kubelet's page of cAdvisor has counters, from which a window
can be cut; it needs the right to `nodes/proxy`, and a runtime whose containers cAdvisor can name. The metrics API has
averages over windows of its own that follow each other, and no throttling.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

import msgspec

from podscale.sweep.kubernetes.access import Api, ApiError, AwayError, Object
from podscale.sweep.kubernetes.quantities import quantity
from podscale.sweep.kubernetes.workload import Workload
from podscale.sweep.scrape import PodReading
from podscale.sweep.targets import MachineReading

METRICS_API = "/apis/metrics.k8s.io/v1beta1"
# https://github.com/google/cadvisor/blob/master/docs/storage/prometheus.md
FIELDS = {
    "container_cpu_usage_seconds_total": "cpu_seconds",
    "container_memory_working_set_bytes": "memory_bytes",
    "container_cpu_cfs_periods_total": "periods",
    "container_cpu_cfs_throttled_periods_total": "throttled_periods",
    "container_cpu_cfs_throttled_seconds_total": "throttled_seconds",
}
CORES = "machine_cpu_cores"
# The metrics API's times are whole seconds, its windows are not.
ROUNDED_SECONDS = 2.0
# More CPU time than any pod uses between two gaps.
FALL_SECONDS = 1e9
_LINE = re.compile(r"^(\w+)\{(.*)\} (\S+)(?: (\d+))?$")
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s|us|ns)")
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


class Sample(msgspec.Struct, frozen=True):
    """One line of a kubelet's page."""

    name: str
    labels: dict[str, str]
    value: float
    at_seconds: float | None


class Nodes:
    """What is known about the pods of a workload from outside of them."""

    def __init__(self, api: Api, workload: Workload) -> None:
        self._api = api
        self._workload = workload
        self._names: list[str] = []
        self._may_ask_kubelets = True
        # Each pod stays with the one that knew it first: the counters of the two have nothing to do with each other.
        self._counted: set[str] = set()  # by a kubelet
        self._used: dict[str, tuple[float, float]] = {}  # by averages: time, and CPU seconds up to it

    def follow(self, pods: Sequence[Object]) -> None:
        """These are the pods of the stage from now on."""
        self._names = sorted({pod["spec"]["nodeName"] for pod in pods if "nodeName" in pod["spec"]})

    def read(self, living: set[str]) -> list[PodReading]:
        """Counters of the living pods, with their own times; all is None of a pod of which nothing is known."""
        samples = [sample for page in self._pages() or [] for sample in parse(page)]
        readings = by_pod(samples, self._workload, living - self._used.keys())
        self._counted |= {reading.pod for reading in readings}
        if living - self._counted:
            readings += self._by_averages(living - self._counted)
        unknown = living - {reading.pod for reading in readings}
        return readings + [PodReading(pod=pod, at_seconds=0.0) for pod in sorted(unknown)]

    def machine(self) -> MachineReading | None:
        """The nodes of the stage taken together; None where a kubelet may not be asked or does not say."""
        pages = self._pages()
        return None if pages is None else whole([list(parse(page)) for page in pages])

    def _pages(self) -> list[str] | None:
        if not self._may_ask_kubelets or not self._names:
            return None
        try:
            replies = [self._api.proxied("GET", f"/api/v1/nodes/{name}/proxy/metrics/cadvisor") for name in self._names]
        except AwayError:
            return None
        self._may_ask_kubelets = all(reply.status not in {401, 403} for reply in replies)
        return [reply.text for reply in replies] if all(reply.status == 200 for reply in replies) else None

    def _by_averages(self, living: set[str]) -> Iterator[PodReading]:
        workload = self._workload
        try:
            listed = self._api.get(
                f"{METRICS_API}/namespaces/{workload.namespace}/pods", labelSelector=workload.selector
            )
        except (ApiError, AwayError):
            return
        for each in listed["items"]:
            pod = each["metadata"]["name"]
            found = [one["usage"] for one in each["containers"] if one["name"] == workload.container]
            if pod in living and found:
                yield from self._cumulated(pod, each, found[0])

    def _cumulated(self, pod: str, metrics: Object, used: Object) -> Iterator[PodReading]:
        """An average as two points of a counter: what was used before it does not matter, only differences count.

        After a gap that no average covers the counter falls, as one that begins anew, so that nobody takes a difference
        over it.
        """
        at = datetime.fromisoformat(metrics["timestamp"]).timestamp()
        cores, memory_bytes = quantity(used.get("cpu")), quantity(used.get("memory"))
        covered_from = at - duration(metrics["window"])
        began, before = self._used.get(pod, (covered_from, 0.0))
        if cores is None:
            return
        if at <= began:  # nothing newer: the same point again
            yield PodReading(pod=pod, at_seconds=began, cpu_seconds=before, memory_bytes=memory_bytes)
            return
        if covered_from - began > ROUNDED_SECONDS:
            began, before = covered_from, before - FALL_SECONDS
        self._used[pod] = (at, before + cores * (at - began))
        yield PodReading(pod=pod, at_seconds=began, cpu_seconds=before, memory_bytes=memory_bytes)
        yield PodReading(pod=pod, at_seconds=at, cpu_seconds=self._used[pod][1], memory_bytes=memory_bytes)


def parse(page: str) -> Iterator[Sample]:
    """The lines of cAdvisor's page that matter here; the whole page is long."""
    wanted = tuple(f"{name}{{" for name in [*FIELDS, CORES])
    for line in page.splitlines():
        matched = _LINE.match(line) if line.startswith(wanted) else None
        if matched is not None:
            name, labels, value, at_ms = matched.groups()
            yield Sample(name, dict(_LABEL.findall(labels)), float(value), int(at_ms) / 1000 if at_ms else None)


def by_pod(samples: Iterable[Sample], workload: Workload, living: set[str]) -> list[PodReading]:
    """A reading for each living pod of which the kubelet knows the CPU."""
    found: dict[str, dict[str, float]] = {}
    times: dict[str, float] = {}
    for sample in samples:
        labels = sample.labels
        key = (labels.get("namespace"), labels.get("container"))
        pod = labels.get("pod", "")
        if key != (workload.namespace, workload.container) or pod not in living or sample.name not in FIELDS:
            continue
        found.setdefault(pod, {})[FIELDS[sample.name]] = sample.value
        if sample.name == "container_cpu_usage_seconds_total" and sample.at_seconds is not None:
            times[pod] = sample.at_seconds
    readings = [PodReading(pod=pod, at_seconds=times[pod]) for pod in sorted(times)]
    return [msgspec.structs.replace(reading, **found[reading.pod]) for reading in readings]


def whole(pages: Sequence[Sequence[Sample]]) -> MachineReading | None:
    """Nodes as one machine: the CPU seconds of their root cgroups, and the time that their cores have had."""
    busy = total = cores = 0.0
    times = []
    for samples in pages:
        roots = [one for one in samples if one.name in FIELDS and one.labels.get("id") == "/"]
        roots = [one for one in roots if FIELDS[one.name] == "cpu_seconds" and one.at_seconds is not None]
        counts = [one.value for one in samples if one.name == CORES]
        if not roots or not counts:
            return None
        at = roots[0].at_seconds or 0.0
        times.append(at)
        busy, total, cores = busy + roots[0].value, total + counts[0] * at, cores + counts[0]
    if not times:
        return None
    return MachineReading(at_seconds=min(times), busy_seconds=busy, total_seconds=total, cores=cores)


def duration(text: str) -> float:
    """Seconds of a duration as Go writes it: "15.123s", "1m0s"."""
    return sum(float(number) * _UNITS[unit] for number, unit in _DURATION.findall(text))
