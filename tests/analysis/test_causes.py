"""Tests of what the tail of pods is made of."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podscale.analysis.causes import Explanation, Load, Share, TailPoint, explain

LOAD = Load(size=4, rate_per_second=16.0, arrivals="constant", service_seconds=0.05, cores=1.0)
THROTTLED = 0.45

p99s = st.floats(0.001, 100)
repeats = st.lists(p99s, min_size=1, max_size=4)


def points(**by_topology: list[float]) -> list[TailPoint]:
    """Stages of each topology with these p99s; `pods_unlimited` is spelt so."""
    return [
        TailPoint(
            topology=name.replace("_", "-"),
            p99_seconds=p99,
            limited=name != "pods_unlimited",
            throttled_fraction=THROTTLED if name == "pods" else None,
        )
        for name, values in by_topology.items()
        for p99 in values
    ]


def by_cause(found: Explanation) -> dict[str, Share]:
    """The shares by their cause."""
    return {share.cause: share for share in found.shares}


def test_at_80_percent_of_one_core_the_quota_leads() -> None:
    """The first measurement of 4 pods of 250m: 1,976 ms, nearly all of it the quota, with the periods as evidence."""
    found = explain(points(pods=[1.976], pods_unlimited=[0.062], workers=[0.055], pods_large=[0.431]), LOAD)
    shares = by_cause(found)
    assert found.leading == "quota"
    assert shares["quota"].seconds == pytest.approx(1.914)
    assert shares["random choice"].seconds == pytest.approx(0.007)
    assert shares["queueing"].seconds == pytest.approx(0.005)
    assert "45% of its periods" in shares["quota"].evidence
    assert found.sentence == (
        "The CPU quota costs most: 1,914 ms of the p99 of 1,976 ms, with 4 pods at 16 requests/s and evenly spaced "
        "arrivals; the quota stopped pods in 45% of its periods."
    )
    assert "random choice among pods 7 ms, queueing 5 ms and the work itself 50 ms" in found.parts


@given(repeats, repeats, repeats)
def test_the_parts_add_up(pods: list[float], unlimited: list[float], workers: list[float]) -> None:
    """Whatever was measured, the causes and the work are together the p99 of the pods."""
    found = explain(points(pods=pods, pods_unlimited=unlimited, workers=workers), LOAD)
    parts = [share.seconds for share in found.shares]
    assert found.p99_seconds is not None
    assert None not in parts
    assert math.isclose(sum(part or 0 for part in parts) + 0.05, found.p99_seconds, abs_tol=1e-9)


@given(repeats, repeats, repeats)
def test_intervals_hold_the_mean_and_come_from_repeats(
    pods: list[float], unlimited: list[float], workers: list[float]
) -> None:
    """With several repeats the mean lies within its interval; with one there is no interval."""
    found = explain(points(pods=pods, pods_unlimited=unlimited, workers=workers), LOAD)
    for share, side in zip(found.shares, (pods, unlimited, workers), strict=True):
        if len(side) == 1:
            assert (share.low_seconds, share.high_seconds) == (None, None)
            continue
        assert share.seconds is not None
        assert share.low_seconds is not None
        assert share.high_seconds is not None
        assert share.low_seconds - 1e-9 <= share.seconds <= share.high_seconds + 1e-9


@given(repeats, repeats, repeats)
def test_a_cause_that_leads_costs_more_than_every_other(
    pods: list[float], unlimited: list[float], workers: list[float]
) -> None:
    """Nothing leads that costs nothing, or less than another."""
    found = explain(points(pods=pods, pods_unlimited=unlimited, workers=workers), LOAD)
    if found.leading is None:
        return
    shares = by_cause(found)
    lead = shares.pop(found.leading).seconds
    assert lead is not None
    assert lead > 0
    assert all(lead > (share.seconds or 0) for share in shares.values())


def test_repeats_that_overlap_name_no_leading_cause() -> None:
    """Quota and random choice both cost about 100 ms and scatter by as much: none leads, and the sentence says so."""
    found = explain(points(pods=[0.2, 0.35], pods_unlimited=[0.11, 0.21], workers=[0.051, 0.055]), LOAD)
    assert found.leading is None
    assert "do not tell" in found.sentence


def test_a_topology_that_was_not_measured_leaves_its_causes_unknown() -> None:
    """Without pods-unlimited neither the quota nor the choice can be told; queueing still can."""
    shares = by_cause(explain(points(pods=[1.9], workers=[0.055]), LOAD))
    assert shares["quota"].seconds is None
    assert shares["quota"].evidence == "not measured: there is no valid stage of pods-unlimited"
    assert shares["random choice"].seconds is None
    assert shares["queueing"].seconds == pytest.approx(0.005)


def test_nothing_measured_is_no_number() -> None:
    """Without a single point no cause has a figure, and the sentence says why."""
    found = explain([], LOAD)
    assert found.p99_seconds is None
    assert all(share.seconds is None for share in found.shares)
    assert "no stage of pods counts" in found.sentence


def test_without_a_quota_pods_are_pods_that_nothing_limits() -> None:
    """On one machine the quota is not measured, and random choice is the difference of pods and workers."""
    load = Load(size=2, rate_per_second=32.0, arrivals="poisson", service_seconds=0.05, cores=None)
    found = explain([TailPoint("pods", 0.6, False), TailPoint("workers", 0.25, False)], load)
    shares = by_cause(found)
    assert shares["quota"].seconds is None
    assert "no CPU quota" in shares["quota"].evidence
    assert shares["random choice"].seconds == pytest.approx(0.35)
    assert found.leading == "random choice"
    # Theory says the same: two queues of 80 % each wait longer than one before two servers.
    assert shares["random choice"].theory_seconds is not None
    assert shares["random choice"].theory_seconds > 0.1


def test_pods_that_use_more_than_the_budget_may_be_faster_than_workers() -> None:
    """Poisson arrivals at 80 % of one core: four unlimited pods are faster than a pooled core; below zero is kept."""
    load = Load(size=4, rate_per_second=16.0, arrivals="poisson", service_seconds=0.05, cores=1.0)
    share = by_cause(explain(points(pods=[3.0], pods_unlimited=[0.1], workers=[0.5]), load))["random choice"]
    assert share.seconds == pytest.approx(-0.4)
    assert share.theory_seconds is not None
    assert share.theory_seconds < 0


def test_the_work_of_a_request_may_be_unknown() -> None:
    """Then queueing is unknown, and so is every theory."""
    load = Load(size=4, rate_per_second=16.0, arrivals="constant", service_seconds=None, cores=1.0)
    shares = by_cause(explain(points(pods=[1.9], pods_unlimited=[0.06], workers=[0.055]), load))
    assert shares["queueing"].seconds is None
    assert shares["random choice"].theory_seconds is None
    assert shares["quota"].seconds == pytest.approx(1.84)
