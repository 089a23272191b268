"""Threads for what may hang: none of them keeps keys waiting, or the command from ending.

They are daemons. Python joins those of an executor when it ends, so that one request without an answer would keep the
command up: https://docs.python.org/3/library/concurrent.futures.html#threadpoolexecutor.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Work = Callable[[], Any]
Then = Callable[["Future[Any]"], None]


class Errands:
    """One thread does everything that is asked for, in order: so nothing but that thread touches a source.

    It never ends: the kernel ends what a thread has started once that thread is no more (PR_SET_PDEATHSIG, prctl(2)).
    """

    def __init__(self) -> None:
        self._asked: SimpleQueue[tuple[Work, Then]] = SimpleQueue()
        self._done: SimpleQueue[tuple[Then, Future[Any]]] = SimpleQueue()
        threading.Thread(target=self._run, daemon=True, name="errands").start()

    def ask(self, work: Work, then: Then) -> None:
        """Have `work` done; `then` gets its result or error from `hear`, in the thread that calls that."""
        self._asked.put((work, then))

    def hear(self) -> None:
        """Hand over what is done."""
        while (done := _next(self._done)) is not None:
            then, found = done
            then(found)

    def stop(self, patience_seconds: float) -> None:
        """Forget what has not begun, and wait for what has, but not for longer."""
        while _next(self._asked) is not None:
            pass
        idle = threading.Event()
        self.ask(idle.set, lambda _: None)
        idle.wait(patience_seconds)

    def _run(self) -> None:
        while True:
            work, then = self._asked.get()
            found: Future[Any] = Future()
            _fulfil(found, work)
            self._done.put((then, found))


def side_by_side(work: Callable[[Item], Result], items: Sequence[Item], at_once: int) -> list[Result]:
    """`work` of each item, in their order, by so many threads at once; raises what one of them raised."""
    found: list[Future[Result]] = [Future() for _ in items]
    left: SimpleQueue[tuple[Future[Result], Work]] = SimpleQueue()
    for future, item in zip(found, items, strict=True):
        left.put((future, partial(work, item)))

    def run() -> None:
        while (pair := _next(left)) is not None:
            _fulfil(*pair)

    for _ in range(min(at_once, len(items))):
        threading.Thread(target=run, daemon=True, name="read-pods").start()
    return [future.result() for future in found]


def _fulfil(future: "Future[Any]", work: Work) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # it is raised where the result is asked for
        future.set_exception(error)


def _next(waiting: "SimpleQueue[Item]") -> Item | None:
    try:
        return waiting.get_nowait()
    except Empty:
        return None
