"""Child processes that run jobs, real ones."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import psutil
import pytest

from podscale.pod.errors import ChildLostError
from podscale.pod.offload import Offload


def with_offload(test: Callable[[Offload], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """A test that runs on an event loop with an Offload, which is closed after it."""

    def run() -> None:
        offload = Offload()

        async def body() -> None:
            try:
                await test(offload)
            finally:
                offload.close()

        asyncio.run(body())

    run.__doc__ = test.__doc__
    return run


@with_offload
async def test_a_job_runs_in_another_process_that_is_kept(offload: Offload) -> None:
    """One after the other, jobs run in the same child, which is not this process."""
    pids = [await offload.run(os.getpid) for _ in range(3)]
    assert len(set(pids)) == 1
    assert pids[0] != os.getpid()


@with_offload
async def test_jobs_at_once_run_in_children_of_their_own(offload: Offload) -> None:
    """Two jobs at once take two children, while the loop is free."""
    began = time.monotonic()
    jobs = [asyncio.create_task(offload.run(partial(time.sleep, 1))) for _ in range(2)]
    rounds = 0
    while not all(job.done() for job in jobs):
        await asyncio.sleep(0.01)
        rounds += 1
    assert rounds > 10
    assert time.monotonic() - began < 5
    pids = await asyncio.gather(*[offload.run(partial(_pid_after, 0.3)) for _ in range(2)])
    assert len(set(pids)) == 2


@with_offload
async def test_an_error_of_a_job_reaches_the_caller(offload: Offload) -> None:
    """What a job raises is raised here, and the child serves on."""
    with pytest.raises(ZeroDivisionError):
        await offload.run(partial(divmod, 1, 0))
    assert await offload.run(partial(divmod, 7, 2)) == (3, 1)


@with_offload
async def test_a_killed_child_fails_one_job_and_is_replaced(offload: Offload) -> None:
    """The job whose child is killed says so; the job beside it and the next one are served."""
    beside = asyncio.create_task(offload.run(partial(_pid_after, 2)))
    await asyncio.sleep(0.5)
    with pytest.raises(ChildLostError, match="killed"):
        await offload.run(_kill_itself)
    assert await beside != os.getpid()
    assert await offload.run(partial(divmod, 7, 2)) == (3, 1)


@with_offload
async def test_a_child_killed_while_idle_is_not_noticed(offload: Offload) -> None:
    """The next job is served by a new child."""
    first = await offload.run(os.getpid)
    os.kill(first, signal.SIGKILL)
    await asyncio.to_thread(psutil.wait_procs, [psutil.Process(first)] if psutil.pid_exists(first) else [], 5)
    await asyncio.sleep(0.5)
    assert await offload.run(os.getpid) != first


@with_offload
async def test_children_take_no_notice_of_stop_signals(offload: Offload) -> None:
    """SIGINT and SIGTERM, which may go to the whole group, do not end a child."""
    pid = await offload.run(os.getpid)
    os.kill(pid, signal.SIGINT)
    os.kill(pid, signal.SIGTERM)
    await asyncio.sleep(0.2)
    assert await offload.run(os.getpid) == pid


def test_close_ends_the_children_also_at_work() -> None:
    """A job that runs when the end comes is told so, and no child is left."""

    async def body() -> tuple[int, BaseException]:
        offload = Offload()
        pid = await offload.run(os.getpid)
        job = asyncio.create_task(offload.run(partial(time.sleep, 60)))
        await asyncio.sleep(0.3)
        offload.close()
        (error,) = await asyncio.gather(job, return_exceptions=True)
        assert isinstance(error, BaseException)
        return pid, error

    pid, error = asyncio.run(body())
    assert isinstance(error, ChildLostError)
    assert "come to its end" in str(error)
    deadline = time.monotonic() + 5
    while psutil.pid_exists(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not psutil.pid_exists(pid)


def _pid_after(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def _kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
