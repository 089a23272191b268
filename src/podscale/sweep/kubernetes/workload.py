"""Finds what is to be scaled: the Deployment, its container, its Service, and its pods as they are now."""

from typing import Any

import msgspec

from podscale.sweep.kubernetes.access import Api, Object
from podscale.sweep.kubernetes.quantities import quantity
from podscale.sweep.targets import TargetError

DOMAIN = "svc.cluster.local."


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """A Deployment and the Service in front of it. `admin_port` is that of our own pods, None for others."""

    namespace: str
    name: str
    uid: str
    replicas: int
    selector: str  # as the API takes it: "a=b,c in (d,e)"
    container: str
    admin_port: int | None
    labels: dict[str, str]
    template: Object  # the pod's spec
    # Of the Service, where one was looked for.
    pod_port: int | None = None
    service: str = ""
    service_port: int = 0
    service_spec: Object = {}

    @property
    def url(self) -> str:
        """Where load goes. The last dot ends the name: no search through domains for each new connection."""
        return f"http://{self.service}.{self.namespace}.{DOMAIN}:{self.service_port}"

    @property
    def path(self) -> str:
        """Of the Deployment in the API."""
        return f"{deployments(self.namespace)}/{self.name}"

    def resources(self, pod_spec: Object, kind: str, resource: str) -> float | None:
        """`requests` or `limits` of `cpu` or `memory` of one pod, in cores or bytes; None where one has none."""
        containers = pod_spec["containers"]
        values = [quantity(each.get("resources", {}).get(kind, {}).get(resource)) for each in containers]
        return None if None in values else sum(value for value in values if value is not None)

    def cpu_limit_cores(self, pod_spec: Object) -> float | None:
        """Of the container that does the work."""
        for each in pod_spec["containers"]:
            if each["name"] == self.container:
                return quantity(each.get("resources", {}).get("limits", {}).get("cpu"))
        return None


def find(
    api: Api, *, deployment: str, service: str | None = None, port: int | None = None, container: str | None = None
) -> Workload:
    """Look it up; raises TargetError for what is not there or not clear, with what to say instead."""
    alone = find_alone(api, deployment=deployment, container=container)
    front = _service(api, alone.labels, service, deployment)
    service_port = _port(front, port)
    ports = _ports(next(each for each in alone.template["containers"] if each["name"] == alone.container))
    return msgspec.structs.replace(
        alone,
        pod_port=_target_port(service_port, ports),
        service=front["metadata"]["name"],
        service_port=service_port["port"],
        service_spec=front["spec"],
    )


def find_alone(api: Api, *, deployment: str, container: str | None = None) -> Workload:
    """The same, with or without a Service in front of it, and nothing of that Service; raises TargetError."""
    namespace = api.namespace
    found = api.find(f"{deployments(namespace)}/{deployment}")
    if found is None:
        names = [each["metadata"]["name"] for each in api.get(deployments(namespace))["items"]]
        raise TargetError(
            f"there is no Deployment {deployment} in namespace {namespace} of {api.context}; "
            f"it has {', '.join(names) or 'none'}"
        )
    template = found["spec"]["template"]
    chosen = _container(template["spec"], container, deployment)
    return Workload(
        namespace=namespace,
        name=deployment,
        uid=found["metadata"]["uid"],
        replicas=found["spec"].get("replicas", 1),
        selector=selector(found["spec"]["selector"]),
        container=chosen["name"],
        admin_port=_ports(chosen).get("admin") if _is_ours(chosen) else None,
        labels=template["metadata"].get("labels") or {},
        template=template["spec"],
    )


def pods_of(api: Api, workload: Workload) -> list[Object]:
    """All pods that the Deployment's selector matches, ended ones left out."""
    listed = api.get(f"/api/v1/namespaces/{workload.namespace}/pods", labelSelector=workload.selector)["items"]
    return [pod for pod in listed if pod["status"].get("phase") not in {"Succeeded", "Failed"}]


def serving(api: Api, workload: Workload) -> set[str]:
    """Names of the pods to which the Service sends requests, by its EndpointSlices."""
    slices = api.get(
        f"/apis/discovery.k8s.io/v1/namespaces/{workload.namespace}/endpointslices",
        labelSelector=f"kubernetes.io/service-name={workload.service}",
    )["items"]
    return {
        (endpoint.get("targetRef") or {}).get("name", endpoint["addresses"][0])
        for each in slices
        for endpoint in each.get("endpoints") or []
        # Absent means unknown, to be read as ready.
        if (endpoint.get("conditions") or {}).get("ready") is not False
    }


def deployments(namespace: str) -> str:
    """The path of a namespace's Deployments."""
    return f"/apis/apps/v1/namespaces/{namespace}/deployments"


def selector(spec: dict[str, Any]) -> str:
    """A label selector as text: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/."""
    parts = [f"{key}={value}" for key, value in (spec.get("matchLabels") or {}).items()]
    for rule in spec.get("matchExpressions") or []:
        key, values = rule["key"], ",".join(rule.get("values") or [])
        words = {
            "In": f"{key} in ({values})",
            "NotIn": f"{key} notin ({values})",
            "Exists": key,
            "DoesNotExist": f"!{key}",
        }
        parts.append(words[rule["operator"]])
    return ",".join(parts)


def _container(pod_spec: Object, wanted: str | None, deployment: str) -> Object:
    """The one that was named, or the first, as kubectl takes it."""
    containers: list[Object] = pod_spec["containers"]
    for each in containers:
        if wanted in {None, each["name"]}:
            return each
    names = ", ".join(each["name"] for each in containers)
    raise TargetError(f"--container: {deployment} has no container {wanted}; it has {names}")


def _ports(container: Object) -> dict[str | None, int]:
    return {each.get("name"): each["containerPort"] for each in container.get("ports", [])}


def _is_ours(container: Object) -> bool:
    """Whether it is a pod of podscale: the chart's pods have the setting of the admin port."""
    return "admin" in _ports(container) and any(
        each["name"].startswith("PODSCALE_") for each in container.get("env", [])
    )


def _service(api: Api, labels: dict[str, str], wanted: str | None, deployment: str) -> Object:
    path = f"/api/v1/namespaces/{api.namespace}/services"
    if wanted is not None:
        found = api.find(f"{path}/{wanted}")
        if found is None:
            raise TargetError(f"--service: there is no Service {wanted} in namespace {api.namespace}")
        return dict(found)
    fitting = [each for each in api.get(path)["items"] if _selects(each["spec"], labels)]
    if len(fitting) != 1:
        names = ", ".join(each["metadata"]["name"] for each in fitting)
        which = (
            f"several Services select the pods of {deployment}: {names}"
            if fitting
            else f"no Service selects the pods of {deployment}"
        )
        raise TargetError(f"{which}; name the one that takes the load with --service")
    return dict(fitting[0])


def _selects(spec: Object, labels: dict[str, str]) -> bool:
    """Whether the Service chooses among these pods; a headless one leaves the choice to its clients."""
    chosen: dict[str, str] = spec.get("selector") or {}
    return bool(chosen) and spec.get("clusterIP") != "None" and chosen.items() <= labels.items()


def _port(service: Object, wanted: int | None) -> Object:
    ports: list[Object] = service["spec"].get("ports", [])
    name = service["metadata"]["name"]
    fitting = [each for each in ports if wanted in {None, each["port"]}]
    if wanted is None and len(ports) > 1:
        fitting = [each for each in ports if each.get("name") == "http"]
    if len(fitting) != 1:
        numbers = ", ".join(str(each["port"]) for each in ports)
        raise TargetError(f"--port: Service {name} has the ports {numbers or 'none'}; name the one that takes the load")
    return fitting[0]


def _target_port(service_port: Object, ports: dict[str | None, int]) -> int | None:
    target = service_port.get("targetPort", service_port["port"])
    return target if isinstance(target, int) else ports.get(target)
