"""Tests of reading the pods' metrics."""

import httpx
import msgspec
import pytest

from podscale import contract
from podscale.sweep.scrape import PodReading, parse, scrape, usage

PAGE = """\
# HELP http_requests_total Requests.
# TYPE http_requests_total counter
http_requests_total{method="GET",route="/blocking",status="200"} 40.0
http_requests_total{method="GET",route="unmatched",status="404"} 2.0
# TYPE http_requests_in_progress gauge
http_requests_in_progress 3.0
# TYPE podscale_queue_seconds histogram
podscale_queue_seconds_bucket{le="+Inf"} 10.0
podscale_queue_seconds_count 10.0
podscale_queue_seconds_sum 1.5
# TYPE podscale_cgroup_cpu_limit_cores gauge
podscale_cgroup_cpu_limit_cores +Inf
"""


def reading(pod: str = "pod-1", at: float = 0.0, **values: float) -> PodReading:
    """A reading with these values and nothing else."""
    return msgspec.structs.replace(PodReading(pod=pod, at_seconds=at), **values)


def test_series_of_one_name_add_up_and_missing_ones_are_unknown() -> None:
    """Requests are summed over labels; a metric without a series is None, not 0; no limit is infinite."""
    found = parse("pod-1", PAGE, 5.0)
    assert found.requests == 42
    assert found.in_progress == 3
    assert (found.queue_seconds_sum, found.queue_seconds_count) == (1.5, 10)
    assert found.cpu_limit_cores == float("inf")
    assert found.throttled_periods is None
    assert found.memory_bytes is None


def test_a_pod_without_requests_has_counted_none() -> None:
    """A counter with labels has no series before its first request: that is a known 0."""
    assert parse("pod-1", f"# TYPE {contract.IN_PROGRESS} gauge\n{contract.IN_PROGRESS} 0.0\n", 0.0).requests == 0


def test_a_pod_that_does_not_answer_is_unknown() -> None:
    """Nothing listens: every value is None and nothing is raised."""
    with httpx.Client() as client:
        found = scrape("pod-1", "http://127.0.0.1:9", client)
    assert found.requests is None


def test_usage_is_the_difference_over_all_pods() -> None:
    """Counters are subtracted pod by pod and added; the cost of a request comes from the pods' own counts."""
    before = [reading(at=0, requests=10, cpu_seconds=1.0), reading("pod-2", at=0, requests=0, cpu_seconds=0.5)]
    after = [reading(at=2, requests=60, cpu_seconds=2.0), reading("pod-2", at=2, requests=50, cpu_seconds=1.5)]
    found = usage(before, after)
    assert found.requests == 100
    assert found.cpu_seconds == pytest.approx(2.0)
    assert found.cpu_seconds_per_request == pytest.approx(0.02)
    assert found.seconds == 2
    assert found.throttled.periods is None


def test_a_pod_that_began_anew_makes_the_difference_unknown() -> None:
    """A counter that fell belongs to a new process; a pod that went or an unread value is unknown as well."""
    assert usage([reading(requests=10)], [reading(requests=3)]).requests is None
    assert usage([reading(requests=10)], [reading()]).requests is None
    assert usage([reading(), reading("pod-2")], [reading()]).requests is None
    assert usage([], []).requests is None
