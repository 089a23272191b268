"""Child processes that never outlive the sweep, whatever way it ends."""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

# The ports that `free_port` chooses from.
FIRST_PORT, PORTS = 10_000, 20_000
# Ctrl-C reaches the whole foreground group, so children get a session of their own and only the sweep decides.
# The kernel ends them if the sweep is killed (PR_SET_PDEATHSIG = 1, prctl(2)); set before exec in a process of its
# own, because preexec_fn is not safe beside threads.
_LEASH = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, int(sys.argv[1])); "
    "os.getppid() == int(sys.argv[2]) or sys.exit(1); os.execvp(sys.argv[3], sys.argv[3:])"
)


class Child:
    """One running program. Its output goes to `log`."""

    def __init__(self, name: str, command: Sequence[str], log: Path, environment: Mapping[str, str]) -> None:
        self.name = name
        self.log = log
        leash = [sys.executable, "-I", "-S", "-c", _LEASH, str(int(signal.SIGTERM)), str(os.getpid())]
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                [*leash, *command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The process id, the same before and after exec."""
        return self._process.pid

    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def last_words(self, lines: int = 3) -> str:
        """The end of its log, for a message."""
        text = self.log.read_text(errors="replace").strip().splitlines()
        return " | ".join(text[-lines:]) or "(it said nothing)"

    def ask_to_stop(self) -> None:
        """Send SIGTERM if it still runs."""
        if self.running():
            self._process.terminate()

    def wait_or_kill(self, deadline: float) -> None:
        """Wait until `deadline` (time.monotonic), then kill."""
        try:
            self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def stop_all(children: Sequence[Child], grace_seconds: float) -> None:
    """End all of them together: ask, wait up to `grace_seconds`, kill what is left."""
    for child in children:
        child.ask_to_stop()
    deadline = time.monotonic() + grace_seconds
    for child in children:
        child.wait_or_kill(deadline)


def free_port() -> int:
    """A TCP port on 127.0.0.1 that nothing listened on a moment ago, and that no outgoing connection will take.

    The kernel gives those of ip_local_port_range to whoever connects, between this call and the child's bind as well:
    https://docs.kernel.org/networking/ip-sysctl.html. By default they begin at 32768; a cluster's node ports at 30000.
    """
    while True:
        port = FIRST_PORT + secrets.randbelow(PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
