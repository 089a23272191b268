"""Tests of the threads that do what may hang."""

import subprocess
import sys
import threading
import time
from functools import partial

import pytest

from podscale.sweep.watch.errands import Errands, side_by_side
from tests.processes import wait_until

HANGING = """
import threading, time
from podscale.sweep.watch.errands import Errands, side_by_side
errands = Errands()
errands.ask(lambda: side_by_side(time.sleep, [60, 60], 2), print)
time.sleep(0.2)
errands.stop(0.1)
"""


def test_errands_are_done_in_order_by_one_thread() -> None:
    """Results come to whoever hears, in the thread that hears, and errors too."""
    errands = Errands()
    found: list[object] = []
    names: list[str] = []

    def works(text: str) -> float:
        names.append(threading.current_thread().name)
        return float(text)

    errands.ask(partial(works, "1"), lambda one: found.append(one.result()))
    errands.ask(partial(works, "no"), lambda one: found.append(type(one.exception())))
    wait_until(lambda: len(names) == 2, 5, "both to be done")
    assert found == []
    errands.stop(5)
    errands.hear()
    assert found == [1, ValueError]
    assert set(names) == {"errands"}


def test_what_has_not_begun_is_forgotten_at_the_end() -> None:
    """The errand under way is waited for; the one behind it is never done."""
    errands = Errands()
    done: list[int] = []
    begun = threading.Event()

    def works(number: int) -> None:
        begun.set()
        time.sleep(0.2)
        done.append(number)

    for number in (1, 2):
        errands.ask(partial(works, number), lambda _: None)
    begun.wait(5)
    errands.stop(5)
    assert done == [1]


def test_items_are_done_side_by_side_and_stay_in_order() -> None:
    """Four that wait for each other meet; what one raises is raised."""
    together = threading.Barrier(4)

    def meets(number: int) -> int:
        together.wait(5)
        time.sleep(0.1 * number)
        return number

    assert side_by_side(meets, [3, 2, 1, 0], 4) == [3, 2, 1, 0]
    assert side_by_side(str, [1, 2, 3], 2) == ["1", "2", "3"]
    assert side_by_side(str, [], 2) == []
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda number: 1 / number, [1, 0], 2)


def test_one_that_hangs_does_not_keep_the_program_up() -> None:
    """A minute of waiting in three threads, and the program ends at once."""
    begun = time.monotonic()
    subprocess.run([sys.executable, "-c", HANGING], check=True, timeout=30)
    assert time.monotonic() - begun < 10
