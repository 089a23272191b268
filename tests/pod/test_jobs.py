"""Burning time by each clock, alone and under contention, and measuring it."""

import contextlib
import json
import math
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from podscale.pod.jobs import CLOCKS, Clock, Cost, burn, measured

ASKED_SECONDS = 0.5

# Each runs pinned to one core. The competitor says that it runs, and ends with the test that started it: its standard
# input closes.
COMPETITOR = """
import os, sys, threading
os.sched_setaffinity(0, {int(sys.argv[1])})
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
print("running", flush=True)
while True:
    pass
"""
# The thread CPU clock is read here and not by the code under test alone; the wall clock is another one than its own.
BURNER = """
import json, os, sys, time
from podscale.pod.jobs import burn
os.sched_setaffinity(0, {int(sys.argv[1])})
wall, cpu = time.monotonic(), time.thread_time()
burn(float(sys.argv[2]), sys.argv[3])
print(json.dumps({"cpu_seconds": time.thread_time() - cpu, "wall_seconds": time.monotonic() - wall}))
"""


@contextlib.contextmanager
def competitors(core: int, count: int = 2) -> Iterator[None]:
    """`count` processes that want all of `core`."""
    command = [sys.executable, "-c", COMPETITOR, str(core)]
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            process = stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(process.kill)
            assert process.stdout is not None
            assert process.stdout.readline() == "running\n"
        yield


def burn_on(core: int, clock: Clock) -> Cost:
    """Burn ASKED_SECONDS by `clock` in a process of its own on `core`."""
    command = [sys.executable, "-c", BURNER, str(core), str(ASKED_SECONDS), clock]
    output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    return Cost(**json.loads(output))


def test_cpu_is_exact_and_wall_does_less_under_contention() -> None:
    """With two processes competing for the core, `cpu` burns what was asked and takes longer, `wall` burns less.

    The scheduler gives each of three a third, so `cpu` takes about 1.5 s and `wall` burns about 0.17 s.
    """
    core = min(os.sched_getaffinity(0))
    with competitors(core):
        by_cpu, by_wall, by_sleep = (burn_on(core, clock) for clock in CLOCKS)
    assert by_cpu.cpu_seconds == pytest.approx(ASKED_SECONDS, rel=0.02)
    assert by_cpu.wall_seconds > 1.5 * ASKED_SECONDS
    assert by_wall.cpu_seconds < 0.7 * ASKED_SECONDS
    assert by_wall.wall_seconds >= ASKED_SECONDS
    assert by_sleep.cpu_seconds < 0.05 * ASKED_SECONDS
    assert by_sleep.wall_seconds >= ASKED_SECONDS


@pytest.mark.parametrize("seconds", [0.001, 0.02, 0.2])
def test_cpu_is_exact_for_short_jobs(seconds: float) -> None:
    """A job of a millisecond is as exact as a long one: never less than asked, and no more than 2 % (0.1 ms) above."""
    costs = [measured(lambda: burn(seconds, "cpu"))[1].cpu_seconds for _ in range(5)]
    assert min(costs) >= seconds
    assert min(costs) <= max(1.02 * seconds, seconds + 0.0001)


@pytest.mark.parametrize("clock", CLOCKS)
def test_nothing_to_burn(clock: Clock) -> None:
    """Zero seconds return at once."""
    _, cost = measured(lambda: burn(0, clock))
    assert cost.cpu_seconds < 0.01


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("seconds", [-1, math.inf, math.nan])
def test_refuses_endless_and_negative(clock: Clock, seconds: float) -> None:
    """A time that never ends, or is none, is an error and not an endless job."""
    with pytest.raises(ValueError, match="finite number from 0 up"):
        burn(seconds, clock)


def test_refuses_an_unknown_clock() -> None:
    """A wrong name is told together with the right ones."""
    with pytest.raises(ValueError, match="'sun': choose one of cpu, wall, sleep"):
        burn(0.1, "sun")  # type: ignore[arg-type]  # the mistake is the point


def test_measured_tells_burnt_from_slept() -> None:
    """The cost has the CPU time and the wall time of the job, the result is the job's, and both travel by pickle."""

    def job() -> str:
        burn(0.05, "cpu")
        time.sleep(0.1)
        return "done"

    result, cost = pickle.loads(pickle.dumps(measured(job)))
    assert result == "done"
    assert cost.cpu_seconds == pytest.approx(0.05, abs=0.02)
    assert cost.wall_seconds >= 0.15


def test_a_failing_job_fails() -> None:
    """An error of the job reaches the caller."""
    with pytest.raises(ZeroDivisionError):
        measured(lambda: 1 // 0)
