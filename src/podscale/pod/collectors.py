"""What a pod reads about itself when it is scraped: cgroup, processes, versions, loop lag."""

import os
import platform
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from prometheus_client import Metric, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.registry import Collector

from podscale import contract
from podscale.cgroup import CgroupReading

# (metric, its family, what it says, the reading's field)
_CGROUP_ROWS = (
    (contract.CGROUP_CPU_SECONDS, CounterMetricFamily, "CPU time used by the pod's cgroup.", "cpu_seconds"),
    (contract.CGROUP_CPU_LIMIT_CORES, GaugeMetricFamily, "CPU limit; +Inf without one.", "cpu_limit_cores"),
    (contract.CGROUP_PERIODS, CounterMetricFamily, "Quota periods in which the pod wanted CPU.", "periods"),
    (
        contract.CGROUP_THROTTLED_PERIODS,
        CounterMetricFamily,
        "Quota periods in which the pod had to wait.",
        "throttled_periods",
    ),
    (
        contract.CGROUP_THROTTLED_SECONDS,
        CounterMetricFamily,
        "Time for which the quota held threads back.",
        "throttled_seconds",
    ),
    (
        contract.CGROUP_MEMORY_BYTES,
        GaugeMetricFamily,
        "Memory in use without droppable file cache.",
        "memory_working_set_bytes",
    ),
    (contract.CGROUP_MEMORY_LIMIT_BYTES, GaugeMetricFamily, "Memory limit; +Inf without one.", "memory_limit_bytes"),
)


class CgroupCollector(Collector):
    """The pod's cgroup; a value that is unknown has no series."""

    def __init__(self, read: Callable[[], CgroupReading]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """Read it now."""
        reading = self._read()
        for name, family, text, field in _CGROUP_ROWS:
            value = getattr(reading, field)
            if value is not None:
                yield family(name, text, value=value)


class InfoCollector(Collector):
    """Versions and names, as labels of a 1."""

    def __init__(self, version: str, pod: str, workers: int) -> None:
        self._labels = {
            "version": version,
            "python": platform.python_version(),
            "pod": pod,
            "gil": "on" if gil_enabled() else "off",
            "workers": str(workers),
        }

    def collect(self) -> Iterator[Metric]:
        """The one sample."""
        yield InfoMetricFamily(contract.INFO.removesuffix("_info"), "What runs here.", value=self._labels)


class LagCollector(Collector):
    """How late the event loop is."""

    def __init__(self, lag_seconds: Callable[[], float]) -> None:
        self._lag_seconds = lag_seconds

    def collect(self) -> Iterator[Metric]:
        """Read it now."""
        text = "How late the event loop is now, or was at its last beat; of the latest worker."
        yield GaugeMetricFamily(contract.LOOP_LAG_SECONDS, text, value=self._lag_seconds())


class LostWorkersCollector(Collector):
    """How many workers the supervisor has replaced."""

    def __init__(self, lost: Callable[[], int]) -> None:
        self._lost = lost

    def collect(self) -> Iterator[Metric]:
        """Read it now."""
        yield CounterMetricFamily(contract.WORKERS_LOST, "Workers that ended and were replaced.", value=self._lost())


class ProcessesCollector(Collector):
    """The standard process metrics, added up over this process and all its descendants.

    A job in a child or a worker is the pod's work as much as one on the loop. Ended children are counted by the kernel
    in their parent (cutime and cstime in proc(5)), so the CPU time never goes back. Memory that processes share is
    counted for each.
    """

    def __init__(self, pid: int, proc: Path = Path("/proc")) -> None:
        self._pid = pid
        self._proc = proc

    def collect(self) -> Iterable[Metric]:
        """Read it now."""
        families = {metric.name: metric for metric in self._read(self._pid)}
        for pid in _descendants(self._proc, self._pid):
            for metric in self._read(pid):
                if metric.name in families and metric.name not in {"process_start_time_seconds", "process_max_fds"}:
                    _add(families[metric.name], metric.samples[0].value)
        return families.values()

    def _read(self, pid: int) -> list[Metric]:
        metrics = list(ProcessCollector(pid=lambda: pid, proc=str(self._proc), registry=None).collect())
        for metric in metrics:
            if metric.name == "process_cpu_seconds":
                _add(metric, self._ended_children_seconds(pid))
        return metrics

    def _ended_children_seconds(self, pid: int) -> float:
        try:
            fields = (self._proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def gil_enabled() -> bool:
    """Whether the interpreter's lock is held by each running thread; always so before Python 3.13."""
    check: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
    return check()


def gil_came_back() -> bool:
    """Whether this is a free-threaded Python that an extension made take the lock again."""
    return bool(sysconfig.get_config_var("Py_GIL_DISABLED")) and gil_enabled()


def _descendants(proc: Path, pid: int) -> Iterator[int]:
    """All living descendants of `pid`, as /proc/<pid>/task/<tid>/children names them; none where that is missing."""
    for file in proc.glob(f"{pid}/task/*/children"):
        try:
            children = [int(child) for child in file.read_text().split()]
        except OSError:
            continue
        for child in children:
            yield child
            yield from _descendants(proc, child)


def _add(metric: Metric, value: float) -> None:
    sample = metric.samples[0]
    metric.samples[0] = sample._replace(value=sample.value + value)
