"""The local target: n single pods as processes that share one port, as a Service shares connections."""

import contextlib
import os
import signal
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from sys import executable
from typing import Any

import httpx
import msgspec
import psutil

from podscale import contract
from podscale.sweep.children import Child, free_port, stop_all
from podscale.sweep.environment import usable_cores
from podscale.sweep.results import Budget
from podscale.sweep.scrape import PodReading, scrape
from podscale.sweep.targets import MachineReading, NotReachedError, this_machine
from podscale.sweep.topologies import Base

HOST = "127.0.0.1"
READY_SECONDS = 30
IDLE_SECONDS = 30
POLL_SECONDS = 0.05
STOP_SECONDS = 5


class LocalPod:
    """One pod, its admin port, and its CPU and memory as the kernel counts them. `settings` are added to its own."""

    def __init__(self, number: int, port: int, folder: Path, settings: Mapping[str, str]) -> None:
        self.name = f"pod-{number}"
        admin_port = free_port()
        self.admin_url = f"http://{HOST}:{admin_port}"
        # Settings of the caller's shell must not reach the pods unseen: the result would not carry them.
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PODSCALE_")} | {
            "PODSCALE_HOST": HOST,
            "PODSCALE_PORT": str(port),
            "PODSCALE_ADMIN_HOST": HOST,
            "PODSCALE_ADMIN_PORT": str(admin_port),
            "PODSCALE_POD_NAME": self.name,
            "PODSCALE_REUSE_PORT": "1",
            "PODSCALE_DRAIN_SECONDS": "0",
            **settings,
        }
        log = folder / f"{self.name}.log"
        self.child = Child(self.name, [executable, "-m", "podscale.pod"], log, environment)
        self.was_ready = False

    def ready(self, client: httpx.Client) -> bool:
        """Whether it says so."""
        try:
            ready = client.get(self.admin_url + contract.READY, timeout=2).status_code == 200
        except httpx.HTTPError:
            ready = False
        self.was_ready |= ready
        return ready

    def read(self, client: httpx.Client) -> PodReading:
        """Its own counters, with CPU and memory of its process tree: these processes share the machine's cgroup."""
        reading = scrape(self.name, self.admin_url, client)
        cpu_seconds, memory_bytes = _process_tree(self.child.pid)
        return msgspec.structs.replace(
            reading,
            cpu_seconds=cpu_seconds,
            memory_bytes=memory_bytes,
            cpu_limit_cores=None,
            periods=None,
            throttled_periods=None,
            throttled_seconds=None,
        )


class LocalTarget:
    """Scales processes on this machine. `folder` takes their logs."""

    name = "local"
    base = Base()
    sampled = False

    def __init__(self, folder: Path, *, one_core_each: bool) -> None:
        self._folder = folder
        self._client = httpx.Client()
        self._pods: list[LocalPod] = []
        self._ending: list[LocalPod] = []
        self._started = 0
        self._settings: dict[str, str] = {}
        self._arranged: Budget | None = None
        self._victim = 0
        self._workers_lost = 0.0
        # Held, never listened on: keeps the port ours while pods come and go.
        self._port_holder = socket.socket()
        self._port_holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._port_holder.bind((HOST, 0))
        self._port: int = self._port_holder.getsockname()[1]
        self.url = f"http://{HOST}:{self._port}"
        self.cores: float | None = usable_cores()
        # One event loop fills one core; jobs in worker processes may fill more.
        self.cores_per_pod = 1.0 if one_core_each else float("inf")

    def describe(self) -> dict[str, Any]:
        """How the pods run here."""
        return {"target": self.name, "balancing": "SO_REUSEPORT, by connection"}

    def scale(self, size: int) -> float:
        """Start or stop the difference; returns the seconds until all were ready."""
        begun = time.monotonic()
        self._stop(self._pods[size:])
        self._pods = self._pods[:size]
        started_before = self._started
        self._fill(size, begun + READY_SECONDS)
        ready_seconds = time.monotonic() - begun if self._started > started_before else 0.0
        self._wait_idle(time.monotonic() + IDLE_SECONDS)
        return ready_seconds

    @property
    def size(self) -> int:
        """How many pods are asked for."""
        return len(self._pods)

    @property
    def everyone(self) -> list[LocalPod]:
        """Pods that are to run, and after them those that still end."""
        self._ending = [pod for pod in self._ending if pod.child.running()]
        return self._pods + self._ending

    def ends(self, pod: LocalPod) -> bool:
        """Whether `resize` has asked it to stop."""
        return pod in self._ending

    def resize(self, size: int) -> None:
        """Start the difference, or ask it to stop, and wait for nothing."""
        for pod in self._pods[size:]:
            pod.child.ask_to_stop()
        self._ending += self._pods[size:]
        self._pods = self._pods[:size]
        self._replace_the_dead(size)

    def arrange(self, budget: Budget) -> float | None:
        """Start so many pods of so many processes anew, unless they stand; their cores are the machine's."""
        if budget == self._arranged and all(pod.child.running() for pod in self._pods):
            self._wait_idle(time.monotonic() + IDLE_SECONDS)
            seconds = None
        else:
            self._stop(self._pods)
            self._pods, self._arranged = [], budget
            # By itself a pod has a child for each core: then a pod of n would have fewer than n pods have.
            self._settings = {
                "PODSCALE_WORKERS": str(budget.processes_per_pod),
                "PODSCALE_OFFLOAD_PROCESSES": str(budget.children),
            }
            seconds = self.scale(budget.pods)
        self._victim = self._serving_process()
        return seconds

    def kill_one(self) -> str:
        """Send SIGKILL to a process that answered a request when the pods were arranged."""
        pod = next(pod for pod in self._pods if self._victim in _family(pod.child.pid))
        self._workers_lost = self._count_lost()
        os.kill(self._victim, signal.SIGKILL)
        return pod.name if pod.child.pid == self._victim else f"worker {self._victim} of {pod.name}"

    def whole(self) -> bool:
        """Replaces a dead pod, as a Deployment would; a dead worker is replaced by its supervisor."""
        if self._replace_the_dead(len(self._pods)):
            return False
        workers = self._arranged is not None and self._arranged.processes_per_pod > 1
        if workers and self._count_lost() == self._workers_lost:
            return False  # its supervisor has not seen it yet
        return all(pod.ready(self._client) for pod in self._pods)

    def read(self) -> list[PodReading]:
        """Counters of every pod, now."""
        return [pod.read(self._client) for pod in self._pods]

    def machine(self) -> MachineReading | None:
        """This machine."""
        return this_machine()

    def close(self) -> None:
        """End every pod and let the port go."""
        self._stop(self._pods + self._ending)
        self._pods, self._ending = [], []
        self._port_holder.close()
        self._client.close()

    def _start_one(self) -> None:
        self._started += 1
        self._pods.append(LocalPod(self._started, self._port, self._folder, self._settings))

    def _serving_process(self) -> int:
        try:
            answer = self._client.get(self.url + contract.TIMESTAMP, timeout=READY_SECONDS)
            return int(answer.headers[contract.PROCESS_HEADER])
        except (httpx.HTTPError, KeyError) as error:
            raise NotReachedError(f"the pods are ready, but do not answer: {error!r}") from error

    def _count_lost(self) -> float:
        readings = [scrape(pod.name, pod.admin_url, self._client) for pod in self._pods]
        return sum(reading.workers_lost or 0 for reading in readings)

    def _replace_the_dead(self, size: int) -> int:
        self._pods = [pod for pod in self._pods if pod.child.running()]
        missing = size - len(self._pods)
        for _ in range(missing):
            self._start_one()
        return missing

    def _fill(self, size: int, deadline: float) -> None:
        """Have `size` pods that are ready. A process that was killed looks alive for a moment: so look each time."""
        while True:
            if stillborn := [pod for pod in self._pods if not (pod.was_ready or pod.child.running())]:
                pod = stillborn[0]
                raise NotReachedError(f"{pod.name} ended before it was ready: {pod.child.last_words()}")
            self._replace_the_dead(size)
            waiting = [pod for pod in self._pods if not pod.ready(self._client)]
            if not waiting:
                return
            if time.monotonic() > deadline:
                raise NotReachedError(
                    f"{size - len(waiting)} of {size} pods were ready after {READY_SECONDS} s; "
                    f"{waiting[0].name} says: {waiting[0].child.last_words()}"
                )
            time.sleep(POLL_SECONDS)

    def _wait_idle(self, deadline: float) -> None:
        """Work left over from the stage before must not run in the next one."""
        while busy := [pod for pod in self._pods if scrape(pod.name, pod.admin_url, self._client).in_progress]:
            if time.monotonic() > deadline:
                raise NotReachedError(f"{busy[0].name} was still busy {IDLE_SECONDS} s after the stage before")
            time.sleep(POLL_SECONDS)

    def _stop(self, pods: list[LocalPod]) -> None:
        stop_all([pod.child for pod in pods], STOP_SECONDS)


def _family(pid: int) -> set[int]:
    """A process and its descendants; empty if it is gone."""
    with contextlib.suppress(psutil.Error):
        return {pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))}
    return set()


def _process_tree(pid: int) -> tuple[float | None, int | None]:
    """CPU seconds and resident bytes of a process and its children, ended children included; None if it is gone."""
    try:
        root = psutil.Process(pid)
        tree = [root, *root.children(recursive=True)]
        times = [process.cpu_times() for process in tree]
        memory = sum(process.memory_info().rss for process in tree)
    except psutil.Error:
        return None, None
    cpu = sum(t.user + t.system for t in times) + times[0].children_user + times[0].children_system
    return cpu, memory
