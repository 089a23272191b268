"""What pods and machine do while a stage measures: readings at the edges of its window, and what lies between them."""

import time
from collections.abc import Callable

import msgspec

from podscale.contract import StageReport
from podscale.sweep.scrape import PodReading, Usage, memory, usage
from podscale.sweep.targets import MachineReading, Target

# The closing reading is begun this long before the window's end, so that it does not see how the load ends: this
# share of the window, and no more than the seconds.
CLOSING_SHARE = 0.05
CLOSING_SECONDS = 0.5
# A reading counts if it was taken this close to the window; one that came late saw idle pods.
EDGE_SHARE = 0.1
# How often counters are read in the window that come with times of their own, some seconds old.
SAMPLE_SECONDS = 5.0


class WindowWatch:
    """Reads pods and machine when the measuring window opens and as it closes."""

    def __init__(self, target: Target, measure_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._target = target
        self._measure_seconds = measure_seconds
        self._clock = clock
        self._opened_at: float | None = None
        self._read_at = 0.0
        self._closed = False
        self._window: tuple[float, float] | None = None  # on the clock of the load, seconds since the epoch
        self._pods: list[list[PodReading]] = []
        self._machine: list[MachineReading] = []

    def see(self, report: StageReport) -> None:
        """Hear of the stage's state; reads at the moments that matter."""
        if self._closed or (report["state"] != "measuring" and self._opened_at is None):
            return
        now = self._clock()
        if self._opened_at is None:
            self._opened_at = now
            self._read()
            return
        closing = min(CLOSING_SECONDS, CLOSING_SHARE * self._measure_seconds)
        self._closed = report["state"] != "measuring" or report["seconds_left"] <= closing
        started, ended = report["window_started_at"], report["window_ended_at"]
        if started is not None and ended is not None:
            self._window = started, ended
        if self._closed:
            self._read()
        elif now - self._read_at >= SAMPLE_SECONDS:
            self._sample()

    def usage(self) -> Usage:
        """What the pods used between the first and the last reading of the window."""
        if self._target.sampled:
            found = usage(*sampled_within(self._pods, self._window))
            return msgspec.structs.replace(found, memory_bytes=memory(self._pods[-1]) if self._pods else None)
        return usage(self._pods[0], self._pods[-1]) if len(self._pods) > 1 else Usage(seconds=0.0)

    def node_cpu_fraction(self) -> float | None:
        """Busy share of all cores between the first and the last reading of the window."""
        readings = [each for each in self._machine if each.at_seconds is None or _within(each.at_seconds, self._window)]
        if len(readings) < 2 or readings[-1].total_seconds <= readings[0].total_seconds:
            return None
        busy = readings[-1].busy_seconds - readings[0].busy_seconds
        return busy / (readings[-1].total_seconds - readings[0].total_seconds)

    @property
    def cores(self) -> float | None:
        """Of the machine, or of the nodes that carry the pods."""
        return self._machine[-1].cores if self._machine else None

    def unread(self) -> str | None:
        """Why the pods' figures are unknown although they ran, in words."""
        if not self._closed:
            return None
        if self._target.sampled and not any(sampled_within(self._pods, self._window)):
            return "no counters of the pods fell into the window; they come every 10 to 15 s, a longer window has them"
        if len(self._pods) < 2:
            return "the pods could not be read at both edges of the window, so their CPU is unknown"
        return None

    def _sample(self) -> None:
        """Read again what comes with times of its own, and may fall into the window only now."""
        self._read_at = self._clock()
        if self._target.sampled:
            self._pods.append(self._target.read())
        if self._machine and self._machine[-1].at_seconds is not None:
            self._machine += filter(None, [self._target.machine()])

    def _read(self) -> None:
        self._read_at = self._clock()
        pods, machine = self._target.read(), self._target.machine()
        passed = self._clock() - (self._opened_at or 0.0)
        if passed > (1 + EDGE_SHARE) * self._measure_seconds + CLOSING_SECONDS:
            self._pods = []  # somebody held us up, an API server that was away for one: the load had ended
            return
        self._pods.append(pods)
        if machine is not None:
            self._machine.append(machine)


def sampled_within(
    readings: list[list[PodReading]], window: tuple[float, float] | None
) -> tuple[list[PodReading], list[PodReading]]:
    """Of counters with times of their own: for each pod the first and the last that fall into the window.

    Both lists are empty unless that are two different moments for every pod: a sum over some pods says nothing.
    """
    first: dict[str, PodReading] = {}
    last: dict[str, PodReading] = {}
    for reading in (pod for pods in readings for pod in pods):
        if _within(reading.at_seconds, window):
            first.setdefault(reading.pod, reading)
            last[reading.pod] = reading
    everyone = {pod.pod for pods in readings for pod in pods}
    if not all(pod in first and first[pod].at_seconds < last[pod].at_seconds for pod in everyone):
        return [], []
    return list(first.values()), list(last.values())


def _within(at_seconds: float, window: tuple[float, float] | None) -> bool:
    return window is not None and window[0] <= at_seconds <= window[1] + CLOSING_SECONDS
