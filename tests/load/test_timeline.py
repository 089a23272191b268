"""The timeline: each answer in the second it ended in, whichever worker had it, in little space."""

import json
import random

import pytest

from podscale.contract import TimelineReport
from podscale.load.timeline import MOST_STEPS, STEPS, Timeline, step_seconds, timeline_report

OPENS_AT = 1_800_000_000.0


def timeline(warmup_seconds: float = 2, measure_seconds: float = 6) -> Timeline:
    """Of a stage whose window opens at OPENS_AT."""
    return Timeline(started_at=OPENS_AT - warmup_seconds, measure_at=OPENS_AT, end_at=OPENS_AT + measure_seconds)


def reported(*workers: Timeline, warmup_seconds: float = 2, measure_seconds: float = 6) -> TimelineReport | None:
    """All together, after a way over the wire."""
    steps = json.loads(json.dumps([worker.steps() for worker in workers]))
    return timeline_report(steps, warmup_seconds=warmup_seconds, measure_seconds=measure_seconds)


def test_answers_stand_in_the_second_they_ended_in() -> None:
    """Two workers add up; the warm-up is before 0, a second without answers has none, and no quantile."""
    one, other = timeline(), timeline()
    one.answered(OPENS_AT - 1.5, 0.1)
    one.answered(OPENS_AT, 0.1)
    one.answered(OPENS_AT + 0.999, 0.3)
    other.answered(OPENS_AT + 0.5, 0.2)
    other.failed(OPENS_AT + 2.2)
    assert reported(one, other) == {
        "start_seconds": -2.0,
        "step_seconds": 1.0,
        "answers": [1, 0, 3, 0, 0],
        "failures": [0, 0, 0, 0, 1],
        "p50_seconds": [pytest.approx(0.1, rel=0.011), None, pytest.approx(0.2, rel=0.011), None, None],
        "p99_seconds": [pytest.approx(0.1, rel=0.011), None, pytest.approx(0.3, rel=0.011), None, None],
    }


def test_quantiles_are_within_a_hundredth() -> None:
    """Of a thousand answers of one second, over two workers, from a tenth of a millisecond to a minute."""
    chance = random.Random(3)
    latencies = [10 ** chance.uniform(-4, 1.8) for _ in range(1000)]
    workers = [timeline(), timeline()]
    for number, seconds in enumerate(latencies):
        workers[number % 2].answered(OPENS_AT + 0.5, seconds)
    found = reported(*workers)
    assert found is not None
    assert found["p50_seconds"][-1] == pytest.approx(sorted(latencies)[499], rel=0.015)
    assert found["p99_seconds"][-1] == pytest.approx(sorted(latencies)[989], rel=0.015)


def test_a_long_stage_has_longer_steps() -> None:
    """Never more than so many steps, of a length that all agree on, and what comes much later is left out."""
    assert (step_seconds(8), step_seconds(STEPS), step_seconds(STEPS + 1), step_seconds(3600)) == (1, 1, 2, 30)
    long = timeline(warmup_seconds=2, measure_seconds=STEPS - 2)
    assert long.step_seconds == 1.0
    hour = timeline(warmup_seconds=30, measure_seconds=3600)
    for second in range(-30, 100_000, 7):
        hour.answered(OPENS_AT + second, 0.1)
    found = reported(hour, warmup_seconds=30, measure_seconds=3600)
    assert found is not None
    assert (found["start_seconds"], found["step_seconds"]) == (-hour.step_seconds, hour.step_seconds)
    assert len(found["answers"]) == MOST_STEPS


def test_nothing_answered_is_no_timeline() -> None:
    """None, not a row of zeros."""
    assert reported(timeline(), timeline()) is None
    assert timeline_report([], warmup_seconds=2, measure_seconds=6) is None
