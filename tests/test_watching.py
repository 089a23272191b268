"""Tests of what the keys of the live table do."""

import io
import json

from podscale import watching
from podscale.sweep.targets import TargetError
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


def pressed(source: Pretended, keys: str) -> watching.Keys:
    """After these keys."""
    found = watching.Keys(source, "name")
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


def test_json_is_one_object_a_line() -> None:
    """As many as were asked for; what is unknown is null."""
    out = io.StringIO()
    watching.as_json(Pretended(asks_first=False), out, interval_seconds=0.01, count=3, sort="name")
    looks = [json.loads(line) for line in out.getvalue().splitlines()]
    assert len(looks) == 3
    assert [pod["pod"] for pod in looks[0]["pods"]] == ["pod-0", "pod-1"]
    assert looks[0]["pods"][0]["cpu_cores"] is None
    assert looks[0]["total"]["ready"] == 2
