"""Tests of child processes: stopped when asked, killed when deaf, gone when the parent is."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from podscale.sweep.children import Child, free_port, stop_all
from tests.processes import wait_until

SLEEP = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]
DEAF = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)",
]


def started(command: list[str], folder: Path, name: str = "child") -> Child:
    """A child that has said that it runs."""
    child = Child(name, command, folder / f"{name}.log", os.environ)
    wait_until(lambda: "up" in child.log.read_text(), 20, "the child to start")
    return child


def test_children_are_stopped_together_and_the_deaf_are_killed(tmp_path: Path) -> None:
    """One ends at SIGTERM, one ignores it and is killed when the grace is over; both are gone."""
    polite, deaf = started(SLEEP, tmp_path, "polite"), started(DEAF, tmp_path, "deaf")
    begun = time.monotonic()
    stop_all([polite, deaf], grace_seconds=0.5)
    assert time.monotonic() - begun < 5
    assert not polite.running()
    assert not deaf.running()


def test_a_child_that_failed_is_quoted(tmp_path: Path) -> None:
    """The end of its log is there for a message."""
    child = Child("bad", [sys.executable, "-c", "import sys; sys.exit('no such port')"], tmp_path / "log", os.environ)
    wait_until(lambda: not child.running(), 20, "the child to end")
    assert child.last_words() == "no such port"


def test_a_child_ends_with_its_parent_even_if_that_is_killed(tmp_path: Path) -> None:
    """The parent gets SIGKILL and cannot tidy up: the kernel sends the child SIGTERM."""
    log = tmp_path / "child.log"
    program = (
        "import os, time; from pathlib import Path; from podscale.sweep.children import Child; "
        f"child = Child('c', {SLEEP!r}, Path({str(log)!r}), os.environ); print(child.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout as out:
        pid = int(out.readline())
    wait_until(lambda: log.exists() and "up" in log.read_text(), 20, "the child to start")
    parent.send_signal(signal.SIGKILL)
    parent.wait(10)
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), 10, "the child to end")


def test_a_free_port_is_not_given_to_whoever_connects() -> None:
    """It can be bound, is another one each time, and lies outside the range from which the kernel takes its own."""
    low, high = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    ports = [free_port() for _ in range(20)]
    assert len(set(ports)) > 10
    assert not any(low <= port <= high for port in ports)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", ports[-1]))
