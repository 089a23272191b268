"""Builds plans, stages and load reports for the tests, whole and valid unless told otherwise."""

from typing import Any, cast

import msgspec

from podscale.contract import StageOrder, StageReport
from podscale.sweep.plan import Plan, make_plan
from podscale.sweep.results import Asked, Generator, Latency, Stage


def plan(cores: int = 4, **given: Any) -> Plan:
    """A plan as `make_plan` makes it on a machine of four cores."""
    return make_plan(cores=cores, **given)


def asked(**changes: Any) -> Asked:
    """What a closed stage of one pod was asked."""
    base = Asked(model="closed", users=16, scenario="blocking", connections="new", warmup_seconds=2, measure_seconds=6)
    return msgspec.structs.replace(base, **changes)


def latency(p99: float = 0.3) -> Latency:
    """Quantiles around a p99 in seconds."""
    return Latency(p50=p99 / 2, p90=p99 * 0.9, p99=p99, p999=p99 * 1.1, max=p99 * 1.2, mean=p99 / 2)


def generator(**changes: Any) -> Generator:
    """A generator that did its work well."""
    base = Generator(workers=1, lost_workers=0, cpu_fraction=0.1, late=0, dropped=0, send_lag_p99_seconds=0.001)
    return msgspec.structs.replace(base, **changes)


def stage(size: int = 1, **changes: Any) -> Stage:
    """A valid capacity stage: 50 requests a second for each pod, each pod using 0.98 of its core."""
    base = Stage(
        size=size,
        repeat=1,
        asked=asked(users=16 * size),
        started_at="2026-01-01T00:00:00+00:00",
        measured_seconds=6.0,
        arrivals=300 * size,
        requests=300 * size,
        throughput_per_second=50.0 * size,
        latency_seconds=latency(),
        service_seconds=latency(),
        requests_by_pod={f"pod-{n}": 300 for n in range(1, size + 1)},
        client_requests=400 * size,
        server_requests=400 * size,
        cpu_seconds=5.9 * size,
        cpu_seconds_per_request=0.0196,
        memory_bytes=40_000_000 * size,
        node_cpu_fraction=0.3,
        generator=generator(),
        ready_seconds=0.5,
        valid=True,
    )
    return msgspec.structs.replace(base, **changes)


def goal_stage(size: int, p99: float, rate: float = 70.0, **changes: Any) -> Stage:
    """A valid open stage at `rate` with this p99 in seconds."""
    return stage(
        size,
        **{
            "purpose": "goal",
            "asked": asked(model="open", arrivals="poisson", rate_per_second=rate, users=None, measure_seconds=12),
            "measured_seconds": 12.0,
            "arrivals": round(rate * 12),
            "requests": round(rate * 12),
            "throughput_per_second": rate,
            "latency_seconds": latency(p99),
            "cpu_seconds": rate * 12 * 0.02,
        }
        | changes,
    )


def report(order: StageOrder | None = None, **changes: Any) -> StageReport:
    """A finished report of 50 requests a second over six seconds by one pod."""
    quantiles = msgspec.to_builtins(latency())
    base = {
        "order": order or {},
        "state": "done",
        "reason": "",
        "seconds_left": 0.0,
        "window_started_at": 1000.0,
        "window_ended_at": 1006.0,
        "measured_seconds": 6.0,
        "arrivals": 300,
        "requests": 300,
        "completed_per_second": 50.0,
        "latency_seconds": quantiles,
        "naive_latency_seconds": quantiles,
        "latency_histogram": None,
        "errors": {},
        "requests_by_pod": {"pod-1": 300},
        "requests_by_process": {"pod-1/1": 300},
        "total_requests_by_pod": {"pod-1": 400},
        "generator": msgspec.to_builtins(generator()),
    }
    return cast("StageReport", base | changes)
