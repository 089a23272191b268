"""Tests of the claim on a Deployment, against a pretended API server."""

import os
from datetime import UTC, datetime

import pytest

from podscale.sweep.kubernetes import lease as leases
from podscale.sweep.kubernetes.access import Api
from podscale.sweep.kubernetes.lease import REPLICAS, Lease, identity, is_dead_here
from podscale.sweep.kubernetes.workload import Workload, find
from podscale.sweep.targets import TargetError
from tests.sweep.kubernetes.cluster import Pretended, deployment, pretended, service

PATH = "/apis/coordination.k8s.io/v1/namespaces/here/leases/podscale-sweep-shop"


def shop(cluster: Pretended, api: Api, replicas: int = 1) -> Workload:
    """A Deployment and its Service."""
    cluster.objects["/apis/apps/v1/namespaces/here/deployments/shop"] = deployment(replicas=replicas)
    cluster.objects["/api/v1/namespaces/here/services"] = {"items": [service()]}
    return find(api, deployment="shop")


def test_the_replicas_are_noted_before_anything_is_changed_and_put_back() -> None:
    """One request claims and notes; at the end the size is back and the Lease is gone."""
    with pretended() as (cluster, api, _):
        lease = Lease(api, shop(cluster, api, 3), print)
        lease.acquire()
        assert cluster.objects[PATH]["metadata"]["annotations"] == {REPLICAS: "3"}
        assert cluster.objects[PATH]["spec"]["holderIdentity"] == identity()
        resized: list[int] = []
        lease.restore(resized.append)
        assert resized == [3]
        assert PATH not in cluster.objects


def test_a_second_sweep_is_refused_with_the_holder_and_the_time() -> None:
    """While the claim is good; when it has run out it is taken, and the number that was noted first is kept."""
    with pretended() as (cluster, api, said):
        target = shop(cluster, api, 4)
        other = {"holderIdentity": "elsewhere/1/2/3", "leaseDurationSeconds": 30, "renewTime": now()}
        cluster.objects[PATH] = {
            "metadata": {"name": "podscale-sweep-shop", "annotations": {REPLICAS: "1"}, "resourceVersion": "7"},
            "spec": other,
        }
        with pytest.raises(TargetError, match=r"another sweep holds shop: elsewhere.*ends in (29|30|31) s"):
            Lease(api, target, said.append).acquire()
        other["renewTime"] = "2020-01-01T00:00:00.000000Z"
        lease = Lease(api, target, said.append)
        lease.acquire()
        assert "it had found 1, which this sweep puts back" in said[-1]
        resized: list[int] = []
        lease.restore(resized.append)
        assert resized == [1]


def test_a_claim_that_was_lost_is_told_and_not_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else holds the Deployment now: its size is no longer ours to change."""
    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.05)
    with pretended() as (cluster, api, _):
        lease = Lease(api, shop(cluster, api), print)
        lease.acquire()
        cluster.objects[PATH]["spec"]["holderIdentity"] = "elsewhere/1/2/3"
        lease._renewer.join(timeout=5)
        with pytest.raises(TargetError, match="lost its claim on shop: now it is held by elsewhere"):
            lease.check()
        with pytest.raises(TargetError, match="lost its claim"):
            lease.restore(lambda size: pytest.fail(f"put back to {size}"))


def test_what_a_killed_sweep_left_is_put_back_once() -> None:
    """The number of its note; the second time there is nothing."""
    with pretended() as (cluster, api, _):
        target = shop(cluster, api, 4)
        cluster.objects[PATH] = {
            "metadata": {"name": "podscale-sweep-shop", "annotations": {REPLICAS: "2"}, "resourceVersion": "7"},
            "spec": {"holderIdentity": "elsewhere/1/2/3", "renewTime": "2020-01-01T00:00:00Z"},
        }
        resized: list[int] = []
        assert Lease(api, target, print).restore_left(resized.append) == 2
        assert Lease(api, target, print).restore_left(resized.append) is None
        assert resized == [2]


def test_a_holder_of_this_host_that_has_ended_need_not_be_waited_for() -> None:
    """Known by process id and start; another host's is not ours to judge."""
    assert not is_dead_here(identity())
    here, pid, began = identity().rsplit("/", 2)
    assert pid == str(os.getpid())
    assert is_dead_here(f"{here}/{pid}/{int(began) - 5}")
    assert is_dead_here(f"{here}/{2**22 + 1}/1")
    assert not is_dead_here("elsewhere/pid:[1]/1/1")
    assert not is_dead_here("")


def now() -> str:
    """As Kubernetes writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
