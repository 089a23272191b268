"""Work whose cost is exact: burns CPU time, wall time or no time at all, and measures what a job cost."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from typing import Literal, TypeVar, get_args

Clock = Literal["cpu", "wall", "sleep"]
CLOCKS: tuple[Clock, ...] = get_args(Clock)

T = TypeVar("T")

# About one microsecond. Reading the thread's CPU clock is a system call, so without work between two reads the
# job would be kernel time nearly alone, which no service's request is.
_SPINS_PER_READ = 100


@dataclass(frozen=True, slots=True)
class Cost:
    """What a job cost: CPU time of the thread that ran it, and the time that passed meanwhile."""

    cpu_seconds: float
    wall_seconds: float


def burn(seconds: float, clock: Clock) -> None:
    """Keep the calling thread busy for `seconds`.

    Args:
        seconds: how long; a finite number from 0 up, else ValueError.
        clock: `cpu` burns exactly that much CPU time of this thread, however long that takes when others compete for
            the core. `wall` spins until that time has passed, so it does less work under contention. `sleep` blocks
            and burns next to nothing.
    """
    if not 0 <= seconds < math.inf:
        raise ValueError(f"cannot burn {seconds} seconds: give a finite number from 0 up")
    if clock == "sleep":
        time.sleep(seconds)
    elif clock in _CLOCK_READERS:
        _spin(seconds, _CLOCK_READERS[clock])
    else:
        raise ValueError(f"unknown clock {clock!r}: choose one of {', '.join(CLOCKS)}")


def measured(job: Callable[[], T]) -> tuple[T, Cost]:
    """Run `job` in this thread and return its result and its cost; threads that it starts are not counted."""
    wall_start, cpu_start = time.perf_counter(), time.thread_time()
    result = job()
    cpu_end, wall_end = time.thread_time(), time.perf_counter()
    return result, Cost(cpu_end - cpu_start, wall_end - wall_start)


def _spin(seconds: float, read_seconds: Callable[[], float]) -> None:
    """Spin until `read_seconds` has advanced by `seconds`; it overshoots by about a microsecond."""
    end = read_seconds() + seconds
    while read_seconds() < end:
        for _ in repeat(None, _SPINS_PER_READ):
            pass


_CLOCK_READERS: dict[str, Callable[[], float]] = {"cpu": time.thread_time, "wall": time.perf_counter}
