"""The balance chart: each pod of each stage, the silent ones too."""

import msgspec

from podscale.report import frame
from podscale.report.balance_chart import balance
from tests.report import samples
from tests.report.drawing import tooltips


def test_balance_shows_silent_pods() -> None:
    """A pod that got nothing is a mark at 0, not a missing mark."""
    shown = tooltips(balance(samples.mixed(), frame.WIDE))
    assert "2 pods, repeat 1: local-1 0 of 187 requests (0.0%) (void)" in shown
    stage = msgspec.structs.replace(samples.capacity_stage(3, 1), requests_by_pod={"a": 300})
    shown = tooltips(balance(samples.result(stages=[stage]), frame.WIDE))
    assert sum("0 of 300 requests" in text and "silent pod" in text for text in shown) == 2
