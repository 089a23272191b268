"""Results as a sweep writes them: a realistic one, and those that go wrong."""

import random
from typing import Any

import msgspec

from podscale.analysis import scaling
from podscale.sweep.results import (
    Advice,
    Asked,
    Fit,
    Latency,
    Purpose,
    Result,
    Stage,
    Throttled,
    Verdict,
)
from tests.report import parts

CAPACITY_PER_POD = 48.6
CONTENTION = 0.012
GOAL_RATE = 104.0
USERS_PER_POD = 16


def mixed() -> Result:
    """A sweep of 1 to 6 pods on 4 cores: good stages, a void one with errors, one that was not reached, and a goal."""
    chance = random.Random(7)
    stages = [capacity_stage(size, repeat, chance) for repeat in (1, 2) for size in (3, 1, 4, 2)]
    stages[3] = broken_stage(2, 1)
    stages.append(not_reached_stage(6, 1))
    stages += [goal_stage(3, 0.0915), goal_stage(2, 4.31)]
    return result(
        stages=stages,
        fits=fits(stages),
        advice=Advice(
            sentence="3 pods hold p99 <= 200 ms at 104 requests/s (measured 91.5 ms); 2 pods do not (4,310 ms).",
            rate_per_second=GOAL_RATE,
            slo_p99_seconds=0.2,
            pods=3,
            capacity_per_pod_per_second=47.5,
            verified=True,
            reasons=[
                "3 pods can do about 142 requests/s (47.5 requests/s per pod): this rate is 73% of it.",
                "Theory for evenly spaced arrivals and jobs of equal length: p99 112 ms with a pod picked at random.",
            ],
        ),
    )


def aborted() -> Result:
    """Ended by Ctrl-C after two stages: no fit carries, no advice yet."""
    stages = [capacity_stage(1, 1), not_reached_stage(2, 1, reason="ended by Ctrl-C while 2 pods were starting")]
    return result(stages=stages, fits=fits(stages), aborted="interrupted with Ctrl-C; go on with --resume")


def nothing_known() -> Result:
    """Aborted before the first figure: None wherever None is allowed."""
    stage = Stage(
        size=1,
        repeat=1,
        asked=Asked(model="closed", scenario="blocking", connections="new", warmup_seconds=2, measure_seconds=6),
        started_at="2026-10-04T09:12:30Z",
        valid=False,
    )
    return Result(
        id="none", started_at="2026-10-04T09:12:30Z", asked={"sizes": None}, environment={"cores": None}, stages=[stage]
    )


def empty() -> Result:
    """Not one stage."""
    return Result(id="empty", started_at="2026-10-04T09:12:30Z", asked={}, environment={})


def one_size() -> Result:
    """Size 1 alone, measured once, without a rate."""
    stages = [capacity_stage(1, 1)]
    return result(
        stages=stages,
        fits=fits(stages),
        advice=Advice(sentence="At most, 1 pod does 48.6 requests/s. How many are needed depends on the rate."),
    )


def all_void() -> Result:
    """Every stage failed: figures are there, and none may be trusted."""
    stages = [broken_stage(1, 1), broken_stage(2, 1)]
    return result(
        stages=stages,
        fits=fits(stages),
        advice=Advice(sentence="No number of pods: no capacity stage is valid, of 2; their verdicts say why."),
    )


def hostile() -> Result:
    """Names and texts with markup in them, wherever a text may come from outside."""
    script = '<script>alert("1")</script>&'
    stage = msgspec.structs.replace(
        capacity_stage(2, 1),
        requests_by_pod={script: 100, "<b>pod</b>": 300},
        errors={script: 3},
        verdicts=[Verdict(code=script, evidence=script)],
        asked=msgspec.structs.replace(capacity_stage(2, 1).asked, scenario=script, options={script: script}),
    )
    return Result(
        id=script,
        started_at=script,
        asked={script: script, "scenario": script},
        environment={script: [script]},
        stages=[stage],
        fits=[Fit(law="usl", refused=script)],
        advice=Advice(sentence=script, reasons=[script]),
        aborted=script,
    )


def many() -> Result:
    """12 sizes up to 64, three times each, with pods by name: 36 stages and a wide chart."""
    chance = random.Random(3)
    sizes = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]
    stages = [capacity_stage(size, repeat, chance) for repeat in (1, 2, 3) for size in sizes]
    return result(stages=stages, fits=fits(stages), advice=Advice(sentence="12 pods hold the goal."))


def result(**fields: Any) -> Result:
    """A result with its conditions; `fields` are those of Result."""
    return Result(
        **{
            "id": "2026-10-04T09-12-30Z-blocking",
            "started_at": "2026-10-04T09:12:30Z",
            "finished_at": "2026-10-04T09:15:11Z",
            "asked": {
                "target": "local",
                "sizes": [1, 2, 3, 4, 6],
                "repeats": 2,
                "scenario": "blocking",
                "model": "closed",
                "arrivals": "constant",
                "rate_per_second": GOAL_RATE,
                "users_per_pod": USERS_PER_POD,
                "stage_seconds": 6.0,
                "warmup_seconds": 2.0,
                "slo_p99_ms": 200.0,
                "connections": "new",
                "cpu_time_ms": 20.0,
                "clock": "cpu",
                "locustfile": None,
                "options": {},
            },
            "environment": {
                "hostname": "laptop",
                "kernel": "6.12.43",
                "cpu_model": "AMD Ryzen 5 5600U with Radeon Graphics",
                "cores": 4,
                "memory_bytes": 16_541_913_088,
                "load_average_1_min": 0.31,
                "python": "CPython 3.13.7",
                "podscale": "0.1.0",
                "locust": "2.47.0",
                "uvloop": None,
            },
        }
        | fields
    )


def capacity_stage(size: int, repeat: int, chance: random.Random | None = None) -> Stage:
    """A good saturated stage of `size` pods, 16 closed users each."""
    chance = chance or random.Random(size * 100 + repeat)
    throughput = CAPACITY_PER_POD * size / (1 + CONTENTION * (size - 1)) * chance.uniform(0.985, 1.01)
    requests = round(throughput * 6)
    median = USERS_PER_POD * size / throughput
    return Stage(
        size=size,
        repeat=repeat,
        asked=asked("capacity", size),
        started_at="2026-10-04T09:12:41Z",
        measured_seconds=6.0,
        arrivals=requests + 3,
        requests=requests,
        throughput_per_second=throughput,
        latency_seconds=parts.latency(median, 1 if size == 1 else 1.7),
        service_seconds=parts.latency(median, 1 if size == 1 else 1.7),
        requests_by_pod=parts.shared_out(requests, size, chance),
        client_requests=requests + 120,
        server_requests=requests + 120,
        cpu_seconds=5.8 * size,
        cpu_seconds_per_request=5.8 * size / requests,
        memory_bytes=34_100_000 * size,
        node_cpu_fraction=min(0.99, 0.06 + size * 0.245),
        generator=parts.generator(0.05 * size),
        ready_seconds=0.41 + 0.03 * size,
        timeline=parts.timeline(throughput, median, 6, random.Random(size * 10 + repeat)),
        verdicts=[Verdict(code="pods_limit", evidence="each pod used 0.97 of 1 core")],
        valid=True,
    )


def broken_stage(size: int, repeat: int) -> Stage:
    """A void stage: requests failed, and the generator could not keep up."""
    return msgspec.structs.replace(
        capacity_stage(size, repeat),
        throughput_per_second=31.2,
        requests=402,
        errors={"refused": 180, "timeout": 35},
        requests_by_pod={f"local-{index}": count for index, count in enumerate([187, 0, 0][:size])},
        throttled=Throttled(periods=480, throttled_periods=317, seconds=8.2),
        generator=msgspec.structs.replace(parts.generator(0.97), late=44, dropped=12, lost_workers=1),
        server_requests=None,
        timeline=parts.broken_timeline(),
        verdicts=[
            Verdict(code="generator_saturated", evidence="the busiest Locust worker used 97% of its core"),
            Verdict(code="errors_void", evidence="more than 1% of the requests failed: no throughput to speak of"),
        ],
        valid=False,
    )


def not_reached_stage(size: int, repeat: int, reason: str = "5 of 6 pods were ready after 30 s") -> Stage:
    """A stage that never began: no figures at all."""
    return Stage(
        size=size,
        repeat=repeat,
        asked=asked("capacity", size),
        started_at="2026-10-04T09:14:02Z",
        verdicts=[Verdict(code="not_reached", evidence=reason)],
        valid=False,
    )


def goal_stage(size: int, p99_seconds: float) -> Stage:
    """An open stage at the goal rate."""
    overloaded = p99_seconds > 1
    throughput = CAPACITY_PER_POD * size * 0.98 if overloaded else GOAL_RATE
    quantiles = Latency(
        p50=p99_seconds * 0.52 if overloaded else 0.0223,
        p90=p99_seconds * 0.9 if overloaded else 0.0581,
        p99=p99_seconds,
        p999=p99_seconds * 1.04,
        max=p99_seconds * 1.08,
        mean=p99_seconds * 0.4,
    )
    requests = round(GOAL_RATE * 12)
    return msgspec.structs.replace(
        capacity_stage(size, 1),
        purpose="goal",
        asked=asked("goal", size),
        measured_seconds=12.0,
        arrivals=requests,
        requests=requests,
        throughput_per_second=throughput,
        latency_seconds=quantiles,
        service_seconds=quantiles,
        requests_by_pod=parts.shared_out(requests, size, random.Random(size)),
        cpu_seconds=0.0203 * throughput * 12,
        cpu_seconds_per_request=0.0203,
        node_cpu_fraction=0.59,
        timeline=parts.timeline(throughput, quantiles.p50, 12, random.Random(size)),
        client_requests=round(GOAL_RATE * 14),
        server_requests=round(GOAL_RATE * 14),
        verdicts=[Verdict(code="pods_limit", evidence="each pod used 0.97 of 1 core")] if overloaded else [],
    )


def asked(purpose: Purpose, size: int) -> Asked:
    """What a capacity or goal stage asks for."""
    common: dict[str, Any] = {
        "scenario": "blocking",
        "connections": "new",
        "warmup_seconds": 2.0,
        "options": {"cpu_time_ms": 20, "clock": "cpu"},
    }
    if purpose == "capacity":
        return Asked(model="closed", users=USERS_PER_POD * size, measure_seconds=6.0, **common)
    return Asked(model="open", arrivals="constant", rate_per_second=GOAL_RATE, measure_seconds=12.0, **common)


def fits(stages: list[Stage]) -> list[Fit]:
    """All laws over the valid capacity stages, as a sweep stores them."""
    points = [
        (stage.size, stage.throughput_per_second)
        for stage in stages
        if stage.purpose == "capacity" and stage.valid and stage.throughput_per_second
    ]
    found = [scaling.fit(law, [size for size, _ in points], [rate for _, rate in points]) for law in scaling.LAWS]
    return [
        Fit(law=fit.law, refused=fit.reason)
        if isinstance(fit, scaling.Refusal)
        else Fit(law=fit.law, coefficients=dict(fit.coefficients), rmse=fit.rmse, peak_size=fit.peak_size)
        for fit in found
    ]


ALL = {
    "mixed": mixed,
    "aborted": aborted,
    "nothing_known": nothing_known,
    "empty": empty,
    "one_size": one_size,
    "all_void": all_void,
    "hostile": hostile,
    "many": many,
}
