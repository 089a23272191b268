"""Tests of what happened between two readings."""

import math

import msgspec
import pytest

from podscale.sweep.watch.counts import Counts
from podscale.sweep.watch.rates import History, Seen, quantile, span


def seen(*counts: Counts, pod: str = "a", key: str = "1", **given: object) -> Seen:
    """A Ready pod with these counts."""
    base = Seen(pod=pod, key=key, state="Ready", ready=True, restarts=0, counts=counts)
    return msgspec.structs.replace(base, **given)


def counts(at: float, **given: object) -> Counts:
    """Counts with these values and nothing else."""
    return msgspec.structs.replace(Counts(at_seconds=at), **given)


def test_rates_are_differences_over_the_time_between() -> None:
    """Requests, CPU and throttling of two seconds; gauges and limits are those of now."""
    history = History()
    first = counts(10, requests=100, cpu_seconds=1.0, periods=50, throttled_periods=10, queue_length=9)
    history.take([seen(first)])
    last = counts(12, requests=130, cpu_seconds=1.5, periods=70, throttled_periods=15, queue_length=3, memory_bytes=5e7)
    (row,), total = history.take([seen(last, cpu_limit_cores=0.5)])
    assert (row.requests_per_second, row.cpu_cores, row.throttled_share) == (15, 0.25, 0.25)
    assert (row.queue_length, row.memory_bytes, row.cpu_limit_cores) == (3, 5e7, 0.5)
    assert (total.requests_per_second, total.cpu_cores, total.throttled_share) == (15, 0.25, 0.25)
    assert (total.ready, total.pods) == (1, 1)


def test_a_first_reading_has_no_rates() -> None:
    """What is a number at once is shown at once; all that needs two readings is unknown, and never 0."""
    (row,), total = History().take([seen(counts(10, requests=100, queue_length=2))])
    assert row.queue_length == 2
    assert (row.requests_per_second, row.cpu_cores, row.throttled_share, row.p99_seconds) == (None,) * 4
    assert total.requests_per_second is None


def test_a_pod_that_began_anew_has_no_rates_once() -> None:
    """Another key, or a counter that fell, is another process."""
    history = History()
    history.take([seen(counts(1, requests=10))])
    (row,), _ = history.take([seen(counts(2, requests=20), key="2")])
    assert row.requests_per_second is None
    assert span(counts(1, requests=10), counts(2, requests=3)).requests is None
    fell = span(counts(1, buckets={1.0: 5.0}), counts(2, buckets={1.0: 2.0}))
    assert fell.buckets is None


def test_a_pod_that_is_not_heard_is_unknown() -> None:
    """Neither its old rates nor its old gauges are shown, and the total is unknown with it."""
    history = History()
    for at in (1, 2):
        history.take([seen(counts(at, requests=at * 10, queue_length=1))])
    (row,), total = history.take([seen()])
    assert (row.requests_per_second, row.queue_length) == (None, None)
    assert total.requests_per_second is None


def test_a_reading_that_is_some_seconds_old_stays() -> None:
    """The kubelet makes new figures every 10 s: until then the last rate holds, and it does not become 0."""
    history = History()
    for at, cpu in ((1, 1.0), (11, 6.0), (11, 6.0), (11, 6.0)):
        (row,), _ = history.take([seen(counts(at, cpu_seconds=cpu))])
    assert row.cpu_cores == 0.5


def test_two_points_at_once_are_a_rate_at_once() -> None:
    """The metrics API gives an average, which comes as two points of a counter."""
    (row,), _ = History().take([seen(counts(1, cpu_seconds=0.0), counts(11, cpu_seconds=2.0))])
    assert row.cpu_cores == pytest.approx(0.2)


def test_pods_without_a_process_do_not_spoil_the_total() -> None:
    """A Pending pod uses nothing, and that is known; one that runs and is not heard makes the sum unknown."""
    history = History()
    pending = Seen(pod="b", key="b", state="Pending", runs=False)
    history.take([seen(counts(1, requests=10)), pending])
    rows, total = history.take([seen(counts(2, requests=30)), pending])
    assert total.requests_per_second == 20
    assert (total.ready, total.pods) == (1, 2)
    assert rows[1].requests_per_second is None
    assert total.restarts is None


def test_nothing_throttled_is_a_known_zero() -> None:
    """Where no period passed in which CPU was wanted none was refused; without counters it is unknown."""
    history = History()
    for at in (1, 2):
        (row,), _ = history.take([seen(counts(at, periods=5, throttled_periods=1))])
    assert row.throttled_share == 0


def test_quantiles_come_from_the_bucket_they_fall_into() -> None:
    """Linear within the bucket, as in Prometheus; beyond the last bound without end; of nothing there is none."""
    assert quantile(0.5, {0.1: 50, 0.2: 100, math.inf: 100}) == pytest.approx(0.1)
    assert quantile(0.99, {0.1: 50, 0.2: 100, math.inf: 100}) == pytest.approx(0.198)
    assert quantile(0.99, {0.1: 50, math.inf: 100}) == math.inf
    assert quantile(0.99, {0.1: 0, math.inf: 0}) is None
    assert quantile(0.99, {}) is None


def test_the_p99_of_all_is_that_of_all_requests() -> None:
    """One slow pod of two: the total's p99 is the slow pod's, by requests and not by pods."""
    history = History()
    fast, slow = {0.1: 100.0, 1.0: 100.0, math.inf: 100.0}, {0.1: 0.0, 1.0: 100.0, math.inf: 100.0}
    empty = dict.fromkeys(fast, 0.0)
    history.take([seen(counts(1, buckets=empty)), seen(counts(1, buckets=empty), pod="b", key="b")])
    rows, total = history.take([seen(counts(2, buckets=fast)), seen(counts(2, buckets=slow), pod="b", key="b")])
    assert rows[0].p99_seconds == pytest.approx(0.099)
    assert total.p99_seconds == pytest.approx(0.1 + 0.9 * 0.98)
