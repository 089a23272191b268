"""Parts of the stages in samples.py: quantiles, timelines, a generator, shares."""

import random

from podscale.sweep.results import Generator, Latency
from podscale.sweep.timeline import Timeline


def latency(median: float, spread: float) -> Latency:
    """Quantiles around a median; `spread` 1 is an even queue."""
    return Latency(
        p50=median * 0.97,
        p90=median * 1.1 * spread,
        p99=median * 1.18 * spread**1.5,
        p999=median * 1.21 * spread**1.6,
        max=median * 1.22 * spread**1.7,
        mean=median,
    )


def timeline(per_second: float, median: float, seconds: int, chance: random.Random) -> Timeline:
    """Two seconds of warm-up, the window, and one second in which the last answers came."""
    steps = seconds + 3
    return Timeline(
        start_seconds=-2.0,
        step_seconds=1.0,
        answers=[round(per_second * chance.uniform(0.9, 1.1)) for _ in range(steps - 1)] + [4],
        failures=[0] * steps,
        p50_seconds=[median * chance.uniform(0.95, 1.05) for _ in range(steps)],
        p99_seconds=[median * chance.uniform(1.2, 1.5) for _ in range(steps)],
    )


def broken_timeline() -> Timeline:
    """Failures in each second, and one second in which nothing was answered."""
    return Timeline(
        start_seconds=-2.0,
        step_seconds=1.0,
        answers=[40, 44, 30, 0, 31, 25, 40, 33],
        failures=[0, 0, 35, 60, 40, 30, 30, 20],
        p50_seconds=[0.1, 0.1, 0.3, None, 0.4, 0.4, 0.3, 0.3],
        p99_seconds=[0.2, 0.2, 0.9, None, 0.8, 0.9, 0.7, 0.6],
    )


def generator(cpu_fraction: float) -> Generator:
    """A generator that did its work."""
    return Generator(
        workers=1,
        lost_workers=0,
        cpu_fraction=cpu_fraction,
        late=0,
        dropped=0,
        send_lag_p99_seconds=0.0011,
        throttled_seconds=None,
    )


def shared_out(requests: int, pods: int, chance: random.Random) -> dict[str, int]:
    """Requests as a random choice gives them to pods."""
    counts = [0] * pods
    for _ in range(requests):
        counts[chance.randrange(pods)] += 1
    return {f"local-{index}": count for index, count in enumerate(counts)}
