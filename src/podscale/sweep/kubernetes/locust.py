"""Finds the chart's Locust by its labels, and runs stages on its master through the API server's proxy."""

import os
import time

import msgspec

from podscale import contract
from podscale.sweep import locust
from podscale.sweep.kubernetes import waiting
from podscale.sweep.kubernetes.access import Api, AwayError, Object, Reply
from podscale.sweep.locust import PASSWORD_VARIABLE, Answer, LocustError, StageClient
from podscale.sweep.targets import TargetError

NAME = "app.kubernetes.io/instance"
COMPONENT = "app.kubernetes.io/component"
MASTER, WORKER = "locust-master", "locust-worker"
WEB = "web"
POLL_SECONDS = 0.2
CONNECT_SECONDS = 30
# What the API server says of a pod that does not answer.
SILENT = frozenset({502, 503, 504})
INSTALL = (
    "install it beside the pods with: helm upgrade --install podscale helm/podscale (for a service of your own, with "
    "--set locust.host=http://NAME:PORT --set-file locust.locustfile=mine.py)"
)


class Generator(msgspec.Struct, frozen=True, kw_only=True):
    """One release of Locust: its master's pod and port, and its workers' pods."""

    namespace: str
    release: str
    master: Object
    port: int
    workers: list[Object]


def find(api: Api, *, wanted: str | None, release: str | None) -> Generator:
    """The Locust of the release `wanted`, as "name" or "namespace/name"; else that of the target's own `release`.

    Raises TargetError where there is none, or several and none of them is meant.
    """
    given_namespace, _, name = (wanted or "").rpartition("/")
    namespace = given_namespace or api.namespace
    pods = api.get(f"/api/v1/namespaces/{namespace}/pods", labelSelector=f"{COMPONENT} in ({MASTER},{WORKER})")["items"]
    running = [pod for pod in pods if pod["status"].get("phase") == "Running" and not waiting.is_terminating(pod)]
    masters = {_label(pod, NAME): pod for pod in running if _label(pod, COMPONENT) == MASTER and _port(pod)}
    if not masters:
        raise TargetError(f"no Locust with a page runs in namespace {namespace}; {INSTALL}")
    chosen = name or (release if release in masters else None) or (next(iter(masters)) if len(masters) == 1 else None)
    if chosen not in masters:
        names = ", ".join(sorted(masters))
        raise TargetError(
            f"--locust: choose the release whose Locust is to send the load; namespace {namespace} has {names}"
        )
    workers = [pod for pod in running if _label(pod, COMPONENT) == WORKER and _label(pod, NAME) == chosen]
    return Generator(
        namespace=namespace, release=chosen, master=masters[chosen], port=_port(masters[chosen]) or 0, workers=workers
    )


class ProxiedMaster:
    """A master's page through the API server."""

    def __init__(self, api: Api, generator: Generator) -> None:
        self._api = api
        pod = waiting.name(generator.master)
        self._page = f"/api/v1/namespaces/{generator.namespace}/pods/{pod}:{generator.port}/proxy"
        password = os.environ.get(PASSWORD_VARIABLE)
        self._headers = {contract.LOGIN_HEADER: password} if password else {}

    def ask(self, method: str, path: str, body: object = None) -> Answer:
        """One request; raises locust.AwayError where the API server or the master does not answer."""
        try:
            reply = self._api.once(method, self._page + path, body=body, headers=self._headers)
        except AwayError as error:
            raise locust.AwayError(f"the API server {error}") from error
        if reply.status in SILENT:
            raise locust.AwayError(f"the Locust master does not answer through the API server: {_reason(reply)}")
        return Answer(reply.status, reply.text)

    def close(self) -> None:
        """The connections are the API's."""


class KubernetesLocust:
    """A `sweep.measure.Load`: Locust that runs in the cluster already, which a sweep uses and leaves as it is.

    `host` is what to load, None for what Locust was started with.
    """

    def __init__(self, api: Api, generator: Generator, *, host: str | None) -> None:
        self.worker_count = len(generator.workers)
        self._api = api
        self._generator = generator
        self._host = host

    @property
    def more_workers(self) -> str:
        """What gives more load."""
        labels = f"{NAME}={self._generator.release},{COMPONENT}={WORKER}"
        return (
            f"scale Locust's workers: kubectl --namespace {self._generator.namespace} scale deployment "
            f"--selector {labels} --replicas={self.worker_count + 1}"
        )

    def client(self) -> StageClient:
        """The stage protocol of a master to which every worker that runs has connected.

        Both may have been replaced since the stage before: a new worker is waited for. Raises LocustError.
        """
        deadline = time.monotonic() + CONNECT_SECONDS
        wanted = f"{self._generator.namespace}/{self._generator.release}"
        while True:
            try:
                self._generator = found = find(self._api, wanted=wanted, release=None)
                connected = look(self._api, found)["workers"]
                lacks = f"{connected} of {len(found.workers)} Locust workers are connected"
                if connected == len(found.workers) > 0:
                    break
            except TargetError as error:
                lacks = str(error)
            if time.monotonic() > deadline:
                raise LocustError(f"{lacks}, after {CONNECT_SECONDS} s")
            time.sleep(1)
        self.worker_count = connected
        return StageClient(
            ProxiedMaster(self._api, found),
            poll_seconds=POLL_SECONDS,
            patience_seconds=self._api.patience_seconds,
            host=self._host,
        )

    def close(self) -> None:
        """Nothing was started here."""


def look(api: Api, generator: Generator) -> contract.LoadReport:
    """What the master has to send load with; raises TargetError where it does not say."""
    client = StageClient(ProxiedMaster(api, generator), patience_seconds=0)
    pod = waiting.name(generator.master)
    try:
        found = client.load()
    except LocustError as error:
        raise TargetError(f"{pod}: {error}") from error
    if found is None:
        raise TargetError(
            f"{pod} does not answer through the API server; with networkPolicy.enabled its addresses have to be in "
            "networkPolicy.apiServer of the chart, see docs/kubernetes.md"
        )
    return found


def _label(pod: Object, key: str) -> str:
    text: str = (pod["metadata"].get("labels") or {}).get(key, "")
    return text


def _port(pod: Object) -> int | None:
    """Of the page; a master without one runs headless."""
    for container in pod["spec"]["containers"]:
        for port in container.get("ports", []):
            if port.get("name") == WEB:
                number: int = port["containerPort"]
                return number
    return None


def _reason(reply: Reply) -> str:
    return " ".join(reply.text.split())[:200]
