"""Tests of figures from outside of the pods: cAdvisor's page, and averages of the metrics API."""

import pytest

from podscale.sweep.kubernetes.access import Api, Object
from podscale.sweep.kubernetes.foreign import METRICS_API, Nodes, by_pod, duration, parse, whole
from podscale.sweep.kubernetes.workload import find, find_alone
from podscale.sweep.scrape import usage
from tests.sweep.kubernetes.cluster import Pretended, deployment, pod, pretended, service

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


CADVISOR = "/api/v1/nodes/node1/proxy/metrics/cadvisor"


def test_pods_that_a_kubelet_does_not_name_are_asked_of_the_metrics_api() -> None:
    """Some runtimes leave the name of a container empty; each pod stays with the one that knew it first."""
    named = PAGE.replace('pod="shop-1"', 'pod="a"')
    with pretended() as (cluster, api, _):
        nodes, item = foreign(cluster, api, named)
        readings = nodes.read({"a", "b"})
        assert [(one.pod, one.cpu_seconds) for one in readings] == [("a", 12.5), ("b", 0.0), ("b", pytest.approx(3.0))]
        # From now on the kubelet knows neither of them, or both: nobody changes sides.
        cluster.handlers[CADVISOR] = lambda *_: (200, PAGE.replace('container="web"', 'container=""'))
        item["timestamp"] = "2026-01-01T00:00:35Z"
        readings = nodes.read({"a", "b"})
        assert [one.pod for one in readings] == ["b", "b", "a"]
        assert readings[-1].cpu_seconds is None
        cluster.handlers[CADVISOR] = lambda *_: (200, named + named.replace('pod="a"', 'pod="b"'))
        again = nodes.read({"a", "b"})
        assert [(one.pod, one.cpu_seconds) for one in again] == [("a", 12.5), ("b", pytest.approx(6.0))]
        assert (again[1].at_seconds, again[1].memory_bytes) == (readings[1].at_seconds, 10 * 2**20)


def test_what_no_average_covers_is_unknown() -> None:
    """Averages that follow each other add up; over a minute that nobody saw there is no difference."""
    with pretended() as (cluster, api, _):
        nodes, item = foreign(cluster, api, "")
        seen = [nodes.read({"b"})]
        # A second less than the last: times are whole seconds, windows are not.
        for moment, window in (("00:00:35", "14s"), ("00:01:50", "15s"), ("00:02:05", "15s")):
            item |= {"timestamp": f"2026-01-01T{moment}Z", "window": window}
            seen.append(nodes.read({"b"}))
    first, second, third, fourth = seen
    assert usage(first[-1:], second[-1:]).cpu_seconds == pytest.approx(3.0)
    assert third[0].at_seconds - second[-1].at_seconds == 60
    for late in (*third, *fourth):
        assert usage(second[-1:], [late]).cpu_seconds is None
        assert usage(first[:1], [late]).cpu_seconds is None
    assert usage(third[:1], fourth[-1:]).cpu_seconds == pytest.approx(6.0)


def foreign(cluster: Pretended, api: Api, page: str) -> tuple[Nodes, Object]:
    """Pods a and b on a node whose kubelet has this page, and what the metrics API says of b: 200m over 15 s."""
    cluster.objects["/apis/apps/v1/namespaces/here/deployments/shop"] = deployment()
    cluster.handlers[CADVISOR] = lambda *_: (200, page)
    container = {"name": "web", "usage": {"cpu": "200m", "memory": "10Mi"}}
    item = {"metadata": {"name": "b"}, "timestamp": "2026-01-01T00:00:20Z", "window": "15s", "containers": [container]}
    cluster.objects[f"{METRICS_API}/namespaces/here/pods"] = {"items": [item]}
    nodes = Nodes(api, find_alone(api, deployment="shop"))
    nodes.follow([pod("a"), pod("b")])
    return nodes, item


@pytest.mark.parametrize(("text", "seconds"), [("15.5s", 15.5), ("1m0s", 60), ("1h2m3.5s", 3723.5), ("250ms", 0.25)])
def test_durations_as_go_writes_them(text: str, seconds: float) -> None:
    """Hours to milliseconds."""
    assert duration(text) == pytest.approx(seconds)
