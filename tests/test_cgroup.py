"""The cgroup reader: exact values from trees of files as machines and containers have them."""

import math
import os
from pathlib import Path

import pytest

from podscale.cgroup import Cgroup, CgroupReading, usable_cores

FIXTURES = Path(__file__).parent / "fixtures" / "cgroup"
NONE = math.inf
UNKNOWN = CgroupReading(None, None, None, None, None, None, None)

# Columns as in CgroupReading: CPU seconds, limit, periods, throttled periods and seconds, working set, memory limit.
READINGS = {
    # One container, its own namespace: the files lie at the mount point.
    "v2_private": CgroupReading(1.234567, 0.25, 5000, 1250, 98.765432, 36700160 - 8388608, 268435456),
    # The whole tree is visible, and the own folder lies deep in it.
    "v2_host_view": CgroupReading(6.54321, 1.5, 321, 12, 3.456789, 40_000_000, 134217728),
    # The mount shows the container's own path, so the files lie at the mount point although the path is long.
    "v1_container": CgroupReading(9.87654321, 0.5, 4000, 1000, 123.456789012, 41943040 - 12582912, 134217728),
    # cpu and cpuacct are mounted apart, the period is not the usual one.
    "v1_host_view": CgroupReading(2.5, 1.5, 77, 7, 1.5, 25_000_000, 1073741824),
    # The v2 tree beside the v1 controllers has a cpu.stat too, which is not asked.
    "hybrid": CgroupReading(115.840181692, 2.0, 10, 2, 0.05, 50_000_000, 536870912),
    # The parent's limits are the smaller ones: the kernel throttles there and counts there.
    "nested_limits": CgroupReading(4.0, 0.75, 900, 450, 60.0, 50_000_000, 100_000_000),
    # The same in v1; more cache than use is a working set of 0.
    "nested_limits_v1": CgroupReading(1.0, 0.5, 60, 30, 4.0, 0, 50_000_000),
    # The controllers end at the parent: its limits hold, but the own memory is not counted apart.
    "inherited_limit": CgroupReading(0.000042, 1.0, 11, 5, 0.7, None, 2_000_000),
    "no_limit": CgroupReading(0.25, NONE, 0, 0, 0.0, 30_000_000, NONE),
    # On pages of 64 KiB the number that stands for no limit is another one.
    "no_limit_v1": CgroupReading(0.0, NONE, 0, 0, 0.0, 4096, NONE),
    # Every file is there and none can be understood.
    "unreadable": UNKNOWN,
    # The top of a v2 machine has no limits to read and no memory.current.
    "v2_machine_root": CgroupReading(7.0, None, None, None, None, None, None),
    # A parent's limit that cannot be understood may be the smaller one.
    "unknown_parent": CgroupReading(0.000042, None, 1, 1, 0.000001, 1000, None),
    # The path leads out of the namespace, to files that are not ours.
    "outside_namespace": UNKNOWN,
    # The files at the mount point are another cgroup's.
    "own_folder_gone": UNKNOWN,
    "no_mounts": UNKNOWN,
    "does_not_exist": UNKNOWN,
}


@pytest.mark.parametrize("case", READINGS)
def test_reads_exact_values(case: str) -> None:
    """Each layout of files gives exactly the values written in it: a value, none (inf) or unknown (None)."""
    assert Cgroup(FIXTURES / case).read() == READINGS[case]


def test_every_fixture_is_used() -> None:
    """No tree of files lies there without a test that reads it."""
    assert {folder.name for folder in FIXTURES.iterdir()} == set(READINGS) - {"does_not_exist"}


def test_odd_mount_points(tmp_path: Path) -> None:
    """A mount point with a space is found, past cut off lines, names that are not UTF-8 and another cgroup's mount."""
    proc, folder = tmp_path / "proc" / "self", tmp_path / "sys" / "my cgroup"
    proc.mkdir(parents=True)
    folder.mkdir(parents=True)
    (proc / "cgroup").write_text("0::/\n")
    lines = [b"cut off", b"9 8 - cgroup2", b"1 2 0:1 / /m\xff rw - ext4 x rw"]
    lines.append(b"3 2 0:2 /other /sys/other rw - cgroup2 cgroup2 rw")
    lines.append(rb"3 2 0:2 / /sys/my\040cgroup rw shared:1 - cgroup2 cgroup2 rw")
    (proc / "mountinfo").write_bytes(b"\n".join(lines))
    (folder / "cpu.max").write_text("100000 50000\n")
    assert Cgroup(tmp_path).read().cpu_limit_cores == 2.0


def test_an_odd_line_hides_no_other(tmp_path: Path) -> None:
    """A line that cannot be understood makes its own key unknown and no other."""
    proc, folder = tmp_path / "proc" / "self", tmp_path / "sys"
    proc.mkdir(parents=True)
    folder.mkdir()
    (proc / "cgroup").write_text("0::/\n")
    (proc / "mountinfo").write_text("3 2 0:2 / /sys rw - cgroup2 cgroup2 rw\n")
    (folder / "cpu.stat").write_text("usage_usec 1000000\nnew_key 1 2 3\n\nnr_periods -4\nnr_throttled 3\n")
    assert Cgroup(tmp_path).read() == CgroupReading(1.0, None, None, 3, None, None, None)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"1 2 3", b"0 0", b"-1 100000", b"nan 1", b"9" * 5000 + b" 1"])
def test_garbage_is_unknown(tmp_path: Path, content: bytes) -> None:
    """Whatever stands in the files, reading does not raise and does not invent a value."""
    proc, folder = tmp_path / "proc" / "self", tmp_path / "sys"
    proc.mkdir(parents=True)
    folder.mkdir()
    (proc / "cgroup").write_text("0::/\n")
    (proc / "mountinfo").write_text("3 2 0:2 / /sys rw - cgroup2 cgroup2 rw\n")
    for name in ("cpu.max", "cpu.stat", "memory.current", "memory.max", "memory.stat"):
        (folder / name).write_bytes(content)
    assert Cgroup(tmp_path).read() == UNKNOWN


def test_reads_this_machine() -> None:
    """On the real machine nothing raises, and what is known makes sense."""
    reading = Cgroup().read()
    assert reading.cpu_seconds is None or reading.cpu_seconds > 0
    assert reading.cpu_limit_cores is None or reading.cpu_limit_cores > 0
    assert reading.memory_working_set_bytes is None or reading.memory_working_set_bytes > 1_000_000
    assert reading.memory_limit_bytes is None or reading.memory_limit_bytes > 1_000_000
    if reading.periods is not None and reading.throttled_periods is not None:
        assert 0 <= reading.throttled_periods <= reading.periods
    assert 1 <= usable_cores(reading, len(os.sched_getaffinity(0))) <= len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("limit_cores", "affinity_count", "expected"),
    [
        (2.0, 64, 2),
        (1.5, 64, 2),
        (0.25, 64, 1),
        (0.0, 64, 1),
        (8.0, 4, 4),
        (math.inf, 4, 4),
        (None, 4, 4),
        (None, 0, 1),
    ],
)
def test_usable_cores(limit_cores: float | None, affinity_count: int, expected: int) -> None:
    """The limit rounded up, capped by the affinity, at least 1; no limit and unknown mean the affinity."""
    reading = CgroupReading(None, limit_cores, None, None, None, None, None)
    assert usable_cores(reading, affinity_count) == expected
