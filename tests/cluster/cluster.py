"""Brings a cluster up and down, and runs commands on it."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster import cleanup, control_plane, images, keys, network, nodes, packages, processes, programs
from tests.cluster.layout import CACHE, CGROUPS, HERE, Layout, NotStartedError, locked
from tests.cluster.progress import step
from tests.processes import wait_until

CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
NODE = ("kubelet", "kube-proxy", "runc")


@dataclass(frozen=True)
class Cluster:
    """A running cluster; its nodes are ours if it has a `layout`."""

    kubeconfig: Path
    layout: Layout | None = None

    def command(self, *command: str) -> list[str]:
        """`command` as it has to be started to reach the cluster."""
        return self.layout.inside(1, *command) if self.layout else list(command)

    def environment(self) -> dict[str, str]:
        """Variables for `command`: the kubeconfig, kubectl and helm of the tests first, none of the user's settings."""
        helm = {f"HELM_{kind}_HOME": str(CACHE / "helm" / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
        path = f"{programs.folder()}{os.pathsep}{os.environ['PATH']}"
        return os.environ | helm | {"KUBECONFIG": str(self.kubeconfig), "PATH": path}

    def run(self, *command: str, given: str | None = None, seconds: float = 120) -> str:
        """What `command` prints; RuntimeError with its errors if it fails. `given` is its standard input."""
        done = subprocess.run(
            self.command(*command),
            env=self.environment(),
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )
        if done.returncode != 0:
            raise RuntimeError(
                f"{' '.join(command)} failed with {done.returncode}: {(done.stdout + done.stderr)[-4000:]}"
            )
        return done.stdout

    def kubectl(self, *arguments: str, given: str | None = None, seconds: float = 120) -> str:
        """What kubectl prints."""
        return self.run("kubectl", *arguments, given=given, seconds=seconds)

    def provide(self, image: str, build: Callable[[str], object], run: processes.Process) -> None:
        """Build an image and give it to the nodes, once in a test run.

        A cluster that is not ours has to have it already.
        """
        if self.layout is None:
            return
        name = image.rpartition("/")[2]
        with locked(CACHE / f".{name}.lock"):  # the name is one for all test runs
            given = self.layout.root / "given" / name
            mark = json.dumps(run)
            if not given.exists() or given.read_text() != mark:
                build(image)
                images.load(self.layout, image)
                given.parent.mkdir(exist_ok=True)
                given.write_text(mark)


def up(layout: Layout, *, owner: processes.Process | None) -> Cluster:
    """Start a cluster, or find the one that `make cluster-up` left running, or another process of the same owner.

    It belongs to the owner, if there is one: others may remove it once that process has ended.

    Raises:
        NotStartedError: Something is missing, another run uses the cluster, or it did not come up; says which.
    """
    _check_machine()
    with locked(layout.lock):
        found = _found(layout, owner)
        if found is not None:
            return found
        try:
            return _start(layout, owner)
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            ended = ", ".join(processes.ended(layout)) or "none"
            cleanup.stop(layout)
            raise NotStartedError(f"{error}; programs that ended: {ended}; logs: {layout.root}/logs") from error
        except KeyboardInterrupt:
            cleanup.stop(layout)
            raise


def down(layout: Layout) -> None:
    """Remove the cluster, or what is left of it."""
    _check_machine()
    with locked(layout.lock):
        cleanup.remove(layout)


def belongs_to_this_process(layout: Layout) -> bool:
    """Whether it was started for this process, and so is to be removed at its end."""
    return _owner(layout) == processes.identify(os.getpid())


def _found(layout: Layout, user: processes.Process | None) -> Cluster | None:
    """That of the user or of `make cluster-up` if it is whole; anything else that nobody uses any more is removed."""
    owner = _owner(layout)
    if owner is not None and owner != user and owner.alive:
        raise NotStartedError(f"process {owner.pid} uses the cluster {layout.name}; wait for its end, or end it")
    cluster = Cluster(layout.kubeconfig, layout)
    if owner in (None, user) and _record(layout).get("whole") == _make(layout) and control_plane.ready(layout):
        return cluster
    cleanup.remove(layout)
    return None


def _start(layout: Layout, owner: processes.Process | None) -> Cluster:
    packages.install((*packages.NODES, *packages.IMAGES, *packages.BUILD))
    for name in (*CONTROL_PLANE, *NODE, "helm"):
        programs.program(name)
    addons = images.build_addons()
    layout.root.mkdir(parents=True)
    _write(layout, {"owner": owner})
    cluster = Cluster(layout.kubeconfig, layout)
    with step(f"starting a cluster of {layout.nodes} nodes"):
        network.connect(layout)
        folder = keys.make(layout)
        control_plane.start(layout, folder)
        for node in layout.numbers:
            nodes.start(layout, node, folder)
        for image in addons:
            images.load(layout, image)
        cluster.kubectl("apply", "--filename", str(HERE / "addons.yaml"))
        wait_until(lambda: _registered(cluster) == layout.nodes, 60, "the nodes to register")
        for waiting in ("nodes --for=condition=Ready", "deployments --for=condition=Available --namespace=kube-system"):
            cluster.kubectl("wait", "--all", "--timeout=120s", *waiting.split(), seconds=150)
    _write(layout, {"owner": owner, "whole": _make(layout)})
    return cluster


def _registered(cluster: Cluster) -> int:
    return cluster.kubectl("get", "nodes", "--output=name").count("\n")


def _make(layout: Layout) -> str:
    """What kind of cluster this is: one with other programs or another size is not taken for it."""
    return f"{layout.nodes} nodes of {programs.folder()}"


def _owner(layout: Layout) -> processes.Process | None:
    owner = _record(layout).get("owner")
    return processes.Process(*owner) if owner else None


def _record(layout: Layout) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads((layout.root / "cluster.json").read_text())
    except (FileNotFoundError, ValueError):  # the run was killed while it wrote
        return {}
    return record


def _write(layout: Layout, record: dict[str, object]) -> None:
    (layout.root / "cluster.json").write_text(json.dumps(record))


def _check_machine() -> None:
    if os.geteuid() != 0:
        raise NotStartedError("missing: root, for network namespaces, cgroups and mounts; run as root")
    if not CGROUPS.is_dir() or not os.access(CGROUPS, os.W_OK):
        raise NotStartedError(f"missing: a cgroup file system that can be written, at {CGROUPS}")
    if shutil.which("nsenter") is None:
        raise NotStartedError("missing: nsenter, of the package util-linux")
