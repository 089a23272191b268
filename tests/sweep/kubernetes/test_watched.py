"""Tests of watching a Deployment: what its pods are called, who may scale it, and an API server that is away."""

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from podscale import contract
from podscale.sweep.kubernetes.access import Object
from podscale.sweep.kubernetes.rights import REVIEWS
from podscale.sweep.kubernetes.watched import Deployed, seen_pod, state
from podscale.sweep.kubernetes.workload import find_alone
from podscale.sweep.targets import TargetError
from podscale.sweep.watch.counts import Counts
from podscale.sweep.watch.reader import Reader
from tests.sweep.kubernetes.cluster import Pretended, deployment, pod, pretended

DEPLOYMENT = "/apis/apps/v1/namespaces/here/deployments/shop"
PODS = "/api/v1/namespaces/here/pods"
AUTOSCALERS = "/apis/autoscaling/v2/namespaces/here/horizontalpodautoscalers"
OURS: dict[str, Any] = {
    "ports": [{"name": "admin", "containerPort": 9100}],
    "env": [{"name": "PODSCALE_WORKERS", "value": "1"}],
}
RUNNING = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}


def test_states_have_kubernetes_own_words() -> None:
    """Of the container where it has a reason, else of the pod; Ready instead of Running."""
    assert state(pod("a"), {"state": RUNNING}) == "Ready"
    assert state(pod("a", ready=False), {"state": RUNNING}) == "NotReady"
    assert state(pod("a", ready=False), {"state": {"waiting": {"reason": "CrashLoopBackOff"}}}) == "CrashLoopBackOff"
    assert state(pod("a", ready=False), {"state": {"terminated": {"reason": "OOMKilled"}}}) == "OOMKilled"
    assert state(pod("a", ready=False, status={"phase": "Pending"}), {}) == "Pending"
    assert state(pod("a", metadata={"deletionTimestamp": "x"}), {"state": RUNNING}) == "Terminating"


def test_a_pod_is_known_by_its_container() -> None:
    """Node, restarts, time since its container began, and its limit."""
    with watched() as (_, source):
        workload = source._workload
    began = 1767225600.0  # 2026-01-01T00:00:00Z
    one = running(pod("a"), restarts=3)
    one["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "250m"}}
    seen = seen_pod(one, workload, [], began + 90)
    assert (seen.node, seen.restarts, seen.uptime_seconds, seen.runs) == ("node1", 3, 90, True)
    assert (seen.cpu_limit_cores, seen.memory_limit_bytes) == (0.25, float("inf"))
    pending = seen_pod(pod("b", ready=False, status={"phase": "Pending"}), workload, [], began)
    assert (pending.runs, pending.uptime_seconds) == (False, None)
    leaving = running(pod("c", metadata={"deletionTimestamp": "x"}))
    assert not seen_pod(leaving, workload, [], began).runs
    assert seen_pod(leaving, workload, [Counts(at_seconds=0.0)], began).runs
    assert seen.key != seen_pod(running(pod("a"), restarts=4), workload, [], began).key


def test_pods_are_read_through_the_proxy() -> None:
    """Their own page; one that does not answer keeps its row, and a missing right is said once."""
    page = f"{contract.IN_PROGRESS} 0\n{contract.QUEUE_LENGTH} 2\n"
    with watched() as (cluster, source):
        cluster.objects[PODS] = {"items": [running(pod("a")), running(pod("b"))]}
        cluster.handlers[f"{PODS}/a:9100/proxy/metrics"] = lambda *_: (200, page)
        cluster.handlers[f"{PODS}/b:9100/proxy/metrics"] = lambda *_: (403, {"message": "no"})
        found = source.look()
    assert found.pods is not None
    assert [len(each.counts) for each in found.pods] == [1, 0]
    assert found.pods[0].counts[0].queue_length == 2
    assert found.notes == ["unknown without the right to get pods/proxy in here: what pods count"]
    assert found.wanted == 3


def test_an_api_server_that_is_away_is_a_note() -> None:
    """The table goes on, without pods and without their number."""
    with watched() as (cluster, source):
        cluster.handlers[PODS] = lambda *_: (503, "busy")
        found = source.look()
    assert found.pods is None
    assert "the API server says 503" in found.notes[0]


def test_scaling_writes_the_scale_subresource_alone() -> None:
    """Where nothing stands against it, and within the most."""
    with watched() as (cluster, source):
        assert source.check_scaling() == 3
        source.scale(4)
        assert ("PATCH", f"{DEPLOYMENT}/scale") in cluster.asked
        with pytest.raises(TargetError, match="5 pods are the most"):
            source.scale(6)


def test_a_size_that_somebody_else_wrote_meanwhile_is_kept() -> None:
    """Whether it was written before the yes, or between the looks and the order, which the API server refuses then."""
    with watched() as (cluster, source):
        source.check_scaling()
        cluster.objects[DEPLOYMENT]["spec"]["replicas"] = 5
        with pytest.raises(TargetError, match="somebody set shop from 3 to 5 pods meanwhile; press"):
            source.scale(4)
        assert ("PATCH", f"{DEPLOYMENT}/scale") not in cluster.asked
        assert source.check_scaling() == 5

        def write_first(*_: object) -> tuple[int, Object]:
            cluster.objects[DEPLOYMENT]["spec"]["replicas"] = 2
            return 409, {"message": "the object has been modified"}

        cluster.handlers[f"{DEPLOYMENT}/scale"] = write_first
        with pytest.raises(TargetError, match="somebody set shop from 5 to 2 pods meanwhile"):
            source.scale(4)


def test_a_deployment_that_only_looks_different_is_scaled_all_the_same() -> None:
    """A pod became ready between the looks and the order: the version is old, the number is not; it is tried again."""
    with watched() as (cluster, source):
        source.check_scaling()
        orders: list[Object] = []

        def newest_alone(method: str, path: str, body: Object | None) -> tuple[int, Object]:
            del method, path
            assert body is not None
            orders.append(body)
            good = body["metadata"]["resourceVersion"] == "8"
            cluster.objects[DEPLOYMENT]["metadata"]["resourceVersion"] = "8"
            return (200, body) if good else (409, {"message": "the object has been modified"})

        cluster.handlers[f"{DEPLOYMENT}/scale"] = newest_alone
        source.scale(4)
        assert [order["metadata"]["resourceVersion"] for order in orders] == ["7", "8"]
        assert orders[-1]["spec"] == {"replicas": 4}
        cluster.handlers[f"{DEPLOYMENT}/scale"] = lambda *_: (409, {"message": "the object has been modified"})
        with pytest.raises(TargetError, match="shop changed 5 times while it was looked at; press"):
            source.scale(4)


def test_an_autoscaler_that_came_after_the_question_keeps_its_size() -> None:
    """It is looked for again before the number is written."""
    owner = {"metadata": {"name": "auto"}, "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "shop"}}}
    with watched() as (cluster, source):
        source.check_scaling()
        cluster.objects[AUTOSCALERS] = {"items": [owner]}
        with pytest.raises(TargetError, match="HorizontalPodAutoscaler auto owns shop"):
            source.scale(4)
        assert ("PATCH", f"{DEPLOYMENT}/scale") not in cluster.asked


def test_what_stands_against_scaling_is_named() -> None:
    """An autoscaler by its name; a right with what it is for."""
    owner = {"metadata": {"name": "auto"}, "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "shop"}}}
    with watched() as (cluster, source):
        cluster.objects[AUTOSCALERS] = {"items": [owner]}
        with pytest.raises(TargetError, match="HorizontalPodAutoscaler auto owns shop"):
            source.check_scaling()
        cluster.handlers[REVIEWS] = lambda *_: (201, {"status": {"allowed": False}})
        with pytest.raises(TargetError, match=r"missing: patch deployments/scale.apps in here \(to scale it\)"):
            source.check_scaling()


def test_a_running_sweep_keeps_its_size() -> None:
    """Its Lease is found: another size would spoil the stage."""
    with watched() as (cluster, source):
        lease = {
            "metadata": {"name": "podscale-sweep-shop", "resourceVersion": "1"},
            "spec": {
                "holderIdentity": "somebody else",
                "renewTime": datetime.now(UTC).isoformat(),
                "leaseDurationSeconds": 30,
            },
        }
        cluster.objects["/apis/coordination.k8s.io/v1/namespaces/here/leases/podscale-sweep-shop"] = lease
        with pytest.raises(TargetError, match="another sweep holds shop: somebody else"):
            source.check_scaling()


@contextlib.contextmanager
def watched() -> Iterator[tuple[Pretended, Deployed]]:
    """A Deployment of podscale's pods without a Service, which may be scaled up to 5."""
    with pretended(patience_seconds=0.0) as (cluster, api, _):
        cluster.objects |= {
            DEPLOYMENT: deployment(replicas=3, **OURS),
            f"{DEPLOYMENT}/scale": {"metadata": {}, "spec": {"replicas": 3}},
            PODS: {"items": []},
            AUTOSCALERS: {"items": []},
        }
        cluster.handlers[REVIEWS] = lambda *_: (201, {"status": {"allowed": True}})
        source = Deployed(api, find_alone(api, deployment="shop"), most=5)
        try:
            yield cluster, source
        finally:
            source.close()


def running(one: Object, restarts: int = 0) -> Object:
    """A pod whose container runs."""
    one["status"]["containerStatuses"] = [{"name": "web", "restartCount": restarts, "state": RUNNING}]
    return one


def test_pods_of_another_kind_are_known_by_the_metrics_api() -> None:
    """A kubelet that names no containers does not keep them unknown; figures stay until newer come."""
    metrics = {
        "metadata": {"name": "a"},
        "timestamp": "2026-01-01T00:00:10Z",
        "window": "10s",
        "containers": [{"name": "web", "usage": {"cpu": "200m", "memory": "64Mi"}}],
    }
    with pretended(patience_seconds=0.0) as (cluster, api, _):
        cluster.objects |= {DEPLOYMENT: deployment(), PODS: {"items": [running(pod("a"))]}}
        cluster.handlers["/api/v1/nodes/node1/proxy/metrics/cadvisor"] = lambda *_: (200, "# nothing")
        cluster.objects["/apis/metrics.k8s.io/v1beta1/namespaces/here/pods"] = {"items": [metrics]}
        source = Deployed(api, find_alone(api, deployment="shop"), most=5)
        reader = Reader(source)
        first, again = reader.look(0.0), reader.look(1.0)
        source.close()
    for found in (first, again):
        assert found.pods[0].cpu_cores == pytest.approx(0.2)
        assert found.pods[0].memory_bytes == 64 * 2**20
        assert found.pods[0].requests_per_second is None
