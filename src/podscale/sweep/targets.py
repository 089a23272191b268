"""What a sweep can scale and read: the protocol, and a service that is only measured as it is."""

from typing import Any, Protocol

import httpx
import msgspec
import psutil

from podscale.sweep.environment import usable_cores
from podscale.sweep.results import Budget
from podscale.sweep.scrape import PodReading
from podscale.sweep.topologies import Base


class TargetError(Exception):
    """The target cannot be used at all; the message says why and what to do."""


class NotReachedError(Exception):
    """The asked size was not reached within its deadline; the message says what was."""


class MachineReading(msgspec.Struct, frozen=True, kw_only=True):
    """CPU time of all cores that the pods run on, counted since boot: what was busy, and all there was."""

    at_seconds: float | None  # seconds since the epoch, where the counters are older than the moment of reading
    busy_seconds: float
    total_seconds: float
    cores: float


class Target(Protocol):
    """Something with a size that can be scaled and read."""

    name: str
    url: str  # where load goes
    cores_per_pod: float  # what one pod can use at most, inf where unknown
    cores: float | None  # of the machine, or what all nodes have for pods; None where unknown
    # Whether counters come with times of their own and some seconds old: then they are read during the window too.
    sampled: bool

    def describe(self) -> dict[str, Any]:
        """What belongs into the result's environment record."""

    def scale(self, size: int) -> float:
        """Make it exactly `size` pods, all ready and idle; returns the seconds until ready.

        Raises NotReachedError.
        """

    def read(self) -> list[PodReading]:
        """Counters of every pod, now; empty where pods cannot be read."""

    def machine(self) -> MachineReading | None:
        """How busy the machine is, or the nodes; None where unknown."""

    def close(self) -> None:
        """Put back what was found; raises TargetError where that cannot be done."""


class Arranger(Target, Protocol):
    """A target that can arrange processes in pods as a comparison asks, and kill one of them."""

    base: Base  # what one pod of one process has here

    def arrange(self, budget: Budget) -> float | None:
        """Make it exactly this, all ready and idle; returns the seconds from none to all ready.

        None where it stands already and nothing had to start. Raises NotReachedError.
        """

    def kill_one(self) -> str:
        """Kill one serving process at once, without a farewell; returns its name. Raises NotReachedError."""

    def whole(self) -> bool:
        """Whether as many processes serve as were arranged, after `kill_one`."""


class UrlTarget:
    """An HTTP service that already runs: measured at the size it has, never scaled."""

    name = "url"
    cores_per_pod = float("inf")
    sampled = False

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.cores: float | None = usable_cores()

    def describe(self) -> dict[str, Any]:
        """The URL."""
        return {"target": self.name, "url": self.url}

    def scale(self, size: int) -> float:
        """Check that something answers; any HTTP status will do, since paths belong to the locustfile."""
        del size
        try:
            httpx.get(self.url, timeout=10)
        except httpx.HTTPError as error:
            raise TargetError(f"nothing answers at {self.url}: {error}; is the service up?") from error
        return 0.0

    def read(self) -> list[PodReading]:
        """Nothing is known of its pods."""
        return []

    def machine(self) -> MachineReading | None:
        """This machine, which carries the load at least."""
        return this_machine()

    def close(self) -> None:
        """Nothing was changed."""


def this_machine() -> MachineReading:
    """All cores of this machine."""
    times = psutil.cpu_times()
    # Guest time is counted in user time already, see proc_stat(5).
    total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    busy = total - times.idle - getattr(times, "iowait", 0.0)
    return MachineReading(at_seconds=None, busy_seconds=busy, total_seconds=total, cores=usable_cores())
