"""What a serving process counts."""

import itertools

from prometheus_client import CollectorRegistry

from podscale.pod.metrics import BUCKETS_SECONDS, UNMATCHED, Meters


def meters() -> tuple[Meters, CollectorRegistry]:
    """Meters of one route."""
    registry = CollectorRegistry()
    return Meters(registry, ["/blocking"]), registry


def test_a_request_is_counted_by_route_method_and_status() -> None:
    """One request adds one to its counter and to its route's histogram, and is in progress meanwhile."""
    counted, registry = meters()
    counted.begin()
    assert registry.get_sample_value("http_requests_in_progress") == 1
    counted.end("GET", "/blocking", 200, 0.3)
    assert registry.get_sample_value("http_requests_in_progress") == 0
    labels = {"method": "GET", "route": "/blocking", "status": "200"}
    assert registry.get_sample_value("http_requests_total", labels) == 1
    histogram = "http_request_duration_seconds"
    assert registry.get_sample_value(f"{histogram}_sum", {"route": "/blocking"}) == 0.3
    assert registry.get_sample_value(f"{histogram}_bucket", {"route": "/blocking", "le": "0.25"}) == 0
    assert registry.get_sample_value(f"{histogram}_bucket", {"route": "/blocking", "le": "0.5"}) == 1


def test_unknown_methods_are_one_label_value() -> None:
    """Methods that we do not serve are counted together, so that they cannot make series or fill memory."""
    counted, registry = meters()
    for method in ("PUT", "PROPFIND", "BREW"):
        counted.begin()
        counted.end(method, UNMATCHED, 404, 0.001)
    labels = {"method": "other", "route": "unmatched", "status": "404"}
    assert registry.get_sample_value("http_requests_total", labels) == 3


def test_every_series_but_the_counters_of_answers_exists_from_the_start() -> None:
    """A rate over a histogram or a counter starts at 0 and not at its first event."""
    _, registry = meters()
    for route in ("/blocking", "unmatched"):
        assert registry.get_sample_value("http_request_duration_seconds_count", {"route": route}) == 0
    for name in ("podscale_requests_shed_total", "podscale_requests_abandoned_total", "podscale_queue_seconds_count"):
        assert registry.get_sample_value(name) == 0


def test_the_queue_counts() -> None:
    """Waiting, waits, shed and abandoned jobs each have their metric."""
    counted, registry = meters()
    counted.waiting(+1)
    counted.waiting(+1)
    counted.waiting(-1)
    counted.waited(0.02)
    counted.shed()
    counted.abandoned()
    assert registry.get_sample_value("podscale_queue_length") == 1
    assert registry.get_sample_value("podscale_queue_seconds_sum") == 0.02
    assert registry.get_sample_value("podscale_requests_shed_total") == 1
    assert registry.get_sample_value("podscale_requests_abandoned_total") == 1


def test_buckets_span_from_the_shortest_job_to_the_longest_patience() -> None:
    """From a job of 1 ms to a client's timeout of 60 s, rising, without gaps of more than 2.5 times."""
    assert (BUCKETS_SECONDS[0], BUCKETS_SECONDS[-1]) == (0.001, 60)
    assert all(1 < b / a <= 2.51 for a, b in itertools.pairwise(BUCKETS_SECONDS))
