"""Tests of reading a pod's page of metrics by hand."""

import math
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from podscale import contract
from podscale.sweep.watch.counts import OF_CGROUP, OF_PROCESSES, OWN, parse
from tests.processes import running_pod

PAGE = """\
# HELP http_requests_total Requests.
http_requests_total{method="GET",route="/blocking",status="200"} 40.0
http_requests_total{method="GET",route="unmatched",status="404"} 2.0
http_requests_in_progress 3.0
http_request_duration_seconds_bucket{le="0.1",route="/blocking"} 30.0
http_request_duration_seconds_bucket{le="+Inf",route="/blocking"} 40.0
http_request_duration_seconds_bucket{le="0.1",route="/prime"} 1.0
http_request_duration_seconds_bucket{le="+Inf",route="/prime"} 2.0
podscale_queue_length 4.0
podscale_cgroup_cpu_seconds_total 7.0
podscale_cgroup_cpu_limit_cores +Inf
process_cpu_seconds_total 5.0
process_start_time_seconds 1.7e9
"""


def test_series_add_up_and_what_is_missing_is_unknown() -> None:
    """Requests and buckets are summed over labels; no limit is infinite; without a series there is no value."""
    found = parse(PAGE, 5.0, own_cgroup=True)
    assert (found.at_seconds, found.requests, found.queue_length) == (5.0, 42, 4)
    assert found.buckets == {0.1: 31, math.inf: 42}
    assert (found.cpu_seconds, found.cpu_limit_cores) == (7, math.inf)
    assert found.started_at_seconds == 1.7e9
    assert found.throttled_periods is None
    assert found.memory_bytes is None


def test_pods_of_one_machine_are_told_by_their_processes() -> None:
    """Their cgroup is that of all of them: its CPU and its limit are not the pod's."""
    found = parse(PAGE, 5.0, own_cgroup=False)
    assert found.cpu_seconds == 5
    assert found.cpu_limit_cores is None


def test_a_pod_without_requests_has_counted_none() -> None:
    """A counter with labels has no series before its first request: that is a known 0."""
    assert parse(f"{contract.IN_PROGRESS} 0.0\n", 0.0, own_cgroup=True).requests == 0
    assert parse("up 1\n", 0.0, own_cgroup=True).requests is None


def test_a_real_page_is_read_as_prometheus_reads_it(tmp_path: Path) -> None:
    """Each value of a living pod is the sum that the official parser finds."""
    with running_pod(tmp_path) as pod:
        httpx.get(f"{pod.url}{contract.BLOCKING}?cpuTimeMs=10")
        page = httpx.get(pod.admin_url + contract.METRICS).text
    samples = [one for family in text_string_to_metric_families(page) for one in family.samples]
    for own_cgroup, table in ((True, OWN | OF_CGROUP), (False, OWN | OF_PROCESSES)):
        found = parse(page, 0.0, own_cgroup=own_cgroup)
        for metric, field in table.items():
            values = [one.value for one in samples if one.name == metric]
            assert getattr(found, field) == (sum(values) if values else None), metric
    buckets = [one for one in samples if one.name == f"{contract.REQUEST_SECONDS}_bucket"]
    ends = [one.value for one in buckets if one.labels["le"] == "+Inf"]
    assert found.buckets[math.inf] == sum(ends) == 1
    assert len(found.buckets) == len({one.labels["le"] for one in buckets})
