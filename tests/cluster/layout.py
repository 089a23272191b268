"""Where a cluster keeps its files, how what it leaves in the kernel is named, and its addresses."""

import contextlib
import fcntl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
CACHE = Path.home() / ".cache" / "podscale-testcluster"
CGROUPS = Path("/sys/fs/cgroup")
NAMESPACES = Path("/run/netns")

# All addresses are from 198.18.0.0/15, which RFC 2544 reserves for benchmarks: nothing real ever answers there.
PODS = "198.18.0.0/16"
SERVICES = "198.19.0.0/16"
KUBERNETES_SERVICE = "198.19.0.1"
DNS = "198.19.0.10"
API = "198.18.255.1"


class NotStartedError(Exception):
    """The cluster, or something that it needs, is not to be had here; says what is missing and what to do."""


@dataclass(frozen=True)
class Layout:
    """One cluster. Two with different names can run beside each other: each node has a network of its own."""

    name: str = "podscale"
    nodes: int = 2

    @property
    def root(self) -> Path:
        """Everything that the cluster writes."""
        return CACHE / "clusters" / self.name

    @property
    def lock(self) -> Path:
        """Held by the process that starts or removes the cluster; it outlives it."""
        return CACHE / "clusters" / f".{self.name}.lock"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's; works in the network of node 1."""
        return self.root / "keys" / "admin.kubeconfig"

    @property
    def numbers(self) -> range:
        """The nodes: 1 carries the control plane too."""
        return range(1, self.nodes + 1)

    def node(self, node: int) -> Path:
        """The files of one node."""
        return self.root / f"node{node}"

    def namespace(self, node: int) -> str:
        """The network namespace of a node, as `ip netns` names it."""
        return f"{self.name}-{node}"

    def cgroup(self, node: int) -> str:
        """The folder of a node's pods in each cgroup hierarchy."""
        return f"{self.name}-node{node}"

    def address(self, node: int) -> str:
        """The address of a node."""
        return f"198.18.255.{node}"

    def pods(self, node: int) -> str:
        """The range of the pods of a node."""
        return f"198.18.{node}.0/24"

    def inside(self, node: int, *command: str) -> list[str]:
        """`command` in the network of a node. `ip netns exec` would mount a new /sys, without the cgroups."""
        return ["nsenter", f"--net={NAMESPACES / self.namespace(node)}", *command]


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time gets past this file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
