"""What the cluster has room for: quotas of the namespace, and what the nodes can give to pods."""

from collections.abc import Iterator

import msgspec

from podscale.sweep.kubernetes.access import Api
from podscale.sweep.kubernetes.quantities import quantity
from podscale.sweep.kubernetes.workload import Workload


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A node, as far as it explains a measurement. `cores` is what it can give to pods."""

    name: str
    cores: float
    schedulable: bool
    kernel: str
    runtime: str
    kubelet: str


def nodes(api: Api) -> list[Node]:
    """All nodes; raises ApiError without the right to list them."""
    return [
        Node(
            name=each["metadata"]["name"],
            cores=quantity(each["status"]["allocatable"]["cpu"]) or 0.0,
            schedulable=not each["spec"].get("unschedulable", False) and not _closed(each["spec"].get("taints") or []),
            kernel=each["status"]["nodeInfo"]["kernelVersion"],
            runtime=each["status"]["nodeInfo"]["containerRuntimeVersion"],
            kubelet=each["status"]["nodeInfo"]["kubeletVersion"],
        )
        for each in api.get("/api/v1/nodes")["items"]
    ]


def quota_lacks(api: Api, target: Workload, more: int) -> list[str]:
    """For what `more` pods there is no room in the namespace's quotas, in words; raises ApiError without the right."""
    if more <= 0:
        return []
    listed = api.get(f"/api/v1/namespaces/{target.namespace}/resourcequotas")["items"]
    lacks = []
    for each in listed:
        hard, used = each["status"].get("hard") or {}, each["status"].get("used") or {}
        for key, need in _asks(target):
            if key in hard:
                left = (quantity(hard[key]) or 0.0) - (quantity(used.get(key)) or 0.0)
                name = each["metadata"]["name"]
                if left < need * more:
                    lacks.append(
                        f"ResourceQuota {name} has {left:g} of {key} left, {more} pods more ask {need * more:g}"
                    )
    return lacks


def _asks(target: Workload) -> Iterator[tuple[str, float]]:
    """What one pod takes of each kind that a quota may limit."""
    yield from (("pods", 1.0), ("count/pods", 1.0))
    for resource in ("cpu", "memory"):
        for kind in ("requests", "limits"):
            value = target.resources(target.template, kind, resource)
            if value is not None:
                yield f"{kind}.{resource}", value
                if kind == "requests":
                    yield resource, value


def _closed(taints: list[dict[str, str]]) -> bool:
    return any(each["effect"] in {"NoSchedule", "NoExecute"} for each in taints)
