"""The report of a stage, made of the workers' snapshots. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from podscale.contract import GeneratorReport, StageOrder, StageReport, StageState
from podscale.load.messages import Snapshot
from podscale.load.recorder import Recorder
from podscale.load.timeline import timeline_report


@dataclass
class Progress:
    """Where a stage stands, as its master sees it. Times are seconds since the epoch."""

    state: StageState = "starting"
    reason: str = ""
    window_started_at: float | None = None
    window_ended_at: float | None = None
    workers: int = 0
    lost_workers: int = 0


def make_report(
    order: StageOrder, progress: Progress, snapshots: Sequence[Snapshot], *, seconds_left: float
) -> StageReport:
    """All workers together. The window is as long as the worker that measured longest saw it."""
    total = Recorder()
    for snapshot in snapshots:
        total.add(snapshot["record"])
    measured_seconds = max((snapshot["window_seconds"] for snapshot in snapshots), default=0.0)
    counts, tallies, times = total.counts, total.tallies, total.times
    return {
        "order": order,
        "state": progress.state,
        "reason": progress.reason,
        "seconds_left": seconds_left,
        "window_started_at": progress.window_started_at,
        "window_ended_at": progress.window_ended_at,
        "measured_seconds": measured_seconds,
        "arrivals": counts["arrivals"],
        "requests": counts["requests"],
        "completed_per_second": counts["completed"] / measured_seconds if measured_seconds else 0.0,
        "latency_seconds": times["latency"].quantiles(),
        "naive_latency_seconds": times["naive"].quantiles(),
        "latency_histogram": times["latency"].encode(),
        "errors": dict(tallies["errors"]),
        "requests_by_pod": dict(tallies["by_pod"]),
        "requests_by_process": dict(tallies["by_process"]),
        "total_requests_by_pod": dict(tallies["total_by_pod"]),
        "generator": _generator(progress, snapshots, total),
        "timeline": timeline_report(
            (snapshot["timeline"] for snapshot in snapshots),
            warmup_seconds=order["warmup_seconds"],
            measure_seconds=order["measure_seconds"],
        ),
    }


def _generator(progress: Progress, snapshots: Sequence[Snapshot], total: Recorder) -> GeneratorReport:
    return {
        "workers": progress.workers,
        "lost_workers": progress.lost_workers,
        "cpu_fraction": _largest(snapshot["cpu_fraction"] for snapshot in snapshots),
        "late": total.counts["late"],
        "dropped": total.counts["dropped"],
        "send_lag_p99_seconds": total.times["send_lag"].percentile(99),
        "throttled_seconds": _throttled_seconds(snapshots),
    }


def _throttled_seconds(snapshots: Sequence[Snapshot]) -> float | None:
    """Over all hosts; the workers of one host share a cgroup, so that only one of them counts."""
    by_host: dict[str, list[float | None]] = defaultdict(list)
    for snapshot in snapshots:
        by_host[snapshot["host"]].append(snapshot["throttled_seconds"])
    known = [seconds for seconds in map(_largest, by_host.values()) if seconds is not None]
    return sum(known) if known else None


def _largest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)
