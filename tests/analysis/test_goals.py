"""Whether a size held a goal, from what was measured at it."""

from dataclasses import replace

import pytest

from podscale.analysis.goals import CapacityPoint, GoalPoint, GoalRule, interpolated, judge, mean_capacity

GOOD = GoalPoint(
    size=2, rate_per_second=28, p99_seconds=0.212, error_fraction=0.0, throughput_per_second=27.9, measured_seconds=12
)


def test_a_good_point_holds_and_shows_its_p99() -> None:
    """Latency, errors and throughput within their limits: the figure is the measured p99."""
    outcome = judge([GOOD], 0.5)[2]
    assert outcome.holds
    assert outcome.figure == "212 ms"


@pytest.mark.parametrize(
    ("change", "figure"),
    [
        ({"p99_seconds": 4.31}, "4,310 ms"),
        ({"p99_seconds": None}, "p99 unknown"),
        ({"error_fraction": 0.004}, "0.40% errors"),
        ({"error_fraction": None}, "errors unknown"),
        ({"throughput_per_second": 25.0}, "only 25 of 28 requests/s answered"),
        ({"throughput_per_second": None}, "throughput unknown"),
        ({"p99_seconds": 4.31, "throughput_per_second": 19.0}, "4,310 ms"),
    ],
)
def test_a_miss_shows_what_was_missed(change: dict[str, float | None], figure: str) -> None:
    """What is over its limit, or not known, misses the goal; the figure says which."""
    outcome = judge([replace(GOOD, **change)], 0.5)[2]  # type: ignore[arg-type]  # a table of fields by name
    assert not outcome.holds
    assert outcome.figure == figure


def test_the_limits_themselves_hold() -> None:
    """Exactly at the latency goal and at the error limit is still held."""
    assert judge([replace(GOOD, p99_seconds=0.5, error_fraction=0.001)], 0.5)[2].holds


def test_a_backlog_within_the_goal_is_no_miss() -> None:
    """At 30/s and a goal of 1.5 s, 45 requests may be under way when an 8 s window ends; in 80 s that is little."""
    waiting = replace(GOOD, rate_per_second=30, p99_seconds=0.9, throughput_per_second=28.0, measured_seconds=8)
    assert judge([waiting], 1.5)[2].holds
    assert not judge([waiting], None)[2].holds
    assert not judge([replace(waiting, measured_seconds=80)], 1.5)[2].holds


def test_requests_at_the_edges_of_the_window_are_no_miss() -> None:
    """In 4 s at 5 requests/s, two pods may each hold one of the 20 back; in 400 s such a gap is a miss."""
    few = replace(GOOD, rate_per_second=5, throughput_per_second=4.5, measured_seconds=4)
    assert judge([few], 0.5)[2].holds
    assert not judge([replace(few, measured_seconds=400)], 0.5)[2].holds
    assert not judge([replace(few, measured_seconds=None)], 0.5)[2].holds


def test_answers_are_held_against_what_arrived() -> None:
    """Poisson arrivals miss their mean by chance; who answers all that came has answered all."""
    assert judge([replace(GOOD, throughput_per_second=25.0, arrived_per_second=25.1)], 0.5)[2].holds


def test_every_repeat_must_hold() -> None:
    """One miss of two is a miss, and the outcome says in how many."""
    outcome = judge([GOOD, replace(GOOD, p99_seconds=0.712)], 0.5)[2]
    assert not outcome.holds
    assert outcome.figure == "712 ms, in 1 of 2 measurements"


def test_the_worst_repeat_is_shown() -> None:
    """Of several that hold, the highest p99 is the figure."""
    assert judge([replace(GOOD, p99_seconds=0.3), GOOD], 0.5)[2].figure == "300 ms"


def test_void_points_do_not_count() -> None:
    """A size with void points alone has no outcome."""
    assert judge([replace(GOOD, valid=False)], 0.5) == {}


def test_without_a_latency_goal_latency_does_not_matter() -> None:
    """Errors and throughput still do."""
    slow = replace(GOOD, p99_seconds=60)
    assert judge([slow], None)[2].holds
    assert not judge([replace(slow, error_fraction=0.5)], None)[2].holds


def test_the_rule_is_data() -> None:
    """A stricter or laxer rule changes the outcome of the same point."""
    point = replace(GOOD, error_fraction=0.004)
    assert judge([point], 0.5, GoalRule(highest_error_fraction=0.01))[2].holds
    assert not judge([GOOD], 0.5, GoalRule(lowest_throughput_fraction=1.1))[2].holds


def test_capacity_is_the_mean_of_valid_points() -> None:
    """Void and unknown points do not enter; sizes are in rising order."""
    points = [
        CapacityPoint(2, 38.0),
        CapacityPoint(1, 19.0),
        CapacityPoint(1, 21.0),
        CapacityPoint(2, 5.0, valid=False),
        CapacityPoint(4, None),
    ]
    capacity = mean_capacity(points)
    assert list(capacity.items()) == [(1, 20.0), (2, 38.0)]


def test_capacity_between_sizes_is_on_the_line_between_them() -> None:
    """Three pods lie half way between two and four."""
    assert interpolated({2: 38.0, 4: 70.0}, 3) == 54.0
