"""The parts that a pod of one process and a pod of several workers have in common."""

import contextlib
import logging
import math
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry

from podscale import __version__
from podscale.cgroup import Cgroup, CgroupReading, usable_cores
from podscale.pod import collectors
from podscale.pod.admin import AdminThread, create_admin_app
from podscale.pod.app import ROUTES, Pod
from podscale.pod.arrival import Arrivals
from podscale.pod.health import Health, Pulse, live_seconds, stretched_seconds
from podscale.pod.metrics import Meters
from podscale.pod.offload import Offload
from podscale.pod.queue import JobQueue
from podscale.pod.server import STOP_SIGNALS, PodServer, bind, uvicorn_config
from podscale.pod.settings import Settings

logger = logging.getLogger("podscale.pod")


def configure_logging(level: str) -> None:
    """One line for each event, on stderr. uvicorn's own lines only where it fails: bad requests are no event."""
    line = "%(asctime)s %(levelname)s %(message)s"
    logging.basicConfig(stream=sys.stderr, format=line, level=level.upper(), force=True)
    logging.getLogger("uvicorn").setLevel(logging.ERROR)


@contextlib.contextmanager
def admin_port(settings: Settings, registry: CollectorRegistry, pulses: Sequence[Pulse]) -> Iterator[None]:
    """Serve health and metrics within; the registry gains what the pod reads about itself."""
    cgroup = Cgroup()
    share_cores = _share_cores(settings, cgroup.read())
    allowed_seconds = live_seconds(settings.live_seconds, settings.longest_job_seconds, share_cores)
    health = Health(pulses, allowed_seconds, time.monotonic)
    for collector in (
        collectors.InfoCollector(__version__, settings.pod_name, settings.workers),
        collectors.CgroupCollector(cgroup.read),
        collectors.ProcessesCollector(os.getpid()),
        collectors.LagCollector(health.lag_seconds),
    ):
        registry.register(collector)
    with bind("PODSCALE_ADMIN_PORT", settings.admin_host, settings.admin_port) as listener:
        admin = AdminThread(uvicorn_config(create_admin_app(health, registry), settings), listener)
        admin.start()
        try:
            yield
        finally:
            admin.stop()


def build_server(
    settings: Settings,
    registry: CollectorRegistry,
    pulse: Pulse,
    signals: tuple[signal.Signals, ...] = STOP_SIGNALS,
) -> PodServer:
    """A serving process with its queues; of the cores, a worker's children use its share."""
    reading = Cgroup().read()
    cores = usable_cores(reading, len(os.sched_getaffinity(0)))
    slots = settings.offload_processes or max(1, cores // settings.workers)
    meters = Meters(registry, [route.path for route in ROUTES])
    pod = Pod(
        settings=settings,
        loop_queue=JobQueue(1, settings.queue_length, meters, time.monotonic),
        offload_queue=JobQueue(slots, settings.queue_length, meters, time.monotonic),
        offload=Offload(),
        arrivals=Arrivals(time.monotonic),
        longest_job_seconds=stretched_seconds(settings.longest_job_seconds, _share_cores(settings, reading)),
    )
    return PodServer(pod, meters, pulse, time.monotonic, signals)


def _share_cores(settings: Settings, reading: CgroupReading) -> float:
    """What each worker has of the CPU limit when all work; a limit that is not known counts as none."""
    limit_cores = math.inf if reading.cpu_limit_cores is None else reading.cpu_limit_cores
    return limit_cores / settings.workers


def give_back_memory() -> None:
    """Return to the kernel what loading the libraries has used and freed: 4 MB of an idle pod's 40."""
    import ctypes  # noqa: PLC0415 - it costs 1 MB, which only pays where memory is given back

    # Only glibc has it; musl gives memory back by itself.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def announce(settings: Settings) -> None:
    """The line of the log that says a pod has started."""
    logger.info(
        "pod %s serves on %s:%d, health and metrics on %s:%d",
        settings.pod_name,
        settings.host,
        settings.port,
        settings.admin_host,
        settings.admin_port,
    )
