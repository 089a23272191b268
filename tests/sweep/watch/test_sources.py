"""Tests of watching pods on this machine: real processes."""

import os
import signal
from pathlib import Path

import httpx
import pytest

from podscale import contract
from podscale.sweep.children import free_port
from podscale.sweep.targets import TargetError
from podscale.sweep.watch.reader import Reader
from podscale.sweep.watch.sources import Addresses, Started
from tests.processes import running_pod, wait_until


def test_addresses_show_what_runs_there_and_what_does_not(tmp_path: Path) -> None:
    """A pod with its figures, an address where nothing answers without any; neither is ours to scale."""
    with running_pod(tmp_path) as pod:
        nobody = f"http://127.0.0.1:{free_port()}"
        source = Addresses([pod.admin_url, nobody])
        reader = Reader(source)
        reader.look(0.0)
        httpx.get(f"{pod.url}{contract.BLOCKING}?cpuTimeMs=200")
        found = reader.look(1.0)
        with pytest.raises(TargetError, match="were not started here"):
            source.check_scaling()
        source.close()
    one, other = found.pods
    assert (one.state, one.ready, other.state, other.ready) == ("Ready", True, "no answer", False)
    assert one.requests_per_second
    assert one.cpu_cores
    assert one.p99_seconds is not None
    assert 0.1 <= one.p99_seconds <= 1
    assert one.memory_bytes is not None
    assert one.memory_bytes > 10e6
    assert one.uptime_seconds is not None
    assert one.uptime_seconds < 60
    assert one.throttled_share is None
    assert one.restarts is None
    assert (other.cpu_cores, other.queue_length, other.uptime_seconds) == (None, None, None)
    assert found.total is not None
    assert found.total.cpu_cores is None


def test_an_address_of_something_else_is_refused(tmp_path: Path) -> None:
    """The port where a pod serves has no metrics: the message says which one has."""
    with running_pod(tmp_path) as pod, pytest.raises(TargetError, match="name the pod's admin port, 9100 by default"):
        Addresses([pod.url])
    with pytest.raises(TargetError, match="no pod of podscale answers at nonsense/metrics"):
        Addresses(["nonsense"])


def test_started_pods_come_and_go_without_a_wait(tmp_path: Path) -> None:
    """Two are asked for, then one: each state has its word, and at the end none is left."""
    source = Started(2, tmp_path, most=2)
    reader = Reader(source)
    try:
        assert {row.state for row in reader.look(0.0).pods} <= {"starting", "NotReady", "Ready"}
        wait_until(lambda: ready(reader) == 2, 30, "two pods", every_seconds=0.2)
        with pytest.raises(TargetError, match="2 pods are the most; --max-pods raises that"):
            source.scale(3)
        with pytest.raises(TargetError, match="one pod is the fewest"):
            source.scale(0)
        source.scale(1)
        assert source.check_scaling() == 1
        wait_until(lambda: len(reader.look(0.0).pods) == 1, 10, "one pod to go", every_seconds=0.2)
        assert reader.look(0.0).wanted == 1
        assert [row.restarts for row in reader.look(0.0).pods] == [0]
    finally:
        source.close()
    assert source.look().pods == []


def test_a_started_pod_that_dies_is_shown_and_replaced_by_the_next_key(tmp_path: Path) -> None:
    """Nobody starts it again unasked: its line says that it ended, its log is quoted, and its figures are gone."""
    source = Started(1, tmp_path, most=2)
    reader = Reader(source)
    try:
        wait_until(lambda: ready(reader) == 1, 30, "the pod", every_seconds=0.2)
        os.kill(source._target.everyone[0].child.pid, signal.SIGKILL)
        wait_until(lambda: reader.look(0.0).pods[0].state == "ended", 10, "its end to be seen", every_seconds=0.2)
        found = reader.look(0.0)
        assert (found.pods[0].ready, found.pods[0].memory_bytes) == (False, None)
        assert found.notes[0].startswith("pod-1 ended: ")
        source.scale(2)
        assert [row.pod for row in reader.look(0.0).pods] == ["pod-2", "pod-3"]
    finally:
        source.close()


def ready(reader: Reader) -> int:
    """How many are."""
    total = reader.look(0.0).total
    assert total is not None
    return total.ready
