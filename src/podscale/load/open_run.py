"""The open model on one worker: visits come when they are due, whatever the server does."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import gevent
from locust.env import Environment
from locust.exception import StopTest, StopUser
from locust.runners import STATE_RUNNING, STATE_SPAWNING

from podscale.load.arrivals import due_times
from podscale.load.clients import close_connections
from podscale.load.messages import Share, Snapshot
from podscale.load.recorder import LATE_SECONDS
from podscale.load.run import Run
from podscale.load.visits import Visit, VisitorPool, enter, report_error, this_greenlet

# A sender that is behind gives way to the visits themselves after this many.
BURST = 100


class OpenRun(Run):
    """Each visit runs in a greenlet of its own, on an idle user instance or a new one."""

    def __init__(
        self, share: Share, environment: Environment, *, send: Callable[[Snapshot], None], clock: Callable[[], float]
    ) -> None:
        super().__init__(share, send=send, clock=clock)
        self._environment = environment
        self._sender: gevent.Greenlet[..., Any] | None = None
        self._due_times: Iterator[float] = iter(())
        # The due time that the sender sleeps for, if it does.
        self._waiting: list[float] = []
        self._pool = VisitorPool(
            environment,
            [environment.user_classes_by_name[name] for name in share["user_classes"]],
            timeout_seconds=share["timeout_seconds"],
            visits_per_connection=share["visits_per_connection"],
        )

    def start_arrivals(self, started_at: float) -> None:
        """Send from a greenlet of its own, by the clock."""
        share = self.share
        self._due_times = due_times(
            share["arrivals"],
            started_at=started_at,
            rate_per_second=share["rate_per_second"],
            worker=share["worker"],
            workers=share["workers"],
            seed=f"{share['stage']}/{share['worker']}",
        )
        self._sender = gevent.spawn(self._send)

    def end_arrivals(self) -> None:
        """Send nothing more, and count what the sender has not come to."""
        if self._sender is None:
            return
        self._sender.kill()
        for number, due in enumerate(itertools.chain(self._waiting, self._due_times)):
            if due >= self.end_at:
                return
            self._launch(due)
            if number % BURST == 0:
                gevent.sleep(0)

    def counts(self, visit: Visit, now: float) -> bool:
        """By its intended send time."""
        return visit.counted

    def close(self) -> None:
        """Let the idle users leave."""
        self._pool.close(seconds=1)

    def _send(self) -> None:
        # Host and arguments come with Locust's own spawn message, which may still be on its way.
        while self._environment.runner is None or self._environment.runner.state not in {STATE_SPAWNING, STATE_RUNNING}:
            gevent.sleep(0.005)
        behind = 0
        for due in self._due_times:
            if due >= self.end_at:
                return
            wait_seconds = due - self.clock()
            behind = 0 if wait_seconds > 0 else behind + 1
            if wait_seconds > 0 or behind % BURST == 0:
                self._waiting = [due]
                gevent.sleep(max(wait_seconds, 0))
                self._waiting = []
            self._launch(due)

    def _launch(self, due: float) -> None:
        counted = self.in_window(due)
        dropped = len(self.in_flight) >= self.share["in_flight_cap"] or self.clock() >= self.end_at + LATE_SECONDS
        if counted:
            self.recorder.due()
            if dropped:
                self.recorder.dropped()
        if not dropped:
            visit = Visit(counted=counted)
            self.in_flight[gevent.spawn(self._visit, visit, due)] = visit

    def _visit(self, visit: Visit, due: float) -> None:
        visit.began = True
        if visit.counted:
            self.recorder.sent(self.clock() - due)
        visitor = None
        try:
            visitor = self._pool.take()
            task = visitor.next_task()
            # What on_start takes is part of what the visitor waits for, but no fault of the generator.
            visit.lag_seconds = self.clock() - due
            enter(visit)
            task()
        except StopUser:
            if visitor is not None:
                enter(None)
                visitor.leave()
                visitor = None
        except StopTest as error:
            self.trouble = str(error) or "a user stopped the test"
            visitor = None
        except Exception as error:
            report_error(self._environment, None if visitor is None else visitor.user, error)
            if not visit.requests:
                # A task that fails before its first request would otherwise leave no trace in the figures.
                self.note(self.clock(), "other")
                self.recorder.request("other", counted=visit.counted, ended_in_window=False)
        except gevent.GreenletExit:
            if visitor is not None:
                close_connections(visitor.user)
            raise
        finally:
            self.in_flight.pop(this_greenlet(), None)
        if visitor is not None:
            enter(None)
            self._pool.give_back(visitor)
