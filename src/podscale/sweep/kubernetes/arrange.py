"""A Deployment as a comparison wants it: another pod template for each topology, and the one that was found at the end.

The template that was found is kept in an annotation of the Deployment, written by the same change that first replaces
it: a comparison that is killed leaves it there, and `put_back` restores it, byte for byte.
"""

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from podscale import contract
from podscale.sweep.kubernetes import waiting
from podscale.sweep.kubernetes.access import Api, ApiError, Object
from podscale.sweep.kubernetes.quantities import quantity
from podscale.sweep.kubernetes.target import KubernetesTarget
from podscale.sweep.kubernetes.workload import Workload
from podscale.sweep.options import OptionError
from podscale.sweep.results import Budget
from podscale.sweep.targets import NotReachedError, TargetError
from podscale.sweep.topologies import Base, refuse_unequal

TEMPLATE_FOUND = "podscale.io/template-found"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
# Between two arrangements nobody sends anything: there is nothing to drain.
GRACE_SECONDS = 1

# (pod, container, command) -> what it printed; raises NotReachedError
Execute = Callable[[str, str, list[str]], str]


class KubernetesArranger(KubernetesTarget):
    """A Kubernetes target that rearranges the Deployment. `execute` runs a command in a container."""

    def __init__(self, api: Api, workload: Workload, *args: Any, execute: Execute, **given: Any) -> None:
        super().__init__(api, workload, *args, **given)
        self.base = base_of(workload)
        self._execute = execute
        self._arranged: Budget | None = None
        self._victim: tuple[str, str] = ("", "")  # pod, process id
        self._before: tuple[tuple[str, int] | None, float] = (None, 0.0)

    def arrange(self, budget: Budget) -> float | None:
        """No pods, another template, so many pods: they start together, and no old one takes CPU from a new one."""
        if budget == self._arranged:
            self.scale(budget.pods)
            seconds = None
        else:
            self._arranged = None
            self._lease.check()
            self._api.send("PATCH", self._workload.path, self._patch(budget), STRATEGIC_PATCH)
            self._wait_ready(0, time.monotonic() + self._ready_seconds)
            seconds = self.scale(budget.pods)
            self._check_budget(budget)
            self._arranged = budget
        self._victim = self._serving_process()
        return seconds

    def kill_one(self) -> str:
        """Send SIGKILL to a serving process from within its container, the same way in every topology."""
        pod, process = self._victim
        self._before = self._state_of(pod)
        self._execute(pod, self._workload.container, ["/bin/sh", "-c", f"kill -9 {int(process)}"])
        workers = self._arranged is not None and self._arranged.processes_per_pod > 1
        return f"worker {process} of {pod}" if workers else pod

    def whole(self) -> bool:
        """Whether the victim was replaced, by the kubelet or its supervisor, and all are Ready and in the Service."""
        assert self._arranged is not None
        seen = self._look()
        identity, lost = self._state_of(self._victim[0], seen)
        if (identity, lost) == self._before or identity is None:
            return False
        if waiting.missing(seen, self._arranged.pods) is not None:
            return False
        return all(self._says_ready(waiting.name(pod)) for pod in seen.pods if not waiting.is_terminating(pod))

    def close(self) -> None:
        """Put back the template, then the size that was found."""
        try:
            put_back(self._api, self._workload.path)
        finally:
            super().close()

    def _patch(self, budget: Budget) -> Object:
        """Replaces what a topology is made of, and nothing else of the template."""
        resources, times = self._container()["resources"], budget.cpu_cores_per_pod / self.base.cpu_cores
        environment = {"PODSCALE_WORKERS": budget.processes_per_pod, "PODSCALE_OFFLOAD_PROCESSES": budget.children}
        requests = {name: _times(name, value, times) for name, value in resources.get("requests", {}).items()}
        limits: Object = {name: _times(name, value, times) for name, value in resources.get("limits", {}).items()}
        limits["cpu"] = _cores(budget.cpu_cores_per_pod) if budget.limited else None
        if "cpu" not in requests and not budget.limited:
            requests["cpu"] = _cores(budget.cpu_cores_per_pod)
        container = {
            "name": self._workload.container,
            "resources": {"requests": requests, "limits": limits},
            "env": [{"name": name, "value": str(value)} for name, value in environment.items()],
        }
        # In a space of process ids of its own a pod's only process has the id 1, which nothing inside can kill.
        pod = {
            "containers": [container],
            "terminationGracePeriodSeconds": GRACE_SECONDS,
            "shareProcessNamespace": True,
        }
        patch: Object = {"spec": {"replicas": 0, "template": {"spec": pod}}}
        now = self._api.get(self._workload.path)
        if TEMPLATE_FOUND not in (now["metadata"].get("annotations") or {}):
            patch["metadata"] = {"annotations": {TEMPLATE_FOUND: json.dumps(now["spec"]["template"])}}
        return patch

    def _container(self) -> Object:
        return _container_of(self._workload.template, self._workload.container)

    def _check_budget(self, budget: Budget) -> None:
        """What the pods really have: a LimitRange or a webhook may have made something else of it."""
        for pod in self._pods:
            resources = _container_of(pod["spec"], self._workload.container).get("resources", {})
            limit = quantity(resources.get("limits", {}).get("cpu"))
            if (limit is not None) != budget.limited:
                has = "no CPU limit" if limit is None else f"a CPU limit of {limit:g}"
                raise NotReachedError(f"{waiting.name(pod)} has {has}, which was not asked for; is there a LimitRange?")
            found = Budget(
                pods=budget.pods,
                processes_per_pod=budget.processes_per_pod,
                cpu_cores_per_pod=budget.cpu_cores_per_pod if limit is None else limit,
                limited=budget.limited,
                memory_bytes_per_pod=_whole(quantity(resources.get("limits", {}).get("memory"))),
            )
            try:
                refuse_unequal({"what was asked for": budget, waiting.name(pod): found}, budget.processes)
            except OptionError as error:
                raise NotReachedError(str(error)) from error

    def _serving_process(self) -> tuple[str, str]:
        pod = waiting.name(self._pods[0])
        reply = self._ask(pod, self._workload.pod_port, contract.TIMESTAMP)
        process = "" if reply is None else reply.headers.get(contract.PROCESS_HEADER.lower(), "")
        if not process.isdigit():
            raise NotReachedError(f"{pod} does not name the process that answers; is it a pod of podscale?")
        return pod, process

    def _state_of(self, pod: str, seen: waiting.Seen | None = None) -> tuple[tuple[str, int] | None, float]:
        """What changes when a process of the pod is replaced: its identity, or its count of lost workers."""
        found = next((each for each in (seen or self._look()).pods if waiting.name(each) == pod), None)
        lost = self._scrape(pod).workers_lost
        return None if found is None else waiting.identity(found), lost or 0.0

    def _says_ready(self, pod: str) -> bool:
        reply = self._ask(pod, self._workload.admin_port, contract.READY)
        return reply is not None and reply.status == 200


def base_of(workload: Workload) -> Base:
    """What one pod of the Deployment has: its CPU limit, else its request, and its memory limit.

    Raises TargetError where there is no figure to divide.
    """
    if workload.admin_port is None:
        raise TargetError(
            f"{workload.name} is no Deployment of podscale's pods: the number of processes in a pod cannot be set"
        )
    resources = _container_of(workload.template, workload.container).get("resources", {})
    limits, requests = resources.get("limits", {}), resources.get("requests", {})
    cores = quantity(limits.get("cpu")) or quantity(requests.get("cpu"))
    if cores is None:
        raise TargetError(
            f"container {workload.container} of {workload.name} has neither a CPU limit nor a request: there is no "
            "budget to divide; set resources.limits.cpu"
        )
    return Base(cpu_cores=cores, memory_bytes=_whole(quantity(limits.get("memory"))), quota=True)


def found_template(deployment: Object) -> Object | None:
    """The template that a comparison found and has not put back; None where none is left."""
    noted = (deployment["metadata"].get("annotations") or {}).get(TEMPLATE_FOUND)
    found: Object | None = None if noted is None else json.loads(noted)
    return found


def put_back(api: Api, path: str) -> bool:
    """Give the Deployment its own template again, if a comparison has taken it; whether it had.

    All pods go first: on nodes that are full, a rolling update would wait for room that its own pods take.
    """
    template = found_template(api.get(path))
    if template is None:
        return False
    key = TEMPLATE_FOUND.replace("~", "~0").replace("/", "~1")
    changes = [
        {"op": "replace", "path": "/spec/replicas", "value": 0},
        {"op": "replace", "path": "/spec/template", "value": template},
        {"op": "remove", "path": f"/metadata/annotations/{key}"},
    ]
    api.send("PATCH", path, changes, JSON_PATCH)
    return True


def executor(api: Api) -> Execute:
    """Runs commands as `kubectl exec` does."""
    return partial(_execute, api)


def _execute(api: Api, pod: str, container: str, command: list[str]) -> str:
    from kubernetes.client import CoreV1Api  # noqa: PLC0415
    from kubernetes.client.exceptions import ApiException  # noqa: PLC0415
    from kubernetes.stream import stream  # noqa: PLC0415

    # A client of its own: `stream` makes a websocket client of it while it runs.
    core = CoreV1Api(api.another_client())
    try:
        answer: str = stream(
            core.connect_get_namespaced_pod_exec,
            pod,
            api.namespace,
            container=container,
            command=command,
            stdout=True,
            stderr=True,
            stdin=False,
            tty=False,
        )
    except (ApiException, ApiError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise NotReachedError(
            f"no command can be run in {pod}: {' '.join(str(reason).split())[:200]}; it needs the right to pods/exec"
        ) from error
    return answer


def _container_of(pod_spec: Object, name: str) -> Object:
    found: Object = next(each for each in pod_spec["containers"] if each["name"] == name)
    return found


def _times(resource: str, value: str, times: float) -> str:
    """A request or limit, so many times as large."""
    amount = (quantity(value) or 0.0) * times
    return _cores(amount) if resource == "cpu" else str(round(amount))


def _cores(cores: float) -> str:
    return f"{round(cores * 1000)}m"


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
