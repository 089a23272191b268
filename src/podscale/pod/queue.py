"""The queue in front of the CPU: first come, first served, bounded, and nobody works for a client that has left."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from starlette.types import Receive

from podscale.pod.errors import ClientLeftError, QueueFullError, StoppingError

T = TypeVar("T")

# Rounds of the loop until a client's leaving is known: the socket's end is read, the transport closes, the protocol is
# told, the request's receive() wakes, its task ends. Measured: 3 with uvloop, 4 with asyncio; a round costs 1 us.
_SETTLE_ROUNDS = 8


class QueueMeters(Protocol):
    """Where a queue counts; podscale.pod.metrics has the real one."""

    def waiting(self, change: int) -> None:
        """So many more (or fewer) jobs wait."""

    def waited(self, seconds: float) -> None:
        """A job's turn came after `seconds`."""

    def shed(self) -> None:
        """A job was refused because the queue is full."""

    def abandoned(self) -> None:
        """A job was not run because its client has left."""


async def settle() -> None:
    """Let the loop read every socket, so that what has arrived or left by now is known."""
    for _ in range(_SETTLE_ROUNDS):
        await asyncio.sleep(0)


class JobQueue:
    """Lets `slots` jobs run at once and `length` more wait.

    Args:
        slots: jobs at once: 1 for those that hold the loop, the number of children for those that do not.
        length: jobs that may wait; beyond it QueueFullError.
        meters: told of each change.
        clock: seconds that never go back.
    """

    def __init__(self, slots: int, length: int, meters: QueueMeters, clock: Callable[[], float]) -> None:
        self._free = slots
        self._length = length
        self._meters = meters
        self._clock = clock
        self._waiting: deque[_Ticket] = deque()
        self._caller: asyncio.Task[None] | None = None
        self._must_end_by = float("inf")

    async def run(
        self, job: Callable[[], Awaitable[T]], longest_seconds: float, since: float, receive: Receive
    ) -> tuple[T, float]:
        """Wait for a slot, run `job` in it, and return its result and the seconds it waited.

        Args:
            job: is called when its turn comes.
            longest_seconds: what the job takes at most; in a pod that stops, a job that would end too late is not run.
            since: when the request arrived, by the clock; its wait counts from then.
            receive: the request's, whose body has been read: it is watched for the client's leaving.

        Raises QueueFullError, StoppingError, ClientLeftError (before or during the job), and what the job raises.
        """
        if len(self._waiting) >= self._length + self._free:
            self._meters.shed()
            # One that has a free slot, and is about to be called, is among those that wait until then.
            raise QueueFullError(f"{self._length} jobs are waiting, which is the most this queue holds; try again")
        ticket = _Ticket(asyncio.get_running_loop().create_future(), since, longest_seconds)
        watch = asyncio.create_task(_until_client_leaves(receive))
        watch.add_done_callback(lambda _: self._abandon(ticket))
        self._enter(ticket)
        try:
            await ticket.called
            waited_seconds = self._clock() - ticket.since
            self._meters.waited(waited_seconds)
            result = await job()
            await settle()
        finally:
            left = watch.done()
            watch.cancel()
            self._leave(ticket)
        if left:
            raise ClientLeftError("the client left before its answer")
        return result, waited_seconds

    def end_by(self, moment: float) -> None:
        """From now on run only jobs that end before `moment` of the clock."""
        self._must_end_by = moment

    def refuse_waiting(self) -> None:
        """Answer all that wait with StoppingError."""
        while self._waiting:
            self._take_out(self._waiting[0]).called.set_exception(_too_late())

    def _enter(self, ticket: "_Ticket") -> None:
        self._waiting.append(ticket)
        self._meters.waiting(+1)
        self._call_next()

    def _leave(self, ticket: "_Ticket") -> None:
        if ticket in self._waiting:  # its task was cancelled
            self._take_out(ticket)
        if ticket.has_slot:
            self._free += 1
            self._call_next()

    def _take_out(self, ticket: "_Ticket") -> "_Ticket":
        self._waiting.remove(ticket)
        self._meters.waiting(-1)
        return ticket

    def _abandon(self, ticket: "_Ticket") -> None:
        """The client has left: where the job still waits, it gives up its place."""
        if ticket in self._waiting and not ticket.called.done():
            self._meters.abandoned()
            self._take_out(ticket).called.set_exception(ClientLeftError("the client left the queue"))

    def _call_next(self) -> None:
        if self._caller is None and self._free and self._waiting:
            self._caller = asyncio.create_task(self._call_waiting())

    async def _call_waiting(self) -> None:
        try:
            while self._free and self._waiting:
                # A job may have held the loop for seconds: read who has left meanwhile before the next is chosen.
                await settle()
                if self._waiting:
                    self._call(self._take_out(self._waiting[0]))
        finally:
            self._caller = None

    def _call(self, ticket: "_Ticket") -> None:
        if self._clock() + ticket.longest_seconds > self._must_end_by:
            ticket.called.set_exception(_too_late())
            return
        self._free -= 1
        ticket.has_slot = True
        ticket.called.set_result(None)


class _Ticket:
    """One job's place in the queue; `called` ends when its turn comes or it will not come."""

    __slots__ = ("called", "has_slot", "longest_seconds", "since")

    def __init__(self, called: "asyncio.Future[None]", since: float, longest_seconds: float) -> None:
        self.called = called
        self.since = since
        self.longest_seconds = longest_seconds
        self.has_slot = False


def _too_late() -> StoppingError:
    return StoppingError("this pod is stopping, and the job would end after its grace period; try again")


async def _until_client_leaves(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
