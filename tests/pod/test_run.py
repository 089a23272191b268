"""The weight of an idle pod, and what its log says."""

import time
from pathlib import Path

import httpx
import psutil

from tests.processes import running_pod


def test_an_idle_pod_is_light(tmp_path: Path) -> None:
    """Below 40 MB resident, without child processes and almost without CPU."""
    with running_pod(tmp_path) as pod:
        httpx.get(f"{pod.url}/timestamp")
        process = psutil.Process(pod.process.pid)
        assert process.memory_info().rss < 40_000_000
        assert process.children(recursive=True) == []
        before = sum(process.cpu_times()[:2])
        time.sleep(2)
        assert sum(process.cpu_times()[:2]) - before < 0.1


def test_the_log_has_one_line_for_each_event(tmp_path: Path) -> None:
    """Start, drain and stop are a line each; requests, also broken ones, are none."""
    with running_pod(tmp_path, pod_name="pod-a") as pod:
        for path in ("/timestamp", "/nowhere", "/blocking?cpuTimeMs=x"):
            httpx.get(pod.url + path)
        assert pod.stop() == 0
    lines = pod.log.read_text().splitlines()
    assert len(lines) == 3
    assert "pod pod-a serves on 127.0.0.1:" in lines[0]
    assert "draining" in lines[1]
    assert lines[2].endswith("shutdown complete")
