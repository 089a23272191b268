"""Comparisons as they are written: the one of the first trial on a cluster, and those that went wrong."""

import random
from typing import get_args

import msgspec

from podscale.contract import Arrivals
from podscale.sweep import explain
from podscale.sweep.results import (
    Asked,
    Budget,
    Generator,
    Latency,
    Purpose,
    Recovery,
    Result,
    Stage,
    Throttled,
    TopologyName,
    Verdict,
)
from podscale.sweep.topologies import TOPOLOGIES, Base
from tests.report import parts, samples

RATE = 16.0
BASE = Base(cpu_cores=0.25, memory_bytes=128_000_000, quota=True)
# p50 and p99 in seconds of 50 ms jobs at 80 % of one core in four pieces, constant arrivals, as first measured.
FIRST_TRIAL: dict[TopologyName, tuple[float, float]] = {
    "workers": (0.052, 0.055),
    "pods": (0.326, 1.976),
    "pods-unlimited": (0.051, 0.062),
    "pods-large": (0.124, 0.431),
}


def cluster() -> Result:
    """Sizes 2 and 4 at two repeats, all topologies, both kinds of arrivals, and a kill each."""
    chance = random.Random(5)
    stages = []
    for size in (2, 4):
        for name in FIRST_TRIAL:
            for repeat in (1, 2):
                stages.append(stage(name, size, repeat, "capacity", chance=chance))
                stages += [
                    stage(name, size, repeat, "load", chance=chance, arrivals=arrivals)
                    for arrivals in get_args(Arrivals)
                ]
            stages.append(stage(name, size, 1, "recovery", chance=chance, arrivals="constant"))
    return result(stages)


def one_machine() -> Result:
    """Pods and workers without a quota, measured once: no intervals, and no quota to name."""
    chance = random.Random(2)
    names: tuple[TopologyName, ...] = ("workers", "pods")
    stages = [stage(name, 2, 1, "capacity", chance=chance, base=Base()) for name in names]
    for arrivals in get_args(Arrivals):
        stages += [stage(name, 2, 1, "load", chance=chance, arrivals=arrivals, base=Base()) for name in names]
    return result(stages)


def spoiled() -> Result:
    """Ended early: one stage void, one not reached, a kill that was not allowed, and nothing to conclude."""
    chance = random.Random(3)
    void = msgspec.structs.replace(
        stage("pods", 4, 1, "load", chance=chance, arrivals="poisson"),
        valid=False,
        verdicts=[Verdict(code="pod_lost", evidence="ended during the stage: pod-3")],
    )
    gone = Stage(
        topology="workers",
        purpose="capacity",
        size=4,
        repeat=1,
        asked=void.asked,
        started_at=void.started_at,
        verdicts=[Verdict(code="not_reached", evidence="0 of 1 pods were ready after 120 s")],
        valid=False,
    )
    unkilled = stage("workers", 4, 1, "recovery", chance=chance, arrivals="constant")
    recovery = Recovery(why_not="there is no right to run a command in a pod (pods/exec)")
    found = result([void, gone, msgspec.structs.replace(unkilled, recovery=recovery, throttled=Throttled())])
    found.aborted = "SIGINT"
    return found


def nothing() -> Result:
    """Not one stage."""
    return result([])


ALL = {"cluster": cluster, "one_machine": one_machine, "spoiled": spoiled, "nothing": nothing}


def result(stages: list[Stage]) -> Result:
    """A comparison with its conditions and conclusions."""
    found = samples.result(stages=stages, fits=[])
    found.asked = found.asked | {"command": "compare", "topologies": list(FIRST_TRIAL), "utilisation": 0.8}
    found.causes = explain.tail_causes(stages)
    found.advice = explain.advice(found.causes, stages)
    return found


def stage(
    name: TopologyName,
    size: int,
    repeat: int,
    purpose: Purpose,
    *,
    chance: random.Random,
    arrivals: Arrivals | None = None,
    base: Base = BASE,
) -> Stage:
    """One good stage of a topology, near the figures of the first trial; Poisson arrivals wait half as long again."""
    budget = TOPOLOGIES[name].budget(size, base)
    assert budget is not None
    about = chance.uniform(0.96, 1.04) * (1.5 if arrivals == "poisson" else 1)
    p50, p99 = (about * seconds for seconds in FIRST_TRIAL[name])
    rate = RATE * size / 4
    done = 0.98 * rate / 0.8 if purpose == "capacity" else rate
    seconds = 12.0
    requests = round(done * seconds)
    periods = 120 * budget.pods if budget.limited else None
    return Stage(
        topology=name,
        budget=budget,
        purpose=purpose,
        size=size,
        repeat=repeat,
        asked=Asked(
            model="closed" if purpose == "capacity" else "open",
            arrivals=arrivals,
            rate_per_second=None if purpose == "capacity" else rate,
            users=16 * size if purpose == "capacity" else None,
            scenario="blocking",
            connections="new",
            warmup_seconds=2,
            measure_seconds=seconds,
            options={"cpu_time_ms": 50.0, "clock": "cpu"},
        ),
        started_at="2026-10-04T09:12:41Z",
        measured_seconds=seconds,
        arrivals=requests,
        requests=requests,
        throughput_per_second=done,
        latency_seconds=Latency(p50=p50, p90=p99 * 0.8, p99=p99, p999=p99 * 1.1, max=p99 * 1.2, mean=p50 * 1.2),
        service_seconds=Latency(p50=p50, p90=p99 * 0.8, p99=p99, p999=p99 * 1.1, max=p99 * 1.2, mean=p50 * 1.2),
        errors={"reset": 3} if purpose == "recovery" else {},
        requests_by_pod=parts.shared_out(requests, budget.pods, chance),
        requests_by_process=parts.shared_out(requests, budget.processes, chance),
        client_requests=requests,
        server_requests=requests,
        cpu_seconds=requests * 0.051,
        cpu_seconds_per_request=0.051,
        throttled=throttled(budget, periods, 0.45 if name == "pods" else 0.1),
        memory_bytes=40_000_000 * budget.processes,
        node_cpu_fraction=0.5,
        generator=Generator(workers=1, lost_workers=0, cpu_fraction=0.1, late=0, dropped=0, send_lag_p99_seconds=0.001),
        ready_seconds=1.9 if purpose == "capacity" else None,
        recovery=Recovery(killed="pod-2", failed_requests=3, seconds_until_full=2.3) if purpose == "recovery" else None,
        valid=True,
    )


def throttled(budget: Budget, periods: int | None, share: float) -> Throttled:
    """Quota periods, unknown without a quota."""
    if not budget.limited or periods is None:
        return Throttled()
    return Throttled(periods=periods, throttled_periods=round(share * periods), seconds=2.0)
