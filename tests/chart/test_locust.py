"""The commands that the chart gives to Locust's containers, run here as they stand but for paths, hosts and ports."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx

from podscale.contract import LOGIN_HEADER, STAGE_PATH, WORKERS_PATH
from podscale.sweep.children import free_port
from tests.chart.helm import CHECKOUT, Object, of_kind, only, pod_specs, render, setting, with_values
from tests.processes import wait_until


class Containers:
    """Locust's master and worker of some values, as processes on this machine."""

    def __init__(self, objects: list[Object], folder: Path, target: str) -> None:
        self._objects = objects
        self._folder = folder
        self._target = target
        self._started: list[subprocess.Popen[bytes]] = []
        self.web_port, self.master_port = free_port(), free_port()
        self.page = f"http://127.0.0.1:{self.web_port}"

    def start(self, role: str) -> "subprocess.Popen[bytes]":
        """The container of a role; its output is in <role>.log."""
        (one,) = next(spec for name, spec in pod_specs(self._objects).items() if f"-locust-{role}" in name)[
            "containers"
        ]
        home = self._folder / role
        home.mkdir()
        variables = {row["name"]: self._value(row) for row in one["env"]} | {
            "HOME": str(home),
            "LOCUST_HOST": self._target,
            "LOCUST_WEB_HOST": "127.0.0.1",
            "LOCUST_MASTER_BIND_HOST": "127.0.0.1",
        }
        with (self._folder / f"{role}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", *one["command"], *map(self._here, one["args"])],
                env=os.environ | variables,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=home,
            )
        self._started.append(process)
        return process

    def log(self, role: str) -> str:
        """What a container has written."""
        return (self._folder / f"{role}.log").read_text()

    def end(self) -> None:
        """End what is still running."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.wait(10)

    def _here(self, argument: str) -> str:
        """The argument with what is elsewhere on this machine than in the cluster."""
        if argument.startswith("--locustfile="):
            return "--locustfile=" + ",".join(map(self._file, argument.removeprefix("--locustfile=").split(",")))
        if argument.startswith("--master-host="):
            return "--master-host=127.0.0.1"
        return argument.replace("port=5557", f"port={self.master_port}").replace("port=8089", f"port={self.web_port}")

    def _file(self, path: str) -> str:
        if path == "/opt/podscale/plugin.py":
            return str(CHECKOUT / "src/podscale/load/plugin.py")
        if path.startswith("/opt/podscale/"):
            return str(CHECKOUT / path.removeprefix("/opt/podscale/"))
        (text,) = (
            item["data"][Path(path).name]
            for item in of_kind(self._objects, "ConfigMap")
            if Path(path).name in item["data"]
        )
        mounted = self._folder / Path(path).name
        mounted.write_text(text)
        return str(mounted)

    def _value(self, row: Object) -> str:
        if "secretKeyRef" not in row.get("valueFrom", {}):
            return str(row.get("value", "somewhere"))
        reference = row["valueFrom"]["secretKeyRef"]
        return str(only(self._objects, "Secret", reference["name"])["stringData"][reference["key"]])


@contextlib.contextmanager
def containers(*options: str, folder: Path, target: str = "http://127.0.0.1:9") -> Iterator[Containers]:
    """Nothing is started yet; whatever is, ends with this."""
    made = Containers(render(*options), folder, target)
    try:
        yield made
    finally:
        made.end()


def test_the_login_lets_in_who_knows_the_password(tmp_path: Path) -> None:
    """Page and stages are shut; a wrong name or password is refused and said; the right ones open both."""
    with containers(*with_values("login"), folder=tmp_path) as locust, httpx.Client(base_url=locust.page) as browser:
        locust.start("master")
        wait_until(lambda: _answers(locust.page), 30, "Locust's page")
        for path in ("/", STAGE_PATH, WORKERS_PATH, "/stats/requests"):
            shut = browser.get(path)
            assert (shut.status_code, shut.headers["location"].partition("?")[0]) == (302, "/login")
        for name, password in (("me", "wrong"), ("else", "correct horse"), ("me", ""), ("", ""), ("mé", "ü")):
            refused = browser.post("/login_submit", data={"username": name, "password": password})
            assert refused.headers["location"] == "/login"
            assert "Wrong name or password" in browser.get("/login").text
            assert browser.get("/").status_code == 302
        opened = browser.post("/login_submit", data={"username": "me", "password": "correct horse"})
        assert opened.headers["location"] == "/"
        assert "Podscale" in browser.get("/").text
        assert browser.get(WORKERS_PATH).json() == {"workers": 0, "user_classes": ["Blocking"]}
        assert httpx.get(f"{locust.page}/").status_code == 302  # somebody else is still outside
        for password, status in (("correct horse", 200), ("wrong", 302), ("", 302)):
            by_header = httpx.get(locust.page + WORKERS_PATH, headers={LOGIN_HEADER: password})
            assert by_header.status_code == status  # a sweep has no browser to log in with


def test_a_worker_finds_its_master_and_ends_with_it(tmp_path: Path) -> None:
    """With a locustfile of the user's, the worker joins; when the master stops it ends too, to be started again."""
    with containers(*with_values("locustfile"), folder=tmp_path) as locust:
        worker, master = locust.start("worker"), locust.start("master")
        wait_until(lambda: _answers(locust.page), 30, "Locust's page")
        assert httpx.get(locust.page).status_code == 200
        wait_until(lambda: _workers(locust.page) == 1, 30, "the worker")
        assert '"Mine"' in httpx.get(locust.page).text
        master.send_signal(signal.SIGTERM)
        master.wait(20)
        worker.wait(20)


def test_a_headless_run_ends_by_itself_and_well(tmp_path: Path) -> None:
    """All of its requests fail, since nobody listens: that is its result, and both Jobs are complete."""
    short = setting(locust__headless__runTime="3s", locust__headless__expectWorkersMaxWaitSeconds=60)
    with containers(
        *with_values("headless"), *short, *setting(locust__worker__replicaCount=1), folder=tmp_path
    ) as locust:
        worker, master = locust.start("worker"), locust.start("master")
        assert master.wait(90) == 0, locust.log("master")
        assert worker.wait(30) == 0, locust.log("worker")
        assert "(100.00%)" in locust.log("master"), locust.log("master")


def test_a_headless_run_does_not_wait_for_ever(tmp_path: Path) -> None:
    """Without its workers the master gives up, fails, and says why."""
    short = setting(locust__headless__expectWorkersMaxWaitSeconds=1)
    with containers(*with_values("headless"), *short, folder=tmp_path) as locust:
        assert locust.start("master").wait(60) != 0
        assert "Gave up waiting for workers" in locust.log("master")


def _answers(url: str) -> bool:
    try:
        httpx.get(url, timeout=5)
    except httpx.TransportError:
        return False
    return True


def _workers(url: str) -> int:
    return int(httpx.get(url + WORKERS_PATH, timeout=5).json()["workers"])
