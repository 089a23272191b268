"""How child processes of a pod are started and how they end: never before the pod wants it, never after the pod."""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker

_STOP_SIGNALS = {signal.SIGINT, signal.SIGTERM}


@contextlib.contextmanager
def stop_signals_blocked() -> Iterator[None]:
    """Start child processes within: they inherit the block, so that Ctrl-C, which goes to the whole process group,
    cannot end one before it has set up its own handling. `follow_parent` lifts the block in the child.
    """
    # Its start would lift the block in this thread again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def follow_parent(*ignored: signal.Signals) -> None:
    """Called first in a child process: ignore these signals, and end when the parent does, however it ends.

    A thread waits for that, so a child in the middle of a job ends as well. (PR_SET_PDEATHSIG would fire when the
    thread that started the child ends, see prctl(2).)
    """
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
    threading.Thread(target=_end_with_parent, name="follow-parent", daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
