"""What this generator process used in the measuring window: is it the server that was slow, or the ruler?"""

import socket
import time
from collections.abc import Callable
from typing import NamedTuple

from podscale.cgroup import Cgroup


class Used(NamedTuple):
    """`cpu_fraction`: CPU time over wall time, so 1.0 is one core. None: the window has not begun, or unknown."""

    cpu_fraction: float | None
    throttled_seconds: float | None


class _Reading(NamedTuple):
    wall_seconds: float
    cpu_seconds: float
    throttled_seconds: float | None


class Usage:
    """CPU of this process, and throttling of its cgroup, between `start` and `stop`.

    Args:
        cpu_seconds: CPU time that this process has used.
        wall_seconds: a clock that only goes forward.
        throttled_seconds: throttled time of its cgroup, None where it cannot be read.
    """

    def __init__(
        self,
        *,
        cpu_seconds: Callable[[], float] = time.process_time,
        wall_seconds: Callable[[], float] = time.monotonic,
        throttled_seconds: Callable[[], float | None] = lambda: Cgroup().read().throttled_seconds,
    ) -> None:
        self.host = socket.gethostname()
        self._sources = (wall_seconds, cpu_seconds, throttled_seconds)
        self._started: _Reading | None = None
        self._stopped: _Reading | None = None

    def start(self) -> None:
        """The window begins."""
        self._started = self._now()

    def stop(self) -> None:
        """The window ends; only the first call counts."""
        self._stopped = self._stopped or self._now()

    def so_far(self) -> Used:
        """Since the start, up to the stop or to now."""
        if self._started is None:
            return Used(None, None)
        start, end = self._started, self._stopped or self._now()
        wall_seconds = end.wall_seconds - start.wall_seconds
        before, after = start.throttled_seconds, end.throttled_seconds
        return Used(
            cpu_fraction=(end.cpu_seconds - start.cpu_seconds) / wall_seconds if wall_seconds > 0 else None,
            throttled_seconds=None if before is None or after is None else after - before,
        )

    def _now(self) -> _Reading:
        wall_seconds, cpu_seconds, throttled_seconds = self._sources
        return _Reading(wall_seconds(), cpu_seconds(), throttled_seconds())
