"""Tests of driving Locust: real master and worker, and a master that misbehaves."""

import os
import signal
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from podscale.contract import StageOrder, StageReport
from podscale.sweep.locust import HttpMaster, LocalLocust, LocustError, StageClient, locustfile_of, plugin_file
from tests.processes import running_pod, wait_until


def order(**changes: object) -> StageOrder:
    """A short closed stage of four users."""
    base: StageOrder = {
        "id": "test",
        "model": "closed",
        "arrivals": "constant",
        "rate_per_second": 0.0,
        "users": 4,
        "connections": "new",
        "warmup_seconds": 0.3,
        "measure_seconds": 1.0,
        "timeout_seconds": 5.0,
        "expect_workers": 1,
    }
    return base | changes  # type: ignore[return-value]  # the tests change known keys


def test_files_that_locust_is_given_exist() -> None:
    """The plugin and every scenario are found beside the package; an unknown scenario is told."""
    assert plugin_file().is_file()
    assert locustfile_of("blocking").is_file()
    with pytest.raises(LocustError, match="'dance' is missing"):
        locustfile_of("dance")


def test_a_stage_runs_and_a_dead_locust_is_started_anew(tmp_path: Path) -> None:
    """One real stage; then the worker is killed, and the next stage has a whole set of processes again."""
    with running_pod(tmp_path) as pod:
        locust = LocalLocust(locustfile_of("timestamp"), pod.url, 1, tmp_path)
        try:
            states: list[str] = []
            report = locust.client().run(order(scenario="Timestamp"), lambda seen: states.append(seen["state"]))
            assert report["state"] == "done"
            assert report["requests"] > 10
            assert "measuring" in states
            worker = next(child for child in locust._children if child.name == "locust-worker-1")
            os.kill(worker.pid, signal.SIGKILL)
            wait_until(lambda: not worker.running(), 10, "the worker to end")
            again = locust.client().run(order(scenario="Timestamp"), lambda _: None)
            assert again["state"] == "done"
        finally:
            locust.close()


def test_a_locustfile_with_a_mistake_is_quoted(tmp_path: Path) -> None:
    """Locust ends at its start, and the message holds its last words."""
    bad = tmp_path / "bad.py"
    bad.write_text("raise RuntimeError('no such thing')\n")
    locust = LocalLocust(bad, "http://127.0.0.1:9", 1, tmp_path)
    try:
        with pytest.raises(LocustError, match=r"ended at its start: .*no such thing"):
            locust.client()
    finally:
        locust.close()


def test_a_refused_order_and_a_silent_master_are_told_in_words(tmp_path: Path) -> None:
    """HTTP 409 carries the master's sentence; nothing listening is said as such."""

    class Refusing(BaseHTTPRequestHandler):
        """Answers every request with 409."""

        def do_POST(self) -> None:
            self.send_response(409)
            self.end_headers()
            self.wfile.write(b"another stage runs")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Refusing)
    Thread(target=server.serve_forever, daemon=True).start()
    client = StageClient(HttpMaster(f"http://127.0.0.1:{server.server_port}"))
    with pytest.raises(LocustError, match="refused: another stage runs"):
        client.run(order(), _ignore)
    client.close()
    server.shutdown()
    server.server_close()
    silent = StageClient(HttpMaster("http://127.0.0.1:9"))
    assert silent.load() is None
    with pytest.raises(LocustError, match="does not answer"):
        silent.stop()
    silent.close()


def _ignore(_: StageReport) -> None:
    """Nobody listens."""
