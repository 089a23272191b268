"""Runs the command `podscale` as a user does, and finds whatever it leaves behind."""

import contextlib
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.cluster import Cluster


@dataclass
class Command:
    """A started command. Its children inherit a mark in their environment, by which they are found."""

    process: "subprocess.Popen[str]"
    mark: str
    out: Path
    stdout: str = ""
    stderr: str = ""

    def wait(self, seconds: float = 120) -> int:
        """The exit code; keeps what was printed."""
        self.stdout, self.stderr = self.process.communicate(timeout=seconds)
        return self.process.returncode

    def result(self) -> dict[str, Any]:
        """The result file as plain JSON."""
        data: dict[str, Any] = json.loads((self.out / "result.json").read_text())
        return data

    def processes(self) -> list[int]:
        """Ids of living processes that carry the mark, the command itself left out."""
        found = []
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit() or int(folder.name) == self.process.pid:
                continue
            with contextlib.suppress(OSError):
                if f"MARK_{self.mark}".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
        return found


@contextlib.contextmanager
def podscale(*arguments: str, out: Path, cluster: Cluster | None = None) -> Iterator[Command]:
    """`podscale <arguments>` with its output caught, where it reaches `cluster`; ended by its id if a test fails."""
    mark = uuid.uuid4().hex
    environment = (cluster.environment() if cluster else os.environ) | {"COLUMNS": "80", "SWEEP_TEST": f"MARK_{mark}"}
    command = [sys.executable, "-m", "podscale.cli", *arguments]
    process = subprocess.Popen(
        cluster.command(*command) if cluster else command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        yield Command(process, mark, out)
    finally:
        if process.poll() is None:
            process.kill()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        process.wait(10)
