"""Shows pods again and again: as a live table with keys in a terminal, else as plain blocks or lines of JSON."""

import contextlib
import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import TextIO

import msgspec
from rich.console import Console
from rich.live import Live

from podscale.analysis import words
from podscale.report import watch as shown
from podscale.sweep.targets import TargetError
from podscale.sweep.watch.errands import Errands, Then, Work
from podscale.sweep.watch.options import SORTS
from podscale.sweep.watch.reader import Reader
from podscale.sweep.watch.results import Look
from podscale.sweep.watch.sources import Source

QUIT = "q"
YES = ("y", "Y", "\r", "\n")
# How often the loop looks up from the keyboard for a reading that has come.
TICK_SECONDS = 0.1
# A reading that takes longer is late: from then on the title says how old the one is that is shown.
LATE_SECONDS = 1.0
# The live table reads less often where a reading costs more than this of a core.
MOST_OF_A_CORE = 0.05
# At the end, for a reading that is under way.
PATIENCE_SECONDS = 0.2


class Keys:
    """What the keys have done so far: the order, the page, a question that waits for its answer, and what was said.

    The source is asked by `ask`, aside: it may take its time, and further keys are heard meanwhile.
    """

    def __init__(self, source: Source, sort: str, ask: Callable[[Work, Then], None]) -> None:
        self.sort = sort
        self.page = 0
        self._source = source
        self._ask = ask
        self._looking_for: int | None = None  # the change that was asked for, while it is found out who owns the size
        self._asked: int | None = None
        self._ordered: int | None = None  # after a yes, until the source has answered
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
                self._ordered = size
                self._say(f"asking for {words.pods(size)}")
                self._ask(partial(self._scale, size), self._answered)
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
        if self._looking_for is not None:
            return "looking whether an autoscaler or a sweep owns the size"
        return self._said or f"+ - scale   s sort: {self.sort}   n p page   q quit"

    def left_open(self) -> str | None:
        """What to say at the end of an order that has had no answer."""
        if self._ordered is None:
            return None
        return f"ended before there was an answer to {words.pods(self._ordered)}: look whether it was scaled"

    def looked(self) -> None:
        """Another reading has come: what was said has been read after two of them."""
        self._said_for += 1
        if self._said_for >= 2:
            self._said = ""

    def _change(self, step: int) -> None:
        if self._asked is not None:
            self._asked = max(1, self._asked + step)
        elif self._looking_for is not None:
            self._looking_for += step
        elif self._source.asks_first:
            self._looking_for = step
            self._ask(self._source.check_scaling, self._found)
        else:
            self._ask(lambda: self._scale(self._source.check_scaling() + step), self._answered)

    def _found(self, found: "Future[int]") -> None:
        step, self._looking_for = self._looking_for or 0, None
        try:
            self._now = found.result()
            self._asked = max(1, self._now + step)
        except TargetError as error:
            self._say(f"not scaled: {error}")

    def _scale(self, size: int) -> int:
        self._source.scale(size)
        return size

    def _answered(self, size: "Future[int]") -> None:
        self._ordered = None
        try:
            self._say(f"asked for {words.pods(size.result())}")
        except TargetError as error:
            self._say(f"not scaled: {error}")

    def _say(self, text: str) -> None:
        self._said, self._said_for = text, 0


class Readings:
    """Makes one after the other, aside, and has the newest; each is told by `made_one`."""

    def __init__(self, source: Source, errands: Errands, interval_seconds: float, made_one: Callable[[], None]) -> None:
        self.newest: Look | None = None
        self.made = 0
        self._what = source.what
        self._reader = Reader(source)
        self._errands = errands
        self._interval_seconds = interval_seconds
        self._made_one = made_one
        self._asked_at: float | None = None
        self._due = 0.0
        self._cpu_seconds = 0.0

    def go_on(self) -> None:
        """Begin the next one once it is due and the one before has come."""
        now = time.monotonic()
        if self._asked_at is None and now >= self._due:
            self._asked_at, self._due = now, now + self._interval_seconds
            self._errands.ask(lambda: self._reader.look(time.time()), self._take)

    def look(self) -> Look:
        """The newest, or one that knows nothing yet."""
        note = "waiting for the first reading"
        first = Look(at_seconds=time.time(), what=self._what, wanted=None, pods=[], total=None, notes=[note])
        return self.newest or first

    def old_seconds(self) -> int | None:
        """How old the newest is, while the next one is late."""
        late = self._asked_at is not None and time.monotonic() - self._asked_at > LATE_SECONDS
        return int(time.time() - self.newest.at_seconds) if late and self.newest is not None else None

    def _take(self, found: "Future[Look]") -> None:
        begun, self._asked_at = self._asked_at, None
        self.newest = found.result()
        self.made += 1
        self._made_one()
        # All that the process did since the reading before; the first one loads modules and connects.
        before, self._cpu_seconds = self._cpu_seconds, time.process_time()
        if begun is not None and self.made > 1:
            self._due = max(self._due, begun + (self._cpu_seconds - before) / MOST_OF_A_CORE)


def live(source: Source, console: Console, *, interval_seconds: float, count: int | None, sort: str) -> None:
    """The table in a terminal until `q`, a signal, or so many readings; the last one stays to be seen afterwards."""
    errands = Errands()
    keys = Keys(source, sort, errands.ask)
    readings = Readings(source, errands, interval_seconds, keys.looked)
    drawn = None
    try:
        with keyboard(sys.stdin) as pressed, Live(console=console, screen=True, auto_refresh=False) as screen:
            while (count is None or readings.made <= count) and all(map(keys.press, pressed(TICK_SECONDS))):
                errands.hear()
                readings.go_on()
                state = readings.made, readings.old_seconds(), keys.sort, keys.page, keys.line(), console.size
                if state != drawn:
                    _show(screen, readings, keys)
                    drawn = state
    finally:
        errands.stop(PATIENCE_SECONDS)
        errands.hear()
        _leave(console, readings, keys)


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


def _show(screen: Live, readings: Readings, keys: Keys) -> None:
    size, look = screen.console.size, readings.look()
    page = shown.page(shown.ordered(look, keys.sort), size.height, keys.page)
    screen.update(shown.screen(look, page, size.width, keys.line(), readings.old_seconds()), refresh=True)


def _leave(console: Console, readings: Readings, keys: Keys) -> None:
    """What stays in the terminal, unless its window was closed."""
    if not console.is_terminal:
        return
    if readings.newest is not None:
        console.print(shown.block(shown.ordered(readings.newest, keys.sort), console.width))
    if (left_open := keys.left_open()) is not None:
        console.print(left_open, markup=False)


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
