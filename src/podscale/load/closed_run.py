"""The closed model on one worker: Locust's own users loop, each waits for its answer before it sends again."""

from collections import Counter
from collections.abc import Callable

import gevent
from locust import User
from locust.exception import StopUser

from podscale.load.clients import close_connections, set_timeout
from podscale.load.messages import Share, Snapshot
from podscale.load.run import Run
from podscale.load.visits import Visit, enter, is_due_for_new_connection, this_greenlet


class ClosedRun(Run):
    """Visits are begun by the users' loops, through `visit`."""

    def __init__(self, share: Share, *, send: Callable[[Snapshot], None], clock: Callable[[], float]) -> None:
        super().__init__(share, send=send, clock=clock)
        self._users: list[User] = []
        self._visits: Counter[User] = Counter()
        self._closing = False

    def adopt(self, user: User) -> None:
        """A user whose loop is about to start."""
        set_timeout(user, self.share["timeout_seconds"])
        self._users.append(user)

    def visit(self, user: User, execute: Callable[[], None]) -> None:
        """Run a task of a user's loop as a visit.

        Raises:
            StopUser: the stage is over, the loop is to end.
        """
        if self._closing:
            raise StopUser
        if self.in_window(self.clock()):
            self.recorder.due()
        visit, greenlet = Visit(began=True), this_greenlet()
        self.in_flight[greenlet] = visit
        enter(visit)
        try:
            execute()
        finally:
            enter(None)
            self.in_flight.pop(greenlet, None)
            self._visits[user] += 1
            if is_due_for_new_connection(self._visits[user], self.share["visits_per_connection"]):
                close_connections(user)

    def start_arrivals(self, started_at: float) -> None:
        """Locust has started the users already."""

    def end_arrivals(self) -> None:
        """Each user ends its loop before its next visit, and says goodbye in its on_stop."""
        self._closing = True
        for user in self._users:
            # A user that waits between two visits is killed by this, which lasts as long as its on_stop.
            gevent.spawn(user.stop)

    def is_busy(self) -> bool:
        """Whether visits, or users on their way out, are still there."""
        return super().is_busy() or any(not user.greenlet.ready() for user in self._users)

    def counts(self, visit: Visit, now: float) -> bool:
        """By its end."""
        return self.in_window(now)

    def close(self) -> None:
        """Close what the users left open."""
        for user in self._users:
            close_connections(user)
