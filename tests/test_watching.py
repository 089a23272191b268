"""Tests of what the keys of the live table do."""

import contextlib
import io
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, TextIO

import pytest
from rich.console import Console

from podscale import watching
from podscale.sweep.targets import TargetError
from podscale.sweep.watch.errands import Errands, Then, Work
from podscale.sweep.watch.options import SORTS
from podscale.sweep.watch.rates import Seen
from podscale.sweep.watch.sources import Glance


class Pretended:
    """A source of so many pods that does what it is told, or refuses."""

    what = "Deployment shop"

    def __init__(self, *, asks_first: bool, refuses: str = "") -> None:
        self.asks_first = asks_first
        self.size = 2
        self.refuses = refuses

    def look(self) -> Glance:
        return Glance(pods=[Seen(pod=f"pod-{n}", key=str(n), state="Ready", ready=True) for n in range(self.size)])

    def check_scaling(self) -> int:
        if self.refuses:
            raise TargetError(self.refuses)
        return self.size

    def scale(self, size: int) -> None:
        if size > 4:
            raise TargetError("4 pods are the most")
        self.size = size

    def close(self) -> None:
        """Nothing."""


class Slow(Pretended):
    """Answers when it is let."""

    def __init__(self) -> None:
        super().__init__(asks_first=True)
        self.may_answer = threading.Event()

    def look(self) -> Glance:
        self.may_answer.wait(5)
        return super().look()


class Costly(Pretended):
    """Takes 0.1 s of CPU for each answer."""

    def look(self) -> Glance:
        begun = time.thread_time()
        while time.thread_time() < begun + 0.1:
            pass
        return super().look()


def at_once(work: Work, then: Then) -> None:
    """As if everything took no time."""
    found: Future[Any] = Future()
    try:
        found.set_result(work())
    except TargetError as error:
        found.set_exception(error)
    then(found)


def pressed(source: Pretended, keys: str) -> watching.Keys:
    """After these keys."""
    found = watching.Keys(source, "name", at_once)
    for key in keys:
        assert found.press(key)
    return found


def test_local_pods_scale_at_once() -> None:
    """They are the user's own, and started for this."""
    source = Pretended(asks_first=False)
    assert pressed(source, "++").line() == "asked for 4 pods"
    assert source.size == 4
    assert pressed(source, "+").line() == "not scaled: 4 pods are the most"
    pressed(source, "---")
    assert source.size == 1


def test_a_cluster_is_scaled_after_a_yes() -> None:
    """The question says from and to; further keys change the number; nothing happens before the answer."""
    source = Pretended(asks_first=True)
    keys = pressed(source, "++-+")
    assert keys.line().startswith("scale from 2 to 4 pods? y/n")
    assert source.size == 2
    keys.press("y")
    assert (source.size, keys.line()) == (4, "asked for 4 pods")
    keys.looked()
    assert keys.line() == "asked for 4 pods"
    keys.looked()
    assert keys.line().startswith("+ - scale")


def test_any_other_key_is_a_no() -> None:
    """Also the one that ends: a question is answered first."""
    for key in ("n", "q", "x", " ", "s"):
        source = Pretended(asks_first=True)
        assert pressed(source, "-" + key).line() == "not scaled"
        assert source.size == 2


def test_a_refusal_is_told_and_asks_nothing() -> None:
    """An autoscaler owns it: its name is shown, and a yes afterwards does nothing."""
    source = Pretended(asks_first=True, refuses="HorizontalPodAutoscaler shop owns shop")
    keys = pressed(source, "+")
    assert keys.line() == "not scaled: HorizontalPodAutoscaler shop owns shop"
    keys.press("y")
    assert source.size == 2


def test_the_order_goes_round_and_q_ends() -> None:
    """Each press takes the next order; pages go both ways."""
    keys = pressed(Pretended(asks_first=False), "s" * len(SORTS))
    assert keys.sort == "name"
    assert f"sort: {SORTS[1]}" in pressed(Pretended(asks_first=False), "s").line()
    assert pressed(Pretended(asks_first=False), "nnp").page == 1
    assert not keys.press("q")


def test_keys_are_heard_while_somebody_looks_who_owns_the_size() -> None:
    """More of the same change the number; a yes that was typed before the question is none; then it is asked."""
    source = Pretended(asks_first=True)
    asked: list[tuple[Work, Then]] = []
    keys = watching.Keys(source, "name", lambda work, then: asked.append((work, then)))
    for key in "++ys":
        assert keys.press(key)
    assert keys.line() == "looking whether an autoscaler or a sweep owns the size"
    assert (keys.sort, len(asked)) == (SORTS[1], 1)
    at_once(*asked.pop())
    assert keys.line().startswith("scale from 2 to 4 pods? y/n")
    assert source.size == 2


def test_a_slow_source_holds_no_key() -> None:
    """Its first reading takes 5 s: the table stands meanwhile, keys are answered, and `q` ends it at once."""
    source = Slow()
    seconds, picture = ended_by(source, [(0.3, "s"), (0.6, "q")])
    assert seconds < 2
    assert "waiting for the first reading" in picture
    assert f"sort: {SORTS[1]}" in picture


def test_an_order_without_an_answer_is_told_at_the_end() -> None:
    """A yes that stands behind a slow reading when `q` ends the table is not lost in silence."""
    source = Slow()
    source.may_answer.set()
    _, picture = ended_by(source, [(0.3, "+"), (0.6, "hang"), (1.3, "y"), (1.5, "q")])
    assert "ended before there was an answer to 3 pods: look whether it was scaled" in picture
    source = Slow()
    source.may_answer.set()
    _, picture = ended_by(source, [(0.3, "+"), (0.6, "y"), (0.8, "q")])
    assert "ended before" not in picture
    assert source.size == 3


def test_a_late_reading_says_how_old_the_one_before_is() -> None:
    """Only while it is late: the title has the age then, and the rows stay."""
    source = Slow()
    source.may_answer.set()
    seconds, picture = ended_by(source, [(0.3, "hang"), (2.2, "q")])
    assert seconds < 4
    assert re.search(r"\d\d:\d\d:\d\d  2 of 2 pods Ready", picture)
    assert re.search(r"\d\d:\d\d:\d\d, \ds ago  2 of 2 pods Ready", picture)


def test_costly_readings_come_less_often() -> None:
    """Each takes 0.1 s of CPU: that is 5 % of a core every two seconds, whatever interval was asked for."""
    errands = Errands()
    readings = watching.Readings(Costly(asks_first=False), errands, 0.01, lambda: None)
    begun = time.monotonic()
    while time.monotonic() < begun + 5:
        readings.go_on()
        errands.hear()
        time.sleep(0.02)
    # At once, again since the first may be dear for other reasons, and then after two seconds each.
    assert 3 <= readings.made <= 5


def ended_by(source: Slow, script: list[tuple[float, str]]) -> tuple[float, str]:
    """Seconds until the live table ended, and all that it showed; `script` says when which key comes, or a hang."""
    begun = time.monotonic()

    @contextlib.contextmanager
    def typing(_: TextIO) -> Iterator[Callable[[float], str]]:
        yield typed

    def typed(seconds: float) -> str:
        time.sleep(seconds)
        if not script or time.monotonic() - begun < script[0][0]:
            return ""
        _, key = script.pop(0)
        if key == "hang":
            source.may_answer.clear()
            return ""
        return key

    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=80, height=24)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watching, "keyboard", typing)
        watching.live(source, console, interval_seconds=0.5, count=None, sort="name")
    source.may_answer.set()
    return time.monotonic() - begun, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.getvalue())


def test_json_is_one_object_a_line() -> None:
    """As many as were asked for; what is unknown is null."""
    out = io.StringIO()
    watching.as_json(Pretended(asks_first=False), out, interval_seconds=0.01, count=3, sort="name")
    looks = [json.loads(line) for line in out.getvalue().splitlines()]
    assert len(looks) == 3
    assert [pod["pod"] for pod in looks[0]["pods"]] == ["pod-0", "pod-1"]
    assert looks[0]["pods"][0]["cpu_cores"] is None
    assert looks[0]["total"]["ready"] == 2
