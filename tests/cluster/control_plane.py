"""The control plane, in the network of node 1."""

import subprocess
from pathlib import Path

from tests.cluster import processes
from tests.cluster.layout import API, SERVICES, Layout
from tests.cluster.programs import program
from tests.processes import wait_until


def start(layout: Layout, keys: Path) -> None:
    """Start etcd, the API server, the controllers and the scheduler; returns when the API server is ready."""
    _run(layout, "etcd", "--data-dir", str(layout.root / "etcd"), "--unsafe-no-fsync")
    _run(layout, "kube-apiserver", *_api_server(keys))
    wait_until(lambda: ready(layout), 120, f"the API server; see {layout.root}/logs")
    _run(
        layout,
        "kube-controller-manager",
        f"--kubeconfig={keys}/kube-controller-manager.kubeconfig",
        f"--service-account-private-key-file={keys}/accounts.key",
        f"--root-ca-file={keys}/ca.crt",
        "--use-service-account-credentials",
        "--leader-elect=false",
    )
    _run(layout, "kube-scheduler", f"--kubeconfig={keys}/kube-scheduler.kubeconfig", "--leader-elect=false")


def ready(layout: Layout) -> bool:
    """Whether the API server answers."""
    command = [str(program("kubectl")), f"--kubeconfig={layout.kubeconfig}", "get", "--raw", "/readyz"]
    return subprocess.run(layout.inside(1, *command), capture_output=True, check=False).returncode == 0


def _api_server(keys: Path) -> list[str]:
    return [
        "--etcd-servers=http://127.0.0.1:2379",
        f"--service-cluster-ip-range={SERVICES}",
        f"--bind-address={API}",
        f"--advertise-address={API}",
        f"--tls-cert-file={keys}/api.crt",
        f"--tls-private-key-file={keys}/api.key",
        f"--client-ca-file={keys}/ca.crt",
        f"--token-auth-file={keys}/tokens.csv",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--allow-privileged=true",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={keys}/accounts.pub",
        f"--service-account-signing-key-file={keys}/accounts.key",
        # The metrics API is served by a pod, to which the API server shows this certificate.
        f"--requestheader-client-ca-file={keys}/front-ca.crt",
        "--requestheader-allowed-names=front",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={keys}/front.crt",
        f"--proxy-client-key-file={keys}/front.key",
        "--kubelet-preferred-address-types=InternalIP",
    ]


def _run(layout: Layout, name: str, *arguments: str) -> None:
    processes.start(layout, 1, name, str(program(name)), *arguments)
