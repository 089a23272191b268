"""The sentence, the number and the doubt, for all that a sweep may have measured."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podscale.analysis.advice import Goal, PodAdvice, advise, candidate_size
from podscale.analysis.goals import CapacityPoint, GoalPoint
from podscale.analysis.queueing import random_choice_quantile

GOAL = Goal(rate_per_second=28, slo_p99_seconds=0.5, arrivals="constant")
CAPACITY = [CapacityPoint(1, 19.6), CapacityPoint(1, 19.8), CapacityPoint(2, 38.9)]


def point(size: int, p99_seconds: float, *, valid: bool = True, rate: float = 28) -> GoalPoint:
    """A goal stage without errors that answered all."""
    return GoalPoint(size, rate, p99_seconds, 0.0, rate, valid=valid)


def test_n_holds_and_one_fewer_does_not() -> None:
    """The whole answer: size, measured figure, and the figure of one pod fewer."""
    advice = advise(CAPACITY, [point(2, 0.212), point(1, 4.31)], goal=GOAL)
    assert advice.sentence == (
        "2 pods hold p99 <= 500 ms at 28 requests/s (measured 212 ms); 1 pod does not (4,310 ms)."
    )
    assert (advice.pods, advice.verified) == (2, True)
    assert advice.capacity_per_pod_per_second == pytest.approx(19.45)


def test_the_reasons_give_load_and_theory() -> None:
    """How busy the pods are, and what queueing says for random choice and for one queue."""
    load, theory = advise(CAPACITY, [point(2, 0.212), point(1, 4.31)], goal=GOAL).reasons
    assert load == "2 pods can do about 38.9 requests/s (19.4 requests/s per pod): this rate is 72% of it."
    assert theory.startswith("Theory for evenly spaced arrivals and jobs of equal length: p99 178 ms if each request")
    assert theory.endswith("51.4 ms with one shared queue.")


def test_one_pod_that_holds_is_verified() -> None:
    """Fewer than one is not possible, so nothing more need be measured."""
    advice = advise(CAPACITY, [point(1, 0.08, rate=8)], goal=Goal(8, 0.1))
    assert advice.sentence == "1 pod holds p99 <= 100 ms at 8 requests/s (measured 80 ms); fewer is not possible."
    assert (advice.pods, advice.verified) == (1, True)


@pytest.mark.parametrize("fewer", [[], [point(1, 4.31, valid=False)]])
def test_without_one_fewer_it_is_not_verified(fewer: list[GoalPoint]) -> None:
    """Not measured and void are the same: the size is given, with the doubt."""
    advice = advise(CAPACITY, [point(2, 0.212), *fewer], goal=GOAL)
    assert advice.sentence.endswith("Not verified: there is no valid measurement of 1 pod at this rate.")
    assert (advice.pods, advice.verified) == (2, False)
    assert any("void" in reason for reason in advice.reasons) == bool(fewer)


def test_a_gap_between_sizes_is_not_verified() -> None:
    """4 hold and 1 does not: 2 or 3 might do, and the sentence says so."""
    advice = advise(CAPACITY, [point(4, 0.212), point(1, 4.31)], goal=GOAL)
    assert "1 pod does not (4,310 ms). Not verified: there is no valid measurement of 3 pods" in advice.sentence
    assert (advice.pods, advice.verified) == (4, False)


def test_a_larger_size_that_misses_is_told() -> None:
    """More pods that do worse contradict the answer; it stays, with the reason to doubt it."""
    advice = advise(CAPACITY, [point(2, 0.2), point(1, 4.0), point(4, 0.6)], goal=GOAL)
    assert advice.pods == 2
    assert any(reason.startswith("4 pods missed the goal although fewer held it (600 ms)") for reason in advice.reasons)


def test_no_size_that_holds_gives_no_number() -> None:
    """The sentence has all figures and the size to measure next."""
    advice = advise(CAPACITY, [point(1, 4.31), point(2, 0.712)], goal=GOAL)
    assert advice.sentence == (
        "No number of pods: of the sizes measured, none holds p99 <= 500 ms at 28 requests/s: "
        "1 pod (4,310 ms) and 2 pods (712 ms). Measure 3 pods next."
    )
    assert (advice.pods, advice.verified) == (None, False)


def test_a_goal_below_the_work_itself_is_out_of_reach() -> None:
    """Where one request alone takes longer than the goal, no size is sent for, measured or estimated."""
    goal = Goal(28, 0.02)
    for points in ([], [point(1, 4.31), point(2, 0.712)]):
        advice = advise(CAPACITY, points, goal=goal)
        assert "ne request alone takes" in advice.sentence
        assert "next" not in advice.sentence
        assert advice.pods is None


def test_goal_points_of_another_rate_do_not_count() -> None:
    """What was held at 10/s says nothing of 28/s."""
    advice = advise(CAPACITY, [point(1, 0.1, rate=10)], goal=GOAL)
    assert advice.sentence.startswith("An estimate")


def test_capacity_alone_gives_an_estimate() -> None:
    """Without goal stages the number is called an estimate and is not verified."""
    advice = advise(CAPACITY, goal=GOAL)
    assert advice.sentence == (
        "An estimate, not verified: about 2 pods for p99 <= 500 ms at 28 requests/s, from 19.4 requests/s per pod."
    )
    assert (advice.pods, advice.verified) == (2, False)


def test_an_estimate_between_measured_sizes_uses_both() -> None:
    """Three pods were not measured, but lie between one and four."""
    advice = advise([CapacityPoint(1, 20.0), CapacityPoint(4, 70.0)], goal=Goal(30, 0.5))
    assert advice.pods == 3
    assert advice.capacity_per_pod_per_second == pytest.approx((20 + (70 - 20) * 2 / 3) / 3)


def test_an_estimate_at_the_smallest_measured_size_is_an_upper_bound() -> None:
    """If 2 is the smallest size measured and suffices, fewer may do."""
    assert "at most 2 pods" in advise([CapacityPoint(2, 39.0)], goal=Goal(3, 0.5)).sentence


def test_beyond_the_measured_sizes_there_is_no_number() -> None:
    """The estimate stops at the largest size measured and names the size to measure next."""
    advice = advise(CAPACITY, goal=Goal(80, 0.5))
    assert advice.sentence.startswith("No number of pods: p99 <= 500 ms at 80 requests/s needs more than the largest")
    assert advice.sentence.endswith("Measure 6 pods next.")
    assert advice.pods is None


def test_no_rate_gives_the_capacity() -> None:
    """Without a rate the sentence says what was measured and what is missing."""
    advice = advise(CAPACITY, goal=None)
    assert advice.sentence == (
        "At most, 1 pod does 19.7 requests/s and 2 pods do 38.9 requests/s. "
        "How many are needed depends on the rate: none was asked for."
    )
    assert advice.pods is None


@pytest.mark.parametrize("goal", [GOAL, None])
def test_no_capacity_says_why(goal: Goal | None) -> None:
    """Nothing measured and nothing valid are two different answers."""
    assert advise([], goal=goal).sentence == "No number of pods: no stage measured how much a pod can do."
    void = [CapacityPoint(1, 19.0, valid=False), CapacityPoint(2, None, valid=False)]
    assert "no capacity stage is valid, of 2" in advise(void, goal=goal).sentence


@pytest.mark.parametrize("arrivals", ["poisson", "constant"])
def test_the_candidate_is_the_smallest_that_theory_allows(arrivals: str) -> None:
    """Its predicted p99 is within the goal, and that of one pod fewer is not."""
    goal = Goal(100, 0.3, "poisson" if arrivals == "poisson" else "constant")
    size = candidate_size(20, goal)
    assert size is not None
    predicted = [random_choice_quantile(0.99, 100, 0.05, pods, goal.arrivals) for pods in (size - 1, size)]
    assert predicted[0] > 0.3 >= predicted[1]


def test_the_candidate_without_a_latency_goal_keeps_a_reserve() -> None:
    """At 80 % of the capacity, 40/s need 3 pods of 20/s, not 2; exactly 80 % is still allowed."""
    assert candidate_size(20, Goal(40)) == 3
    assert candidate_size(20, Goal(32)) == 2
    assert candidate_size(20, Goal(40), utilisation_limit=1.0) == 2


def test_no_candidate_for_a_goal_below_the_work() -> None:
    """A job of 50 ms never answers within 20 ms."""
    assert candidate_size(20, Goal(1, 0.02)) is None


def test_a_tight_goal_at_a_high_rate_is_found_quickly() -> None:
    """500 pods' worth of work with almost no waiting allowed still has an answer."""
    size = candidate_size(20, Goal(10_000, 0.06, "constant"))
    assert size is not None
    assert 20_000 < size < 60_000


@settings(deadline=None, max_examples=60)
@given(capacity=st.floats(0.5, 5000), load=st.floats(0.001, 40), slo_factor=st.floats(1.0, 50) | st.none())
def test_the_candidate_can_carry_the_rate(capacity: float, load: float, slo_factor: float | None) -> None:
    """Whatever is asked, the candidate is at least the rate over the capacity, and at least 1."""
    goal = Goal(load * capacity, None if slo_factor is None else slo_factor / capacity)
    size = candidate_size(capacity, goal)
    assert size is not None
    assert size >= max(1, math.ceil(load - 1e-6))


sizes = st.integers(1, 8)
latencies = st.floats(0.001, 30) | st.none()


@settings(deadline=None, max_examples=60)
@given(
    capacity=st.lists(st.builds(CapacityPoint, sizes, st.floats(0.5, 500) | st.none(), latencies, st.booleans())),
    points=st.lists(
        st.builds(GoalPoint, sizes, st.just(28.0), latencies, st.floats(0, 1), st.floats(0, 30), st.booleans())
    ),
)
def test_any_measurement_gets_a_sentence(capacity: list[CapacityPoint], points: list[GoalPoint]) -> None:
    """A number is never beyond the sizes measured, and never verified without a valid point that holds."""
    advice: PodAdvice = advise(capacity, points, goal=GOAL)
    assert advice.sentence.endswith(".")
    valid = [p for p in points if p.valid]
    if advice.pods is not None:
        assert advice.pods <= max([p.size for p in valid] + [c.size for c in capacity])
    if advice.verified:
        assert any(p.size == advice.pods and p.p99_seconds is not None and p.p99_seconds <= 0.5 for p in valid)
        assert advice.pods == 1 or any(p.size == (advice.pods or 0) - 1 for p in valid)
