"""Starts the programs of a node and writes down which process each is, so that a later run can end exactly those."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.cluster.layout import Layout

# Held for as long as this process lives: one that is forgotten could not be waited for.
_children: list["subprocess.Popen[bytes]"] = []


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


def start(layout: Layout, node: int, name: str, *command: str) -> None:
    """Run `command` in the network of a node until `layout` is taken down; its log is logs/<name>.log."""
    logs, records = layout.root / "logs", layout.root / "processes"
    for folder in (logs, records):
        folder.mkdir(parents=True, exist_ok=True)
    with (logs / f"{name}.log").open("wb") as log:
        child = subprocess.Popen(
            layout.inside(node, *command),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    _children.append(child)
    process = identify(child.pid)
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
    _children[:] = [child for child in _children if child.poll() is None]


def _records(layout: Layout) -> list[Path]:
    return sorted((layout.root / "processes").glob("*.json"))


def _read(path: Path) -> Process | None:
    try:
        return Process(*json.loads(path.read_text()))
    except ValueError:  # the run was killed while it wrote
        return None
