"""How a pod stops: no request is lost, the exit code is 0, and it ends within the grace period."""

import contextlib
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.pod import wire
from tests.processes import Pod, running_pod, wait_until


@contextlib.contextmanager
def asking(pod: Pod, target: str, count: int = 1) -> Iterator[list[socket.socket]]:
    """Connections that each ask for `target`."""
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(wire.connect(pod.url, timeout=60)) for _ in range(count)]
        for connection in connections:
            connection.sendall(wire.get(target))
        # Until the pod has them, or a job holds its loop.
        time.sleep(0.3)
        yield connections


def descendants(pod: Pod) -> list[psutil.Process]:
    """The processes below the pod's."""
    return psutil.Process(pod.process.pid).children(recursive=True)


@pytest.mark.parametrize("drain_seconds", [0, 1])
def test_what_waits_when_the_signal_comes_is_answered(tmp_path: Path, drain_seconds: int) -> None:
    """Five requests behind a job of 2 s are all answered, the code is 0, and the grace period is kept."""
    with (
        running_pod(tmp_path, drain_seconds=drain_seconds) as pod,
        asking(pod, "/blocking?cpuTimeMs=2000") as running,
        asking(pod, "/blocking?cpuTimeMs=100", 5) as queued,
    ):
        began = time.monotonic()
        pod.process.send_signal(signal.SIGTERM)
        answers = [wire.read(connection) for connection in running + queued]
        assert [answer.status for answer in answers] == [200] * 6
        assert {answer.headers["connection"] for answer in answers} == {"close"}
        assert pod.process.wait(30) == 0
        assert time.monotonic() - began < 30
    log = pod.log.read_text()
    assert log.count("draining") == 1
    assert log.count("shutdown complete") == 1
    assert "Traceback" not in log


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_draining_is_unready_at_once_and_serves_on(tmp_path: Path, sig: int) -> None:
    """In the drain: unready but alive, new connections are served, each answer closes; then idle ones are closed."""
    with running_pod(tmp_path, drain_seconds=2) as pod, wire.connect(pod.url) as idle, wire.connect(pod.url) as kept:
        kept.sendall(wire.get("/timestamp"))
        assert "connection" not in wire.read(kept).headers
        began = time.monotonic()
        pod.process.send_signal(sig)
        wait_until(lambda: httpx.get(f"{pod.admin_url}/ready").status_code == 503, 1, "the pod to be unready")
        assert httpx.get(f"{pod.admin_url}/ready").text == "not ready: draining\n"
        assert httpx.get(f"{pod.admin_url}/live").status_code == 200
        while time.monotonic() - began < 1:
            answer = wire.exchange(pod.url, wire.get("/timestamp"))
            assert (answer.status, answer.headers["connection"]) == (200, "close")
            time.sleep(0.1)
        kept.sendall(wire.get("/timestamp"))
        assert wire.read(kept).headers["connection"] == "close"
        assert wire.exchange(pod.url, wire.get("/nowhere")).headers["connection"] == "close"
        assert pod.process.wait(10) == 0
        assert time.monotonic() - began >= 2
        assert wire.is_closed(idle)


def test_a_second_signal_ends_the_drain(tmp_path: Path) -> None:
    """Who asks twice does not wait for the drain, and still exits with 0."""
    with running_pod(tmp_path, drain_seconds=20) as pod:
        pod.process.send_signal(signal.SIGTERM)
        wait_until(lambda: httpx.get(f"{pod.admin_url}/ready").status_code == 503, 2, "the pod to be unready")
        began = time.monotonic()
        assert pod.stop() == 0
        assert time.monotonic() - began < 5


def test_what_cannot_end_in_time_is_refused(tmp_path: Path) -> None:
    """With 4 s of grace, of jobs of 1.5 s that wait some are answered and the rest are told to try elsewhere."""
    slow = "/blocking?cpuTimeMs=1500&clock=sleep"
    with running_pod(tmp_path, grace_seconds=4) as pod, asking(pod, slow, 6) as connections:
        began = time.monotonic()
        pod.process.send_signal(signal.SIGTERM)
        answers = [wire.read(connection) for connection in connections]
        assert pod.process.wait(10) == 0
        assert time.monotonic() - began < 4
    statuses = [answer.status for answer in answers]
    assert set(statuses) == {200, 503}
    assert 1 <= statuses.count(200) <= 3
    refused = next(answer for answer in answers if answer.status == 503)
    assert refused.headers["retry-after"] == "1"
    assert b"stopping" in refused.body


def test_a_child_that_works_beyond_the_grace_is_ended(tmp_path: Path) -> None:
    """An offloaded job that outlasts the grace period is answered with 503, and no child is left."""
    slow = "/worker?cpuTimeMs=10000&clock=sleep"
    with running_pod(tmp_path, grace_seconds=3) as pod, asking(pod, slow) as (connection,):
        wait_until(lambda: len(descendants(pod)) > 1, 5, "the child to start")
        time.sleep(0.5)
        children = descendants(pod)
        began = time.monotonic()
        pod.process.send_signal(signal.SIGTERM)
        answer = wire.read(connection)
        assert answer.status == 503
        assert pod.process.wait(10) == 0
        assert time.monotonic() - began < 3.5
        assert psutil.wait_procs(children, timeout=5)[1] == []


def test_ctrl_c_reaches_the_pod_alone(tmp_path: Path) -> None:
    """A signal to the whole process group does not break off the children's jobs."""
    slow = "/worker?cpuTimeMs=1500&clock=sleep"
    with running_pod(tmp_path) as pod, asking(pod, slow, 2) as connections:
        time.sleep(0.7)
        for process in [*descendants(pod), psutil.Process(pod.process.pid)]:
            process.send_signal(signal.SIGINT)
        assert {wire.read(connection).status for connection in connections} == {200}
        assert pod.process.wait(10) == 0


def test_no_child_outlives_a_killed_pod(tmp_path: Path) -> None:
    """SIGKILL of the pod, with children idle and in the middle of jobs, leaves no process behind."""
    with running_pod(tmp_path) as pod:
        httpx.get(f"{pod.url}/worker?cpuTimeMs=1")
        with asking(pod, "/worker?cpuTimeMs=10000", 2):
            time.sleep(0.7)
            children = descendants(pod)
            assert children
            pod.process.kill()
            assert psutil.wait_procs(children, timeout=5)[1] == []


def test_several_pods_share_a_port(tmp_path: Path) -> None:
    """With REUSE_PORT two pods serve one port, as behind a Service; both answer."""
    with running_pod(tmp_path, reuse_port=1, pod_name="one") as first:
        port = first.url.rpartition(":")[2]
        with running_pod(tmp_path, reuse_port=1, pod_name="two", port=port):
            names = {wire.exchange(first.url, wire.get("/timestamp")).headers["x-podscale-pod"] for _ in range(50)}
            assert names == {"one", "two"}


def test_a_connection_is_kept_over_a_pause(tmp_path: Path) -> None:
    """A connection serves again after a pause longer than uvicorn's own 5 s."""
    with running_pod(tmp_path) as pod, wire.connect(pod.url) as connection:
        for pause_seconds in (5.5, 0):
            connection.sendall(wire.get("/timestamp"))
            assert wire.read(connection).status == 200
            time.sleep(pause_seconds)


def test_an_idle_connection_is_closed_after_the_asked_time(tmp_path: Path) -> None:
    """The setting bounds how long an idle connection stays."""
    with running_pod(tmp_path, keep_alive_seconds=1) as pod, wire.connect(pod.url) as connection:
        connection.sendall(wire.get("/timestamp"))
        assert wire.read(connection).status == 200
        assert wire.is_closed(connection)


def test_a_stop_under_load_loses_nothing(tmp_path: Path) -> None:
    """Clients that make new connections for most of the drain see no error, and none is cut in an answer."""
    results: list[int | str] = []
    stop = threading.Event()

    def ask(pod: Pod) -> None:
        while not stop.is_set():
            try:
                results.append(wire.exchange(pod.url, wire.get("/blocking?cpuTimeMs=2")).status)
            except OSError as error:
                results.append(repr(error))

    with running_pod(tmp_path, drain_seconds=1) as pod:
        threads = [threading.Thread(target=ask, args=(pod,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        pod.process.send_signal(signal.SIGTERM)
        time.sleep(0.6)
        stop.set()
        for thread in threads:
            thread.join()
        assert pod.process.wait(10) == 0
    assert len(results) > 50
    assert set(results) == {200}


def test_a_connection_made_before_the_end_is_still_served(tmp_path: Path) -> None:
    """A request that comes just after the listener has closed, on a connection made before, is answered."""
    with running_pod(tmp_path) as pod, wire.connect(pod.url) as made, wire.connect(pod.url) as silent:
        pod.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not _accepts(pod), 5, "the listener to close")
        made.sendall(wire.get("/timestamp"))
        answer = wire.read(made)
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        assert wire.is_closed(silent)
        assert pod.process.wait(5) == 0


def _accepts(pod: Pod) -> bool:
    try:
        wire.connect(pod.url).close()
    except ConnectionRefusedError:
        return False
    return True
