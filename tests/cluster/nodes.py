"""A node: containerd, the kubelet and kube-proxy in its network, with cgroups of its own."""

import json
from pathlib import Path

from tests.cluster import processes
from tests.cluster.layout import CGROUPS, DNS, PODS, Layout
from tests.cluster.programs import program
from tests.processes import wait_until

PAUSE_IMAGE = "registry.k8s.io/pause:3.10"
# 1.35 is the last Kubernetes that speaks to Debian's containerd 1.6 and, when asked to, runs on cgroup v1.
CONTAINERD = """\
version = 2
root = "{folder}/containerd/root"
state = "{folder}/containerd/state"
[grpc]
  address = "{folder}/containerd.sock"
[ttrpc]
  address = "{folder}/containerd.sock.ttrpc"
[plugins."io.containerd.internal.v1.opt"]
  path = "{folder}/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  disable_apparmor = true
  restrict_oom_score_adj = true # without CAP_SYS_RESOURCE no sandbox could start
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      BinaryName = "{runc}"
"""


def start(layout: Layout, node: int, keys: Path) -> None:
    """Start the programs of a node; returns when containerd can take images, the kubelet comes up meanwhile."""
    folder = layout.node(node)
    (folder / "cni").mkdir(parents=True)
    _make_cgroups(layout.cgroup(node))
    (folder / "cni" / "10-pods.conflist").write_text(json.dumps(_pod_network(layout, node)))
    settings = CONTAINERD.format(folder=folder, pause=PAUSE_IMAGE, runc=program("runc"))
    (folder / "containerd.toml").write_text(settings)
    (folder / "resolv.conf").write_text("nameserver 127.0.0.1\n")  # for what is no Service: nobody
    (folder / "kubelet.json").write_text(json.dumps(_kubelet(layout, node)))
    (folder / "kube-proxy.json").write_text(json.dumps(_kube_proxy(layout, node, keys)))
    processes.start(layout, node, f"containerd-{node}", "containerd", "--config", str(folder / "containerd.toml"))
    wait_until((folder / "containerd.sock").is_socket, 30, f"containerd; see {layout.root}/logs")
    processes.start(
        layout,
        node,
        f"kubelet-{node}",
        str(program("kubelet")),
        f"--config={folder}/kubelet.json",
        f"--kubeconfig={keys}/node{node}.kubeconfig",
        f"--hostname-override=node{node}",
        f"--node-ip={layout.address(node)}",
        f"--root-dir={folder}/kubelet",
        f"--cert-dir={folder}/kubelet/pki",
    )
    command = (str(program("kube-proxy")), f"--config={folder}/kube-proxy.json")
    processes.start(layout, node, f"kube-proxy-{node}", *command)


def _make_cgroups(name: str) -> None:
    """The kubelet wants the root of its cgroups to exist, in each hierarchy; nodes must not share one."""
    if (CGROUPS / "cgroup.controllers").exists():  # v2
        for controller in (CGROUPS / "cgroup.controllers").read_text().split():
            (CGROUPS / "cgroup.subtree_control").write_text(f"+{controller}")
        (CGROUPS / name).mkdir(exist_ok=True)
        return
    for hierarchy in {path.resolve() for path in CGROUPS.iterdir()}:
        if hierarchy.name != "unified" and (hierarchy / "cgroup.procs").exists():
            (hierarchy / name).mkdir(exist_ok=True)
    for file in ("cpuset.cpus", "cpuset.mems"):  # empty in a new one, and then nothing can run in it
        if (CGROUPS / "cpuset" / file).exists():
            (CGROUPS / "cpuset" / name / file).write_text((CGROUPS / "cpuset" / file).read_text())


def _pod_network(layout: Layout, node: int) -> dict[str, object]:
    addresses = {
        "type": "host-local",
        "ranges": [[{"subnet": layout.pods(node)}]],
        "routes": [{"dst": "0.0.0.0/0"}],
        "dataDir": str(layout.node(node) / "addresses"),
    }
    bridge = {"type": "bridge", "bridge": "pods", "isGateway": True, "hairpinMode": True, "ipam": addresses}
    ports = {"type": "portmap", "capabilities": {"portMappings": True}}
    return {"cniVersion": "1.0.0", "name": layout.cgroup(node), "plugins": [bridge, ports]}


def _kubelet(layout: Layout, node: int) -> dict[str, object]:
    folder = layout.node(node)
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "failCgroupV1": False,
        "failSwapOn": False,
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{layout.cgroup(node)}",
        "containerRuntimeEndpoint": f"unix://{folder}/containerd.sock",
        "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
        "authorization": {"mode": "AlwaysAllow"},
        "address": layout.address(node),
        "clusterDNS": [DNS],
        "clusterDomain": "cluster.local",
        "resolvConf": str(folder / "resolv.conf"),
        "podLogsDir": str(folder / "logs"),
        "volumePluginDir": str(folder / "plugins"),
        "imageGCHighThresholdPercent": 100,  # what is gone could not be pulled again
        "evictionHard": {"nodefs.available": "1%", "imagefs.available": "1%"},
        "maxPods": 200,
    }


def _kube_proxy(layout: Layout, node: int, keys: Path) -> dict[str, object]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": f"{keys}/kube-proxy.kubeconfig"},
        "hostnameOverride": f"node{node}",
        "mode": "nftables",
        "clusterCIDR": PODS,
        "bindAddress": layout.address(node),
        # These are of the whole machine, not of the namespace, so they are left as they are.
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
    }
