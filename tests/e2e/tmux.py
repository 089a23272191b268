"""Runs a command in a window of tmux, which interprets what is painted: its screen is what a person would see."""

import contextlib
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest


class Window:
    """The one window of a tmux server of its own."""

    def __init__(self, socket: Path, environment: Mapping[str, str]) -> None:
        self._socket = socket
        self._environment = {key: value for key, value in environment.items() if key not in ("TMUX", "COLUMNS")}

    def tmux(self, *arguments: str) -> str:
        """What tmux prints; it reads nobody's configuration."""
        command = ["tmux", "-S", str(self._socket), "-f", os.devnull, *arguments]
        return subprocess.run(
            command, env=self._environment, check=True, capture_output=True, text=True, timeout=10
        ).stdout

    def press(self, *keys: str) -> None:
        """As from a keyboard, `C-c` for Ctrl-C."""
        self.tmux("send-keys", *keys)

    def resize(self, columns: int, lines: int) -> None:
        """As by dragging the window's corner."""
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def lines(self) -> list[str]:
        """The screen as it stands."""
        return [line.rstrip() for line in self.tmux("capture-pane", "-p").splitlines()]

    def wait_for(self, condition: Callable[[list[str]], bool], seconds: float, what: str) -> list[str]:
        """Look until the screen is as asked for; returns its lines."""
        deadline = time.monotonic() + seconds
        while not condition(lines := self.lines()):
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited {seconds} s for {what}; the screen:\n" + "\n".join(lines))
            time.sleep(0.1)
        return lines


@contextlib.contextmanager
def tmux(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Iterator[Window]:
    """`command` in a shell of 80 columns and 24 lines, which then prints its exit code; its socket in `folder`.

    Without tmux the test is skipped, or fails where CI is true.
    """
    if shutil.which("tmux") is None:
        missing = "there is no tmux; install Debian's package of that name"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    window = Window(folder / "tmux", environment)
    shown = f"{shlex.join(command)}; echo exit code $?; exec cat"
    window.tmux("new-session", "-d", "-x", "80", "-y", "24", shown)
    try:
        yield window
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            window.tmux("kill-server")
