"""The queue in front of the CPU, with clients and jobs that the test controls."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest
from starlette.types import Message, Receive

from podscale.pod.errors import ClientLeftError, QueueFullError, StoppingError
from podscale.pod.queue import JobQueue


class Meters:
    """Counts what a queue reports."""

    def __init__(self) -> None:
        self.now_waiting = self.shed_count = self.abandoned_count = 0
        self.waits: list[float] = []

    def waiting(self, change: int) -> None:
        """More or fewer wait."""
        self.now_waiting += change

    def waited(self, seconds: float) -> None:
        """A turn came."""
        self.waits.append(seconds)

    def shed(self) -> None:
        """One was refused."""
        self.shed_count += 1

    def abandoned(self) -> None:
        """One was given up."""
        self.abandoned_count += 1


class Client:
    """A client that stays until `leave`."""

    def __init__(self) -> None:
        self._left = asyncio.Event()

    def leave(self) -> None:
        """Close the connection."""
        self._left.set()

    async def receive(self) -> Message:
        """As a server's receive for a request without a body."""
        await self._left.wait()
        return {"type": "http.disconnect"}


class Job:
    """Runs until `release`, and notes when it runs."""

    def __init__(self, name: str, log: list[str]) -> None:
        self._name, self._log = name, log
        self.release = asyncio.Event()

    async def __call__(self) -> str:
        """Run."""
        self._log.append(self._name)
        await self.release.wait()
        return self._name


Test = Callable[[Meters, list[str]], Coroutine[Any, Any, None]]


def in_loop(test: Test) -> Callable[[], None]:
    """A test that runs on an event loop."""

    def run() -> None:
        asyncio.run(test(Meters(), []))

    run.__doc__ = test.__doc__
    return run


def queue_of(meters: Meters, slots: int = 1, length: int = 10, clock: Callable[[], float] = lambda: 0.0) -> JobQueue:
    """A queue for a test."""
    return JobQueue(slots, length, meters, clock)


def put(
    queue: JobQueue, job: Callable[[], Awaitable[str]], receive: Receive, seconds: float = 1, since: float = 0
) -> "asyncio.Task[tuple[str, float]]":
    """Put a job into the queue."""
    return asyncio.create_task(queue.run(job, seconds, since, receive))


async def rest() -> None:
    """Let everything happen that can."""
    await asyncio.sleep(0.02)


@in_loop
async def test_jobs_run_one_at_a_time_in_the_order_they_came(meters: Meters, log: list[str]) -> None:
    """With one slot the second job starts when the first has ended, and not before."""
    queue = queue_of(meters)
    jobs = [Job(name, log) for name in "abc"]
    tasks = [put(queue, job, Client().receive) for job in jobs]
    await rest()
    assert log == ["a"]
    assert meters.now_waiting == 2
    jobs[0].release.set()
    await rest()
    assert log == ["a", "b"]
    jobs[1].release.set()
    jobs[2].release.set()
    assert [result for result, _ in await asyncio.gather(*tasks)] == ["a", "b", "c"]
    assert meters.now_waiting == 0
    assert len(meters.waits) == 3


@in_loop
async def test_as_many_jobs_run_as_there_are_slots(meters: Meters, log: list[str]) -> None:
    """Two slots run two jobs side by side; the third waits."""
    queue = queue_of(meters, slots=2)
    jobs = [Job(name, log) for name in "abc"]
    tasks = [put(queue, job, Client().receive) for job in jobs]
    await rest()
    assert log == ["a", "b"]
    for job in jobs:
        job.release.set()
    await asyncio.gather(*tasks)


@in_loop
async def test_a_full_queue_refuses(meters: Meters, log: list[str]) -> None:
    """Beyond its length the queue refuses at once and counts it; what waits is not touched."""
    queue = queue_of(meters, length=1)
    jobs = [Job(name, log) for name in "ab"]
    tasks = [put(queue, job, Client().receive) for job in jobs]
    await rest()
    with pytest.raises(QueueFullError):
        await queue.run(Job("c", log), 1, 0, Client().receive)
    assert meters.shed_count == 1
    for job in jobs:
        job.release.set()
    await asyncio.gather(*tasks)
    assert log == ["a", "b"]


@in_loop
async def test_requests_at_once_are_told_the_length_of_the_queue(meters: Meters, log: list[str]) -> None:
    """Of four in one moment, before any is called, one has the slot, two wait, and the last is told of these two."""
    queue = queue_of(meters, length=2)
    jobs = [Job(name, log) for name in "abc"]
    tasks = [put(queue, job, Client().receive) for job in jobs]
    await asyncio.sleep(0)
    with pytest.raises(QueueFullError, match="2 jobs are waiting"):
        await queue.run(Job("d", log), 1, 0, Client().receive)
    for job in jobs:
        job.release.set()
    await asyncio.gather(*tasks)
    assert log == ["a", "b", "c"]


@in_loop
async def test_a_queue_of_length_0_still_runs_a_job(meters: Meters, log: list[str]) -> None:
    """Nothing may wait, but a free slot takes a job."""
    queue = queue_of(meters, length=0)
    job = Job("a", log)
    task = put(queue, job, Client().receive)
    await rest()
    with pytest.raises(QueueFullError):
        await queue.run(Job("b", log), 1, 0, Client().receive)
    job.release.set()
    assert (await task)[0] == "a"


@in_loop
async def test_a_client_that_left_gives_up_its_place(meters: Meters, log: list[str]) -> None:
    """The job of a client that left is not run, and its place is free at once."""
    queue = queue_of(meters, length=1)
    first, client = Job("a", log), Client()
    task = put(queue, first, Client().receive)
    left = put(queue, Job("b", log), client.receive)
    await rest()
    client.leave()
    with pytest.raises(ClientLeftError):
        await left
    assert meters.abandoned_count == 1
    assert meters.now_waiting == 0
    third = Job("c", log)
    last = put(queue, third, Client().receive)
    first.release.set()
    third.release.set()
    await asyncio.gather(task, last)
    assert log == ["a", "c"]


@in_loop
async def test_a_client_that_leaves_during_its_job_is_no_abandoned_job(meters: Meters, log: list[str]) -> None:
    """The work is done by then, so it does not count as saved; the request ends as left."""
    queue, client, job = queue_of(meters), Client(), Job("a", log)
    task = put(queue, job, client.receive)
    await rest()
    client.leave()
    job.release.set()
    with pytest.raises(ClientLeftError):
        await task
    assert meters.abandoned_count == 0


@in_loop
async def test_a_failing_job_frees_its_slot(meters: Meters, log: list[str]) -> None:
    """An error in a job reaches its request, and the next job runs."""

    async def fail() -> str:
        raise ZeroDivisionError

    queue, good = queue_of(meters), Job("good", log)
    good.release.set()
    bad, task = put(queue, fail, Client().receive), put(queue, good, Client().receive)
    with pytest.raises(ZeroDivisionError):
        await bad
    assert (await task)[0] == "good"


@in_loop
async def test_cancelled_requests_leak_nothing(meters: Meters, log: list[str]) -> None:
    """A request that is cancelled, waiting or running, leaves neither a place nor a slot behind."""
    queue, job = queue_of(meters), Job("a", log)
    tasks = [put(queue, job, Client().receive), put(queue, Job("b", log), Client().receive)]
    await rest()
    for task in reversed(tasks):
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    assert meters.now_waiting == 0
    last = Job("c", log)
    last.release.set()
    assert (await put(queue, last, Client().receive))[0] == "c"


@in_loop
async def test_a_stopping_pod_runs_what_ends_in_time_and_refuses_the_rest(meters: Meters, log: list[str]) -> None:
    """With 10 s left a job of 9 s runs and one of 11 s does not."""
    queue = queue_of(meters)
    queue.end_by(10)
    short, long = Job("short", log), Job("long", log)
    short.release.set()
    tasks = [put(queue, long, Client().receive, 11), put(queue, short, Client().receive, 9)]
    with pytest.raises(StoppingError):
        await tasks[0]
    assert (await tasks[1])[0] == "short"


@in_loop
async def test_refuse_waiting_ends_all_that_wait(meters: Meters, log: list[str]) -> None:
    """Those that wait are refused, the one that runs goes on."""
    queue, job = queue_of(meters), Job("a", log)
    task = put(queue, job, Client().receive)
    waiting = [put(queue, Job("b", log), Client().receive) for _ in range(3)]
    await rest()
    queue.refuse_waiting()
    for refused in waiting:
        with pytest.raises(StoppingError):
            await refused
    assert meters.now_waiting == 0
    job.release.set()
    assert (await task)[0] == "a"


@in_loop
async def test_the_wait_is_measured(meters: Meters, log: list[str]) -> None:
    """The seconds in the queue are those between the request's arrival and the job's start."""
    now = 2.0
    queue = queue_of(meters, clock=lambda: now)
    first, second = Job("a", log), Job("b", log)
    tasks = [put(queue, first, Client().receive, since=1.5), put(queue, second, Client().receive, since=2)]
    await rest()
    now = 5.5
    first.release.set()
    second.release.set()
    assert [waited for _, waited in await asyncio.gather(*tasks)] == [0.5, 3.5]
    assert meters.waits == [0.5, 3.5]
