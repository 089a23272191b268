"""A stage second by second: the picture and its sentence agree, and what lies outside of the window is told apart."""

import msgspec

from podscale.report.timeline_chart import sentence, timeline, timelines
from podscale.sweep.timeline import Timeline
from tests.report import samples


def of(**changes: object) -> Timeline:
    """Two seconds of warm-up, a window of six that slows down, one second after it."""
    made = Timeline(
        start_seconds=-2.0,
        step_seconds=1.0,
        answers=[900, 50, 50, 49, 48, 47, 46, 40, 3],
        failures=[7, 0, 0, 0, 0, 0, 0, 2, 9],
        p50_seconds=[9.0, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.3, 0.3],
        p99_seconds=[9.0, 0.2, 0.2, 0.2, 0.3, 0.3, 0.4, 0.5, 9.0],
    )
    return msgspec.structs.replace(made, **changes)


def rows_of(specification: dict[str, object], key: str) -> list[list[dict[str, float]]]:
    """The data of the layers that have such a field."""
    datasets = specification["datasets"]
    assert isinstance(datasets, dict)
    return [rows for rows in datasets.values() if key in rows[0]]


def test_the_sentence_is_of_the_window_alone() -> None:
    """Neither the warm-up nor what came after it counts."""
    stage = samples.capacity_stage(1, 1)
    assert sentence(stage, of()) == "In the window: 40 to 50 answers/s, p99 of a second 200 to 500 ms, 2 failures."


def test_longer_steps_are_rates_all_the_same() -> None:
    """60 answers in two seconds are 30 a second; without a good answer there is no p99."""
    stage = samples.capacity_stage(1, 1)
    twos = Timeline(
        start_seconds=-2.0,
        step_seconds=2.0,
        answers=[60, 60, 60],
        failures=[0, 0, 0],
        p50_seconds=[0.1] * 3,
        p99_seconds=[0.2] * 3,
    )
    assert sentence(stage, twos) == "In the window: 30 answers/s, p99 of a step of 2 s 200 ms, no failures."
    silent = of(answers=[0] * 9, p50_seconds=[None] * 9, p99_seconds=[None] * 9)
    assert sentence(stage, silent) == "In the window: 0 answers/s, no good answer, 2 failures."
    short = of(answers=[5], failures=[0], p50_seconds=[0.1], p99_seconds=[0.1])
    assert sentence(stage, short) == "No whole second lies in the measuring window."


def test_grey_and_lines_mark_the_window() -> None:
    """From -2 to 0 and from 6 on is grey; a line stands where the window opens and where it closes."""
    stage = samples.capacity_stage(1, 1)
    specification = timeline(stage, of(), [of()])
    grey = [(row["from"], row["to"]) for row in rows_of(specification, "to")[0]]
    assert (-2.0, 0.0) in grey
    assert (6.0, 7.0) in grey
    edges = [[row["from"] for row in rows] for rows in rows_of(specification, "from") if "to" not in rows[0]]
    assert edges == [[0.0, 6.0]]


def test_repeats_share_their_axes() -> None:
    """The higher repeat sets the scale of both; another size has its own."""
    result = samples.mixed()
    low, high = (msgspec.structs.replace(samples.capacity_stage(1, repeat), timeline=of()) for repeat in (1, 2))
    high = msgspec.structs.replace(high, timeline=of(answers=[2000] * 9))
    result.stages = [low, high]
    found = timelines(result)
    assert [moments.name for moments in found] == ["1 pod, repeat 1", "1 pod, repeat 2"]
    assert all("2,000" in moments.svg for moments in found)
    result.stages = [low]
    assert "2,000" not in timelines(result)[0].svg


def test_a_stage_without_a_timeline_has_no_picture() -> None:
    """A stage that was not reached, or was measured before there was one."""
    result = samples.mixed()
    result.stages = [samples.not_reached_stage(6, 1)]
    assert timelines(result) == []
