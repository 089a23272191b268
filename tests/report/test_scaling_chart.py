"""The scaling chart: every point is there, and no line says more than was measured."""

from podscale.report import frame
from podscale.report.scaling_chart import scaling
from tests.report import samples
from tests.report.drawing import texts, tooltips


def test_scaling_shows_every_repeat_and_marks_the_void() -> None:
    """One mark for each stage with a throughput, and none for the stage that was not reached."""
    shown = tooltips(scaling(samples.mixed(), frame.WIDE))
    assert len(shown) == 8
    assert [text for text in shown if text.endswith("(void)")] == ["2 pods, repeat 1: 31.2 requests/s (void)"]
    assert {"measured", "void, does not count"} <= set(texts(scaling(samples.mixed(), frame.WIDE)))
    assert "void, does not count" not in texts(scaling(samples.one_size(), frame.WIDE))


def test_scaling_draws_only_the_laws_that_were_fitted() -> None:
    """Line, Amdahl and USL with their coefficients where they were fitted; no line from a single size."""
    drawn = texts(scaling(samples.mixed(), frame.WIDE))
    assert any(text.startswith("n times one pod (47.8/s)") for text in drawn)
    assert any(text.startswith("Amdahl fit (contention 0.") for text in drawn)
    assert any(text.startswith("USL fit (contention 0.") for text in drawn)
    alone = texts(scaling(samples.one_size(), frame.WIDE))
    assert not any("fit" in text or "n times" in text for text in alone)


def test_two_sizes_have_a_straight_line_without_a_law() -> None:
    """With two sizes Amdahl is refused; n times the measured single pod is still drawn."""
    stages = [samples.capacity_stage(1, 1), samples.capacity_stage(2, 1)]
    drawn = texts(scaling(samples.result(stages=stages, fits=samples.fits(stages)), frame.WIDE))
    assert any(text.startswith("n times one pod (48.6/s)") for text in drawn)
    assert not any("Amdahl" in text for text in drawn)


def test_lines_end_with_the_measurement() -> None:
    """The void and unreached size 6 does not stretch the curves: nothing is drawn beyond size 4."""
    specification = scaling(samples.mixed(), frame.WIDE)
    lines = specification["datasets"][specification["layer"][0]["data"]["name"]]
    assert max(row["size"] for row in lines) == 4


def test_the_scaling_title_is_the_finding() -> None:
    """How much the most pods do, against one pod; without a valid stage it makes no claim."""
    assert scaling(samples.mixed(), frame.WIDE)["title"]["text"] == ["4 pods do 188 requests/s, 97% of 4 times 1 pod"]
    void = scaling(samples.all_void(), frame.WIDE)["title"]["text"]
    assert void == ["No capacity stage is valid: these throughputs do not count"]


def test_laws_differ_in_dash() -> None:
    """The lines are told apart without colours."""
    specification = scaling(samples.mixed(), frame.WIDE)
    dashes = specification["layer"][0]["encoding"]["strokeDash"]["scale"]["range"]
    assert len(set(map(tuple, dashes))) == 3


def test_three_repeats_have_an_interval_and_two_have_none() -> None:
    """A bar for each size that was measured three times, around its mean."""
    bars = [rows for rows in scaling(samples.many(), frame.WIDE)["datasets"].values() if "high" in rows[0]]
    assert len(bars[0]) == 12
    assert all(row["throughput"] < row["high"] for row in bars[0])
    assert not any("high" in rows[0] for rows in scaling(samples.mixed(), frame.WIDE)["datasets"].values())


def test_a_fitted_law_has_a_band_and_a_straight_line_has_none() -> None:
    """Around the whole curve, and no further than what was measured."""
    bands = [rows for rows in scaling(samples.mixed(), frame.WIDE)["datasets"].values() if "top" in rows[0]]
    assert len(bands) == 1
    assert (bands[0][0]["size"], bands[0][-1]["size"]) == (1, 4)
    assert all(row["throughput"] < row["top"] for row in bands[0])
    alone = scaling(samples.one_size(), frame.WIDE)["datasets"].values()
    assert not any("top" in rows[0] for rows in alone)
