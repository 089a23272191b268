"""No pod of the chart may do more than it must, in whatever way it is made."""

from pathlib import Path
from typing import Any

import pytest

from podscale.sweep.kubernetes import rights
from podscale.sweep.kubernetes.lease import lease_name
from tests.chart.helm import CI_FILES, of_kind, only, pod_specs, render, setting, with_values

each_file = pytest.mark.parametrize("file", CI_FILES, ids=lambda file: file.name.removesuffix("-values.yaml"))


@each_file
def test_every_pod_is_restricted(file: Path) -> None:
    """Pods, Locust, Jobs and tests fit the Pod Security Standard "restricted"; none but the sweep has a token.

    The rules: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
    """
    for name, specification in pod_specs(render("--values", str(file))).items():
        assert specification["automountServiceAccountToken"] is name.startswith("Job podscale-sweep-")
        assert specification["securityContext"]["runAsNonRoot"] is True
        assert specification["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & specification.keys()
        for one in specification["containers"]:
            assert one["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
        for volume in specification.get("volumes", []):
            assert volume.keys() - {"name"} <= {"emptyDir", "configMap"}


@each_file
def test_every_container_has_resources(file: Path) -> None:
    """Requests and a memory limit, so that a quota lets it in and an autoscaler knows its use; Locust no CPU limit."""
    for name, specification in pod_specs(render("--values", str(file))).items():
        for one in specification["containers"]:
            assert one["resources"]["requests"].keys() == {"cpu", "memory"}
            assert "memory" in one["resources"]["limits"]
            assert not ("locust" in name and "cpu" in one["resources"]["limits"])


@each_file
def test_probes_ask_ports_that_are_there(file: Path) -> None:
    """What serves has probes, on ports that it has; what serves nothing, as a headless master, has none."""
    for specification in pod_specs(render("--values", str(file))).values():
        for one in specification["containers"]:
            probes = [value for key, value in one.items() if key.endswith("Probe")]
            asked = {(probe.get("httpGet") or probe["tcpSocket"])["port"] for probe in probes}
            ports = {port["name"] for port in one.get("ports", [])}
            assert asked == ports & {"admin", "web"}


@each_file
def test_nothing_makes_a_namespace_or_a_right(file: Path) -> None:
    """The chart makes no namespace, no ingress, no role but the sweep's, and names no namespace for its objects."""
    for item in render("--values", str(file)):
        assert item["kind"] not in {"Namespace", "ClusterRole", "ClusterRoleBinding", "Ingress"}
        assert item["kind"] not in {"Role", "RoleBinding"} or item["metadata"]["name"] == "podscale-sweep"
        assert "namespace" not in item["metadata"]


@each_file
def test_services_spread_evenly(file: Path) -> None:
    """No affinity, no preference of near pods: each would make some pods work more than others."""
    for service in of_kind(render("--values", str(file)), "Service"):
        assert (
            not {
                "sessionAffinity",
                "trafficDistribution",
                "internalTrafficPolicy",
                "externalTrafficPolicy",
            }
            & service["spec"].keys()
        )


def test_no_image_is_latest() -> None:
    """Tags are versions and IfNotPresent is the policy: an image that was loaded into a node is used."""
    for specification in pod_specs(render()).values():
        for one in specification["containers"]:
            assert not one["image"].endswith(":latest")
            assert one["imagePullPolicy"] == "IfNotPresent"


def test_no_variables_of_other_services() -> None:
    """A Service named podscale would give PODSCALE_PORT to each pod of its namespace, among our own settings."""
    assert all(specification["enableServiceLinks"] is False for specification in pod_specs(render()).values())


def test_where_files_are_written_there_is_a_volume() -> None:
    """The root is read-only: pods and Locust have /tmp, and Locust its home there."""
    for name, specification in pod_specs(render()).items():
        if name.startswith("Deployment"):
            (one,) = specification["containers"]
            assert {"name": "tmp", "mountPath": "/tmp"} in one["volumeMounts"]
            assert {"name": "tmp", "emptyDir": {}} in specification["volumes"]
            if "locust" in name:
                assert {"name": "HOME", "value": "/tmp"} in one["env"]


def test_a_run_is_never_repeated() -> None:
    """Neither Job tries again: its load would count twice. Failed requests are a result, not a failed Job."""
    jobs = of_kind(render(*with_values("headless")), "Job")
    assert len(jobs) == 2
    for job in jobs:
        assert job["spec"]["backoffLimit"] == 0
        specification: dict[str, Any] = job["spec"]["template"]["spec"]
        assert specification["restartPolicy"] == "Never"
        (one,) = specification["containers"]
        assert "--exit-code-on-error=0" in one["args"]
    (master,) = [job for job in jobs if "master" in job["metadata"]["name"]]
    arguments = set(master["spec"]["template"]["spec"]["containers"][0]["args"])
    assert {"--headless", "--expect-workers=2", "--expect-workers-max-wait=120", "--run-time=1m30s"} < arguments
    (worker,) = [job for job in jobs if "worker" in job["metadata"]["name"]]
    assert worker["spec"]["parallelism"] == worker["spec"]["completions"] == 2


def test_only_the_page_can_be_opened_to_the_world() -> None:
    """Its Service alone changes its type; the port of the workers and the pods stays inside."""
    types = {
        item["metadata"]["name"]: item["spec"].get("type") for item in of_kind(render(*with_values("login")), "Service")
    }
    assert types == {
        "podscale": "ClusterIP",
        "podscale-metrics": None,
        "podscale-locust": "LoadBalancer",
        "podscale-locust-master": None,
    }
    assert all(service["spec"].get("type") in {None, "ClusterIP"} for service in of_kind(render(), "Service"))


def test_the_autoscaler_sees_the_pods_alone() -> None:
    """It reads our container's CPU, names our Deployment, and says in full how fast it changes."""
    spec = only(render(*with_values("autoscaling")), "HorizontalPodAutoscaler")["spec"]
    assert spec["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "podscale"}
    (metric,) = spec["metrics"]
    assert metric["containerResource"]["container"] == "pod"
    assert metric["containerResource"]["target"] == {"type": "Utilization", "averageUtilization": 60}
    assert spec["behavior"]["scaleDown"]["stabilizationWindowSeconds"] == 30
    for direction in ("scaleUp", "scaleDown"):
        assert {"stabilizationWindowSeconds", "selectPolicy", "policies"} == spec["behavior"][direction].keys()


def test_the_update_takes_nothing_away_by_default() -> None:
    """A new pod is ready before an old one goes; for full nodes it can be said otherwise. One master at a time."""
    assert only(render(), "Deployment", "podscale")["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    full = only(render(*with_values("full-node")), "Deployment", "podscale")["spec"]["strategy"]
    assert full["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}
    assert only(render(), "Deployment", "podscale-locust-master")["spec"]["strategy"] == {"type": "Recreate"}


def test_helms_tests_do_real_work() -> None:
    """One asks the Service for a prime, the other reads the metrics; what succeeded is removed."""
    objects = render(*setting(service__port=80), release="demo")
    for name, url in (
        ("prime", "http://demo-podscale:80/prime"),
        ("metrics", "http://demo-podscale-metrics:9100/metrics"),
    ):
        pod = only(objects, "Pod", f"demo-podscale-test-{name}")
        assert pod["metadata"]["annotations"] == {
            "helm.sh/hook": "test",
            "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
        }
        (one,) = pod["spec"]["containers"]
        assert one["env"] == [{"name": "URL", "value": url}]
        assert (
            one["image"]
            == only(objects, "Deployment", "demo-podscale")["spec"]["template"]["spec"]["containers"][0]["image"]
        )


def test_the_sweep_may_do_what_it_needs_and_no_more() -> None:
    """One Deployment is scaled and one Lease changed, both by name; nothing is made but a Lease and a result."""
    objects = render(*with_values("sweep"))
    rules = only(objects, "Role")["rules"]
    changing = [rule for rule in rules if {"create", "update", "patch", "delete"} & set(rule["verbs"])]
    assert [(rule["resources"], rule.get("resourceNames")) for rule in changing] == [
        (["deployments/scale"], ["podscale"]),
        (["pods/proxy"], None),
        (["leases"], None),
        (["leases"], [lease_name("podscale")]),
        (["configmaps"], None),
        (["configmaps"], [only(objects, "Job")["metadata"]["name"]]),
    ]
    unnamed = [rule["verbs"] for rule in changing if "resourceNames" not in rule]
    assert unnamed == [["get", "create", "delete"], ["create"], ["create"]]
    job = only(objects, "Job")["spec"]
    assert job["backoffLimit"] == 0
    assert job["template"]["spec"]["restartPolicy"] == "Never"
    assert job["template"]["spec"]["serviceAccountName"] == only(objects, "RoleBinding")["subjects"][0]["name"]


def test_the_role_has_all_rights_that_the_sweep_asks_for() -> None:
    """Each needed right of the preflight's table is one of the Role, or the preflight would refuse its own Job."""
    rules = only(render(*with_values("sweep")), "Role")["rules"]
    for right in rights.table("here", "here", deployment="podscale", service=None):
        if right.needed:
            assert any(
                right.group in rule["apiGroups"]
                and right.resource in rule["resources"]
                and right.verb in rule["verbs"]
                and rule.get("resourceNames", [right.name]) == [right.name]
                for rule in rules
            ), right
