"""Installing and removing, with Helm and with kubectl alone, in a namespace that admits only `restricted` pods."""

import json
from collections.abc import Iterator

import pytest

from podscale import contract
from tests.cluster.cluster import Cluster
from tests.cluster.layout import CHECKOUT
from tests.e2e.kubernetes.release import QUICK_STOP, Release, shares, succeeded
from tests.processes import wait_until

METRICS_API = "apiservice/v1beta1.metrics.k8s.io"


def test_the_defaults_are_installed_tested_and_removed(release: Release) -> None:
    """Every pod is Ready without a restart, `helm test` passes, and after `helm uninstall` nothing is left."""
    before = everything(release)
    notes = release.install()
    assert "kubectl --namespace" in notes
    assert "WARNING" not in notes
    for component in ("pod", "locust-master", "locust-worker"):
        (pod,) = release.pods(component)
        assert pod["status"]["containerStatuses"][0]["ready"]
        assert pod["status"]["containerStatuses"][0]["restartCount"] == 0
    tested = release.helm("test", release.name)
    assert tested.count("Succeeded") == 2, tested
    release.helm("uninstall", release.name, "--wait")
    wait_until(lambda: everything(release) == before, 90, "all objects to be gone", every_seconds=1)


def test_the_plain_manifests_are_applied_and_removed(release: Release) -> None:
    """`kubectl apply -k k8s/` brings pods that serve and a Locust with a worker; `kubectl delete -k` leaves nothing."""
    before = everything(release)
    release.kubectl("apply", "--kustomize", str(CHECKOUT / "k8s"))
    release.wait_until_settled()
    assert release.ask(contract.TIMESTAMP).strip().isdecimal()
    assert release.stage(1, rate_per_second=5)["requests"] >= 4
    release.kubectl("delete", "--kustomize", str(CHECKOUT / "k8s"))
    wait_until(lambda: everything(release) == before, 90, "all objects to be gone", every_seconds=1)


def test_two_releases_share_a_namespace(release: Release) -> None:
    """Each Locust finds the pods of its own release and no other's, and removing one leaves the other whole."""
    other = Release(release.cluster, release.namespace, "other")
    for one in (release, other):
        one.install(*QUICK_STOP)
    for one in (release, other):
        report = one.stage(2, rate_per_second=10)
        assert succeeded(report), report
        assert set(shares(report)) == {pod["metadata"]["name"] for pod in one.pods()}
    release.helm("uninstall", release.name, "--wait")
    assert succeeded(other.stage(1, rate_per_second=10))


def test_a_cluster_without_a_metrics_api_is_told_so(release: Release, no_metrics_api: None) -> None:
    """With the autoscaler on but nothing to measure with, the pods come and NOTES say what to install."""
    del no_metrics_api
    notes = release.install("autoscaling.enabled=true")
    assert "no metrics API (metrics.k8s.io/v1beta1)" in notes
    assert "metrics-server" in notes
    assert len(release.pods()) == 1


@pytest.fixture
def no_metrics_api(cluster: Cluster) -> Iterator[None]:
    """Our cluster while it has no metrics API; a cluster that is not ours is left as it is."""
    if cluster.layout is None:
        pytest.skip("takes the metrics API away, which only our own cluster is for")
    saved = json.loads(cluster.kubectl("get", METRICS_API, "--output=json"))
    kept = {"labels": saved["metadata"].get("labels", {}), "name": saved["metadata"]["name"]}
    cluster.kubectl("delete", METRICS_API)
    yield
    again = {"apiVersion": saved["apiVersion"], "kind": saved["kind"], "metadata": kept, "spec": saved["spec"]}
    cluster.kubectl("apply", "--filename=-", given=json.dumps(again))


def everything(release: Release) -> set[str]:
    """Names of all objects in the namespace, whatever their kind; events are a log, and stay."""
    listed = release.cluster.kubectl("api-resources", "--namespaced", "--verbs=list", "--output=name").split()
    kinds = ",".join(kind for kind in listed if kind not in ("events", "events.events.k8s.io", "pods.metrics.k8s.io"))
    return set(release.kubectl("get", kinds, "--output=name", "--ignore-not-found").split())
