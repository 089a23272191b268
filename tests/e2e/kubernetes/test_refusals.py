"""What stands against a sweep is told before anything is changed; what turns up later has no number."""

import dataclasses
from pathlib import Path

import pytest

from podscale.sweep import results
from tests.e2e.kubernetes.release import Release
from tests.e2e.kubernetes.sweeping import SHORT, codes, swept

pytestmark = pytest.mark.waits
# Somebody who may look and may not scale.
LOOKER = """
apiVersion: v1
kind: ServiceAccount
metadata: {name: looker}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: looker}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: looker}]
"""
QUOTA = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: small}
spec: {hard: {requests.cpu: 400m}}
"""


def test_an_autoscaler_on_the_target(shared: Release, tmp_path: Path) -> None:
    """A second writer of the size: refused in one line that names it, with nothing changed."""
    shared.kubectl("autoscale", f"deployment/{shared.deployment}", "--min=1", "--max=3", "--cpu=50%")
    try:
        refused(shared, tmp_path, "HorizontalPodAutoscaler podscale owns podscale", "--sizes=1,2")
    finally:
        shared.kubectl("delete", "hpa", shared.deployment)


def test_missing_rights_are_listed(shared: Release, tmp_path: Path) -> None:
    """All that are missing, each with what it is for; who may only look is not half way through a sweep."""
    shared.kubectl("apply", "--filename=-", given=LOOKER)
    token = shared.kubectl("create", "token", "looker").strip()
    kubeconfig = tmp_path / "looker.yaml"
    shared.cluster.run("cp", str(shared.cluster.kubeconfig), str(kubeconfig))
    own = ("kubectl", f"--kubeconfig={kubeconfig}", "config")
    shared.cluster.run(*own, "set-credentials", "looker", f"--token={token}")
    context = shared.cluster.run("kubectl", "config", "current-context").strip()
    for option in ("--user=looker", f"--namespace={shared.namespace}"):
        shared.cluster.run(*own, "set-context", context, option)
    theirs = dataclasses.replace(shared, cluster=dataclasses.replace(shared.cluster, kubeconfig=kubeconfig))
    command = swept(theirs, tmp_path / "out", "--sizes=1,2")
    assert command.process.returncode == 2
    for right in ("patch deployments/scale.apps", "create leases.coordination.k8s.io", "create pods/proxy"):
        assert right in command.stderr
    assert "Traceback" not in command.stderr


def test_a_quota_that_is_too_small(shared: Release, tmp_path: Path) -> None:
    """The preflight counts what the largest size asks against what the quota has left."""
    shared.kubectl("apply", "--filename=-", given=QUOTA)
    try:
        refused(shared, tmp_path, "ResourceQuota small has", "--sizes=1,20")
    finally:
        shared.kubectl("delete", "quota", "small")


def test_sizes_beyond_the_caps_and_zero(shared: Release, tmp_path: Path) -> None:
    """No size 0, none above --max-pods, no rate and no time above their caps: each names the flag that raises it."""
    refused(shared, tmp_path, "--sizes: 0 is not between 1 and 64", "--sizes=0")
    refused(shared, tmp_path, "--max-pods raises", "--sizes=100")
    refused(shared, tmp_path, "--max-rate raises", "--model=open", "--rate=5000")
    refused(shared, tmp_path, "--max-minutes raises", "--stage-seconds=3000")


def test_no_locust_is_told_with_the_way_to_one(shared: Release, tmp_path: Path) -> None:
    """Nothing is installed: the message says how to. An unknown Deployment is answered with those that are there."""
    options = (f"--deployment={shared.deployment}", "--namespace=kube-system")
    refused(shared, tmp_path, "there is no Deployment podscale in namespace kube-system", *options)
    refused(shared, tmp_path, "no Locust with a page runs in namespace default; install it", "--locust=default/none")


@pytest.mark.alone  # others would take the CPU that the first size asks for
def test_a_size_that_cannot_be_scheduled_has_no_number(shared: Release, tmp_path: Path) -> None:
    """The scheduler's own words stand beside it, the other size is measured, the exit code is 1."""
    shared.upgrade("resources.requests.cpu=1500m", "resources.limits.cpu=1500m")
    try:
        command = swept(shared, tmp_path / "out", *SHORT, "--sizes=1,4", "--ready-seconds=6", "--clock=sleep")
        assert command.process.returncode == 1, command.stderr
        stages = {stage.size: stage for stage in results.load(command.out).stages}
        assert stages[1].valid
        assert stages[4].throughput_per_second is None
        assert codes(stages[4]) == {"not_reached"}
        assert "Insufficient cpu" in stages[4].verdicts[0].evidence
        assert shared.replicas() == 1
    finally:
        shared.upgrade("resources.requests.cpu=50m", "resources.limits.cpu=250m")


def refused(release: Release, tmp_path: Path, message: str, *options: str) -> None:
    """The sweep is refused with exit code 2 and this message, and the size is as it was."""
    command = swept(release, tmp_path / "out", *options)
    assert command.process.returncode == 2, command.stderr
    assert message in " ".join(command.stderr.split())
    assert "Traceback" not in command.stderr
    assert release.replicas() == 1
