"""Runs a command in a pseudo-terminal and reads its screen as a person would, with the escape sequences taken out."""

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_HOME = "\x1b[H"


class Screen(ABC):
    """What a person would see of a command."""

    @abstractmethod
    def lines(self) -> list[str]:
        """The screen as it stands."""

    @abstractmethod
    def read(self, seconds: float) -> None:
        """Let so many seconds pass at most, for something new."""

    def wait_for(self, condition: Callable[[list[str]], bool], seconds: float, what: str) -> list[str]:
        """Read until the screen is as asked for; returns its lines."""
        deadline = time.monotonic() + seconds
        while not condition(lines := self.lines()):
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited {seconds} s for {what}; the screen:\n" + "\n".join(lines))
            self.read(0.1)
        return lines


class Terminal(Screen):
    """The command's screen: what it painted last, as lines."""

    def __init__(self, process: "subprocess.Popen[bytes]", number: int) -> None:
        self.process = process
        self.open = True
        self._number = number
        self._text = ""

    def press(self, keys: str) -> None:
        """As from a keyboard."""
        os.write(self._number, keys.encode())

    def lines(self) -> list[str]:
        """The newest picture that is whole, or what was printed so far."""
        return [line.rstrip() for line in _ESCAPE.sub("", self.painted()).replace("\r", "").splitlines()]

    def painted(self) -> str:
        """The same with its colours, as escape sequences."""
        pictures = self._text.split(_HOME)
        return pictures[-2] if len(pictures) > 2 else pictures[-1]

    def everything(self) -> str:
        """All that was printed."""
        return _ESCAPE.sub("", self._text)

    def read(self, seconds: float) -> None:
        """Take what comes within so many seconds."""
        if select.select([self._number], [], [], seconds)[0]:
            with contextlib.suppress(OSError):  # EIO once the command has ended
                self._text += os.read(self._number, 1 << 16).decode(errors="replace")

    def hang_up(self) -> None:
        """Close the terminal, as by closing its window."""
        os.close(self._number)
        self.open = False

    def ended(self, seconds: float) -> int:
        """The exit code."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read(0.1)
        self.read(0.1)
        return self.process.wait(0.1)


@contextlib.contextmanager
def terminal(
    command: Sequence[str], environment: Mapping[str, str], *, columns: int = 80, lines: int = 24
) -> Iterator[Terminal]:
    """`command` in a terminal of this size; ended by its id if a test fails."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    hidden = {"COLUMNS", "LINES", "NO_COLOR"}
    environment = {key: value for key, value in environment.items() if key not in hidden} | {"TERM": "xterm-256color"}
    # Only a terminal that controls its session turns Ctrl-C into a signal. setsid does not fork here: the id stays.
    process = subprocess.Popen(
        ["setsid", "--ctty", *command], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    screen = Terminal(process, ours)
    try:
        yield screen
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)
        if screen.open:
            os.close(ours)


def says(lines: list[str], text: str) -> bool:
    """Whether it is on the screen."""
    return any(text in line for line in lines)
