"""Looks at everything that a sweep needs before it changes anything: part of each start, and alone as `--dry-run`."""

from collections.abc import Callable, Iterator
from typing import Any, Literal

import msgspec

from podscale.sweep.kubernetes import locust, rights, room, workload
from podscale.sweep.kubernetes.access import Api, ApiError
from podscale.sweep.kubernetes.lease import Lease
from podscale.sweep.kubernetes.locust import Generator
from podscale.sweep.kubernetes.workload import Workload
from podscale.sweep.plan import Plan
from podscale.sweep.targets import TargetError

State = Literal["good", "warning", "unknown", "refused"]


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the preflight: what was looked at, how it stands, and the figures or what to do."""

    name: str
    state: State
    text: str


class Found(msgspec.Struct, kw_only=True):
    """All that the preflight has found; what could not be found is None, and a check says why."""

    checks: list[Check] = []
    workload: Workload | None = None
    generator: Generator | None = None
    lease: Lease | None = None
    nodes: list[room.Node] | None = None

    def refuse(self) -> None:
        """Raise TargetError with everything that stands against the sweep."""
        against = [f"{check.name}: {check.text}" for check in self.checks if check.state == "refused"]
        if against:
            raise TargetError("; ".join(against))


def look(api: Api, plan: Plan) -> Found:
    """Make every check that can be made; raises TargetError only where the API server itself cannot be asked."""
    found = Found()
    found.checks.append(_cluster(api))
    namespace = (plan.locust or "").rpartition("/")[0] or api.namespace
    table = rights.table(
        api.namespace,
        namespace,
        deployment=plan.deployment or "",
        service=plan.service,
        compares=plan.arranges,
    )
    absent = rights.missing(api, table)
    found.checks += _rights(absent, len(table))
    for step in (_find_workload, _find_lease, _find_locust):
        try:
            found.checks += step(api, plan, found)
        except TargetError as error:
            # A right that is missing is said already, in one line for all.
            if not (isinstance(error, ApiError) and error.status == 403 and absent):
                found.checks.append(Check(name=STEPS[step], state="refused", text=str(error)))
    if found.workload is not None:
        if found.workload.admin_port is not None and any("pods/proxy" in str(each) for each in absent):
            text = f"missing: get pods/proxy in {api.namespace}, to read the pods' own metrics"
            found.checks.append(Check(name="rights", state="refused", text=text))
        found.checks += owners(api, found.workload)
        found.checks += _room(api, plan, found, found.workload)
    return found


def _cluster(api: Api) -> Check:
    version = api.get("/version").get("gitVersion", "unknown")
    return Check(name="cluster", state="good", text=f"{api.context}, Kubernetes {version}, namespace {api.namespace}")


def _rights(absent: list[rights.Right], asked: int) -> Iterator[Check]:
    needed = [f"{right} ({right.why})" for right in absent if right.needed]
    if needed:
        yield Check(name="rights", state="refused", text=f"missing: {', '.join(needed)}; ask for a Role that has them")
    else:
        yield Check(name="rights", state="good", text=f"{asked - len(absent)} of {asked}, all that are needed")
    for right in absent:
        if not right.needed:
            yield Check(name="rights", state="unknown", text=f"without {right}: {right.why}")


def _find_workload(api: Api, plan: Plan, found: Found) -> Iterator[Check]:
    if plan.deployment is None:
        raise TargetError("--deployment: name the Deployment that is to be scaled")
    target = workload.find(
        api, deployment=plan.deployment, service=plan.service, port=plan.port, container=plan.container
    )
    found.workload = target
    pods = workload.pods_of(api, target)
    spec = pods[0]["spec"] if pods else target.template
    where = "of a living pod" if pods else "of the template, no pod lives"
    figures = ", ".join(
        f"{kind} {resource} {_amount(target.resources(spec, kind, resource), resource)}"
        for kind in ("requests", "limits")
        for resource in ("cpu", "memory")
    )
    named = f"{target.name}, {target.replicas} pods, container {target.container}; {figures} ({where})"
    if target.admin_port is None:
        named += "; its pods do not name themselves: no first answer of each is waited for"
    yield Check(name="deployment", state="good", text=named)
    skews = list(skewing(target))
    yield Check(
        name="service",
        state="warning" if skews else "good",
        text=f"{target.url}" + (f"; {', '.join(skews)}: pods get uneven traffic" if skews else ""),
    )


def _find_lease(api: Api, plan: Plan, found: Found) -> Iterator[Check]:
    if found.workload is None:
        return
    found.lease = Lease(api, found.workload, print)
    left = found.lease.check_free()
    if left is not None and left.replicas is not None:
        yield Check(
            name="earlier sweep",
            state="warning",
            text=f"was killed; it had found {left.replicas} pods. This sweep puts them back at its end, "
            f"or now: podscale sweep --restore --deployment {plan.deployment}",
        )


def _find_locust(api: Api, plan: Plan, found: Found) -> Iterator[Check]:
    release = None if found.workload is None else found.workload.labels.get(locust.NAME)
    generator = locust.find(api, wanted=plan.locust, release=release)
    found.generator = generator
    load = locust.look(api, generator)
    classes = ", ".join(load["user_classes"])
    said = f"release {generator.release} in {generator.namespace}, {load['workers']} workers, runs {classes}"
    if not load["workers"]:
        raise TargetError(f"{said}: without a worker there is no load; scale its Deployment of workers")
    absent = sorted(plan.user_classes - set(load["user_classes"]))
    if len(plan.user_classes) > 1 and absent:
        raise TargetError(f"{said}, and not {', '.join(absent)}: install the chart with locust.scenario=all")
    if absent:
        raise TargetError(
            f"{said}, and not {absent[0]}: choose with --scenario what its locustfile has, or own for all of it"
        )
    shared = _shared_nodes(api, found)
    yield Check(
        name="locust",
        state="warning" if shared else "good",
        text=said + (f"; shares node {shared[0]} with the pods, and takes its CPU" if shared else ""),
    )


def owners(api: Api, target: Workload) -> Iterator[Check]:
    """Autoscalers that would change the size during a stage."""
    places = (
        ("HorizontalPodAutoscaler", f"/apis/autoscaling/v2/namespaces/{target.namespace}/horizontalpodautoscalers"),
        ("ScaledObject of KEDA", f"/apis/keda.sh/v1alpha1/namespaces/{target.namespace}/scaledobjects"),
    )
    for kind, path in places:
        try:
            items = (api.find(path) or {"items": []})["items"]
        except ApiError as error:
            if error.status != 403:
                raise
            continue  # of the autoscaler said under rights; who may not ask for KEDA's has its autoscaler
        for each in items:
            reference = each["spec"].get("scaleTargetRef", {})
            if reference.get("name") == target.name and reference.get("kind", "Deployment") == "Deployment":
                name = each["metadata"]["name"]
                yield Check(
                    name="autoscaler",
                    state="refused",
                    text=f"{kind} {name} owns {target.name} and would change its size; delete or pause it first",
                )


def _room(api: Api, plan: Plan, found: Found, target: Workload) -> Iterator[Check]:
    """Quota and nodes against what the largest size asks."""
    largest = max(plan.sizes)
    more = largest - target.replicas
    for line in _known(lambda: room.quota_lacks(api, target, more)) or []:
        yield Check(name="quota", state="refused", text=f"{line}, for {largest} pods")
    found.nodes = _known(lambda: room.nodes(api))
    request = target.resources(target.template, "requests", "cpu")
    if found.nodes is None:
        return
    cores = sum(node.cores for node in found.nodes if node.schedulable)
    if request is not None and request * largest > cores:
        text = (
            f"{largest} pods ask {request * largest:g} cores, the nodes have {cores:g}: that size will not be reached"
        )
        yield Check(name="nodes", state="warning", text=text)
    else:
        asks = "ask for no CPU" if request is None else f"ask {request * largest:g}"
        yield Check(
            name="nodes", state="good", text=f"{len(found.nodes)} nodes, {cores:g} cores; {largest} pods {asks}"
        )


def _known(ask: Callable[[], Any]) -> Any:
    """None where the right is missing; the rights' check has said so."""
    try:
        return ask()
    except ApiError:
        return None


def skewing(target: Workload) -> Iterator[str]:
    """Fields of the Service that keep it from choosing among all pods at random."""
    spec = target.service_spec
    for field, plain in SKEWING:
        value = spec.get(field, plain)
        if value != plain:
            yield f"{field} is {value}"


def _shared_nodes(api: Api, found: Found) -> list[str]:
    if found.workload is None or found.generator is None:
        return []
    nodes = {pod["spec"].get("nodeName") for pod in workload.pods_of(api, found.workload)}
    return sorted({pod["spec"]["nodeName"] for pod in found.generator.workers if pod["spec"].get("nodeName") in nodes})


def _amount(value: float | None, resource: str) -> str:
    if value is None:
        return "none"
    return f"{value:g}" if resource == "cpu" else f"{value / 2**20:.0f}Mi"


# Fields of a Service, and the value that leaves the choice to chance.
SKEWING = (("sessionAffinity", "None"), ("internalTrafficPolicy", "Cluster"), ("trafficDistribution", None))
STEPS: dict[Callable[[Api, Plan, Found], Iterator[Check]], str] = {
    _find_workload: "deployment",
    _find_lease: "other sweep",
    _find_locust: "locust",
}
