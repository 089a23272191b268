"""What a worker counts and times, its form on the wire, and how the master adds up the workers. Pure."""

from collections import Counter
from typing import Literal, TypedDict

from hdrh.histogram import HdrHistogram  # type: ignore[import-untyped]  # hdrhistogram ships no types

from podscale.contract import ErrorClass, Quantiles

LATE_SECONDS = 0.010
UNKNOWN = "unknown"

_MICROSECONDS = 1_000_000
_HIGHEST_MICROSECONDS = 3600 * _MICROSECONDS
_DIGITS = 3

Count = Literal["arrivals", "requests", "completed", "late", "dropped"]
COUNTS: tuple[Count, ...] = ("arrivals", "requests", "completed", "late", "dropped")
Tally = Literal["errors", "by_pod", "by_process", "total_by_pod"]
TALLIES: tuple[Tally, ...] = ("errors", "by_pod", "by_process", "total_by_pod")
Times = Literal["latency", "naive", "send_lag"]
TIMES: tuple[Times, ...] = ("latency", "naive", "send_lag")


class WireHistogram(TypedDict):
    """A histogram in a message: HdrHistogram V2 in base64, with the exact sum and maximum in microseconds."""

    hdr: str
    sum_microseconds: int
    max_microseconds: int


class Record(TypedDict):
    """All that one recorder knows, as plain values for a message."""

    counts: dict[str, int]
    tallies: dict[str, dict[str, int]]
    times: dict[str, WireHistogram]


class Histogram:
    """Times from 1 microsecond to 1 hour, exact to three digits; mean and maximum are exact."""

    def __init__(self) -> None:
        self._hdr = HdrHistogram(1, _HIGHEST_MICROSECONDS, _DIGITS)
        self._sum_microseconds = 0
        self._max_microseconds = 0

    def record(self, seconds: float) -> None:
        """Count one time. Beyond the range it counts as the nearest end: it must not vanish."""
        value = min(max(round(seconds * _MICROSECONDS), 0), _HIGHEST_MICROSECONDS)
        self._hdr.record_value(value)
        self._sum_microseconds += value
        self._max_microseconds = max(self._max_microseconds, value)

    def percentile(self, percent: float) -> float | None:
        """The time in seconds at rank round(percent * count / 100), None where nothing was counted."""
        if not self._hdr.total_count:
            return None
        return self._bounded(self._hdr.get_value_at_percentile(percent))

    def quantiles(self) -> Quantiles | None:
        """The usual ones in seconds, None where nothing was counted."""
        count = self._hdr.total_count
        if not count:
            return None
        at = self._hdr.get_percentile_to_value_dict([50, 90, 99, 99.9])
        return {
            "p50": self._bounded(at[50]),
            "p90": self._bounded(at[90]),
            "p99": self._bounded(at[99]),
            "p999": self._bounded(at[99.9]),
            "max": self._max_microseconds / _MICROSECONDS,
            "mean": self._sum_microseconds / count / _MICROSECONDS,
        }

    def encode(self) -> str | None:
        """HdrHistogram V2 in base64, in microseconds; None where nothing was counted."""
        return self._hdr.encode().decode("ascii") if self._hdr.total_count else None

    def wire(self) -> WireHistogram:
        """For a message."""
        return {
            "hdr": self._hdr.encode().decode("ascii"),
            "sum_microseconds": self._sum_microseconds,
            "max_microseconds": self._max_microseconds,
        }

    def add(self, other: WireHistogram) -> None:
        """Add what another worker counted: bucket by bucket, so percentiles stay as exact as one recorder's."""
        self._hdr.decode_and_add(other["hdr"])
        self._sum_microseconds += other["sum_microseconds"]
        self._max_microseconds = max(self._max_microseconds, other["max_microseconds"])

    def _bounded(self, microseconds: int) -> float:
        # The library answers with the upper end of a bucket, which may lie above the largest time ever seen.
        return min(microseconds, self._max_microseconds) / _MICROSECONDS


class Recorder:
    """Counts and times of one stage on one worker, or of all workers after `add`."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
        self.tallies: dict[Tally, Counter[str]] = {name: Counter() for name in TALLIES}
        self.times: dict[Times, Histogram] = {name: Histogram() for name in TIMES}

    def due(self) -> None:
        """A visit of the window is due, or begins (closed)."""
        self.counts["arrivals"] += 1

    def dropped(self) -> None:
        """A visit of the window that was due is never sent."""
        self.counts["dropped"] += 1

    def sent(self, lag_seconds: float) -> None:
        """A visit of the window starts that long after it was due."""
        self.counts["late"] += lag_seconds > LATE_SECONDS
        self.times["send_lag"].record(lag_seconds)

    def request(
        self,
        error: ErrorClass | None,
        *,
        counted: bool,
        ended_in_window: bool,
        latency_seconds: float = 0.0,
        service_seconds: float = 0.0,
        pod: str = UNKNOWN,
        process: str = UNKNOWN,
    ) -> None:
        """An answer or a failure.

        Args:
            error: None for a good answer.
            counted: whether its visit belongs to the window.
            ended_in_window: whether it ended there, which throughput counts.
            latency_seconds: from the intended send time.
            service_seconds: from the actual one.
            pod: that answered.
            process: "pod/pid" that answered.
        """
        tallies = self.tallies
        tallies["total_by_pod"][pod] += 1
        if error is None and ended_in_window:
            self.counts["completed"] += 1
        if not counted:
            return
        self.counts["requests"] += 1
        tallies["by_pod"][pod] += 1
        tallies["by_process"][process] += 1
        if error is not None:
            tallies["errors"][error] += 1
            return
        self.times["latency"].record(latency_seconds)
        self.times["naive"].record(service_seconds)

    def record(self) -> Record:
        """All of it, for a message."""
        return {
            "counts": dict(self.counts),
            "tallies": {name: dict(tally) for name, tally in self.tallies.items()},
            "times": {name: histogram.wire() for name, histogram in self.times.items()},
        }

    def add(self, record: Record) -> None:
        """Add what another worker recorded."""
        self.counts.update(record["counts"])
        for name in TALLIES:
            self.tallies[name].update(record["tallies"][name])
        for times in TIMES:
            self.times[times].add(record["times"][times])
