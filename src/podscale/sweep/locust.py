"""Starts Locust beside the sweep and runs stages on its master over HTTP. Never imports it: it patches its process."""

import os
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import cast

import httpx

from podscale import contract
from podscale.contract import StageOrder, StageReport
from podscale.sweep.children import Child, free_port, stop_all

HOST = "127.0.0.1"
START_SECONDS = 30
STOP_SECONDS = 5
POLL_SECONDS = 0.1
FINAL_STATES = frozenset({"done", "void", "stopped"})


class LocustError(Exception):
    """Locust could not be started or did not answer; the message says what it said last."""


def locustfile_of(scenario: str) -> Path:
    """One of our own locustfiles: in the wheel beside this package, in a checkout at its top."""
    package = Path(str(files("podscale")))
    candidates = [package / "loadtest" / f"{scenario}.py", package.parents[1] / "loadtest" / f"{scenario}.py"]
    for path in candidates:
        if path.is_file():
            return path
    raise LocustError(f"the locustfile of scenario {scenario!r} is missing: looked for {candidates[0]}")


def plugin_file() -> Path:
    """The file that teaches Locust open arrivals, exact latencies and stages."""
    return Path(str(files("podscale"))) / "load" / "plugin.py"


class StageClient:
    """Speaks the stage protocol with a Locust master at `url`."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=10)

    def workers(self) -> int | None:
        """How many workers are ready; None while the master does not answer."""
        try:
            answer = self._http.get(contract.WORKERS_PATH)
            return int(answer.json()["workers"]) if answer.status_code == 200 else None
        except (httpx.HTTPError, ValueError, KeyError):
            return None

    def run(self, order: StageOrder, on_report: Callable[[StageReport], None]) -> StageReport:
        """Run one stage to its end and return its report; `on_report` hears of it about ten times a second.

        Raises LocustError when the master refuses the order or stops answering, and whatever `on_report` raises.
        """
        report = self._ask("POST", order)
        # A stage ends by itself; beyond this the master is stuck.
        allowed = order["warmup_seconds"] + order["measure_seconds"] + order["timeout_seconds"] + 30
        deadline = time.monotonic() + allowed
        while report["state"] not in FINAL_STATES:
            on_report(report)
            time.sleep(POLL_SECONDS)
            if time.monotonic() > deadline:
                raise LocustError(f"a stage was still {report['state']} after {allowed:.0f} s")
            report = self._ask("GET")
        on_report(report)
        return report

    def stop(self) -> StageReport:
        """Stop the running stage and return what it measured; raises LocustError."""
        return self._ask("DELETE")

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _ask(self, method: str, order: StageOrder | None = None) -> StageReport:
        try:
            answer = self._http.request(method, contract.STAGE_PATH, json=order)
        except httpx.HTTPError as error:
            raise LocustError(f"the Locust master does not answer: {error}") from error
        if answer.status_code not in {200, 202}:
            raise LocustError(f"the Locust master refused: {answer.text.strip()[:300]}")
        return cast("StageReport", answer.json())


class LocalLocust:
    """A Locust master and its workers as children of the sweep, their logs in `folder`."""

    def __init__(self, locustfile: Path, host: str, workers: int, folder: Path) -> None:
        self.worker_count = workers
        self._locustfile = locustfile
        self._host = host
        self._folder = folder
        self._children: list[Child] = []
        self._client: StageClient | None = None

    def client(self) -> StageClient:
        """The stage protocol of a whole set of processes: started at first use, and anew when one has died."""
        if self._client is None or not all(child.running() for child in self._children):
            self.close()
            self._start()
        assert self._client is not None
        return self._client

    def close(self) -> None:
        """End every process."""
        if self._client is not None:
            self._client.close()
            self._client = None
        stop_all(self._children, STOP_SECONDS)
        self._children = []

    def _start(self) -> None:
        web_port, bind_port = free_port(), free_port()
        files_argument = f"{plugin_file()},{self._locustfile}"
        locust = [sys.executable, "-m", "locust", "-f", files_argument]
        master = ["--master", "--master-bind-host", HOST, "--master-bind-port", str(bind_port)]
        web = ["--web-host", HOST, "--web-port", str(web_port), "--host", self._host]
        worker = ["--worker", "--master-host", HOST, "--master-port", str(bind_port)]
        commands = {"locust-master": [*locust, *master, *web]}
        commands |= {f"locust-worker-{n}": [*locust, *worker] for n in range(1, self.worker_count + 1)}
        # LOCUST_* of the caller's shell are options of Locust and would change the load unseen.
        environment = {key: value for key, value in os.environ.items() if not key.startswith("LOCUST_")}
        for name, command in commands.items():
            self._children.append(Child(name, command, self._folder / f"{name}.log", environment))
        self._client = StageClient(f"http://{HOST}:{web_port}")
        self._wait_for_workers(self._client, time.monotonic() + START_SECONDS)

    def _wait_for_workers(self, client: StageClient, deadline: float) -> None:
        while client.workers() != self.worker_count:
            for child in self._children:
                if not child.running():
                    raise LocustError(f"{child.name} ended at its start: {child.last_words()}")
            if time.monotonic() > deadline:
                said = self._children[0].last_words()
                raise LocustError(f"Locust's {self.worker_count} workers did not connect in {START_SECONDS} s: {said}")
            time.sleep(POLL_SECONDS)
