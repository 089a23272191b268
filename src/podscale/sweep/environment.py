"""Where a measurement was made: what a reader needs to judge whether it carries over."""

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

PACKAGES = ("locust", "starlette", "uvicorn", "uvloop", "httptools", "numpy")


def describe(proc: Path = Path("/proc")) -> dict[str, Any]:
    """Machine, kernel and versions. A value that cannot be had is None."""
    load_average = os.getloadavg()
    return {
        "hostname": platform.node(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpu_model": _cpu_model(proc),
        "cores": usable_cores(),
        "memory_bytes": psutil.virtual_memory().total,
        "load_average_1_min": round(load_average[0], 2),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "podscale": metadata.version("podscale"),
        **{package: _version(package) for package in PACKAGES},
    }


def usable_cores() -> int:
    """Cores that this process may run on: the machine's, less what its affinity mask forbids."""
    return len(os.sched_getaffinity(0))


def _cpu_model(proc: Path) -> str | None:
    try:
        lines = (proc / "cpuinfo").read_text().splitlines()
    except OSError:
        return None
    names = [line.partition(":")[2].strip() for line in lines if line.lower().startswith(("model name", "cpu model"))]
    return names[0] if names else None


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
