"""A stage on the master: its way from the order to the report."""

import time
from collections.abc import Callable, Sequence

import gevent
from locust import User

from podscale.contract import StageOrder, StageReport, StageState
from podscale.load.fleet import Fleet
from podscale.load.messages import GO, PREPARE, Go, Ready, Share, Snapshot
from podscale.load.orders import visits_per_connection
from podscale.load.reports import Progress, make_report

READY_SECONDS = 3.0
USERS_SECONDS = 10.0
# After the drain, for the last message of a busy worker.
FINAL_SECONDS = 3.0
# Enough for GO to reach every worker before the first arrival.
LEAD_SECONDS = 0.2
CLOCK_SECONDS = 0.25
STEP_SECONDS = 0.05

ENDED: tuple[StageState, ...] = ("done", "void", "stopped")


class _EndedEarly(Exception):  # noqa: N818  # the ordinary end of a stage that was stopped
    """The stage cannot go on, or must not."""

    def __init__(self, state: StageState, reason: str) -> None:
        super().__init__(reason)
        self.state = state


class Stage:
    """One stage. `run` conducts it, in a greenlet; everything else looks at it or tells it something.

    Args:
        order: what is asked for.
        key: names the stage in messages; unlike the order's id it is never used twice.
        fleet: the workers.
        user_classes: those that take part.
        in_flight_cap: of each worker in the open model; arrivals beyond it are dropped.
        workers_seconds: how long to wait for the workers that the order expects.
        by_hand: started on Locust's own page, which starts and stops the users and sets no end.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        order: StageOrder,
        *,
        key: str,
        fleet: Fleet,
        user_classes: Sequence[type[User]],
        in_flight_cap: int,
        workers_seconds: float = 10.0,
        by_hand: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.order = order
        self.key = key
        self._fleet = fleet
        self._user_classes = user_classes
        self._in_flight_cap = in_flight_cap
        self._workers_seconds = workers_seconds
        self._by_hand = by_hand
        self._clock = clock
        self._progress = Progress()
        self._workers: list[str] = []
        self._sent_at: dict[str, float] = {}
        self._ready: set[str] = set()
        self._snapshots: dict[str, Snapshot] = {}
        self._early: _EndedEarly | None = None
        self._users = len(self._workers)
        self._started = self._ending = False
        self._ends_at: float | None = None

    def run(self) -> None:
        """From the first worker to the last report; returns when the stage is done, void or stopped."""
        try:
            self._wait_for_workers()
            self._prepare()
            self._start_users()
            self._go()
            self._measure()
            self._drain()
            self._end("done", "")
        except _EndedEarly as early:
            self._end(early.state, str(early))

    @property
    def ended(self) -> bool:
        """Whether its figures are whole."""
        return self._progress.state in ENDED

    def stop(self, reason: str) -> None:
        """End it early and keep what was measured."""
        self._early = self._early or _EndedEarly("stopped", reason)

    def on_test_stopping(self) -> None:
        """Locust stops its users. If not by this stage, then by hand, or since its last worker is gone."""
        if self._ending:
            return
        try:
            self._check()
            self.stop("stopped on Locust's page")
        except _EndedEarly as early:
            self._early = early

    def report(self) -> StageReport:
        """What is known now."""
        left = 0.0 if self.ended or self._ends_at is None else max(self._ends_at - self._clock(), 0.0)
        return make_report(self.order, self._progress, list(self._snapshots.values()), seconds_left=left)

    def on_ready(self, worker: str, ready: Ready) -> None:
        """A worker has its share."""
        # Half a round trip is the most that a message can have taken in excess of the other way.
        now = self._clock()
        sent_at = self._sent_at.get(worker, now)
        off_seconds = abs(ready["clock_seconds"] - (sent_at + now) / 2) - (now - sent_at) / 2
        if off_seconds > CLOCK_SECONDS:
            self._early = _void(
                f"the clock of worker {worker} is {off_seconds:.1f} s off the master's; set both by NTP"
            )
        self._ready.add(worker)

    def on_snapshot(self, worker: str, snapshot: Snapshot) -> None:
        """A worker tells what it has measured."""
        self._snapshots[worker] = snapshot
        if snapshot["trouble"]:
            self._early = self._early or _void(snapshot["trouble"])

    def _wait_for_workers(self) -> None:
        expected = 1 if self._by_hand else self.order["expect_workers"]
        find = self._fleet.present if self._by_hand else self._fleet.ready
        deadline = self._clock() + self._workers_seconds
        while len(find()) < expected:
            if self._clock() > deadline:
                raise _void(f"{len(find())} of {expected} workers are ready after {self._workers_seconds:.0f} s")
            self._step()
        self._workers = find()
        self._progress.workers = len(self._workers)

    def _prepare(self) -> None:
        """Give each worker its share before any user is spawned."""
        order = self.order
        for index, worker in enumerate(self._workers):
            share: Share = {
                "stage": self.key,
                "model": order["model"],
                "arrivals": order["arrivals"],
                "rate_per_second": order["rate_per_second"],
                "worker": index,
                "workers": len(self._workers),
                "visits_per_connection": visits_per_connection(order["connections"]),
                "timeout_seconds": order["timeout_seconds"],
                "in_flight_cap": self._in_flight_cap,
                "user_classes": [user_class.__name__ for user_class in self._user_classes],
            }
            self._sent_at[worker] = self._clock()
            self._fleet.send(PREPARE, share, worker)
        deadline = self._clock() + READY_SECONDS
        while not self._ready.issuperset(self._workers):
            if self._clock() > deadline:
                missing = sorted(set(self._workers) - self._ready)
                raise _void(f"no answer from worker {missing[0]}; does it run with this plugin too?")
            self._step()
        self._check()

    def _start_users(self) -> None:
        if self._by_hand:
            return
        # In the open model Locust's users idle: one for each worker is enough to have it started everywhere.
        self._users = self.order["users"] if self.order["model"] == "closed" else len(self._workers)
        self._started = True
        self._fleet.start(self._users, self._user_classes)
        deadline = self._clock() + USERS_SECONDS
        while not self._fleet.is_running():
            if self._clock() > deadline:
                raise _void(f"Locust has not started {self._users} users after {USERS_SECONDS:.0f} s")
            self._step()

    def _go(self) -> None:
        started_at = self._clock() + LEAD_SECONDS
        measure_at = started_at + self.order["warmup_seconds"]
        end_at = None if self._by_hand else measure_at + self.order["measure_seconds"]
        go: Go = {"stage": self.key, "started_at": started_at, "measure_at": measure_at, "end_at": end_at}
        for worker in self._workers:
            self._fleet.send(GO, go, worker)
        self._progress.window_started_at, self._progress.window_ended_at = measure_at, end_at
        self._ends_at = end_at

    def _measure(self) -> None:
        self._progress.state = "warmup"
        started_at, ended_at = self._progress.window_started_at, self._progress.window_ended_at
        while started_at is not None and self._clock() < started_at:
            self._step()
        self._progress.state = "measuring"
        while ended_at is None or self._clock() < ended_at:
            self._step()

    def _drain(self) -> None:
        self._progress.state = "draining"
        self._ending = True
        self._ends_at = self._clock() + self.order["timeout_seconds"]
        deadline = self._ends_at + FINAL_SECONDS
        while waiting := self._without_final():
            if self._clock() > deadline:
                raise _void(f"worker {waiting[0]} did not report")
            self._check_present(waiting)
            self._step()

    def _end(self, state: StageState, reason: str) -> None:
        """Stop Locust, take the last reports of workers that were cut off, and only then say that it is over."""
        self._ending = True
        if self._started or self._by_hand:
            self._fleet.stop()
        deadline = self._clock() + FINAL_SECONDS
        while not self._is_quiet() and self._clock() < deadline:
            gevent.sleep(STEP_SECONDS)
        if state != "done" and self._progress.window_started_at is not None:
            measured = [snapshot["window_seconds"] for snapshot in self._snapshots.values()]
            self._progress.window_ended_at = self._progress.window_started_at + max(measured, default=0.0)
        self._progress.reason = reason
        self._progress.state = state

    def _step(self) -> None:
        """Let time pass, then look whether the stage may go on."""
        gevent.sleep(STEP_SECONDS)
        self._check()

    def _check(self) -> None:
        if self._early is not None:
            raise self._early
        if self._workers and not self._ending:
            self._check_workers()

    def _check_workers(self) -> None:
        self._check_present(self._workers)
        if not self._started:
            return
        ended = [worker for worker in self._workers if self._final(worker)]
        if ended and not self._over():
            raise _void(f"worker {ended[0]} ended the stage by itself; its log says why")
        if self.order["model"] == "closed":
            joined = sorted(set(self._fleet.present()) - set(self._workers))
            if joined:
                raise _void(f"worker {joined[0]} joined during the stage, which moves users")
            if self._fleet.users() != self._users:
                raise _void(f"the number of users was changed by hand to {self._fleet.users()}")

    def _check_present(self, workers: Sequence[str]) -> None:
        lost = sorted(set(workers) - set(self._fleet.present()))
        if lost:
            self._progress.lost_workers = len(lost)
            raise _void(f"worker {lost[0]} went missing" + (f" with {len(lost) - 1} more" if lost[1:] else ""))

    def _without_final(self) -> list[str]:
        return [worker for worker in self._workers if not self._final(worker)]

    def _is_quiet(self) -> bool:
        """Whether every worker that is still there has reported, and could start again."""
        here = set(self._workers).intersection(self._fleet.present())
        return here.issubset(self._fleet.ready()) and not (self._snapshots and here.intersection(self._without_final()))

    def _final(self, worker: str) -> bool:
        return worker in self._snapshots and self._snapshots[worker]["final"]

    def _over(self) -> bool:
        """Whether the window has passed."""
        return self._progress.window_ended_at is not None and self._clock() >= self._progress.window_ended_at


def _void(reason: str) -> _EndedEarly:
    return _EndedEarly("void", reason)
