"""A stage second by second: a small picture, and the sentence that says the same."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from podscale.analysis import words
from podscale.report import figures, frame, style
from podscale.report.frame import Rows
from podscale.sweep.results import Result, Stage
from podscale.sweep.timeline import Timeline

WIDTH = 320  # pixels, of the whole picture: a column of a page, a telephone
_PLOT_WIDTH, _PLOT_HEIGHT = WIDTH - 62, 80


@dataclass(frozen=True)
class Moments:
    """One stage: its name, whether it counts, the sentence, and the picture as SVG."""

    name: str
    valid: bool
    says: str
    svg: str


def timelines(result: Result) -> list[Moments]:
    """A picture of each stage that has a timeline. Repeats share their axes, so that they can be held together."""
    found = []
    for stage in figures.in_order(result.stages):
        if stage.timeline is None:
            continue
        says = sentence(stage, stage.timeline)
        label = f"{figures.name(stage)}{'' if stage.valid else ' (void)'}, second by second. {says}"
        drawn = style.svg(timeline(stage, stage.timeline, _siblings(result, stage)))
        found.append(Moments(figures.name(stage), stage.valid, says, style.inline(drawn, label)))
    return found


def sentence(stage: Stage, timeline: Timeline) -> str:
    """The least and the most of the whole steps within the window, in words."""
    rows = [row for row in _rows(timeline) if _within(row, stage)]
    step = "second" if timeline.step_seconds == 1 else f"step of {words.number(timeline.step_seconds)} s"
    if not rows:
        return f"No whole {step} lies in the measuring window."
    answers = _range([row["answers"] for row in rows])
    p99s = [row["p99"] for row in rows if row["p99"] is not None]
    latency = f"p99 of a {step} {_range(p99s)} ms" if p99s else "no good answer"
    failed = sum(row["failed"] for row in rows)
    failures = f"{failed:,} failures" if failed else "no failures"
    return f"In the window: {answers} answers/s, {latency}, {failures}."


def timeline(stage: Stage, timeline: Timeline, siblings: Sequence[Timeline]) -> dict[str, Any]:
    """Answers and failures per second above, p50 and p99 below; grey is outside of the measuring window."""
    rows = _rows(timeline)
    every = [row for each in siblings for row in _rows(each)]
    rates = [row["answers"] + row["failures"] for row in every]
    p99s = [row["p99"] for row in every if row["p99"] is not None]
    x = alt.X(
        "from:Q",
        title=None,
        scale=alt.Scale(domain=[rows[0]["from"], rows[-1]["to"]], nice=False),
        axis=alt.Axis(tickCount=6, grid=False, format="d"),
    )
    outside = _outside_layer(stage, rows, x)
    above = alt.layer(*outside, *_rate_layers(rows, x, _axis("answers/s", rates)))
    below = alt.layer(*outside, *_latency_layers(rows, x, _axis("latency in ms", p99s)))
    panels = [panel.properties(width=_PLOT_WIDTH, height=_PLOT_HEIGHT) for panel in (above, below)]
    return style.finish(alt.vconcat(*panels, spacing=8), [], [], "transparent") | {"padding": 2}


def _siblings(result: Result, stage: Stage) -> list[Timeline]:
    """The timelines of the stage and of its repeats."""
    key = (stage.purpose, stage.size, stage.topology, stage.asked.arrivals)
    return [
        other.timeline
        for other in result.stages
        if other.timeline and (other.purpose, other.size, other.topology, other.asked.arrivals) == key
    ]


def _rows(timeline: Timeline) -> Rows:
    """One row for each step: rates per second, times in ms."""
    seconds = timeline.step_seconds
    columns = (timeline.answers, timeline.failures, timeline.p50_seconds, timeline.p99_seconds)
    return [
        {
            "from": timeline.start_seconds + number * seconds,
            "to": timeline.start_seconds + (number + 1) * seconds,
            "middle": timeline.start_seconds + (number + 0.5) * seconds,
            "answers": answers / seconds,
            "failures": failures / seconds,
            "all": (answers + failures) / seconds,
            "failed": failures,
            "zero": 0,
            "p50": None if p50 is None else p50 * 1000,
            "p99": None if p99 is None else p99 * 1000,
        }
        for number, (answers, failures, p50, p99) in enumerate(zip(*columns, strict=True))
    ]


def _within(row: dict[str, Any], stage: Stage) -> bool:
    return bool(row["from"] >= 0 and row["to"] <= _window_seconds(stage) + 1e-6)


def _window_seconds(stage: Stage) -> float:
    return stage.asked.measure_seconds if stage.measured_seconds is None else stage.measured_seconds


def _range(values: Sequence[float]) -> str:
    low, high = words.number(min(values)), words.number(max(values))
    return low if low == high else f"{low} to {high}"


def _axis(title: str, values: Sequence[float]) -> Callable[[str], alt.Y]:
    """An axis for any field, from 0 to the most of the stage and its repeats."""
    scale = alt.Scale(domain=[0, max([*values, 1e-9]) * 1.08], nice=False)
    axis = alt.Axis(tickCount=3, format=",.3~r", titlePadding=6)
    return lambda field: alt.Y(f"{field}:Q", title=title, scale=scale, axis=axis)


def _outside_layer(stage: Stage, rows: Rows, x: alt.X) -> list[alt.Chart]:
    """Warm-up, and what was answered after the window: in grey, with a line at each edge."""
    first, last, window = rows[0]["from"], rows[-1]["to"], _window_seconds(stage)
    parts = [{"from": first, "to": min(0.0, last)}, {"from": max(window, first), "to": last}]
    parts = [part for part in parts if part["to"] > part["from"]]
    edges = [{"from": edge} for edge in (0.0, window) if first < edge < last]
    layers = []
    if parts:
        layers.append(frame.chart(parts).mark_rect(color=style.GRID, aria=False).encode(x=x, x2="to:Q"))
    if edges:
        layers.append(frame.chart(edges).mark_rule(color=style.GREY, aria=False).encode(x=x))
    return layers


def _rate_layers(rows: Rows, x: alt.X, y: Callable[[str], alt.Y]) -> list[alt.Chart]:
    bars = frame.chart(rows)
    answers = bars.mark_rect(color=style.BLUE, aria=False).encode(x=x, x2="to:Q", y=y("answers"), y2="zero:Q")
    if not any(row["failed"] for row in rows):
        return [answers]
    failed = bars.mark_rect(color=style.ORANGE, aria=False).encode(x=x, x2="to:Q", y=y("all"), y2="answers:Q")
    return [answers, failed]


def _latency_layers(rows: Rows, x: alt.X, y: Callable[[str], alt.Y]) -> list[alt.Chart]:
    """Lines with a gap where nothing was answered; a point shows a second that has no neighbour."""
    layers = []
    for name, colour, dash in (("p50", style.GREEN, [4, 3]), ("p99", style.ORANGE, [1, 0])):
        base = frame.chart([row | {"from": row["middle"]} for row in rows])
        line = base.mark_line(
            color=colour, strokeDash=dash, strokeWidth=1.8, aria=False, invalid="break-paths-show-domains"
        )
        points = base.mark_circle(color=colour, size=9, opacity=1, aria=False)
        layers += [each.encode(x=x, y=y(name)) for each in (line, points)]
    return layers
