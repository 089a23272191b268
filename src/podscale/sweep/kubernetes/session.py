"""From a plan to a target and a load on a cluster, or to the refusal; and the way back after a killed sweep."""

import platform
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from podscale.sweep.kubernetes import arrange, preflight, workload
from podscale.sweep.kubernetes.access import MERGE_PATCH, Api, connect
from podscale.sweep.kubernetes.keep import fetch as fetch_result
from podscale.sweep.kubernetes.keep import keep as kept
from podscale.sweep.kubernetes.lease import Lease
from podscale.sweep.kubernetes.locust import KubernetesLocust
from podscale.sweep.kubernetes.preflight import Check, Found
from podscale.sweep.kubernetes.target import KubernetesTarget
from podscale.sweep.kubernetes.workload import Workload
from podscale.sweep.options import OWN
from podscale.sweep.plan import Plan
from podscale.sweep.results import Result
from podscale.sweep.targets import TargetError
from podscale.sweep.topologies import Base

RETRY_SECONDS = 2.0

Say = Callable[[str], None]


def check(plan: Plan, say: Say) -> list[Check]:
    """The preflight alone; changes nothing."""
    api = connect(plan.context, plan.namespace, say)
    try:
        return preflight.look(api, plan).checks
    finally:
        api.close()


def base(plan: Plan, say: Say) -> Base:
    """What one pod of the Deployment has, for a comparison to be planned; raises TargetError."""
    api = connect(plan.context, plan.namespace, say)
    try:
        target = _find(api, plan)
        left = arrange.found_template(api.get(target.path))
        return arrange.base_of(target if left is None else msgspec.structs.replace(target, template=left["spec"]))
    finally:
        api.close()


def begin(
    plan: Plan, *, say: Say, waits: Say, keep: str | None
) -> tuple[KubernetesTarget, KubernetesLocust, Callable[[Result], None]]:
    """Look at everything, claim the Deployment, and give what a sweep needs: target, load, and what keeps the result.

    `keep` names a ConfigMap, if one is to have the result too. Raises TargetError, with all reasons.
    """
    api = connect(plan.context, plan.namespace, say)
    found = _look(api, plan, waits)
    found.refuse()
    for each in found.checks:
        if each.state == "warning":
            say(f"{each.name}: {each.text}")
    target, generator = found.workload, found.generator
    if target is None or generator is None:
        raise TargetError("the preflight has not found everything, and does not say what")
    lease = Lease(api, target, say)
    lease.acquire()
    if arrange.put_back(api, target.path):
        say(f"an earlier comparison was killed; {target.name} has its own pod template again")
        target = _find(api, plan)
    kind = partial(arrange.KubernetesArranger, execute=arrange.executor(api)) if plan.arranges else KubernetesTarget
    scaled = kind(
        api,
        target,
        lease,
        ready_seconds=plan.ready_seconds,
        cores_each=_cores_each(plan, target),
        waits=waits,
        environment=_environment(api, found),
        cores=_cores(found),
    )
    # Locust of the same release loads these pods already.
    own = generator.release == target.labels.get("app.kubernetes.io/instance")
    host = plan.host or (None if own else target.url)
    sender = KubernetesLocust(api, generator, host=host)
    return scaled, sender, partial(kept, api, keep) if keep else lambda _: None


def fetch(job: str, context: str | None, namespace: str | None, say: Say) -> bytes:
    """The result of a Job, as JSON; raises TargetError."""
    api = connect(context, namespace, say)
    try:
        return fetch_result(api, job)
    finally:
        api.close()


def restore(plan: Plan, say: Say) -> str:
    """Put back what a killed sweep has left; returns what was done, in words. Raises TargetError."""
    api = connect(plan.context, plan.namespace, say)
    if plan.deployment is None:
        raise TargetError("--restore needs --deployment, the one whose sweep was killed")
    target = _find(api, plan)
    arranged = arrange.put_back(api, target.path)

    def resize(size: int) -> None:
        api.send("PATCH", f"{target.path}/scale", {"spec": {"replicas": size}}, MERGE_PATCH)

    replicas = Lease(api, target, say).restore_left(resize)
    template = ", and its own pod template" if arranged else ""
    if replicas is None and arranged:
        return f"{target.name} has its own pod template again; scale it to the size that it should have"
    if replicas is None:
        return f"nothing to put back: no sweep has left anything at {target.name}"
    return f"{target.name} has {replicas} replicas again{template}, as the killed sweep had found it"


def _find(api: Api, plan: Plan) -> workload.Workload:
    if plan.deployment is None:
        raise TargetError("--deployment: name the Deployment that is to be scaled")
    return workload.find(
        api, deployment=plan.deployment, service=plan.service, port=plan.port, container=plan.container
    )


def _cores_each(plan: Plan, target: Workload) -> float:
    """What a pod at its limit uses: at most the core of its event loop; inf if not CPU is the limit."""
    if target.admin_port is not None and plan.clock == "sleep" and plan.scenario != OWN:
        return float("inf")
    limit = target.cpu_limit_cores(target.template)
    most = 1.0 if plan.one_core_each and target.admin_port is not None else float("inf")
    return most if limit is None else min(limit, most)


def _look(api: Api, plan: Plan, waits: Say) -> Found:
    """The preflight; repeated while nothing but Locust keeps the sweep from starting, as right after an install."""
    deadline = time.monotonic() + plan.wait_seconds
    while True:
        found = preflight.look(api, plan)
        against = [each for each in found.checks if each.state == "refused"]
        if {each.name for each in against} != {"locust"} or time.monotonic() > deadline:
            return found
        waits(against[0].text)
        time.sleep(RETRY_SECONDS)


def _environment(api: Api, found: Found) -> dict[str, Any]:
    """Where it was measured. What belongs to the machine of the sweep itself says nothing about the pods."""
    target, generator = found.workload, found.generator
    assert target is not None
    assert generator is not None
    nodes = found.nodes
    return {
        "hostname": f"{target.name} in {target.namespace} of {api.context}",
        "cores": _cores(found),
        "nodes": None if nodes is None else msgspec.to_builtins(nodes),
        "kernel": None if nodes is None else ", ".join(sorted({node.kernel for node in nodes})),
        "machine": None,
        "cpu_model": None,
        "memory_bytes": None,
        "load_average_1_min": None,
        "sweep_hostname": platform.node(),
        "deployment": target.name,
        "container": target.container,
        "image": next(each["image"] for each in target.template["containers"] if each["name"] == target.container),
        "replicas_found": target.replicas,
        "service": target.url,
        "balancing": "Service, by connection",
        "service_skews": list(preflight.skewing(target)),
        "proxy_mode": None,
        "cpu_request_cores": target.resources(target.template, "requests", "cpu"),
        "cpu_limit_cores": target.cpu_limit_cores(target.template),
        "locust_release": f"{generator.namespace}/{generator.release}",
        "preflight": msgspec.to_builtins(found.checks),
    }


def _cores(found: Found) -> float | None:
    return None if found.nodes is None else sum(node.cores for node in found.nodes if node.schedulable)
