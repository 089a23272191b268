"""Without a cluster its tests are skipped, or fail in CI; in a cluster a failed test tells what it knows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.layout import CHECKOUT

NEEDS_A_CLUSTER = """
def test_it(cluster):
    pass
"""
FAILS_IN_A_CLUSTER = """
def test_it(cluster, namespace):
    cluster.kubectl("run", "no-image", "--image=nobody/nothing:1", "-n", namespace, "--overrides", OVERRIDES)
    cluster.kubectl("wait", "pod/no-image", "-n", namespace, "--for=condition=PodScheduled", "--timeout=20s")
    assert False, "as it is meant to"

OVERRIDES = '''{"spec": {"securityContext": {"runAsNonRoot": true, "runAsUser": 1, "seccompProfile": {"type":
    "RuntimeDefault"}}, "containers": [{"name": "no-image", "image": "nobody/nothing:1", "imagePullPolicy": "Never",
    "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}]}}'''
"""


def run_tests(folder: Path, text: str, command: list[str], **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run pytest in a process of its own on a file with `text`, on an existing cluster."""
    file = folder / "test_inner.py"
    file.write_text(text)
    arguments = [
        "-p",
        "tests.cluster.fixtures",
        "--cluster=existing",
        "-rs",
        "-c",
        "/dev/null",
        "--rootdir",
        str(folder),
    ]
    clean = {key: value for key, value in os.environ.items() if key not in ("CI", "KUBECONFIG")}
    return subprocess.run(
        [*command, sys.executable, "-m", "pytest", *arguments, str(file)],
        cwd=CHECKOUT,
        env=clean | {"PYTHONDONTWRITEBYTECODE": "1"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("ci", "code", "result"), [("false", 0, "1 skipped"), ("true", 1, "1 error")])
def test_no_cluster_is_a_skip_but_in_ci_a_failure(tmp_path: Path, ci: str, code: int, result: str) -> None:
    """The reason names what is missing either way; a CI run in which the cluster tests did not run is not green."""
    done = run_tests(tmp_path, NEEDS_A_CLUSTER, [], CI=ci)
    assert done.returncode == code, done.stdout + done.stderr
    assert result in done.stdout
    assert "no test cluster here: missing: KUBECONFIG" in done.stdout


def test_a_failed_test_prints_the_state_of_the_cluster(tmp_path: Path, cluster: Cluster) -> None:
    """On a cluster that somebody else started: pods, events and why a container waits stand beside the failure."""
    environment = {key: value for key, value in cluster.environment().items() if key in ("PATH", "KUBECONFIG")}
    done = run_tests(tmp_path, FAILS_IN_A_CLUSTER, cluster.command(), **environment)
    assert done.returncode == 1, done.stdout + done.stderr
    for part in ("as it is meant to", "--- pods", "--- events", "Scheduled", "state of pod/no-image", "log of pod/no"):
        assert part in done.stdout
