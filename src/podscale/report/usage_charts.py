"""What the pods used, by size: how often their quota stopped them, and their memory."""

from collections.abc import Callable
from typing import Any

import altair as alt

from podscale.analysis import words
from podscale.report import cells, figures, frame, style
from podscale.report.frame import Rows
from podscale.sweep.results import Result, Stage

# purpose -> name in the legend, colour, shape
_KINDS = {"capacity": ("saturated", style.BLUE, "circle"), "goal": ("at the goal rate", style.ORANGE, "diamond")}
_PERIODS = "share of quota periods throttled"
_MEMORY = "memory of all pods in MB"
_LOCAL = "local pods have no CPU quota"
_UNREAD = "the pods have no CPU quota, or none that could be read"


def throttling(result: Result, width: int, background: str = "white") -> dict[str, Any]:
    """The share of quota periods in which the kernel stopped pods, a mark for each stage."""
    title = "Throttled share of the quota periods"
    stages = [stage for stage in result.stages if figures.throttled_share(stage) is not None]
    if not stages:
        why = _LOCAL if result.asked.get("target") == "local" else _UNREAD
        return frame.without_data(f"No throttling is known: {why}.", result, title, width, background)
    rows = _rows(stages, lambda stage: figures.throttled_share(stage) or 0.0, lambda value: f"{value:.1%} throttled")
    counting = [stage for stage in stages if stage.valid] or stages
    most = max(counting, key=lambda stage: figures.throttled_share(stage) or 0.0)
    if most.valid:
        title = f"At most {cells.percent(figures.throttled_share(most))} of the quota periods were throttled"
    else:
        title = "No stage with a quota is valid: these shares do not count"
    scale = alt.Scale(domain=[0, max(0.01, *(row["value"] * 1.05 for row in rows))], nice=False)
    y = alt.Y("value:Q", title=_PERIODS, scale=scale, axis=alt.Axis(format=".2~%", tickCount=5))
    return frame.titled(_by_size(rows, [], y, width), result, title, width, background)


def memory(result: Result, width: int, background: str = "white") -> dict[str, Any]:
    """Memory of all pods in each stage, beside n times what one pod of the smallest size has."""
    title = "Memory by number of pods"
    stages = [stage for stage in result.stages if stage.memory_bytes is not None]
    if not stages:
        return frame.without_data(
            "No memory is known: the pods' figures could not be read.", result, title, width, background
        )
    counting = [stage for stage in stages if stage.valid] or stages
    smallest = min(counting, key=lambda stage: stage.size)
    each_mb = (smallest.memory_bytes or 0) / smallest.size / 1e6
    most = max(counting, key=lambda stage: stage.memory_bytes or 0)
    title = f"{words.pods(most.size)} had {cells.megabytes(most.memory_bytes)} MB at most"
    rows = _rows(stages, lambda stage: (stage.memory_bytes or 0) / 1e6, lambda value: f"{words.number(value)} MB")
    y = alt.Y("value:Q", title=_MEMORY, scale=alt.Scale(zero=True), axis=alt.Axis(format=",.3~r", tickCount=5))
    line = [{"size": size, "value": each_mb * size} for size in (0, max(stage.size for stage in stages))]
    return frame.titled(_by_size(rows, line, y, width), result, title, width, background)


def _rows(stages: list[Stage], pick: Callable[[Stage], float], says: Callable[[float], str]) -> Rows:
    return [
        {
            "size": stage.size,
            "value": pick(stage),
            "kind": _KINDS.get(stage.purpose, _KINDS["capacity"])[0],
            "valid": stage.valid,
            "description": frame.tooltip(stage, says(pick(stage))),
        }
        for stage in stages
    ]


def _by_size(rows: Rows, line: Rows, y: alt.Y, width: int) -> alt.LayerChart | alt.FacetChart:
    """Marks by size, hollow where the stage is void, over a dotted line."""
    sizes = sorted({row["size"] for row in rows})
    axis = alt.Axis(values=sizes, format="d", grid=False, labelOverlap="greedy", labelSeparation=6)
    end = max(sizes) * (1.06 if len(sizes) > 1 else 2)
    x = alt.X("size:Q", title="pods", axis=axis, scale=alt.Scale(domain=[0, end], nice=False))
    kinds = [kind for kind in _KINDS.values() if any(row["kind"] == kind[0] for row in rows)]
    names, colours, shapes = (list(column) for column in zip(*kinds, strict=True))
    points = (
        frame.chart(rows)
        .mark_point(size=75, strokeWidth=1.8, opacity=1)
        .encode(
            x=x,
            y=y,
            stroke=alt.Stroke("kind:N", scale=alt.Scale(domain=names, range=colours)),
            fill=alt.Fill("kind:N", scale=alt.Scale(domain=names, range=colours)),
            shape=alt.Shape("kind:N", scale=alt.Scale(domain=names, range=shapes)),
            fillOpacity=alt.FillOpacity("valid:N", scale=alt.Scale(domain=[True, False], range=[1, 0]), legend=None),
            description="description:N",
        )
    )
    dotted = frame.chart(line).mark_line(aria=False, color=style.GREY, strokeDash=[2, 3], strokeWidth=2.0)
    layers = [dotted.encode(x=x, y=y), points] if line else [points]
    chart: alt.LayerChart | alt.FacetChart = alt.layer(*layers).properties(
        width=width - 110, height=min(260, int(width * 0.6))
    )
    return chart
