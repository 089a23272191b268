"""Tests of the way from stages to fits, to the next size to try, and to advice."""

from podscale.analysis.advice import Goal
from podscale.sweep import conclude
from tests.sweep import builders
from tests.sweep.builders import goal_stage, stage

GOAL = Goal(rate_per_second=70.0, slo_p99_seconds=0.2)


def test_invalid_and_goal_stages_do_not_enter_the_fits() -> None:
    """Only valid capacity stages are points; with two sizes Amdahl and USL are refused in words."""
    stages = [stage(1), stage(2), stage(3, valid=False, throughput_per_second=1.0), goal_stage(2, 0.1)]
    linear, amdahl, usl = conclude.fits(stages)
    assert linear.coefficients is not None
    assert abs(linear.coefficients["lambda"] - 50) < 0.01
    assert amdahl.coefficients is None
    assert amdahl.refused
    assert usl.refused


def test_the_goal_is_a_share_of_the_largest_size_unless_a_rate_is_asked() -> None:
    """60 % of what two pods did, or the rate as asked; without capacity there is no goal."""
    measured = [stage(1), stage(2)]
    goal = conclude.goal_of(builders.plan(sizes=[1, 2]), measured)
    assert goal == Goal(rate_per_second=60.0, slo_p99_seconds=0.2, arrivals="poisson")
    asked = conclude.goal_of(builders.plan(sizes=[1, 2], rate_per_second=30.0, slo_p99_ms=500.0), measured)
    assert asked == Goal(rate_per_second=30.0, slo_p99_seconds=0.5, arrivals="poisson")
    assert conclude.goal_of(builders.plan(), []) is None


def test_neighbours_are_tried_until_n_holds_and_one_fewer_does_not() -> None:
    """Held: one fewer is in question. Missed: one more. Both known or out of reach: nothing is."""
    assert conclude.next_size([goal_stage(2, 0.1)], GOAL, 2, largest=4) == 1
    assert conclude.next_size([goal_stage(2, 0.9)], GOAL, 2, largest=4) == 3
    assert conclude.next_size([goal_stage(2, 0.1), goal_stage(1, 0.9)], GOAL, 1, largest=4) is None
    assert conclude.next_size([goal_stage(1, 0.1)], GOAL, 1, largest=4) is None
    assert conclude.next_size([goal_stage(4, 0.9)], GOAL, 4, largest=4) is None
    assert conclude.next_size([goal_stage(2, 0.1, valid=False)], GOAL, 2, largest=4) == 2


def test_the_first_size_follows_from_the_capacity_of_a_pod() -> None:
    """70/s at 50/s a pod cannot do with one; the guess stays within the measured sizes."""
    measured = [stage(1), stage(2), stage(4)]
    assert conclude.first_size(measured, GOAL) == 2
    assert conclude.first_size(measured, Goal(rate_per_second=1000.0, slo_p99_seconds=0.2)) == 4
    assert conclude.first_size(measured, Goal(rate_per_second=10.0, slo_p99_seconds=0.001)) is None


def test_a_verified_size_is_said_with_both_figures() -> None:
    """Two pods hold, one does not: the sentence has the number, the goal and both measurements."""
    stages = [stage(1), stage(2), goal_stage(2, 0.12), goal_stage(1, 4.3, throughput_per_second=50.0)]
    advice = conclude.advice(builders.plan(sizes=[1, 2], rate_per_second=70.0), stages)
    assert advice.pods == 2
    assert advice.verified
    assert advice.sentence.startswith("2 pods hold")
    assert advice.rate_per_second == 70.0
    assert advice.slo_p99_seconds == 0.2


def test_nothing_measured_gives_a_sentence_and_no_number() -> None:
    """An empty sweep has advice that says why there is none."""
    advice = conclude.advice(builders.plan(), [])
    assert advice.pods is None
    assert not advice.verified
    assert advice.sentence


def test_a_service_as_it_is_gets_no_number_of_pods() -> None:
    """--url: the sentence says what the service did, or whether it holds the goal, and never counts pods."""
    closed = conclude.advice(builders.plan(url="http://127.0.0.1:1"), [stage(1)])
    assert closed.sentence == "http://127.0.0.1:1 did 50 requests/s with 16 users, as it is."
    asked = builders.plan(url="http://127.0.0.1:1", model="open", rate_per_second=70.0)
    holds = conclude.advice(asked, [goal_stage(1, 0.1)])
    assert holds.sentence == "http://127.0.0.1:1, as it is, holds p99 <= 200 ms at 70 requests/s (measured 100 ms)."
    misses = conclude.advice(asked, [goal_stage(1, 0.9)])
    assert "does not hold p99 <= 200 ms" in misses.sentence
    assert "No figure" in conclude.advice(asked, [goal_stage(1, 0.9, valid=False)]).sentence
    assert {advice.pods for advice in (closed, holds, misses)} == {None}
