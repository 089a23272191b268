"""Starts real programs for the tests and ends exactly those, by process id."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import httpx
import pytest

from podscale.sweep.children import free_port


def give_up(reason: str) -> NoReturn:
    """Skip the test for want of something on this machine, or fail it where CI is true."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def wait_until(condition: Callable[[], bool], seconds: float, what: str, every_seconds: float = 0.02) -> None:
    """Poll `condition` until it is true; fail with `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(every_seconds)


@dataclass
class Pod:
    """A running pod process."""

    process: "subprocess.Popen[str]"
    url: str
    admin_url: str
    log: Path

    def metric(self, sample: str) -> float:
        """The value of one sample line of /metrics, such as `podscale_queue_length` or one with its labels."""
        text = httpx.get(f"{self.admin_url}/metrics", timeout=5).text
        return sum(
            float(line.rpartition(" ")[2])
            for line in text.splitlines()
            if line.startswith((f"{sample} ", f"{sample}{{"))
        )

    def stop(self, sig: int = signal.SIGTERM, seconds: float = 30) -> int:
        """Send `sig`, wait, and return the exit code."""
        self.process.send_signal(sig)
        return self.process.wait(seconds)


@contextlib.contextmanager
def running_pod(tmp_path: Path, **settings: object) -> Iterator[Pod]:
    """`python -m podscale.pod` on free ports; `settings` are PODSCALE_* in lower case without the prefix."""
    port, admin_port = free_port(), free_port()
    asked = {
        "host": "127.0.0.1",
        "admin_host": "127.0.0.1",
        "port": port,
        "admin_port": admin_port,
    } | settings
    asked.setdefault("drain_seconds", 0)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PODSCALE_")}
    environment |= {f"PODSCALE_{key.upper()}": str(value) for key, value in asked.items()}
    log = tmp_path / f"pod-{port}.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "podscale.pod"],
            env=environment,
            stdout=out,
            stderr=out,
            text=True,
        )
    pod = Pod(process, f"http://127.0.0.1:{asked['port']}", f"http://127.0.0.1:{asked['admin_port']}", log)
    try:
        wait_until(lambda: _ready(pod), 20, f"the pod to be ready; its log is {log}")
        yield pod
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.wait(10)


def _ready(pod: Pod) -> bool:
    if pod.process.poll() is not None:
        raise RuntimeError(f"the pod ended with {pod.process.returncode}: {pod.log.read_text()}")
    try:
        return httpx.get(f"{pod.admin_url}/ready", timeout=2).status_code == 200
    except httpx.TransportError:
        return False
