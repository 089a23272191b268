"""What a sweep can scale and read: the protocol, and a service that is only measured as it is."""

from typing import Any, Protocol

import httpx

from podscale.sweep.results import Budget
from podscale.sweep.scrape import PodReading
from podscale.sweep.topologies import Base


class TargetError(Exception):
    """The target cannot be used at all; the message says why and what to do."""


class NotReachedError(Exception):
    """The asked size was not reached within its deadline; the message says what was."""


class Target(Protocol):
    """Something with a size that can be scaled and read."""

    name: str
    url: str  # where load goes
    cores_per_pod: float  # what one pod can use at most, inf where unknown

    def describe(self) -> dict[str, Any]:
        """What belongs into the result's environment record."""

    def scale(self, size: int) -> float:
        """Make it exactly `size` pods, all ready and idle; returns the seconds until ready.

        Raises NotReachedError.
        """

    def read(self) -> list[PodReading]:
        """Counters of every pod, now; empty where pods cannot be read."""

    def close(self) -> None:
        """Put back what was found."""


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

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

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

    def close(self) -> None:
        """Nothing was changed."""
