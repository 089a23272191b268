"""The test cluster is a real Kubernetes, and the image of the pod works in it."""

import contextlib
import json
import re
import time
from typing import Any

import pytest

from podscale import contract
from tests.cluster.cluster import Cluster
from tests.processes import wait_until

CONTEXT = {
    "runAsNonRoot": True,
    "readOnlyRootFilesystem": True,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


def pod(name: str, image: str, **container: Any) -> dict[str, Any]:
    """A pod of one container that the `restricted` standard lets in."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "automountServiceAccountToken": False,
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 1,
            "containers": [{"name": name, "image": image, "securityContext": CONTEXT} | container],
        },
    }


def service(name: str, port: int) -> dict[str, Any]:
    """A Service in front of the pod of that name."""
    ports = [{"name": "http", "port": port}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": {"app": name}, "ports": ports},
    }


def apply(cluster: Cluster, namespace: str, *objects: dict[str, Any]) -> None:
    """Make the objects."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    cluster.kubectl("apply", f"--namespace={namespace}", "--filename=-", given=text)


def run_python(cluster: Cluster, namespace: str, image: str, code: str) -> str:
    """What `code` prints in a pod."""
    apply(cluster, namespace, pod("code", image, command=["python", "-c", code]))
    wait = ("wait", "pod/code", f"--namespace={namespace}", "--timeout=60s")
    cluster.kubectl(*wait, "--for=jsonpath={.status.phase}=Succeeded")
    return cluster.kubectl("logs", "code", f"--namespace={namespace}")


def test_the_nodes_are_ready(cluster: Cluster) -> None:
    """At least one node, two in our own cluster, and each can take pods."""
    nodes = json.loads(cluster.kubectl("get", "nodes", "--output=json"))["items"]
    ready = [node for node in nodes if {"type": "Ready", "status": "True"}.items() <= _condition(node, "Ready").items()]
    assert len(ready) == len(nodes) >= (cluster.layout.nodes if cluster.layout else 1)


def test_names_resolve_and_nothing_else_is_reached(cluster: Cluster, namespace: str, pod_image: str) -> None:
    """A pod finds a Service by its name; our own nodes have no way out, so that load reaches nothing real."""
    code = "import socket; print(socket.gethostbyname('kubernetes.default.svc.cluster.local'))"
    address = run_python(cluster, namespace, pod_image, code).strip()
    assert address == cluster.kubectl("get", "service/kubernetes", "-o", "jsonpath={.spec.clusterIP}")
    if cluster.layout is not None:
        assert address.startswith("198.19.")
        for node in cluster.layout.numbers:
            links = cluster.run(*cluster.layout.inside(node, "ip", "-json", "-details", "link", "show"))
            kinds = {link.get("linkinfo", {}).get("info_kind", link["link_type"]) for link in json.loads(links)}
            assert kinds <= {"loopback", "bridge", "veth"}


def test_usage_is_measured(cluster: Cluster) -> None:
    """The metrics API knows the CPU time of every node: an autoscaler has something to go by."""

    def top() -> str:
        with contextlib.suppress(RuntimeError):  # metrics-server has nothing before its second reading
            return cluster.kubectl("top", "nodes", "--no-headers")
        return ""

    nodes = cluster.kubectl("get", "nodes", "--output=name").split()
    wait_until(lambda: len(re.findall(r"^\S+ +\d+m", top(), re.MULTILINE)) == len(nodes), 90, "usage of all nodes")


def test_the_pod_serves_within_its_limit(cluster: Cluster, namespace: str, pod_image: str) -> None:
    """As `restricted` asks, with a read-only root and a quarter of a core, the image serves and knows its limit."""
    limited = pod(
        "served",
        pod_image,
        imagePullPolicy="IfNotPresent",
        resources={"limits": {"cpu": "250m", "memory": "256Mi"}, "requests": {"cpu": "50m"}},
        readinessProbe={"httpGet": {"path": contract.READY, "port": contract.ADMIN_PORT}, "periodSeconds": 1},
    )
    apply(cluster, namespace, limited, service("served", contract.HTTP_PORT))
    cluster.kubectl("wait", "pod/served", f"--namespace={namespace}", "--for=condition=Ready", "--timeout=90s")
    proxy = f"/api/v1/namespaces/{namespace}"
    answer = _ask(cluster, f"{proxy}/services/served:http/proxy{contract.TIMESTAMP}")
    assert abs(int(answer) / 1000 - time.time()) < 60
    metrics = _ask(cluster, f"{proxy}/pods/served:{contract.ADMIN_PORT}/proxy{contract.METRICS}")
    assert f"{contract.CGROUP_CPU_LIMIT_CORES} 0.25" in metrics.splitlines()


def test_locust_serves_its_page(cluster: Cluster, namespace: str, locust_image: str) -> None:
    """The other image starts with the plugin and a scenario on a read-only root, and serves the plugin's routes."""
    files = "/opt/podscale/plugin.py,/opt/podscale/loadtest/blocking.py"
    loading = pod(
        "locust",
        locust_image,
        args=["--master", "--locustfile", files, "--host", "http://nobody:8000"],
        readinessProbe={"httpGet": {"path": "/", "port": 8089}, "periodSeconds": 1},
    )
    apply(cluster, namespace, loading, service("locust", 8089))
    cluster.kubectl("wait", "pod/locust", f"--namespace={namespace}", "--for=condition=Ready", "--timeout=90s")
    proxy = f"/api/v1/namespaces/{namespace}/services/locust:http/proxy"
    assert json.loads(_ask(cluster, f"{proxy}{contract.WORKERS_PATH}"))["workers"] == 0


@pytest.mark.parametrize("reason", ["runAsNonRoot", "allowPrivilegeEscalation"])
def test_a_namespace_of_a_test_is_restricted(cluster: Cluster, namespace: str, pod_image: str, reason: str) -> None:
    """A pod without the security settings is refused: a chart that forgets them fails its tests."""
    with pytest.raises(RuntimeError, match=reason):
        apply(cluster, namespace, pod("loose", pod_image, securityContext={}))


def _ask(cluster: Cluster, path: str) -> str:
    """GET through the API server, which may learn of a pod a moment later than the kubelet."""
    answers: list[str] = []

    def answered() -> bool:
        with contextlib.suppress(RuntimeError):
            answers.append(cluster.kubectl("get", "--raw", path))
        return bool(answers)

    wait_until(answered, 20, f"an answer from {path}")
    return answers[0]


def _condition(node: dict[str, Any], kind: str) -> dict[str, str]:
    found: list[dict[str, str]] = [one for one in node["status"]["conditions"] if one["type"] == kind]
    return found[0]
