"""Starts Locust as the sweep and the chart do: a master and workers as processes, our plugin before the locustfile."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx

from podscale.contract import STAGE_PATH, WORKERS_PATH, StageReport
from podscale.sweep.children import free_port
from tests.processes import wait_until

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "src/podscale/load/plugin.py"
LOCUSTFILE = Path(__file__).with_name("locustfile.py")
SERVER = Path(__file__).with_name("tiny_server.py")
ENDED = {"done", "void", "stopped"}


@dataclass
class Process:
    """A child process and where it writes."""

    popen: "subprocess.Popen[bytes]"
    log: Path


@dataclass
class TinyServer(Process):
    """A running tiny_server.py."""

    url: str

    def read(self) -> dict[str, Any]:
        """Its counters since it started."""
        return cast("dict[str, Any]", httpx.get(f"{self.url}/counts", timeout=5).json())

    def counts(self) -> dict[str, int]:
        """Requests by path, by pod, and connections without this one."""
        counts: dict[str, int] = self.read()["counts"]
        return counts


@dataclass
class Locusts:
    """A Locust master, or a single process, and its workers."""

    url: str
    host: str
    folder: Path
    files: str
    master_port: int
    master: Process | None = None
    workers: list[Process] = field(default_factory=list)

    def start_worker(self, files: str | None = None) -> None:
        """Start one more worker and wait until the master counts it."""
        before = self.ready_workers()
        number = len(list(self.folder.glob("worker-*.log")))
        arguments = ["-f", files or self.files, "--worker", "--master-host", "127.0.0.1"]
        self.workers.append(
            start(self.folder / f"worker-{number}.log", *locust(*arguments, "--master-port", self.master_port))
        )
        wait_until(lambda: self.ready_workers() > before, 20, "one more worker")

    @contextlib.contextmanager
    def one_more_worker(self, files: str) -> Iterator[None]:
        """A worker for a while."""
        before = self.ready_workers()
        self.start_worker(files)
        try:
            yield
        finally:
            end(self.workers.pop())
            wait_until(lambda: self.ready_workers() == before, 10, "the worker to be gone")

    def ready_workers(self) -> int:
        """As the master tells it."""
        workers: int = httpx.get(self.url + WORKERS_PATH, timeout=5).json()["workers"]
        return workers

    def order(self, **changes: object) -> dict[str, Any]:
        """A short legal order, with changes."""
        return {
            "id": "test",
            "model": "open",
            "arrivals": "constant",
            "rate_per_second": 100,
            "users": 0,
            "connections": "keep",
            "warmup_seconds": 0.3,
            "measure_seconds": 1.0,
            "timeout_seconds": 2.0,
            "expect_workers": max(len(self.workers), 1),
        } | changes

    def post(self, order: object) -> httpx.Response:
        """Order a stage."""
        return httpx.post(self.url + STAGE_PATH, json=order, timeout=5)

    def report(self) -> StageReport:
        """The newest stage."""
        return cast("StageReport", httpx.get(self.url + STAGE_PATH, timeout=5).json())

    def wait_for(self, state: str, seconds: float = 10) -> StageReport:
        """Wait until the newest stage is in that state."""
        return self._wait_for({state}, seconds)

    def run(self, **changes: object) -> StageReport:
        """Order a stage and wait until it has ended."""
        order = self.order(**changes)
        answer = self.post(order)
        assert answer.status_code == 202, answer.text
        seconds = order["warmup_seconds"] + order["measure_seconds"] + order["timeout_seconds"] + 20
        return self._wait_for(ENDED, seconds)

    def _wait_for(self, states: set[str], seconds: float) -> StageReport:
        # Seldom, for the master needs some CPU to answer, and the machine is small.
        deadline = time.monotonic() + seconds
        while (report := self.report())["state"] not in states:
            assert time.monotonic() < deadline, f"still {report['state']}, not {states}, after {seconds} s"
            time.sleep(0.1)
        return report

    def delete(self) -> httpx.Response:
        """Stop the stage."""
        return httpx.delete(self.url + STAGE_PATH, timeout=20)


def locust(*arguments: object) -> list[str]:
    """The command, with warnings as errors."""
    return [sys.executable, "-W", "error", "-m", "locust", *map(str, arguments)]


def start(log: Path, *command: object) -> Process:
    """Start a process that writes into `log`."""
    with log.open("wb") as out:
        # gevent's children must not inherit the terminal: Locust listens to it.
        popen = subprocess.Popen(
            [str(part) for part in command], cwd=log.parent, stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
    return Process(popen, log)


@contextlib.contextmanager
def tiny_server(folder: Path) -> Iterator[TinyServer]:
    """A server for one test or many."""
    port = free_port()
    process = start(folder / f"server-{port}.log", sys.executable, "-W", "error", SERVER, port)
    server = TinyServer(process.popen, process.log, f"http://127.0.0.1:{port}")
    try:
        _wait_until_up(f"{server.url}/counts", process)
        yield server
    finally:
        end(process)


@contextlib.contextmanager
def running_locust(folder: Path, host: str, *arguments: str, files: str = "", workers: int = 2) -> Iterator[Locusts]:
    """Locust with its web page; without workers it is a single process."""
    web_port, master_port = free_port(), free_port()
    files = files or f"{PLUGIN},{LOCUSTFILE}"
    locusts = Locusts(f"http://127.0.0.1:{web_port}", host, folder, files, master_port)
    as_master = ("--master", "--master-bind-host", "127.0.0.1", "--master-bind-port", master_port) if workers else ()
    web = ("--web-host", "127.0.0.1", "--web-port", web_port)
    locusts.master = start(
        folder / f"master-{web_port}.log", *locust("-f", files, *as_master, *web, "--host", host, *arguments)
    )
    try:
        _wait_until_up(locusts.url + WORKERS_PATH, locusts.master)
        for _ in range(workers):
            locusts.start_worker()
        yield locusts
    finally:
        for process in (*locusts.workers, locusts.master):
            end(process)


def end(process: Process) -> None:
    """Ask it to end, then make it."""
    if process.popen.poll() is None:
        process.popen.send_signal(signal.SIGCONT)
        process.popen.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.popen.wait(5)
        process.popen.kill()
    process.popen.wait(5)


def stop_for(process: Process, seconds: float) -> float:
    """Stop a process by SIGSTOP, let it go on, and return for how long it really stood still, in seconds."""
    began = time.monotonic()
    os.kill(process.popen.pid, signal.SIGSTOP)
    time.sleep(seconds)
    ended = time.monotonic()
    os.kill(process.popen.pid, signal.SIGCONT)
    return ended - began


def _wait_until_up(url: str, process: Process) -> None:
    def is_up() -> bool:
        if process.popen.poll() is not None:
            raise RuntimeError(f"ended with {process.popen.returncode}: {process.log.read_text()}")
        try:
            # Behind a login it answers with the way there.
            return httpx.get(url, timeout=2).status_code < 400
        except httpx.TransportError:
            return False

    wait_until(is_up, 20, url)
