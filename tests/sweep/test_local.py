"""Tests of the local target: real pod processes on one shared port."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from podscale import contract
from podscale.sweep.local import LocalTarget
from podscale.sweep.scrape import usage
from podscale.sweep.targets import NotReachedError
from podscale.sweep.topologies import Base, budgets
from tests.processes import wait_until


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalTarget]:
    """A target whose pods are ended afterwards."""
    local = LocalTarget(tmp_path_factory.mktemp("pods"), one_core_each=True)
    yield local
    local.close()


def answering(target: LocalTarget, requests: int) -> dict[str, int]:
    """How many of so many requests, each on a new connection, each pod answered."""
    counts: dict[str, int] = {}
    for _ in range(requests):
        pod = httpx.get(target.url + contract.TIMESTAMP).headers[contract.POD_HEADER]
        counts[pod] = counts.get(pod, 0) + 1
    return counts


def test_pods_share_one_port_and_scaling_keeps_those_that_stay(target: LocalTarget) -> None:
    """Three pods answer on one port; scaled to two, the same two go on, and the third is gone."""
    assert target.scale(3) > 0
    three = answering(target, 90)
    assert len(three) == 3
    target.scale(2)
    two = answering(target, 60)
    assert len(two) == 2
    assert set(two) < set(three)


def test_readings_hold_requests_cpu_and_memory_of_each_process(target: LocalTarget) -> None:
    """A job of 300 ms shows as that much CPU of one pod; throttling is unknown, for these pods have no quota."""
    target.scale(2)
    before = {reading.pod: reading for reading in target.read()}
    answer = httpx.get(f"{target.url}{contract.BLOCKING}?cpuTimeMs=300", timeout=30)
    busy = answer.headers[contract.POD_HEADER]
    after = {reading.pod: reading for reading in target.read()}
    cpu = {pod: (after[pod].cpu_seconds or 0) - (before[pod].cpu_seconds or 0) for pod in after}
    assert 0.28 < cpu.pop(busy) < 0.6
    assert max(cpu.values()) < 0.2
    assert (after[busy].requests or 0) - (before[busy].requests or 0) == 1
    assert all(10e6 < (reading.memory_bytes or 0) < 200e6 for reading in after.values())
    assert all(reading.periods is None for reading in after.values())


def test_a_pod_that_died_is_replaced_at_the_next_scaling(target: LocalTarget) -> None:
    """One of two is killed: its reading is unknown, and the next scaling starts another."""
    target.scale(2)
    victim = int(httpx.get(target.url + contract.TIMESTAMP).headers[contract.PROCESS_HEADER])
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: any(reading.requests is None for reading in target.read()), 10, "the pod to be missed")
    assert target.scale(2) > 0
    assert all(reading.requests is not None for reading in target.read())
    assert len(answering(target, 60)) == 2


def test_a_pod_that_only_looks_alive_is_replaced_too(target: LocalTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process is seen as running at the first look: it was ready once, so it is replaced, not reported."""
    target.scale(1)
    victim = target._pods[0].child
    os.kill(victim.pid, signal.SIGKILL)
    looks, running = iter([True, True]), victim.running
    monkeypatch.setattr(victim, "running", lambda: running() or next(looks, False))
    assert target.scale(1) > 0
    assert len(answering(target, 3)) == 1


def test_resizing_waits_for_nothing_and_loses_nobody(target: LocalTarget) -> None:
    """Two more are there at once, yet to be ready; one that is asked to stop is named until it has ended."""
    target.scale(1)
    target.resize(3)
    assert (target.size, len(target.everyone)) == (3, 3)
    target.resize(2)
    assert target.size == 2
    assert [target.ends(pod) for pod in target.everyone] in ([False, False, True], [False, False])
    wait_until(lambda: len(target.everyone) == 2, 10, "the third to end")
    target.scale(2)
    assert len(answering(target, 60)) == 2


def test_scaling_waits_for_work_of_the_stage_before(target: LocalTarget) -> None:
    """A pod that still works is not idle: scaling returns only when its job is done."""
    target.scale(1)
    with httpx.Client(base_url=target.url, timeout=30) as client, pytest.raises(httpx.ReadTimeout):
        client.get(f"{contract.BLOCKING}?cpuTimeMs=800", timeout=0.1)
    target.scale(1)
    assert all(not reading.in_progress for reading in target.read())


def test_a_pod_that_cannot_start_is_not_reached_and_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size is not reached, and the message has the pod's own words."""
    monkeypatch.setattr("podscale.sweep.local.executable", "/bin/false")
    broken = LocalTarget(tmp_path, one_core_each=True)
    try:
        with pytest.raises(NotReachedError, match="pod-1 ended before it was ready"):
            broken.scale(1)
    finally:
        broken.close()


def test_settings_of_the_callers_shell_do_not_reach_the_pods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PODSCALE_ setting left in the environment would change the measurement unseen."""
    monkeypatch.setenv("PODSCALE_MAX_CPU_TIME_MS", "1")
    clean = LocalTarget(tmp_path, one_core_each=True)
    try:
        clean.scale(1)
        assert httpx.get(f"{clean.url}{contract.BLOCKING}?cpuTimeMs=5").status_code == 200
    finally:
        clean.close()


def test_workers_are_one_pod_of_several_processes_and_pods_are_several_pods(target: LocalTarget) -> None:
    """Both arrangements answer with two processes; what stands is not started again."""
    workers, pods = (budgets([name], 2, Base())[name] for name in ("workers", "pods"))
    for budget, names in ((workers, 1), (pods, 2)):
        assert target.arrange(budget) is not None
        assert len(target.read()) == names
        wait_until(lambda: len(processes(target, 40)) == 2, 20, "both processes to answer")
        assert target.arrange(budget) is None


@pytest.mark.parametrize("name", ["workers", "pods"])
def test_a_killed_process_is_back_and_the_target_whole(target: LocalTarget, name: str) -> None:
    """SIGKILL to one of two: not whole at once, whole again soon, with another process in its place."""
    target.arrange(budgets([name], 2, Base())[name])
    killed = target.kill_one()
    assert ("worker" in killed) is (name == "workers")
    wait_until(lambda: not target.whole(), 5, "the loss to be seen")
    wait_until(target.whole, 20, "both processes to be there again")
    assert len(answering(target, 40)) == (1 if name == "workers" else 2)


def test_a_worker_that_was_lost_is_counted(target: LocalTarget) -> None:
    """The pod's own count rises by one, which marks the stage that it happens in."""
    target.arrange(budgets(["workers"], 2, Base())["workers"])
    before = target.read()
    target.kill_one()
    wait_until(target.whole, 20, "the worker to be replaced")
    assert usage(before, target.read()).workers_lost == 1


def processes(target: LocalTarget, requests: int) -> set[str]:
    """Process ids that answer."""
    return {httpx.get(target.url + contract.TIMESTAMP).headers[contract.PROCESS_HEADER] for _ in range(requests)}
