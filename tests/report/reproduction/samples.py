"""Runs of rows to show: measured, half measured, hostile."""

import msgspec

from podscale.sweep.reproduce.claims import row_result
from podscale.sweep.reproduce.results import Reproduction
from podscale.sweep.reproduce.rows import ROWS
from podscale.sweep.results import Latency, Stage, Verdict
from tests.sweep import builders

SPIN = builders.asked(options={"cpu_time_ms": 10_000.0, "clock": "wall"})
THREE = Latency(p50=20.0, p90=30.0, p99=30.0, p999=30.0, max=30.0, mean=20.0)


def mixed() -> Reproduction:
    """A row that holds, one that does not, one whose second stage is void, and one without a ratio of the article."""
    void = [Verdict(code="starved", evidence="2.0 of 2 cores busy")]
    stages: dict[str, list[Stage]] = {
        "blocking": [builders.stage(asked=SPIN, requests=3, latency_seconds=THREE, total_cpu_seconds=29.0)],
        "worker": [builders.stage(asked=SPIN, requests=3, latency_seconds=THREE, total_cpu_seconds=29.0)],
        "primes": [builders.stage(1), builders.stage(2, valid=False, verdicts=void)],
        "memory": [builders.stage(1), builders.stage(2), builders.stage(2, memory_bytes=101_000_000)],
    }
    return Reproduction(
        id="sample",
        started_at="2026-01-01T00:00:00+00:00",
        asked={"command": "reproduce", "rows": list(stages)},
        environment={"hostname": "box", "cores": 2},
        quick=True,
        n=2,
        rows=[row_result(ROWS[name], found, 2, "local") for name, found in stages.items()],
    )


def empty() -> Reproduction:
    """Stopped before anything was measured."""
    return msgspec.structs.replace(mixed(), rows=[], aborted="SIGINT")


def uneven() -> Reproduction:
    """Fixed work on cores of different speed: two pods did 1.6 times as much, at 1.25 times the CPU for each answer."""
    stages = [
        builders.stage(size, throughput_per_second=rate, cpu_seconds_per_request=cost)
        for size, rate, cost in ((1, 10.0, 0.1), (2, 16.0, 0.125))
    ]
    return msgspec.structs.replace(mixed(), rows=[row_result(ROWS["primes"], stages, 2, "kubernetes")])


def hostile() -> Reproduction:
    """Texts that would like to be markup."""
    result = mixed()
    result.environment["hostname"] = "<script>alert(1)</script>"
    result.rows[0].runs = "[bold]<img src=x onerror=alert(1)> & so on[/bold]"
    return result
