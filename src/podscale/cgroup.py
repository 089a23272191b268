"""CPU and memory of the cgroup that this process runs in: use, limits, throttling. Imports nothing of ours.

Finds the own folder as the kernel tells it (/proc/self/cgroup and /proc/self/mountinfo, see cgroups(7)), so that it
holds for cgroup v1, v2, hybrid machines, containers with a private view and containers that see the host's tree.

Requested CPU is not read: the formula from a request to `cpu.weight` changed and cannot be reversed
(https://github.com/kubernetes/website/pull/54835); a pod learns its request from the downward API.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar

T = TypeVar("T")

# What a file that is missing, unreadable or not as expected raises.
_UNREADABLE = (OSError, ValueError, LookupError, ArithmeticError)

# "No limit" in v1 is the largest whole number of pages below 2^63 bytes, which depends on the size of a page.
_V1_NO_LIMIT_BYTES = 1 << 62


@dataclass(frozen=True, slots=True)
class CgroupReading:
    """One reading of the own cgroup. None is unknown; `math.inf` is a limit that is known not to be set.

    Limits are the smallest of the own cgroup and its visible ancestors. The three throttling counters belong to the
    cgroup whose CPU limit that is, since that is where the kernel counts; to the own one where there is no limit.
    The working set is memory in use less the file cache that can be dropped at once, as the kubelet counts it:
    https://github.com/google/cadvisor/blob/master/container/libcontainer/handler.go (setMemoryStats).
    """

    cpu_seconds: float | None
    cpu_limit_cores: float | None
    periods: int | None
    throttled_periods: int | None
    throttled_seconds: float | None
    memory_working_set_bytes: int | None
    memory_limit_bytes: float | None


class Cgroup:
    """Reads the cgroup of this process; `root` is the folder that stands for `/` (tests give a tree of files)."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root

    def read(self) -> CgroupReading:
        """Read everything anew. Never raises: what cannot be read is None."""
        cpu, cpuacct, memory = (self._hierarchy(controller) for controller in ("cpu", "cpuacct", "memory"))
        cpu_limit_cores, throttling = _smallest(cpu.files.cpu_limit_cores, cpu.folders)
        stat = _read_or_none(_cpu_stat, throttling) or {}
        throttled = stat.get(cpu.files.throttled_key)
        memory_limit_bytes, _ = _smallest(memory.files.memory_limit_bytes, memory.folders)
        return CgroupReading(
            cpu_seconds=_read_or_none(cpuacct.files.cpu_seconds, cpuacct.own),
            cpu_limit_cores=cpu_limit_cores,
            periods=stat.get("nr_periods"),
            throttled_periods=stat.get("nr_throttled"),
            throttled_seconds=None if throttled is None else throttled / cpu.files.throttled_per_second,
            memory_working_set_bytes=_read_or_none(memory.files.working_set_bytes, memory.own),
            memory_limit_bytes=memory_limit_bytes,
        )

    def _hierarchy(self, controller: str) -> "_Hierarchy":
        """The folders that answer for `controller`; none where the own folder cannot be found."""
        version, path = self._membership(controller)
        for mount in self._mounts():
            if mount.fstype != version.fstype or (version is _V1 and controller not in mount.options):
                continue
            folders = list(self._folders(mount, path))
            if folders:
                return _Hierarchy(version, folders)
        return _Hierarchy(version, [])

    def _membership(self, controller: str) -> tuple["_Files", PurePosixPath | None]:
        """Which version holds `controller`, and the own path in it. Lines are `id:controllers:path`; v2 is `0::path`.

        A controller can be in one version only, and one that v1 does not list is v2's.
        """
        v2_path = None
        for line in self._lines("proc/self/cgroup"):
            identity, _, rest = line.partition(":")
            controllers, _, path = rest.partition(":")
            if controller in controllers.split(","):
                return _V1, PurePosixPath(path)
            if identity == "0" and not controllers:
                v2_path = PurePosixPath(path)
        return _V2, v2_path

    def _mounts(self) -> Iterator["_Mount"]:
        """The cgroup mounts. Lines of mountinfo are `id parent device root point ... - fstype source options`."""
        for line in self._lines("proc/self/mountinfo"):
            before, _, after = line.partition(" - ")
            left, right = before.split(" "), after.split(" ")
            if right[0] in {"cgroup", "cgroup2"} and len(left) >= 5 and len(right) >= 3:
                root, point = (PurePosixPath(_unescaped(field)) for field in left[3:5])
                yield _Mount(right[0], root, point, frozenset(right[2].split(",")))

    def _folders(self, mount: "_Mount", path: PurePosixPath | None) -> Iterator[Path]:
        """The own folder of cgroup `path` and its parents up to the mount point, if `mount` shows that path.

        `root` of a mount is the cgroup that its mount point shows: the container's own for v1 in a container, `/`
        elsewhere. A path with `..` lies outside the own cgroup namespace, where no folder can be trusted.
        """
        if path is None or ".." in path.parts or not path.is_relative_to(mount.root):
            return
        top = self._root / mount.point.relative_to("/")
        own = top / path.relative_to(mount.root)
        if _read_or_none(Path.is_dir, own):
            yield own
            yield from (parent for parent in own.parents if parent.is_relative_to(top))

    def _lines(self, name: str) -> list[str]:
        try:
            # Names of mounts are bytes; one that is not UTF-8 must not hide the others.
            return (self._root / name).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        except OSError:
            return []


def usable_cores(reading: CgroupReading, affinity_count: int) -> int:
    """How many processes can compute at once: the CPU limit rounded up, at most `affinity_count`, at least 1.

    os.cpu_count and os.process_cpu_count know nothing of the limit: https://github.com/python/cpython/issues/80235.
    Rounded up, since a limit of 1.5 cores leaves half a core idle with one process. An unknown limit counts as none.

    Args:
        reading: of the own cgroup.
        affinity_count: cores that the scheduler may use, `len(os.sched_getaffinity(0))`.
    """
    limit = reading.cpu_limit_cores
    cores = affinity_count if limit is None or math.isinf(limit) else min(math.ceil(limit), affinity_count)
    return max(cores, 1)


@dataclass(frozen=True, slots=True)
class _Files:
    """How one cgroup version tells what we ask, each given the cgroup's folder."""

    fstype: str
    cpu_seconds: Callable[[Path], float]
    cpu_limit_cores: Callable[[Path], float]
    throttled_key: str
    throttled_per_second: float
    working_set_bytes: Callable[[Path], int]
    memory_limit_bytes: Callable[[Path], float]


@dataclass(frozen=True, slots=True)
class _Mount:
    """One line of mountinfo."""

    fstype: str
    root: PurePosixPath
    point: PurePosixPath
    options: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Hierarchy:
    """The own folder and its visible ancestors, from the inside out."""

    files: _Files
    folders: list[Path]

    @property
    def own(self) -> Path | None:
        return self.folders[0] if self.folders else None


def _smallest(limit: Callable[[Path], float], folders: list[Path]) -> tuple[float | None, Path | None]:
    """The smallest limit and the folder that sets it: the innermost of equals.

    A folder without the file sets no limit of its own (the top of v2 never has one, and a controller need not reach
    down to the own folder). A file that is there but cannot be understood makes the whole unknown, since it may hold
    the smallest; so does no file anywhere.
    """
    limits: list[tuple[float, Path]] = []
    for folder in folders:
        try:
            limits.append((limit(folder), folder))
        except FileNotFoundError:
            continue
        except _UNREADABLE:
            limits = []
            break
    if not limits:
        return None, folders[0] if folders else None
    return min(limits, key=lambda pair: pair[0])


def _read_or_none(read: Callable[[Path], T], folder: Path | None) -> T | None:
    if folder is None:
        return None
    try:
        return read(folder)
    except _UNREADABLE:
        return None


def _v1_cpu_seconds(folder: Path) -> float:
    return _count(folder / "cpuacct.usage") / 1e9


def _v2_cpu_seconds(folder: Path) -> float:
    return _cpu_stat(folder)["usage_usec"] / 1e6


def _v1_cpu_limit_cores(folder: Path) -> float:
    quota_us = int((folder / "cpu.cfs_quota_us").read_text())
    return math.inf if quota_us < 0 else quota_us / _count(folder / "cpu.cfs_period_us")


def _v2_cpu_limit_cores(folder: Path) -> float:
    quota_us, period_us = (folder / "cpu.max").read_text().split()
    return math.inf if quota_us == "max" else _natural(quota_us) / _natural(period_us)


def _v1_working_set_bytes(folder: Path) -> int:
    return max(0, _count(folder / "memory.usage_in_bytes") - _stat(folder / "memory.stat")["total_inactive_file"])


def _v2_working_set_bytes(folder: Path) -> int:
    return max(0, _count(folder / "memory.current") - _stat(folder / "memory.stat")["inactive_file"])


def _v1_memory_limit_bytes(folder: Path) -> float:
    limit_bytes = _count(folder / "memory.limit_in_bytes")
    return math.inf if limit_bytes >= _V1_NO_LIMIT_BYTES else limit_bytes


def _v2_memory_limit_bytes(folder: Path) -> float:
    limit_bytes = (folder / "memory.max").read_text().strip()
    return math.inf if limit_bytes == "max" else _natural(limit_bytes)


def _cpu_stat(folder: Path) -> dict[str, int]:
    return _stat(folder / "cpu.stat")


def _stat(file: Path) -> dict[str, int]:
    """The lines `key number` of a file; any other line is left out, so that its key is unknown."""
    pairs = (line.split() for line in file.read_text().splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}


def _count(file: Path) -> int:
    return _natural(file.read_text())


def _natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(f"{number} is negative")
    return number


def _unescaped(field: str) -> str:
    r"""A path of mountinfo, in which space, tab, newline and backslash stand as octal (`\040`)."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), field)


_V1 = _Files(
    fstype="cgroup",
    cpu_seconds=_v1_cpu_seconds,
    cpu_limit_cores=_v1_cpu_limit_cores,
    throttled_key="throttled_time",
    throttled_per_second=1e9,
    working_set_bytes=_v1_working_set_bytes,
    memory_limit_bytes=_v1_memory_limit_bytes,
)
_V2 = _Files(
    fstype="cgroup2",
    cpu_seconds=_v2_cpu_seconds,
    cpu_limit_cores=_v2_cpu_limit_cores,
    throttled_key="throttled_usec",
    throttled_per_second=1e6,
    working_set_bytes=_v2_working_set_bytes,
    memory_limit_bytes=_v2_memory_limit_bytes,
)
