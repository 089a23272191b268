"""Runs a command in a window of tmux, which interprets what is painted: its screen is what a person would see."""

import contextlib
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.e2e.terminal import Screen
from tests.processes import give_up


class Window(Screen):
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

    def read(self, seconds: float) -> None:
        """Wait: tmux reads what is painted."""
        time.sleep(seconds)


@contextlib.contextmanager
def tmux(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Iterator[Window]:
    """`command` in a shell of 80 columns and 24 lines, which then prints its exit code; its socket in `folder`.

    Without tmux the test is skipped, or fails where CI is true.
    """
    if shutil.which("tmux") is None:
        give_up("there is no tmux; install Debian's package of that name")
    window = Window(folder / "tmux", environment)
    shown = f"{shlex.join(command)}; echo exit code $?; exec cat"
    window.tmux("new-session", "-d", "-x", "80", "-y", "24", shown)
    try:
        yield window
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            window.tmux("kill-server")
