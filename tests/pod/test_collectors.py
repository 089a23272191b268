"""What a pod reads about itself, from trees and readings that the test gives."""

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from podscale.cgroup import CgroupReading
from podscale.pod import collectors


def exposed(collector: object) -> dict[str, float]:
    """Series and values of one collector."""
    registry = CollectorRegistry()
    registry.register(collector)  # type: ignore[arg-type] # any of ours
    lines = generate_latest(registry).decode().splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines) if name[0] != "#"}


def test_an_unknown_cgroup_value_has_no_series() -> None:
    """None is left out, no limit is +Inf, and 0 is 0: three different answers."""
    reading = CgroupReading(
        cpu_seconds=12.5,
        cpu_limit_cores=math.inf,
        periods=0,
        throttled_periods=None,
        throttled_seconds=None,
        memory_working_set_bytes=4096,
        memory_limit_bytes=None,
    )
    assert exposed(collectors.CgroupCollector(lambda: reading)) == {
        "podscale_cgroup_cpu_seconds_total": 12.5,
        "podscale_cgroup_cpu_limit_cores": math.inf,
        "podscale_cgroup_cpu_periods_total": 0,
        "podscale_cgroup_memory_working_set_bytes": 4096,
    }


def test_info_says_what_runs() -> None:
    """Version, Python, pod, lock and workers are labels."""
    ((series, value),) = exposed(collectors.InfoCollector("1.2.3", "pod-a", 4)).items()
    assert value == 1
    assert series.startswith("podscale_info{")
    for label in ('version="1.2.3"', 'pod="pod-a"', 'workers="4"', 'python="3.', 'gil="on"'):
        assert label in series


def test_process_metrics_add_up_living_and_ended_children(tmp_path: Path) -> None:
    """CPU of the process, of what it has waited for, and of living descendants is one number; so is memory."""
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    (tmp_path / "stat").write_text("btime 1000\n")
    for pid, child, utime, ended, rss in ((1, "2", 100, 50, 10), (2, "3", 20, 0, 5), (3, "", 3, 7, 1)):
        folder = tmp_path / str(pid) / "task" / str(pid)
        folder.mkdir(parents=True)
        (folder / "children").write_text(child)
        fields = ["S", *["0"] * 10, str(utime), "0", str(ended), "0", *["0"] * 5, "500", str(rss)]
        fields[19] = str(ticks * pid)
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (a ) b) {' '.join(fields)}")
    found = exposed(collectors.ProcessesCollector(1, tmp_path))
    assert found["process_cpu_seconds_total"] == pytest.approx((100 + 50 + 20 + 3 + 7) / ticks)
    fields_rss = 16 * page
    assert found["process_resident_memory_bytes"] == fields_rss
    assert found["process_start_time_seconds"] == 1001


def test_process_metrics_of_a_real_tree_never_go_back() -> None:
    """CPU burned by a child stays counted when the child has ended and was waited for."""
    burn = "import time\nwhile time.process_time() < 0.3: pass\n"
    collector = collectors.ProcessesCollector(os.getpid())
    before = exposed(collector)["process_cpu_seconds_total"]
    with subprocess.Popen([sys.executable, "-c", burn + "input()"], stdin=subprocess.PIPE) as child:
        seen = before
        while seen - before < 0.3:
            now = exposed(collector)["process_cpu_seconds_total"]
            assert now >= seen
            seen = now
        child.communicate(b"\n")
    assert exposed(collector)["process_cpu_seconds_total"] >= seen


def test_lag_is_read_when_scraped() -> None:
    """The gauge shows what the health says now."""
    lag = [0.5]
    collector = collectors.LagCollector(lambda: lag[0])
    assert exposed(collector) == {"podscale_event_loop_lag_seconds": 0.5}
    lag[0] = 2
    assert exposed(collector) == {"podscale_event_loop_lag_seconds": 2}
