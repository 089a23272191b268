"""Starts Locust beside the sweep and runs stages on its master over HTTP. Never imports it: it patches its process."""

import json
import os
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Protocol, cast

import httpx
import msgspec

from podscale import contract
from podscale.contract import LoadReport, StageOrder, StageReport
from podscale.sweep.children import Child, free_port, stop_all

HOST = "127.0.0.1"
START_SECONDS = 30
STOP_SECONDS = 5
POLL_SECONDS = 0.1
FINAL_STATES = frozenset({"done", "void", "stopped"})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Of a Locust page with a login; a variable, because everybody can read a process's arguments.
PASSWORD_VARIABLE = "LOCUST_LOGIN_PASSWORD"


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


class AwayError(LocustError):
    """The master did not answer this time; it may the next time."""


class Answer(msgspec.Struct, frozen=True):
    """An HTTP answer: its status, and its body as text."""

    status: int
    text: str


class Master(Protocol):
    """The way to a Locust master's page: direct, or through something else."""

    def ask(self, method: str, path: str, body: object = None) -> Answer:
        """One request with a JSON body; raises AwayError where no answer of the master came back."""

    def close(self) -> None:
        """Let connections go."""


class HttpMaster:
    """A master whose page is at `url`."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=10)

    def ask(self, method: str, path: str, body: object = None) -> Answer:
        """One request."""
        try:
            answer = self._http.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise AwayError(f"the Locust master does not answer: {error}") from error
        return Answer(answer.status_code, answer.text)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


class StageClient:
    """Speaks the stage protocol with a Locust master.

    A master that is away for up to `patience_seconds` does not end a stage, which runs on without us.
    """

    def __init__(
        self,
        master: Master,
        *,
        poll_seconds: float = POLL_SECONDS,
        patience_seconds: float = 0.0,
        host: str | None = None,
    ) -> None:
        self._master = master
        self._poll_seconds = poll_seconds
        self._patience_seconds = patience_seconds
        self._host = host  # what to load, where Locust was not started for it

    def load(self) -> LoadReport | None:
        """Which workers are ready and what they can run; None while the master does not answer.

        Raises LocustError when it answers with something else, such as a login.
        """
        try:
            return msgspec.json.decode(self._text("GET", contract.WORKERS_PATH), type=LoadReport)
        except (AwayError, msgspec.MsgspecError):
            return None

    def run(self, order: StageOrder, on_report: Callable[[StageReport], None]) -> StageReport:
        """Run one stage to its end and return its report; `on_report` hears of it at each poll.

        Raises LocustError when the master refuses the order or stops answering, and whatever `on_report` raises.
        """
        if self._host is not None:
            order["host"] = self._host
        report = self._begin(order)
        # A stage ends by itself; beyond this the master is stuck.
        allowed = order["warmup_seconds"] + order["measure_seconds"] + order["timeout_seconds"] + 30
        deadline = time.monotonic() + allowed + self._patience_seconds
        while report["state"] not in FINAL_STATES:
            on_report(report)
            time.sleep(self._poll_seconds)
            if time.monotonic() > deadline:
                raise LocustError(f"a stage was still {report['state']} after {allowed:.0f} s")
            report = self._patiently(lambda: self._report("GET"))
            if report["order"]["id"] != order["id"]:
                raise LocustError("somebody else started a stage on this Locust; one sweep at a time")
        on_report(report)
        return report

    def stop(self) -> StageReport:
        """Stop the running stage and return what it measured; raises LocustError."""
        return self._patiently(lambda: self._report("DELETE"))

    def close(self) -> None:
        """Close the connections."""
        self._master.close()

    def _begin(self, order: StageOrder) -> StageReport:
        def begin() -> StageReport:
            try:
                return self._report("POST", order)
            except LocustError:
                # The answer to an order that arrived may have been lost: then the stage runs already.
                running = self._report("GET") if attempts else None
                if running is None or running["order"]["id"] != order["id"]:
                    raise
                return running
            finally:
                attempts.append(None)

        attempts: list[None] = []
        return self._patiently(begin)

    def _patiently(self, ask: Callable[[], StageReport]) -> StageReport:
        deadline = time.monotonic() + self._patience_seconds
        while True:
            try:
                return ask()
            except AwayError:
                if time.monotonic() >= deadline:
                    raise
            time.sleep(1)

    def _report(self, method: str, order: StageOrder | None = None) -> StageReport:
        try:
            return cast("StageReport", json.loads(self._text(method, contract.STAGE_PATH, order)))
        except ValueError as error:
            raise LocustError(f"the Locust master answers with something else than a stage: {error}") from error

    def _text(self, method: str, path: str, order: StageOrder | None = None) -> str:
        answer = self._master.ask(method, path, order)
        if answer.status in REDIRECTS:
            raise LocustError(
                f"Locust's page asks for a login; set {PASSWORD_VARIABLE} to its password in the sweep's environment"
            )
        if answer.status not in {200, 202}:
            raise LocustError(f"the Locust master refused: {' '.join(answer.text.split())[:300]}")
        return answer.text


class LocalLocust:
    """A Locust master and its workers as children of the sweep, their logs in `folder`."""

    more_workers = "raise --locust-workers"

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
        self._client = StageClient(HttpMaster(f"http://{HOST}:{web_port}"))
        self._wait_for_workers(self._client, time.monotonic() + START_SECONDS)

    def _wait_for_workers(self, client: StageClient, deadline: float) -> None:
        while _workers(client.load()) != self.worker_count:
            for child in self._children:
                if not child.running():
                    raise LocustError(f"{child.name} ended at its start: {child.last_words()}")
            if time.monotonic() > deadline:
                said = self._children[0].last_words()
                raise LocustError(f"Locust's {self.worker_count} workers did not connect in {START_SECONDS} s: {said}")
            time.sleep(POLL_SECONDS)


def _workers(report: LoadReport | None) -> int | None:
    return None if report is None else report["workers"]
