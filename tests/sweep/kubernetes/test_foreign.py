"""Tests of figures from outside of the pods: cAdvisor's page, and averages of the metrics API."""

import pytest

from podscale.sweep.kubernetes.foreign import METRICS_API, Nodes, by_pod, duration, parse, whole
from podscale.sweep.kubernetes.workload import find
from tests.sweep.kubernetes.cluster import deployment, pod, pretended, service

PAGE = """\
# HELP container_cpu_usage_seconds_total Cumulative cpu time consumed
container_cpu_usage_seconds_total{container="",cpu="total",id="/",namespace="",pod=""} 5000 1700000010000
container_cpu_usage_seconds_total{container="web",id="/x",namespace="here",pod="shop-1"} 12.5 1700000009000
container_cpu_usage_seconds_total{container="web",id="/y",namespace="there",pod="shop-1"} 99 1700000009000
container_memory_working_set_bytes{container="web",id="/x",namespace="here",pod="shop-1"} 2.5e+07 1700000009000
container_cpu_cfs_throttled_periods_total{container="web",id="/x",namespace="here",pod="shop-1"} 7 1700000009000
machine_cpu_cores{boot_id="b",machine_id="m"} 4
"""


def test_the_page_of_a_kubelet() -> None:
    """Counters of our pods with the page's own times; what it lacks is unknown; the root is the node."""
    with pretended() as (cluster, api, _):
        cluster.objects["/apis/apps/v1/namespaces/here/deployments/shop"] = deployment()
        cluster.objects["/api/v1/namespaces/here/services"] = {"items": [service()]}
        samples = list(parse(PAGE))
        (reading,) = by_pod(samples, find(api, deployment="shop"), {"shop-1"})
    assert (reading.at_seconds, reading.cpu_seconds, reading.memory_bytes) == (1700000009, 12.5, 25_000_000)
    assert (reading.throttled_periods, reading.periods, reading.requests) == (7, None, None)
    node = whole([samples, samples])
    assert node is not None
    assert (node.busy_seconds, node.cores, node.total_seconds) == (10_000, 8, 8 * 1700000010)
    assert whole([[]]) is None


def test_averages_become_a_counter_where_no_kubelet_may_be_asked() -> None:
    """0.2 cores over 15 s are 3 s of CPU; a pod that the metrics API does not know yet is unknown, not 0."""
    with pretended() as (cluster, api, _):
        cluster.objects["/apis/apps/v1/namespaces/here/deployments/shop"] = deployment()
        cluster.objects["/api/v1/namespaces/here/services"] = {"items": [service()]}
        cluster.handlers["/api/v1/nodes/node1/proxy/metrics/cadvisor"] = lambda *_: (403, {"message": "forbidden"})
        usage = {"name": "web", "usage": {"cpu": "200m", "memory": "10Mi"}}
        item = {"metadata": {"name": "a"}, "timestamp": "2026-01-01T00:00:20Z", "window": "15s", "containers": [usage]}
        cluster.objects[f"{METRICS_API}/namespaces/here/pods"] = {"items": [item]}
        nodes = Nodes(api, find(api, deployment="shop"))
        nodes.follow([pod("a"), pod("b")])
        begun, ended, unknown = nodes.read({"a", "b"})
        assert ended.at_seconds - begun.at_seconds == 15
        assert ended.cpu_seconds == pytest.approx(3.0)
        assert ended.memory_bytes == 10 * 2**20
        assert (unknown.pod, unknown.cpu_seconds) == ("b", None)
        assert nodes.machine() is None
        item["timestamp"] = "2026-01-01T00:00:30Z"
        assert nodes.read({"a"})[1].cpu_seconds == pytest.approx(5.0)


@pytest.mark.parametrize(("text", "seconds"), [("15.5s", 15.5), ("1m0s", 60), ("1h2m3.5s", 3723.5), ("250ms", 0.25)])
def test_durations_as_go_writes_them(text: str, seconds: float) -> None:
    """Hours to milliseconds."""
    assert duration(text) == pytest.approx(seconds)
