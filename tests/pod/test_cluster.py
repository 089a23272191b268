"""Several workers on one socket: health and metrics stay right, a lost worker comes back, a stop ends all."""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from podscale import contract
from tests.pod import wire
from tests.processes import Pod, running_pod, wait_until


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where pods keep their files; those that are killed leave them."""
    folder = tmp_path / "files"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.fixture
def team(tmp_path: Path, files: Path) -> Iterator[Pod]:
    """A pod of two workers."""
    with running_pod(tmp_path, workers=2) as pod:
        yield pod


def ask_until_both_answer(pod: Pod, target: str = "/timestamp") -> "Counter[int]":
    """Ask on new connections, four at a time, until two processes have answered; how often each did."""
    answered: Counter[int] = Counter()

    def ask() -> None:
        for _ in range(25):
            answered[int(wire.exchange(pod.url, wire.get(target)).headers["x-podscale-process"])] += 1

    for _ in range(20):
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(answered) == 2:
            break
    return answered


def test_both_workers_answer_and_are_counted_together(team: Pod) -> None:
    """Requests of both processes add up to one number, as do the metrics of the pod."""
    answered = ask_until_both_answer(team, "/blocking?cpuTimeMs=1")
    assert len(answered) == 2
    assert team.process.pid not in answered
    labels = '{method="GET",route="/blocking",status="200"}'
    assert team.metric(contract.REQUESTS + labels) == answered.total()
    assert team.metric(f"{contract.QUEUE_SECONDS}_count") == answered.total()
    assert team.metric(contract.IN_PROGRESS) == 0
    text = httpx.get(f"{team.admin_url}/metrics").text
    assert 'workers="2"' in text
    assert text.count("\npodscale_info{") == 1
    for name in (contract.PROCESS_CPU_SECONDS, contract.PROCESS_MEMORY_BYTES, contract.LOOP_LAG_SECONDS):
        assert text.count(f"\n{name} ") == 1
    # Three processes: supervisor and workers.
    assert team.metric(contract.PROCESS_MEMORY_BYTES) > 60_000_000


def test_lost_workers_come_back_and_nothing_counted_is_lost(team: Pod, files: Path) -> None:
    """Others take the places of killed workers; counters go on, gauges forget the dead, files do not pile up."""
    answered = ask_until_both_answer(team)
    count = len(list(files.glob("*/*")))
    for _ in range(3):
        wait_until(lambda: httpx.get(f"{team.admin_url}/ready").status_code == 200, 10, "the team to be ready")
        time.sleep(0.1)  # an answer is counted when it has been sent
        with wire.connect(team.url) as busy:
            busy.sendall(wire.get("/blocking?cpuTimeMs=5000&clock=sleep"))
            wait_until(lambda: team.metric(contract.IN_PROGRESS) == 1, 5, "the request to be in progress")
            for worker in workers(team):
                os.kill(worker, signal.SIGKILL)
            wait_until(lambda: httpx.get(f"{team.admin_url}/ready").status_code == 503, 5, "the loss to be seen")
        wait_until(lambda: httpx.get(f"{team.admin_url}/ready").status_code == 200, 10, "the team to be ready")
        assert team.metric(contract.IN_PROGRESS) == 0
        answered += ask_until_both_answer(team)
    assert team.metric(contract.WORKERS_LOST) == 6
    labels = '{method="GET",route="/timestamp",status="200"}'
    wait_until(lambda: team.metric(contract.REQUESTS + labels) >= answered.total(), 5, "the requests to be counted")
    assert team.metric(contract.REQUESTS + labels) == answered.total()
    assert len(list(files.glob("*/*"))) == count
    assert team.stop() == 0
    assert list(files.iterdir()) == []


def test_a_still_worker_is_not_live(tmp_path: Path) -> None:
    """One worker whose loop stands still is enough for /live to say so."""
    with running_pod(tmp_path, workers=2, live_seconds=1) as pod:
        job = threading.Thread(
            target=httpx.get, args=(f"{pod.url}/blocking?cpuTimeMs=3000&clock=sleep",), kwargs={"timeout": 30}
        )
        job.start()
        wait_until(lambda: httpx.get(f"{pod.admin_url}/live").status_code == 503, 5, "the pod to be dead")
        job.join()
        wait_until(lambda: httpx.get(f"{pod.admin_url}/live").status_code == 200, 5, "the pod to live")


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_drains_all_workers(tmp_path: Path, sig: int) -> None:
    """Jobs that run and wait in either worker are answered, unready at once, exit code 0, nothing left behind."""
    with running_pod(tmp_path, workers=2, drain_seconds=1) as pod:
        processes = psutil.Process(pod.process.pid).children(recursive=True)
        connections = [wire.connect(pod.url, timeout=30) for _ in range(8)]
        for connection in connections:
            connection.sendall(wire.get("/blocking?cpuTimeMs=300&clock=sleep"))
        time.sleep(0.2)
        if sig == signal.SIGINT:  # Ctrl-C goes to all
            for process in processes:
                process.send_signal(sig)
        pod.process.send_signal(sig)
        wait_until(lambda: httpx.get(f"{pod.admin_url}/ready").status_code == 503, 1, "the pod to be unready")
        assert {wire.read(connection).status for connection in connections} == {200}
        for connection in connections:
            connection.close()
        assert pod.process.wait(20) == 0
        assert psutil.wait_procs(processes, timeout=5)[1] == []
    log = pod.log.read_text()
    assert log.count("draining") == 1
    assert log.count("shutdown complete") == 1
    assert len(log.splitlines()) == 3


def test_workers_end_with_a_killed_supervisor(tmp_path: Path) -> None:
    """SIGKILL of the supervisor leaves neither a worker nor a child of one."""
    with running_pod(tmp_path, workers=2) as pod:
        httpx.get(f"{pod.url}/worker?cpuTimeMs=1", timeout=30)
        processes = psutil.Process(pod.process.pid).children(recursive=True)
        assert len(processes) >= 4
        pod.process.kill()
        assert psutil.wait_procs(processes, timeout=5)[1] == []


def workers(pod: Pod) -> list[int]:
    """The processes that serve; the other child of the supervisor is multiprocessing's own."""
    children = psutil.Process(pod.process.pid).children()
    return [child.pid for child in children if "--multiprocessing-fork" in child.cmdline()]
