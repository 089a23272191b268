"""The load chart: theory as far as it goes, and every goal stage as it was measured."""

import pytest

from podscale.report import frame
from podscale.report.load_chart import load
from tests.report import samples
from tests.report.drawing import texts, tooltips


def test_every_goal_stage_is_a_mark_beside_theory() -> None:
    """Both sizes at the goal rate, the one beyond its capacity too; lines are named, and the goal stands there."""
    specification = load(samples.mixed(), frame.WIDE)
    assert sorted(tooltips(specification)) == ["2 pods, goal: p99 4,310 ms", "3 pods, goal: p99 91.5 ms"]
    drawn = texts(specification)
    assert {"theory: pod picked at random", "theory: one shared queue", "2 pods", "3 pods"} <= set(drawn)
    assert "goal: p99 <= 200 ms" in drawn
    title = "".join(specification["title"]["text"])
    assert title.startswith("3 pods at 74% of their capacity: p99 91.5 ms, in theory ")


def test_curves_rise_and_end_at_the_capacity() -> None:
    """No line goes to where no queue settles; a shared queue is never slower than a random choice, save simulation."""
    specification = load(samples.mixed(), frame.WIDE)
    rows = [row for rows in specification["datasets"].values() for row in rows if "theory" in row]
    for pods, capacity in (("2 pods", 94.8), ("3 pods", 142.0)):
        own = [row for row in rows if row["size"] == pods]
        assert max(row["rate"] for row in own) == pytest.approx(0.985 * capacity, rel=0.02)
        chosen, shared = ([row["ms"] for row in own if row["theory"].endswith(name)] for name in ("random", "queue"))
        assert chosen == sorted(chosen)
        assert all(one >= other * 0.95 for one, other in zip(chosen, shared, strict=True))


def test_without_a_capacity_there_are_marks_alone() -> None:
    """An open sweep measures no capacity: what was measured is drawn, and no theory."""
    result = samples.mixed()
    result.stages = [stage for stage in result.stages if stage.purpose == "goal"]
    drawn = load(result, frame.WIDE)
    assert len(tooltips(drawn)) == 2
    assert not any(text.startswith("theory") for text in texts(drawn))
    assert drawn["title"]["text"] == ["p99 against load"]
