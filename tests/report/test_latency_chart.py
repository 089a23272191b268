"""The latency chart: saturated and goal stages, the goal, and theory beside the measurement."""

from podscale.report import frame
from podscale.report.latency_chart import latency
from podscale.sweep.results import Advice
from tests.report import samples
from tests.report.drawing import texts, tooltips


def test_latency_shows_goal_quantiles_and_theory() -> None:
    """Saturated and goal stages apart, the goal as a line, and both lines of theory beside the p99."""
    specification = latency(samples.mixed(), frame.WIDE)
    drawn, shown = texts(specification), tooltips(specification)
    assert {"Saturated (closed model)", "At 104 requests/s (open model)", "goal: p99 <= 200 ms"} <= set(drawn)
    assert {"p50", "p90", "p99", "max", "theory p99: one shared queue"} <= set(drawn)
    assert "3 pods, goal: p99 91.5 ms" in shown
    assert any(text.startswith("theory p99: pod picked at random 112 ms") for text in shown)
    assert "2 pods, repeat 1: p99 883 ms (void)" in shown


def test_latency_without_a_goal_has_no_line() -> None:
    """No goal was asked for: none is drawn, and no theory either."""
    drawn = texts(latency(samples.one_size(), frame.WIDE))
    assert not any(text.startswith(("goal:", "theory")) for text in drawn)


def test_the_latency_axis_is_logarithmic_and_holds_all() -> None:
    """From below the lowest figure to above the highest, the goal included."""
    result = samples.mixed()
    result.advice = Advice(sentence=".", slo_p99_seconds=30)
    specification = latency(result, frame.WIDE)
    scale = specification["hconcat"][0]["layer"][0]["encoding"]["y"]["scale"]
    assert scale["type"] == "log"
    assert scale["domain"][0] < 21
    assert scale["domain"][1] > 30_000


def test_quantiles_differ_in_shape() -> None:
    """The marks are told apart without colours."""
    specification = latency(samples.mixed(), frame.WIDE)
    shapes = specification["hconcat"][0]["layer"][-1]["encoding"]["shape"]["scale"]["range"]
    assert len(set(shapes)) == 4
