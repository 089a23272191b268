"""The pods of a Deployment, to be watched and, where nobody else does it, to be scaled.

Pods of podscale are read through the API server's proxy; what others use is known from their kubelets, or else from
the metrics API, see `foreign`.
"""

import time
from collections.abc import Sequence
from datetime import datetime

from podscale import contract
from podscale.sweep.kubernetes import foreign, preflight, rights, waiting
from podscale.sweep.kubernetes.access import MERGE_PATCH, Api, ApiError, AwayError, Object, Say, connect
from podscale.sweep.kubernetes.lease import Lease, lease_name
from podscale.sweep.kubernetes.quantities import quantity
from podscale.sweep.kubernetes.rights import Right
from podscale.sweep.kubernetes.workload import Workload, find_alone, pods_of
from podscale.sweep.scrape import PodReading
from podscale.sweep.targets import TargetError
from podscale.sweep.watch.counts import Counts, parse
from podscale.sweep.watch.errands import side_by_side
from podscale.sweep.watch.rates import Seen
from podscale.sweep.watch.sources import Glance, check_size

READERS = 16
# A kubelet's page is long, and makes new figures every 10 to 15 s.
FOREIGN_SECONDS = 5.0
# Older figures of others say nothing about now.
STALE_SECONDS = 60.0
# Of writing the size, where the Deployment changes while it is looked at.
TRIES = 5


class Deployed:
    """A `watch.sources.Source`: one Deployment."""

    asks_first = True

    def __init__(self, api: Api, workload: Workload, most: int) -> None:
        self.what = f"Deployment {workload.name} in {workload.namespace} of {api.context}"
        self._api = api
        self._workload = workload
        self._most = most
        self._seen_replicas = workload.replicas
        self._nodes = foreign.Nodes(api, workload)
        self._foreign: dict[str, list[Counts]] = {}
        self._foreign_until = 0.0
        self._refused: str | None = None

    def look(self) -> Glance:
        """A row for each pod that the Deployment's selector matches."""
        try:
            wanted = _replicas(self._api.get(self._workload.path))
            pods = pods_of(self._api, self._workload)
            counts = self._counts(pods)
            now = self._api.now()
        except TargetError as error:
            return Glance(pods=None, notes=[str(error)])
        notes = [text for text in (self._refused, self._trouble(pods)) if text is not None]
        seen = [seen_pod(pod, self._workload, found, now) for pod, found in zip(pods, counts, strict=True)]
        return Glance(pods=seen, wanted=wanted, notes=notes)

    def check_scaling(self) -> int:
        """Look for an autoscaler, a sweep, and missing rights, all of which stand against it."""
        absent = rights.missing(self._api, scaling_rights(self._workload))
        if absent:
            raise TargetError(f"missing: {', '.join(f'{right} ({right.why})' for right in absent)}")
        self._seen_replicas, _ = self._free()
        return self._seen_replicas

    def scale(self, size: int) -> None:
        """Write the number of replicas, unless somebody else has written one since `check_scaling`.

        The API server refuses a version that is not the newest (409). Each new state of a pod makes one too, so then
        everything is looked at again: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions.
        """
        check_size(size, self._most)
        for _ in range(TRIES):
            replicas, version = self._free()
            if replicas != self._seen_replicas:
                change = f"from {self._seen_replicas} to {replicas} pods"
                raise TargetError(f"somebody set {self._workload.name} {change} meanwhile; press + or - again")
            order = {"metadata": {"resourceVersion": version}, "spec": {"replicas": size}}
            try:
                self._api.send("PATCH", f"{self._workload.path}/scale", order, MERGE_PATCH)
            except ApiError as error:
                if error.status != 409:
                    raise
            else:
                return
        raise TargetError(f"{self._workload.name} changed {TRIES} times while it was looked at; press + or - again")

    def close(self) -> None:
        """Let connections go."""
        self._api.close()

    def _free(self) -> tuple[int, str]:
        """The replicas and the version of the Deployment, once nobody else owns its size; raises TargetError."""
        deployment = self._api.get(self._workload.path)  # first: what comes after the looks below makes it old
        for check in preflight.owners(self._api, self._workload):
            raise TargetError(check.text)
        Lease(self._api, self._workload, lambda _: None).check_free()
        return _replicas(deployment), deployment["metadata"]["resourceVersion"]

    def _trouble(self, pods: Sequence[Object]) -> str | None:
        return waiting.trouble(waiting.Seen(deployment={}, pods=pods, serving=set()))

    def _counts(self, pods: Sequence[Object]) -> list[Sequence[Counts]]:
        running = {waiting.name(pod) for pod in pods if _started_at(pod, self._workload.container) is not None}
        if self._workload.admin_port is None:
            self._read_foreign([pod for pod in pods if waiting.name(pod) in running], running)
            return [self._foreign.get(waiting.name(pod), []) for pod in pods]
        read = side_by_side(lambda pod: self._own(waiting.name(pod), running), pods, READERS)
        return [[] if found is None else [found] for found in read]

    def _own(self, pod: str, running: set[str]) -> Counts | None:
        if pod not in running:
            return None
        path = f"/api/v1/namespaces/{self._workload.namespace}/pods/{pod}:{self._workload.admin_port}/proxy"
        try:
            reply = self._api.once("GET", path + contract.METRICS)
        except AwayError:
            return None
        if reply.status == 403:
            self._refused = (
                f"unknown without the right to get pods/proxy in {self._workload.namespace}: what pods count"
            )
        return parse(reply.text, time.monotonic(), own_cgroup=True) if reply.status == 200 else None

    def _read_foreign(self, pods: Sequence[Object], running: set[str]) -> None:
        if time.monotonic() < self._foreign_until:
            return
        self._foreign_until = time.monotonic() + FOREIGN_SECONDS
        self._nodes.follow(pods)
        fresh: dict[str, list[Counts]] = {}
        for reading in self._nodes.read(running):
            known = self._foreign.get(reading.pod)
            newer = known is None or reading.at_seconds > known[-1].at_seconds
            if reading.cpu_seconds is not None and newer:
                fresh.setdefault(reading.pod, []).append(foreign_counts(reading))
        oldest = self._api.now() - STALE_SECONDS
        kept = {pod: counts for pod, counts in self._foreign.items() if counts[-1].at_seconds > oldest}
        self._foreign = kept | fresh


def open_deployment(
    *, deployment: str, context: str | None, namespace: str | None, container: str | None, most: int, say: Say
) -> Deployed:
    """Find it; raises TargetError, with what to say instead."""
    api = connect(context, namespace, say)
    try:
        workload = find_alone(api, deployment=deployment, container=container)
    except TargetError:
        api.close()
        raise
    # From now on somebody looks: a table that says that the API server is away is better than one that stands still.
    api.patience_seconds = 0.0
    return Deployed(api, workload, most)


def scaling_rights(workload: Workload) -> list[Right]:
    """Those that the keys need beyond looking."""
    rows = (
        ("patch", "deployments/scale", "apps", "to scale it", workload.name),
        ("list", "horizontalpodautoscalers", "autoscaling", "to see whether an autoscaler owns it", ""),
        ("get", "leases", "coordination.k8s.io", "to see whether a sweep runs", lease_name(workload.name)),
    )
    return [
        Right(verb=verb, resource=resource, group=group, namespace=workload.namespace, why=why, name=name)
        for verb, resource, group, why, name in rows
    ]


def seen_pod(pod: Object, workload: Workload, counts: Sequence[Counts], now_seconds: float) -> Seen:
    """A pod as the API server tells of it; `now_seconds` by its clock."""
    status = _status_of(pod, workload.container)
    uid, restarts = waiting.identity(pod)
    began = _started_at(pod, workload.container)
    return Seen(
        pod=waiting.name(pod),
        key=f"{uid} {restarts}",
        node=pod["spec"].get("nodeName"),
        state=state(pod, status),
        ready=waiting.is_ready(pod) and not waiting.is_terminating(pod),
        runs=began is not None and (bool(counts) or not waiting.is_terminating(pod)),
        restarts=restarts,
        uptime_seconds=None if began is None else max(0.0, now_seconds - began),
        cpu_limit_cores=_limit(workload, pod, "cpu"),
        memory_limit_bytes=_limit(workload, pod, "memory"),
        counts=counts,
    )


def state(pod: Object, status: Object) -> str:
    """One word, as kubectl has it; "Ready" and "NotReady" instead of its "Running"."""
    if waiting.is_terminating(pod):
        return "Terminating"
    now = status.get("state") or {}
    for kind in ("waiting", "terminated"):
        if now.get(kind):
            return str(now[kind].get("reason") or kind.capitalize())
    if "running" in now:
        return "Ready" if waiting.is_ready(pod) else "NotReady"
    return str(pod.get("status", {}).get("phase") or "Unknown")


def foreign_counts(reading: PodReading) -> Counts:
    """What a kubelet or the metrics API knows of a pod."""
    return Counts(
        at_seconds=reading.at_seconds,
        cpu_seconds=reading.cpu_seconds,
        periods=reading.periods,
        throttled_periods=reading.throttled_periods,
        memory_bytes=reading.memory_bytes,
    )


def _replicas(deployment: Object) -> int:
    return int(deployment["spec"].get("replicas", 1))


def _limit(workload: Workload, pod: Object, resource: str) -> float | None:
    """Of the container that works: inf where none is set, None where that is the pod's own to tell."""
    for each in pod["spec"]["containers"]:
        if each["name"] == workload.container:
            limits = each.get("resources", {}).get("limits", {})
            return quantity(limits[resource]) if resource in limits else float("inf")
    return None


def _status_of(pod: Object, container: str) -> Object:
    for each in pod.get("status", {}).get("containerStatuses", []):
        if each["name"] == container:
            return dict(each)
    return {}


def _started_at(pod: Object, container: str) -> float | None:
    """Seconds since the epoch at which the container that works began; None where it does not run."""
    began = ((_status_of(pod, container).get("state") or {}).get("running") or {}).get("startedAt")
    return None if began is None else datetime.fromisoformat(began).timestamp()
