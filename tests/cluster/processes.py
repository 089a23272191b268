"""Starts the programs of a node and writes down which process each is, so that a later run can end exactly those."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.cluster.layout import Layout

_children: list[int] = []


class Process(NamedTuple):
    """A process for ever: ids are used again, but not with the same start time (clock ticks since the boot)."""

    pid: int
    start_ticks: int

    @property
    def alive(self) -> bool:
        """Whether it still runs; a process that has ended and waits for its parent does not."""
        return identify(self.pid) == self


def identify(pid: int) -> Process | None:
    """The running process with this id."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, *fields = stat.rpartition(")")[2].split()  # man proc_pid_stat: the name may hold spaces
    return None if state in "ZX" else Process(pid, int(fields[18]))


def this_run() -> Process:
    """The test run that this process is part of: with pytest-xdist that which started the worker."""
    process = identify(os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid())
    assert process is not None
    return process


def start(layout: Layout, node: int, name: str, *command: str) -> None:
    """Run `command` in the network of a node until `layout` is taken down; its log is logs/<name>.log."""
    logs, records = layout.root / "logs", layout.root / "processes"
    for folder in (logs, records):
        folder.mkdir(parents=True, exist_ok=True)
    inside = layout.inside(node, *command)
    # No Popen, which complains when a process leaves its children to others at its end, as pytest-xdist's workers do.
    child = os.posix_spawnp(
        inside[0],
        inside,
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, logs / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        setsigdef=[signal.SIGPIPE],  # which Python ignores, and its children would too
    )
    _children.append(child)
    process = identify(child)
    if process is not None:
        (records / f"{name}.json").write_text(json.dumps(process))


def recorded(layout: Layout) -> Iterator[Process]:
    """Those of the started processes that still run."""
    for path in _records(layout):
        process = _read(path)
        if process is not None and process.alive:
            yield process


def ended(layout: Layout) -> list[str]:
    """The names of the started processes that no longer run, for the message when a start fails."""
    alive = set(recorded(layout))
    return [path.stem for path in _records(layout) if _read(path) not in alive]


def reap() -> None:
    """Forget children that have ended."""
    _children[:] = [child for child in _children if os.waitpid(child, os.WNOHANG)[0] == 0]


def _records(layout: Layout) -> list[Path]:
    return sorted((layout.root / "processes").glob("*.json"))


def _read(path: Path) -> Process | None:
    try:
        return Process(*json.loads(path.read_text()))
    except ValueError:  # the run was killed while it wrote
        return None
