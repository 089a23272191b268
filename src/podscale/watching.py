"""Shows pods again and again: as a live table with keys in a terminal, else as plain blocks or lines of JSON."""

import contextlib
import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from typing import TextIO

import msgspec
from rich.console import Console
from rich.live import Live

from podscale.analysis import words
from podscale.report import watch as shown
from podscale.sweep.targets import TargetError
from podscale.sweep.watch.options import SORTS
from podscale.sweep.watch.reader import Reader
from podscale.sweep.watch.results import Look
from podscale.sweep.watch.sources import Source

QUIT = "q"
YES = ("y", "Y", "\r", "\n")


class Keys:
    """What the keys have done so far: the order, the page, a question that waits for its answer, and what was said."""

    def __init__(self, source: Source, sort: str) -> None:
        self.sort = sort
        self.page = 0
        self._source = source
        self._asked: int | None = None
        self._now = 0
        self._said = ""
        self._said_for = 0

    def press(self, key: str) -> bool:
        """Act on one key; False where it is the one that ends."""
        self._said = ""
        if key in {"+", "-"}:
            self._change(1 if key == "+" else -1)
        elif self._asked is not None:
            size, self._asked = self._asked, None
            if key in YES:
                self._scale(size)
            else:
                self._say("not scaled")
        elif key == QUIT:
            return False
        elif key == "s":
            self.sort, self.page = SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)], 0
        elif key in {"n", "p"}:
            self.page += 1 if key == "n" else -1
        return True

    def line(self) -> str:
        """The question, the answer, or what can be pressed."""
        if self._asked is not None:
            change = f"scale from {self._now} to {words.pods(self._asked)}?"
            return f"{change} y/n, or + - for another number ({self._source.what})"
        return self._said or f"+ - scale   s sort: {self.sort}   n p page   q quit"

    def looked(self) -> None:
        """Another reading has come: what was said has been read after two of them."""
        self._said_for += 1
        if self._said_for >= 2:
            self._said = ""

    def _change(self, step: int) -> None:
        try:
            if self._asked is not None:
                self._asked = max(1, self._asked + step)
                return
            self._now = self._source.check_scaling()
            if self._source.asks_first:
                self._asked = max(1, self._now + step)
            else:
                self._scale(self._now + step)
        except TargetError as error:
            self._say(f"not scaled: {error}")

    def _scale(self, size: int) -> None:
        try:
            self._source.scale(size)
            self._say(f"asked for {words.pods(size)}")
        except TargetError as error:
            self._say(f"not scaled: {error}")

    def _say(self, text: str) -> None:
        self._said, self._said_for = text, 0


def live(source: Source, console: Console, *, interval_seconds: float, count: int | None, sort: str) -> None:
    """The table in a terminal until `q`, or so many readings; the last one stays to be seen afterwards."""
    reader, keys = Reader(source), Keys(source, sort)
    looks, goes_on = 0, True
    look = reader.look(time.time())
    with keyboard(sys.stdin) as pressed, Live(console=console, screen=True, auto_refresh=False) as screen:
        while goes_on:
            due = time.monotonic() + interval_seconds
            _show(screen, look, keys)
            while goes_on and (left := due - time.monotonic()) > 0:
                for key in pressed(left):
                    goes_on = goes_on and keys.press(key)
                    _show(screen, look, keys)
            if goes_on:
                look = reader.look(time.time())
                keys.looked()
                looks += 1
                goes_on = count is None or looks < count
    console.print(shown.block(shown.ordered(look, keys.sort), console.width))


def lines(source: Source, console: Console, *, interval_seconds: float, count: int | None, sort: str) -> None:
    """A block for each reading but the first, which has no rates yet."""
    for look in _looks(source, interval_seconds, count):
        console.print(shown.block(shown.ordered(look, sort), console.width))


def as_json(source: Source, out: TextIO, *, interval_seconds: float, count: int | None, sort: str) -> None:
    """One object a line for each reading but the first."""
    for look in _looks(source, interval_seconds, count):
        out.write(msgspec.json.encode(shown.ordered(look, sort)).decode() + "\n")
        out.flush()


def _looks(source: Source, interval_seconds: float, count: int | None) -> Iterator[Look]:
    reader = Reader(source)
    due = time.monotonic()
    reader.look(time.time())
    done = 0
    while count is None or done < count:
        due = max(due + interval_seconds, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
        yield reader.look(time.time())
        done += 1


def _show(screen: Live, look: Look, keys: Keys) -> None:
    size = screen.console.size
    page = shown.page(shown.ordered(look, keys.sort), size.height, keys.page)
    screen.update(shown.screen(look, page, size.width, keys.line()), refresh=True)


@contextlib.contextmanager
def keyboard(stdin: TextIO) -> Iterator[Callable[[float], str]]:
    """Gives a function that waits up to so many seconds for keys, and returns those that were pressed, often none."""
    if not stdin.isatty():
        yield _no_keys
        return
    number = stdin.fileno()
    before = termios.tcgetattr(number)
    tty.setcbreak(number)
    try:
        yield lambda seconds: _keys(number, seconds)
    finally:
        with contextlib.suppress(termios.error):  # the terminal may have been closed
            termios.tcsetattr(number, termios.TCSADRAIN, before)


def _keys(number: int, seconds: float) -> str:
    readable, _, _ = select.select([number], [], [], seconds)
    return os.read(number, 64).decode(errors="replace") if readable else ""


def _no_keys(seconds: float) -> str:
    time.sleep(seconds)
    return ""
