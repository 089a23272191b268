"""Says what takes time, on the standard error: the standard output belongs to results."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


def say(text: str) -> None:
    """One line with the time of day."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stderr.flush()


@contextmanager
def step(text: str) -> Iterator[None]:
    """Say what begins, and how long it took."""
    say(f"{text} ...")
    started = time.monotonic()
    yield
    say(f"{text}: {time.monotonic() - started:.0f} s")
