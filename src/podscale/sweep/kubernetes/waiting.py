"""Whether a Deployment has the size that was asked for, and if not, what is missing and why. Pure."""

from collections.abc import Sequence

import msgspec

from podscale.sweep.kubernetes.access import Object

# What a container waits for that only a person can mend. Others (ContainerCreating, PodInitializing) pass.
HOPELESS = frozenset(
    {
        "ErrImagePull",
        "ImagePullBackOff",
        "ErrImageNeverPull",
        "InvalidImageName",
        "CrashLoopBackOff",
        "CreateContainerConfigError",
        "CreateContainerError",
    }
)


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """One look at the cluster: the Deployment, all its pods, and whom the Service sends requests to."""

    deployment: Object
    pods: Sequence[Object]
    serving: set[str]


def missing(seen: Seen, size: int) -> str | None:
    """What keeps `size` from being reached, in words; None once exactly `size` pods are Ready and in the Service.

    Pods that terminate are another matter, see `terminating`.
    """
    metadata, status = seen.deployment["metadata"], seen.deployment.get("status", {})
    if status.get("observedGeneration", 0) < metadata["generation"]:
        return "the Deployment controller has not seen the new size yet"
    staying = [pod for pod in seen.pods if not is_terminating(pod)]
    old = size - status.get("updatedReplicas", 0)
    ready = [pod for pod in staying if is_ready(pod)]
    if len(ready) < size:
        return f"{len(ready)} of {size} pods are Ready"
    if len(staying) > size:
        return f"{len(staying)} pods match the selector, and {size} were asked for"
    if old > 0:
        return f"{old} pods are still of an older version"
    names = {name(pod) for pod in staying}
    if seen.serving != names:
        absent, others = len(names - seen.serving), sorted(seen.serving - names)
        return f"{absent} Ready pods are not in the Service yet" if absent else f"the Service also reaches {others[0]}"
    return None


def terminating(seen: Seen) -> list[str]:
    """Names of the pods that end."""
    return [name(pod) for pod in seen.pods if is_terminating(pod)]


def trouble(seen: Seen) -> str | None:
    """Why pods do not come up, in Kubernetes' own words."""
    for pod in seen.pods:
        found = _trouble_of(pod) if not is_terminating(pod) else None
        if found is not None:
            return f"{name(pod)}: {found}"
    for condition in seen.deployment.get("status", {}).get("conditions", []):
        if condition["type"] == "ReplicaFailure" and condition["status"] == "True":
            return _line(condition.get("message"))
    return None


def is_ready(pod: Object) -> bool:
    """Whether its Ready condition holds."""
    conditions = pod.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def is_terminating(pod: Object) -> bool:
    """Whether it is on its way out."""
    return "deletionTimestamp" in pod["metadata"]


def name(pod: Object) -> str:
    """The pod's name."""
    text: str = pod["metadata"]["name"]
    return text


def identity(pod: Object) -> tuple[str, int]:
    """Changes when a pod is replaced or one of its containers is started again."""
    statuses = pod.get("status", {}).get("containerStatuses", [])
    return pod["metadata"]["uid"], sum(each.get("restartCount", 0) for each in statuses)


def _trouble_of(pod: Object) -> str | None:
    status = pod.get("status", {})
    for condition in status.get("conditions", []):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return f"{condition.get('reason')}: {_line(condition.get('message'))}"
    for container in [*status.get("initContainerStatuses", []), *status.get("containerStatuses", [])]:
        waits = container.get("state", {}).get("waiting") or {}
        if waits.get("reason") in HOPELESS:
            ended = container.get("lastState", {}).get("terminated") or {}
            code = f" (it ended with exit code {ended['exitCode']})" if "exitCode" in ended else ""
            return f"{waits['reason']}: {_line(waits.get('message'))}{code}"
    return None


def _line(text: str | None) -> str:
    return " ".join((text or "no message").split())
