"""The rights that a sweep needs, and which of them are missing: asked of the API server, one by one."""

from collections.abc import Iterable

import msgspec

from podscale.sweep.kubernetes.access import Api
from podscale.sweep.kubernetes.lease import lease_name

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


class Right(msgspec.Struct, frozen=True, kw_only=True):
    """One verb on one resource. `namespace` is None for those of the whole cluster; `why` ends a sentence.

    A sweep goes on without a right that is not `needed`, and says what stays unknown.
    """

    verb: str
    resource: str  # with the subresource: "deployments/scale"
    group: str = ""
    namespace: str | None
    why: str
    name: str = ""  # of the one object that it is about, where it is about one
    needed: bool = True

    def __str__(self) -> str:
        """As in `kubectl auth can-i`."""
        full = f"{self.resource}.{self.group}" if self.group else self.resource
        return f"{self.verb} {full}" + (f" in {self.namespace}" if self.namespace else "")


def table(
    namespace: str, locust_namespace: str, *, deployment: str, service: str | None, compares: bool = False
) -> list[Right]:
    """All rights, the needed ones first. A comparison changes the pod template too."""
    apps, leases = "apps", "coordination.k8s.io"
    names = {"deployments": deployment, "deployments/scale": deployment, "leases": lease_name(deployment)}
    if service is not None:
        names["services"] = service
    here = [
        ("get", "deployments", apps, "to find what is to be scaled"),
        ("patch", "deployments/scale", apps, "to scale it"),
        ("list", "pods", "", "to see which pods are Ready"),
        ("get" if service else "list", "services", "", "to find where the load goes"),
        ("list", "endpointslices", "discovery.k8s.io", "to see which pods the Service sends requests to"),
        ("list", "horizontalpodautoscalers", "autoscaling", "to see whether an autoscaler owns it"),
        *((verb, "leases", leases, "to be the only sweep") for verb in ("get", "create", "update", "patch", "delete")),
    ]
    if compares:
        here.append(("patch", "deployments", apps, "to arrange its pods for each topology"))
    there = [
        ("list", "pods", "", "to find Locust"),
        *((verb, "pods/proxy", "", "to run stages on Locust") for verb in ("get", "create", "delete")),
    ]
    optional = [
        ("get", "pods/proxy", "", namespace, "what pods of podscale count themselves"),
        ("list", "resourcequotas", "", namespace, "whether a quota has room for the largest size"),
        ("list", "nodes", "", None, "whether the nodes have room for the largest size"),
        (
            "get",
            "nodes/proxy",
            "",
            None,
            "how busy the nodes are, and CPU and throttling of pods that are not podscale's",
        ),
        ("list", "pods", "metrics.k8s.io", namespace, "CPU and memory of pods that are not podscale's"),
    ]
    if compares:
        optional.append(("create", "pods/exec", "", namespace, "what a killed process costs"))
    rights = [
        # Who makes an object cannot be held to a name.
        Right(verb=v, resource=r, group=g, namespace=namespace, why=why, name="" if v == "create" else names.get(r, ""))
        for v, r, g, why in here
    ]
    rights += [Right(verb=v, resource=r, group=g, namespace=locust_namespace, why=why) for v, r, g, why in there]
    rights += [Right(verb=v, resource=r, group=g, namespace=n, why=why, needed=False) for v, r, g, n, why in optional]
    unique: dict[str, Right] = {}
    for right in rights:
        unique.setdefault(str(right), right)
    return list(unique.values())


def missing(api: Api, rights: Iterable[Right]) -> list[Right]:
    """Those that whoever we are does not have."""
    return [right for right in rights if not _has(api, right)]


def _has(api: Api, right: Right) -> bool:
    resource, _, subresource = right.resource.partition("/")
    asked = {
        "verb": right.verb,
        "group": right.group,
        "resource": resource,
        "subresource": subresource,
        "name": right.name,
    }
    if right.namespace is not None:
        asked["namespace"] = right.namespace
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": asked},
    }
    return bool(api.send("POST", REVIEWS, body)["status"]["allowed"])
