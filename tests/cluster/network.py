"""The network: each node in a namespace of its own, all of them on one bridge in node 1, and no way out."""

import shlex
import subprocess

from tests.cluster.layout import API, Layout


def connect(layout: Layout) -> None:
    """Make the namespaces, the wires between them and the routes to each other's pods."""
    for node in layout.numbers:
        _run("ip", "netns", "add", layout.namespace(node))
        _inside(layout, node, "ip link set lo up", "sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'")
        if node == 1:
            _first(layout)
        else:
            _other(layout, node)
    for node in layout.numbers:
        for other in set(layout.numbers) - {node}:
            _inside(layout, node, f"ip route add {layout.pods(other)} via {layout.address(other)}")


def _first(layout: Layout) -> None:
    """Node 1 holds the bridge. A bridge alone has no carrier, so one end of a pair of its own is plugged into it."""
    _inside(
        layout,
        1,
        "ip link add wire type bridge",
        "ip link set wire up",
        "ip link add uplink type veth peer name port1",
        "ip link set port1 master wire up",
        "ip link set uplink up",
        f"ip addr add {API}/24 dev wire",
        "ip route add default dev wire",  # only so that addresses of Services have a route before kube-proxy maps them
    )


def _other(layout: Layout, node: int) -> None:
    _inside(
        layout,
        1,
        f"ip link add port{node} type veth peer name uplink netns {layout.namespace(node)}",
        f"ip link set port{node} master wire up",
    )
    _inside(
        layout,
        node,
        "ip link set uplink up",
        f"ip addr add {layout.address(node)}/24 dev uplink",
        f"ip route add default via {API}",
    )


def _inside(layout: Layout, node: int, *commands: str) -> None:
    for command in commands:
        _run(*layout.inside(node, *shlex.split(command)))


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(command)} failed: {done.stderr.strip()}")
