"""Removes a cluster, or what a killed run left of one: processes, mounts, networks, cgroups, files.

All of it is found anew each time, by recorded process ids and by names that only this cluster has, so that it does
not matter at which point the run was killed.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.cluster import processes
from tests.cluster.layout import CGROUPS, NAMESPACES, Layout
from tests.processes import wait_until


def remove(layout: Layout) -> None:
    """Leave nothing of the cluster, whatever its number of nodes was; does nothing where there is none."""
    stop(layout)
    shutil.rmtree(layout.root, ignore_errors=True)


def stop(layout: Layout) -> None:
    """Leave nothing but the cluster's own files, among them its logs."""
    wait_until(lambda: _kill(layout), 60, f"the processes of the cluster {layout.name} to end")
    for mount in reversed(list(mounts(layout))):
        subprocess.run(["umount", "--lazy", mount], check=False, capture_output=True)
    for namespace in namespaces(layout):
        subprocess.run(["ip", "netns", "delete", namespace.name], check=True)
    for cgroup in cgroups(layout):
        wait_until(partial(_remove_cgroup, cgroup), 30, f"{cgroup} to be empty")
    for path in strays(layout):
        path.unlink(missing_ok=True)


def living(layout: Layout) -> set[int]:
    """The ids of all processes of the cluster: recorded ones, those in its networks and those in its cgroups."""
    found = {process.pid for process in processes.recorded(layout)}
    for namespace in namespaces(layout):
        listed = subprocess.run(["ip", "netns", "pids", namespace.name], capture_output=True, text=True, check=False)
        found |= {int(pid) for pid in listed.stdout.split()}
    for cgroup in cgroups(layout):
        for path in cgroup.rglob("cgroup.procs"):
            with contextlib.suppress(OSError):  # it was removed meanwhile
                found |= {int(pid) for pid in path.read_text().split()}
    return {pid for pid in found if processes.identify(pid) is not None}


def mounts(layout: Layout) -> Iterator[str]:
    """Where something is mounted below the folder of the cluster, outer ones first."""
    for line in Path("/proc/mounts").read_text().splitlines():
        place = line.split()[1]
        if place.startswith(f"{layout.root}/"):
            yield place


def namespaces(layout: Layout) -> list[Path]:
    """The networks of its nodes."""
    return [path for path in NAMESPACES.glob("*") if re.fullmatch(rf"{re.escape(layout.name)}-\d+", path.name)]


def cgroups(layout: Layout) -> list[Path]:
    """The folders of its nodes in every hierarchy."""
    return [*CGROUPS.glob(f"{layout.name}-node[0-9]*"), *CGROUPS.glob(f"*/{layout.name}-node[0-9]*")]


def _kill(layout: Layout) -> bool:
    """Kill what is found. True when nothing was: a process that was just being started is found the next time."""
    found = living(layout) - {os.getpid()}
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    processes.reap()
    return not found


def _remove_cgroup(cgroup: Path) -> bool:
    """A cgroup is removed with rmdir, inner ones first; its files go with it."""
    for folder, _, _ in os.walk(cgroup, topdown=False):
        with contextlib.suppress(OSError):
            Path(folder).rmdir()
    return not cgroup.exists()


def strays(layout: Layout) -> Iterator[Path]:
    """Files that containerd and the kubelet put into places of the whole machine, which no setting moves."""
    for address in layout.root.glob("node*/containerd/state/*/*/*/address"):  # the sockets of containers' shims
        yield Path(address.read_text().removeprefix("unix://"))
    for result in Path("/var/lib/cni/results").glob(f"{layout.name}-node[0-9]*"):
        yield result
        yield result.with_name(f"cni-loopback-{result.name.split('-')[-2]}-lo")
    for link in Path("/var/log/containers").glob("*.log"):
        if link.is_symlink() and f"{layout.root}/" in str(link.readlink()):
            yield link
