"""A run that was killed leaves nothing behind after the next start, or after `make cluster-down`."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import cleanup, processes
from tests.cluster.cluster import Cluster, down, up
from tests.cluster.layout import CHECKOUT, Layout, NotStartedError
from tests.cluster.nodes import PAUSE_IMAGE
from tests.cluster.test_cluster import apply, pod

# Starts a small cluster with a pod on it, says so, and waits to be killed.
RUN = """
import os, time
from tests.cluster import cluster, processes
from tests.cluster.layout import Layout
cluster.up(Layout("podscale-killed", nodes=1), owner=processes.identify(os.getpid()))
print("up", flush=True)
time.sleep(600)
"""


@pytest.fixture
def killed(cluster: Cluster) -> Iterator[Layout]:
    """A cluster whose run was killed, beside the one of the other tests."""
    if cluster.layout is None:
        pytest.skip("with --cluster=existing no cluster is started here")
    layout = Layout("podscale-killed", nodes=1)
    with (layout.root.parent / f"{layout.name}.log").open("w") as errors:
        run = subprocess.Popen(
            [sys.executable, "-c", RUN],
            cwd=CHECKOUT,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    assert run.stdout is not None
    try:
        said = run.stdout.readline()
        assert said == "up\n", Path(errors.name).read_text()
        started = Cluster(layout.kubeconfig, layout)
        apply(started, "default", pod("left", PAUSE_IMAGE, imagePullPolicy="Never", securityContext={}))
        started.kubectl("wait", "pod/left", "--for=condition=Ready", "--timeout=60s")
        with pytest.raises(NotStartedError, match=f"process {run.pid} uses the cluster"):
            up(layout, owner=processes.this_run())
        run.kill()
        run.wait()
        yield layout
    finally:
        run.kill()
        run.communicate()
        cleanup.remove(layout)


def test_a_killed_run_is_cleaned_up(killed: Layout) -> None:
    """Processes, mounts, networks, cgroups and stray files of a killed run are there, and then all are gone."""
    living = cleanup.living(killed)
    names = {Path(f"/proc/{pid}/comm").read_text().strip() for pid in living}
    assert {"etcd", "kubelet", "containerd", "containerd-shim", "pause", "coredns"} <= names
    assert list(cleanup.mounts(killed))
    assert len(cleanup.namespaces(killed)) == 1
    assert cleanup.cgroups(killed)
    strays = list(cleanup.strays(killed))
    assert strays

    down(killed)

    assert not [pid for pid in living if _runs(pid)]
    assert not cleanup.living(killed)
    assert not list(cleanup.mounts(killed))
    assert not cleanup.namespaces(killed)
    assert not cleanup.cgroups(killed)
    assert not [path for path in strays if os.path.lexists(path)]
    assert not killed.root.exists()


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
