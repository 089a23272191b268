"""The Kubernetes target: scales a Deployment by its scale subresource, and reads its pods through the API server."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from podscale import contract
from podscale.sweep.kubernetes import foreign, waiting
from podscale.sweep.kubernetes.access import MERGE_PATCH, Api, AwayError, Object, Reply
from podscale.sweep.kubernetes.lease import Lease
from podscale.sweep.kubernetes.workload import Workload, pods_of, serving
from podscale.sweep.scrape import PodReading, parse
from podscale.sweep.targets import MachineReading, NotReachedError, TargetError

POLL_SECONDS = 0.25
# From the EndpointSlices to every node's kube-proxy, which collects changes for a second. Closed users that begin
# earlier all queue at the pods that were there already, and the new ones stay idle for the whole stage. Whom pods that
# end have answered nevertheless is counted, see Facts.old_answers.
SETTLE_SECONDS = 1.2
# Left-over work of the stage before: the longest that requests of it can still be queued in a pod.
IDLE_SECONDS = 60.0
# Sixty-four pods are read in a few rounds; more at once and the API server's own queue is measured.
READERS = 16


class KubernetesTarget:
    """Scales `workload`; the lease says that nobody else does, and remembers the size that was found.

    Args:
        ready_seconds: how long new pods may take.
        cores_each: what a pod at its limit uses, inf where that is unknown.
        waits: hears what is being waited for.
        environment: what belongs into the result beside the target's name.
        cores: what all nodes have for pods, None where unknown.
    """

    name = "kubernetes"

    def __init__(
        self,
        api: Api,
        workload: Workload,
        lease: Lease,
        *,
        ready_seconds: float,
        cores_each: float,
        waits: Callable[[str], None],
        environment: dict[str, Any],
        cores: float | None,
    ) -> None:
        self.url = workload.url
        self.cores = cores
        self.cores_per_pod = cores_each
        self.sampled = workload.admin_port is None
        self._api = api
        self._workload = workload
        self._lease = lease
        self._ready_seconds = ready_seconds
        self._waits = waits
        self._environment = environment
        self._nodes = foreign.Nodes(api, workload)
        self._pods: list[Object] = []
        self._answered: set[tuple[str, int]] = set()
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="read-pods")

    def describe(self) -> dict[str, Any]:
        """The cluster, the Deployment and its Service."""
        return {"target": self.name} | self._environment

    def scale(self, size: int) -> float:
        """Ask for `size` pods and wait until they are the only ones, serving, and without left-over work."""
        self._lease.check()
        begun = time.monotonic()
        known = {waiting.identity(pod) for pod in pods_of(self._api, self._workload)}
        self.resize(size)
        seen = self._wait_ready(size, begun + self._ready_seconds)
        self._pods = [pod for pod in seen.pods if not waiting.is_terminating(pod)]
        self._first_answers(begun + self._ready_seconds)
        fresh = {waiting.identity(pod) for pod in self._pods} - known
        ready_seconds = time.monotonic() - begun if fresh else 0.0
        settled_at = time.monotonic() + (SETTLE_SECONDS if fresh or waiting.terminating(seen) else 0.0)
        self._wait_idle(seen, size)
        time.sleep(max(0.0, settled_at - time.monotonic()))
        self._nodes.follow(self._pods)
        return ready_seconds

    def resize(self, size: int) -> None:
        """Write the number of replicas, no more."""
        self._api.send("PATCH", f"{self._workload.path}/scale", {"spec": {"replicas": size}}, MERGE_PATCH)

    def read(self) -> list[PodReading]:
        """Counters of the pods of this stage; of pods that are not ours what metrics API and kubelet know."""
        if self.sampled:
            return self._nodes.read(self._living())
        readings = list(self._readers.map(self._scrape, map(waiting.name, self._pods)))
        if all(reading.alive for reading in readings):
            return readings
        # Silence alone does not say that a pod has ended: an API server that comes back up refuses at first.
        living = self._living()
        return [msgspec.structs.replace(reading, alive=reading.pod in living) for reading in readings]

    def machine(self) -> MachineReading | None:
        """The nodes that carry the pods, where their kubelets may be asked."""
        return self._nodes.machine()

    def close(self) -> None:
        """Put back the size that was found, and let the Deployment go."""
        self._readers.shutdown(cancel_futures=True)
        self._lease.restore(self.resize)

    def _wait_ready(self, size: int, deadline: float) -> waiting.Seen:
        while True:
            seen = self._look()
            lacks = waiting.missing(seen, size)
            if lacks is None:
                return seen
            if time.monotonic() > deadline:
                why = waiting.trouble(seen)
                raise NotReachedError(f"{lacks} after {self._ready_seconds:.0f} s" + (f"; {why}" if why else ""))
            self._waits(lacks)
            time.sleep(POLL_SECONDS)

    def _look(self) -> waiting.Seen:
        try:
            return waiting.Seen(
                deployment=self._api.get(self._workload.path),
                pods=pods_of(self._api, self._workload),
                serving=serving(self._api, self._workload),
            )
        except AwayError as error:
            raise NotReachedError(str(error)) from error

    def _first_answers(self, deadline: float) -> None:
        """Each of our pods has to answer once, with its name. Others do not name themselves: Ready is enough."""
        waits = [pod for pod in self._pods if waiting.identity(pod) not in self._answered]
        while not self.sampled and waits:
            answers = list(self._readers.map(self._answers, map(waiting.name, waits)))
            self._answered |= {waiting.identity(pod) for pod, good in zip(waits, answers, strict=True) if good}
            waits = [pod for pod, good in zip(waits, answers, strict=True) if not good]
            if waits and time.monotonic() > deadline:
                raise NotReachedError(
                    f"{waiting.name(waits[0])} is Ready, but does not answer {contract.TIMESTAMP} "
                    "through the API server; does a NetworkPolicy hold it back? See docs/kubernetes.md"
                )
            if waits:
                self._waits(f"a first answer from {len(waits)} pods")
                time.sleep(POLL_SECONDS)

    def _wait_idle(self, seen: waiting.Seen, size: int) -> None:
        """Work left over from the stage before must not run in the next one, nor in a pod that terminates.

        A pod of ours that terminates is out of the Service by now. It counts no more once it has nothing in progress;
        of a pod that is not ours this is not known, so its end is waited for.
        """
        grace = self._workload.template.get("terminationGracePeriodSeconds", 30)
        deadline = time.monotonic() + IDLE_SECONDS + grace
        while True:
            ending = waiting.terminating(seen)
            staying = [] if self.sampled else [waiting.name(pod) for pod in self._pods]
            readings = list(self._readers.map(self._scrape, staying + ([] if self.sampled else ending)))
            busy = [reading.pod for reading in readings if reading.in_progress != 0]
            if not (busy or (self.sampled and ending)):
                return
            if time.monotonic() > deadline:
                which = (busy or ending)[0]
                raise NotReachedError(
                    f"{which} was still busy or terminating {IDLE_SECONDS + grace:.0f} s after the stage before"
                )
            self._waits(f"{len(busy or ending)} pods to finish the stage before")
            time.sleep(POLL_SECONDS)
            seen = self._look()
            if waiting.missing(seen, size) is not None:
                raise NotReachedError(f"pods went missing while others finished: {waiting.missing(seen, size)}")

    def _living(self) -> set[str]:
        """Pods of this stage that are neither gone, ending, nor started again."""
        try:
            now = {
                waiting.identity(pod) for pod in pods_of(self._api, self._workload) if not waiting.is_terminating(pod)
            }
        except TargetError:
            return set()
        return {waiting.name(pod) for pod in self._pods if waiting.identity(pod) in now}

    def _answers(self, pod: str) -> bool:
        reply = self._ask(pod, self._workload.pod_port, contract.TIMESTAMP)
        return reply is not None and reply.headers.get(contract.POD_HEADER.lower()) == pod

    def _scrape(self, pod: str) -> PodReading:
        reply = self._ask(pod, self._workload.admin_port, contract.METRICS)
        if reply is None or reply.status != 200:
            return PodReading(pod=pod, at_seconds=time.monotonic(), alive=False)
        return parse(pod, reply.text, time.monotonic())

    def _ask(self, pod: str, port: int | None, path: str) -> Reply | None:
        """A pod's answer through the API server's proxy. An API server that is away is waited for, a pod is not."""
        whole = f"/api/v1/namespaces/{self._workload.namespace}/pods/{pod}:{port}/proxy{path}"
        try:
            return self._api.proxied("GET", whole)
        except AwayError:
            return None
