"""Figures that charts, page and terminal share."""

import math

import msgspec
import pytest

from podscale.report import figures
from podscale.sweep.results import Stage
from tests.report import samples

replace = msgspec.structs.replace


def test_names_tell_stages_apart() -> None:
    """Size, purpose and repeat; a repeat of the goal only where there are several; workers are not pods."""
    capacity, goal = samples.capacity_stage(1, 2), samples.goal_stage(3, 0.1)
    assert figures.name(capacity) == "1 pod, repeat 2"
    assert figures.name(goal) == "3 pods, goal"
    assert figures.name(replace(goal, repeat=2)) == "3 pods, goal, repeat 2"
    assert figures.name(replace(capacity, topology="workers", size=4)) == "4 workers, repeat 2"


def test_the_load_in_words() -> None:
    """Users for the closed model, rate and arrivals for the open one; what is not known is said."""
    closed, opened = samples.asked("capacity", 2), samples.asked("goal", 2)
    stage = samples.capacity_stage(2, 1)
    assert figures.load(stage) == "closed, 32 users"
    assert figures.load(replace(stage, asked=replace(closed, users=None))) == "closed, users unknown"
    assert figures.load(replace(stage, asked=opened)) == "open, 104/s constant"
    assert figures.load(replace(stage, asked=replace(opened, rate_per_second=None))) == "open, rate unknown constant"


def test_capacity_takes_valid_capacity_stages_alone() -> None:
    """Void stages, goal stages and other topologies stay out; repeats are averaged."""
    result = samples.mixed()
    capacity = figures.capacity_by_size(result)
    assert list(capacity) == [1, 2, 3, 4]
    assert capacity[2] == next(s.throughput_per_second for s in result.stages if s.size == 2 and s.repeat == 2)
    assert figures.capacity_by_size(result, "workers") == {}


def test_efficiency_is_against_the_smallest_valid_size() -> None:
    """The stage at the smallest size is at 1; a goal stage and one without throughput have none."""
    stages = [samples.capacity_stage(1, 1), samples.capacity_stage(4, 1)]
    result = samples.result(stages=stages)
    assert figures.efficiency(result, stages[0]) == 1
    assert figures.efficiency(result, stages[1]) == pytest.approx(0.97, abs=0.03)
    assert figures.efficiency(result, samples.goal_stage(4, 0.1)) is None
    assert figures.efficiency(result, samples.not_reached_stage(6, 1)) is None
    assert figures.efficiency(samples.empty(), stages[0]) is None


def test_theory_needs_a_rate_and_a_capacity() -> None:
    """Random choice is never better than one queue; capacity stages, and unknown capacities, have no theory."""
    result = samples.mixed()
    held = figures.theory(result, samples.goal_stage(3, 0.1))
    assert held is not None
    assert 0.02 < held.shared_queue_seconds < held.random_choice_seconds < 0.2
    overloaded = figures.theory(result, samples.goal_stage(2, 4.0))
    assert overloaded is not None
    assert math.isinf(overloaded.random_choice_seconds)
    assert figures.theory(result, samples.capacity_stage(3, 1)) is None
    assert figures.theory(samples.empty(), samples.goal_stage(3, 0.1)) is None


def test_theory_in_words() -> None:
    """A latency, no end, and not known are three different answers."""
    assert [figures.theory_words(value) for value in (0.112, math.inf, None)] == ["112 ms", "never settles", "unknown"]


def test_errors_of_an_unmeasured_stage_are_unknown() -> None:
    """Without a count of requests there is no count of errors, and no share."""
    broken, unreached = samples.broken_stage(2, 1), samples.not_reached_stage(2, 1)
    assert (figures.error_count(broken), figures.error_count(unreached)) == (215, None)
    assert figures.error_fraction(broken) == pytest.approx(215 / 402)
    assert figures.error_fraction(unreached) is None


@pytest.mark.parametrize(
    ("counts", "size", "expected"),
    [
        ({"a": 150, "b": 50}, 2, 1.5),
        ({"a": 100}, 4, 4.0),
        ({"a": 60, "b": 40, "unknown": 900}, 2, 1.2),
        ({"unknown": 7}, 2, None),
        ({"a": 0, "b": 0}, 2, None),
        ({}, 2, None),
    ],
)
def test_silent_pods_count_as_pods(counts: dict[str, int], size: int, expected: float | None) -> None:
    """A pod that never answered has a share of 0; answers of unknown pods belong to none."""
    stage = replace(samples.capacity_stage(size, 1), requests_by_pod=counts)
    assert figures.busiest_over_mean(stage) == expected


def test_reading_order_is_by_purpose_size_and_repeat() -> None:
    """The order of measuring is random, the order of reading is not."""
    stages: list[Stage] = [samples.goal_stage(1, 0.1), samples.capacity_stage(2, 1), samples.capacity_stage(1, 2)]
    assert figures.in_order(stages) == stages[::-1]


def test_verdicts_in_words() -> None:
    """Codes are read as words, and no verdict is none."""
    assert figures.verdicts(samples.broken_stage(1, 1)) == "generator saturated, errors void"
    assert figures.verdicts(samples.goal_stage(3, 0.1)) == "none"
