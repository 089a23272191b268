"""Child processes that run jobs beside the loop: started when the first job needs one, replaced when one is lost."""

import asyncio
import multiprocessing
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from podscale.pod import children
from podscale.pod.errors import ChildLostError

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

T = TypeVar("T")


class Offload:
    """Runs each job in a child process of its own, which serves the next job after it.

    It starts a child whenever none is idle, so its caller bounds their number: a JobQueue with as many slots. Each
    child has its own executor, because a ProcessPoolExecutor that loses one child gives up all of its jobs.
    """

    def __init__(self) -> None:
        self._idle: list[ProcessPoolExecutor] = []
        self._closed = False

    async def run(self, job: Callable[[], T]) -> T:
        """Run `job`, which can be pickled, in a child and return its result; raises ChildLostError and its errors."""
        from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415 - an idle pod does without

        executor, future = self._submit(job)
        try:
            result = await asyncio.wrap_future(future)
        except BrokenProcessPool:
            executor.shutdown(wait=False)
            reason = "this pod has come to its end" if self._closed else "it was killed, perhaps for want of memory"
            raise ChildLostError(f"the child process that ran this job is gone: {reason}; try again") from None
        self._idle.append(executor)
        return result

    def close(self) -> None:
        """End the children; a job that still runs in one raises ChildLostError."""
        self._closed = True
        for child in multiprocessing.active_children():
            child.kill()
        while self._idle:
            self._idle.pop().shutdown(wait=False)

    def _submit(self, job: Callable[[], T]) -> "tuple[ProcessPoolExecutor, Future[T]]":
        from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415 - see above

        while self._idle:
            executor = self._idle.pop()
            try:
                return executor, executor.submit(job)
            except BrokenProcessPool:  # the child was killed while idle: nobody's job is lost
                executor.shutdown(wait=False)
        executor = _start()
        with children.stop_signals_blocked():
            return executor, executor.submit(job)


def _start() -> "ProcessPoolExecutor":
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - an idle pod does without

    # Not fork: this process has threads, and a forked child would inherit the locks they hold.
    return ProcessPoolExecutor(
        max_workers=1,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=children.follow_parent,
        initargs=(signal.SIGINT, signal.SIGTERM),
    )
