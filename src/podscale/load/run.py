"""One stage on one worker, whatever the model: the window, the visits in flight, the record, the reports."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import gevent

from podscale.contract import POD_HEADER, PROCESS_HEADER, ErrorClass
from podscale.load.failures import classify
from podscale.load.messages import Go, Share, Snapshot
from podscale.load.recorder import UNKNOWN, Recorder
from podscale.load.timeline import Timeline
from podscale.load.usage import Usage
from podscale.load.visits import Visit, current_visit

SNAPSHOT_SECONDS = 1.0
# A timeout of the client's own ends a little after the visit's.
DRAIN_GRACE_SECONDS = 0.25


class Run(ABC):
    """A stage from PREPARE to the final snapshot; the models differ in who makes the visits.

    Args:
        share: this worker's part.
        send: takes a snapshot to the master.
        clock: seconds since the epoch.
    """

    def __init__(self, share: Share, *, send: Callable[[Snapshot], None], clock: Callable[[], float]) -> None:
        self.share = share
        self.recorder = Recorder()
        self._timeline: Timeline | None = None
        self.trouble = ""
        self.clock = clock
        self._send_snapshot = send
        self._usage = Usage()
        self.measure_at = self.end_at = math.inf
        self.in_flight: dict[gevent.Greenlet[..., Any], Visit] = {}
        self._conductor: gevent.Greenlet[..., Any] | None = None
        self._finished = False

    def go(self, go: Go) -> None:
        """The master has named the window: conduct the stage up to its final snapshot, in the background."""
        self.measure_at = go["measure_at"]
        self.end_at = math.inf if go["end_at"] is None else go["end_at"]
        if go["end_at"] is not None:  # what a person ends may last for days
            self._timeline = Timeline(started_at=go["started_at"], measure_at=go["measure_at"], end_at=go["end_at"])
        self._conductor = gevent.spawn(self._conduct, go["started_at"])

    def cut(self) -> None:
        """Locust's test has stopped: end here and keep what was measured. Visits cut off are no failures."""
        if self._finished:
            return
        if self._conductor is not None:
            self._conductor.kill()
        self.end_at = min(self.end_at, self.clock())
        self.end_arrivals()
        self._finish()

    def on_request(self, *, response_time: float | None, response: Any, exception: BaseException | None) -> None:
        """Record one request. `response_time` is in ms, as all of Locust's."""
        if response_time is None:
            return
        now = self.clock()
        visit = current_visit()
        headers = getattr(response, "headers", None) or {}
        pod, process = headers.get(POD_HEADER), headers.get(PROCESS_HEADER)
        service_seconds = response_time / 1000
        lag_seconds = 0.0
        if visit is not None:
            # Only the first request was due at the visit's time: the later ones follow from the answers.
            lag_seconds = 0.0 if visit.requests else visit.lag_seconds
            visit.requests += 1
        error = classify(exception, getattr(response, "status_code", 0) or 0)
        self.note(now, error, lag_seconds + service_seconds)
        self.recorder.request(
            error,
            counted=visit is not None and self.counts(visit, now),
            ended_in_window=self.in_window(now),
            latency_seconds=lag_seconds + service_seconds,
            service_seconds=service_seconds,
            pod=str(pod) if pod else UNKNOWN,
            process=f"{pod or UNKNOWN}/{process}" if process else UNKNOWN,
        )

    def note(self, ended_at: float, error: ErrorClass | None, latency_seconds: float = 0.0) -> None:
        """Keep an answer or a failure in the timeline; what ends before the stage begins is not in it."""
        if self._timeline is None:
            return
        if error is None:
            self._timeline.answered(ended_at, latency_seconds)
        else:
            self._timeline.failed(ended_at)

    def _conduct(self, started_at: float) -> None:
        self.start_arrivals(started_at)
        self._sleep_until(self.measure_at)
        self._usage.start()
        while (now := self.clock()) < self.end_at:
            self._report(final=False)
            self._sleep_until(min(now + SNAPSHOT_SECONDS, self.end_at))
        self._usage.stop()
        self.end_arrivals()
        self._drain()
        self._finish()

    def _drain(self) -> None:
        """Wait for the visits in flight; those that take longer than the timeout count as timeouts.

        One that has not even begun by then, on a worker with too much to do, was never sent.
        """
        deadline = self.clock() + self.share["timeout_seconds"] + DRAIN_GRACE_SECONDS
        while self.is_busy() and self.clock() < deadline:
            gevent.sleep(0.01)
        for visit in self.in_flight.values():
            if visit.began:
                self.note(self.clock(), "timeout")
                self.recorder.request("timeout", counted=visit.counted, ended_in_window=False)
            elif visit.counted:
                self.recorder.dropped()

    def _finish(self) -> None:
        self._finished = True
        self._usage.stop()
        gevent.killall(list(self.in_flight), timeout=2)
        self.close()
        self._report(final=True)

    def _report(self, *, final: bool) -> None:
        used = self._usage.so_far()
        self._send_snapshot(
            {
                "stage": self.share["stage"],
                "final": final,
                "trouble": self.trouble,
                "window_seconds": max(min(self.clock(), self.end_at) - self.measure_at, 0.0),
                "record": self.recorder.record(),
                "timeline": self._timeline.steps() if final and self._timeline is not None else [],
                "host": self._usage.host,
                "cpu_fraction": used.cpu_fraction,
                "throttled_seconds": used.throttled_seconds,
            }
        )

    def _sleep_until(self, at: float) -> None:
        gevent.sleep(max(at - self.clock(), 0))

    def is_busy(self) -> bool:
        """Whether visits are still on their way."""
        return bool(self.in_flight)

    def in_window(self, at: float) -> bool:
        """Whether a time lies in the measuring window."""
        return self.measure_at <= at < self.end_at

    @abstractmethod
    def counts(self, visit: Visit, now: float) -> bool:
        """Whether a request of `visit` that ends now belongs to the window."""

    @abstractmethod
    def start_arrivals(self, started_at: float) -> None:
        """Let visits begin at `started_at`, in the background."""

    @abstractmethod
    def end_arrivals(self) -> None:
        """The window is over: no visit begins any more."""

    @abstractmethod
    def close(self) -> None:
        """Close all connections."""
