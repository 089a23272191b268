"""One sweep at a time: a Lease on the Deployment, which also remembers how many replicas were found.

The number is written together with the claim, before anything is changed: a sweep that is killed leaves it there, and
the next one, or `--restore`, puts it back.
"""

import os
import platform
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import psutil

from podscale.sweep.kubernetes.access import MERGE_PATCH, Api, ApiError, Object, Say
from podscale.sweep.kubernetes.workload import Workload
from podscale.sweep.targets import TargetError

REPLICAS = "podscale.io/replicas-found"
DURATION_SECONDS = 30
RENEW_SECONDS = 10.0


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """A Lease as it is found: whose, the replicas that its sweep found, and how long it is good for."""

    holder: str
    replicas: int | None
    seconds_left: float
    version: str


class Lease:
    """The claim of this process on a Deployment."""

    def __init__(self, api: Api, workload: Workload, say: Say) -> None:
        self.holder = identity()
        self._api = api
        self._workload = workload
        self._say = say
        self._name = lease_name(workload.name)
        self._path = f"/apis/coordination.k8s.io/v1/namespaces/{workload.namespace}/leases"
        self._replicas: int | None = None
        self._lost: str | None = None
        self._ended = threading.Event()
        self._renewer = threading.Thread(target=self._renew, daemon=True, name="renew-lease")

    def find(self) -> Held | None:
        """What is there now."""
        found = self._api.find(f"{self._path}/{self._name}")
        if found is None:
            return None
        spec, notes = found.get("spec", {}), found["metadata"].get("annotations") or {}
        renewed = datetime.fromisoformat(spec["renewTime"]).timestamp() if spec.get("renewTime") else 0.0
        left = renewed + spec.get("leaseDurationSeconds", DURATION_SECONDS) - self._api.now()
        holder = spec.get("holderIdentity") or ""
        return Held(
            holder=holder,
            replicas=int(notes[REPLICAS]) if REPLICAS in notes else None,
            seconds_left=0.0 if not holder or is_dead_here(holder) else max(0.0, left),
            version=found["metadata"]["resourceVersion"],
        )

    def check_free(self) -> Held | None:
        """Raise TargetError while another sweep runs; returns what a killed one has left behind, if any."""
        held = self.find()
        if held is not None and held.seconds_left > 0:
            raise TargetError(
                f"another sweep holds {self._workload.name}: {held.holder}. If that one is no more, its claim ends in "
                f"{held.seconds_left:.0f} s; see Lease {self._name} in namespace {self._workload.namespace}"
            )
        return held

    def acquire(self) -> None:
        """Claim the Deployment and note its replicas, or those that a killed sweep has found; then go on renewing.

        Raises TargetError where another sweep was quicker.
        """
        left = self.check_free()
        self._replicas = self._workload.replicas
        if left is not None and left.replicas is not None:
            self._replicas = left.replicas
            self._say(
                f"an earlier sweep was killed and left {self._workload.name} at {self._workload.replicas} pods; "
                f"it had found {left.replicas}, which this sweep puts back at its end"
            )
        body = self._body(left.version if left else None)
        try:
            if left is None:
                self._api.send("POST", self._path, body)
            else:
                self._api.send("PUT", f"{self._path}/{self._name}", body)
        except ApiError as error:
            if error.status != 409:
                raise
            raise TargetError(f"another sweep of {self._workload.name} began at the same moment; try again") from error
        self._renewer.start()

    def check(self) -> None:
        """Raise TargetError once the claim is lost."""
        if self._lost is not None:
            raise TargetError(f"the sweep has lost its claim on {self._workload.name}: {self._lost}")

    def restore(self, resize: Callable[[int], None]) -> None:
        """Put the replicas back and let go. Of a claim that was lost, only say so: another sweep is at work."""
        self._ended.set()
        if self._renewer.is_alive():
            self._renewer.join(timeout=5)
        if self._replicas is None:
            return
        self.check()
        try:
            resize(self._replicas)
            self._release()
        except TargetError as error:
            raise TargetError(
                f"{self._workload.name} could not be put back to {self._replicas} replicas: {error}. Then run: "
                f"podscale sweep --restore --deployment {self._workload.name} --namespace {self._workload.namespace}"
            ) from error
        self._replicas = None

    def restore_left(self, resize: Callable[[int], None]) -> int | None:
        """Put back what a killed sweep has left; returns the number, None where there was nothing to put back."""
        left = self.check_free()
        if left is None:
            return None
        if left.replicas is not None:
            resize(left.replicas)
        self._release()
        return left.replicas

    def _release(self) -> None:
        try:
            self._api.send("DELETE", f"{self._path}/{self._name}", {})
        except ApiError as error:
            if error.status != 404:
                raise

    def _renew(self) -> None:
        while not self._ended.wait(RENEW_SECONDS):
            try:
                held = self.find()
                if held is None or held.holder != self.holder:
                    self._lost = f"now it is held by {held.holder}" if held else "somebody deleted the Lease"
                    return
                # With the version that was seen: who came in between is not overwritten.
                seen = {"resourceVersion": held.version}
                renewed = {"metadata": seen, "spec": {"renewTime": _time(self._api.now())}}
                self._api.send("PATCH", f"{self._path}/{self._name}", renewed, MERGE_PATCH)
            except TargetError as error:
                self._say(f"the claim on {self._workload.name} could not be renewed: {error}")

    def _body(self, version: str | None) -> Object:
        now = _time(self._api.now())
        metadata: Object = {"name": self._name, "annotations": {REPLICAS: str(self._replicas)}}
        if version is not None:
            metadata["resourceVersion"] = version
        spec = {
            "holderIdentity": self.holder,
            "leaseDurationSeconds": DURATION_SECONDS,
            "acquireTime": now,
            "renewTime": now,
        }
        return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


def lease_name(deployment: str) -> str:
    """The one Lease of a Deployment."""
    return f"podscale-sweep-{deployment}"[:253]


def identity() -> str:
    """Host, space of process ids, process id, and when the process began: a process id alone is used again."""
    return f"{_here()}/{os.getpid()}/{int(psutil.Process().create_time())}"


def is_dead_here(holder: str) -> bool:
    """Whether a holder of this host has ended: then nobody has to wait until its claim has run out."""
    here, *process = holder.rsplit("/", 2)
    if here != _here():
        return False
    try:
        pid, began = map(int, process)
        return int(psutil.Process(pid).create_time()) != began
    except psutil.NoSuchProcess:
        return True
    except (ValueError, psutil.Error):
        return False


def _here() -> str:
    """Containers may share a host's name and not its process ids."""
    return f"{platform.node()}/{Path('/proc/self/ns/pid').readlink()}"


def _time(seconds: float) -> str:
    """Kubernetes' MicroTime."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
