"""What all charts share beside their style: widths, titles that fit, the conditions, and the chart without data."""

import textwrap
from typing import Any

import altair as alt

from podscale.report import cells, figures, style
from podscale.sweep.results import Result, Stage

NOTHING = "podscale_nothing"  # under `usermeta` of a chart without data: the reason
WIDE = 960  # pixels, of the whole chart: a page, a README
NARROW = 360  # a telephone
_PIXELS_PER_CHARACTER = 9.6  # of a title, in the widest of the fonts that a reader may have

Rows = list[dict[str, Any]]


def titled(drawing: Any, result: Result, title: str, width: int, background: str) -> dict[str, Any]:
    """The specification of `drawing`, with title and conditions broken to `width`."""
    characters = int(width / _PIXELS_PER_CHARACTER)
    below = textwrap.wrap(conditions(result), int(characters * 1.4))
    return style.finish(drawing, textwrap.wrap(title, characters), below, background)


def without_data(reason: str, result: Result, title: str, width: int, background: str) -> dict[str, Any]:
    """The same of a chart that has nothing to show, and says why."""
    return titled(nothing(reason, width), result, title, width, background)


def conditions(result: Result) -> str:
    """Under which the figures hold, in one line: work, connections, time, machine."""
    machine = [result.environment.get("hostname"), result.environment.get("cores")]
    where = [str(machine[0])] if machine[0] else []
    where += [f"{machine[1]} cores"] if machine[1] else []
    return "; ".join([*_asked(result.stages), ", ".join(where)]).strip("; ") or "conditions unknown"


def _asked(stages: list[Stage]) -> list[str]:
    if not stages:
        return []
    asked = stages[0].asked
    work = [asked.scenario, *(f"{key} {cells.plain(key, value)}" for key, value in asked.options.items())]
    return [", ".join(work), f"connections: {asked.connections}"]


def chart(rows: Rows) -> alt.Chart:
    """A chart of `rows`, which it carries in itself."""
    return alt.Chart(alt.InlineData(values=rows))


def tooltip(stage: Stage, what: str) -> str:
    """What a mark says when pointed at: which stage, its figure, and whether it counts."""
    return f"{figures.name(stage)}: {what}{'' if stage.valid else ' (void)'}"


def nothing(reason: str, width: int) -> alt.Chart:
    """A chart that has no data and says why."""
    lines = textwrap.wrap(reason, int((width - 60) / _PIXELS_PER_CHARACTER))
    layer: alt.Chart = (
        chart([{}])
        .mark_text(text=lines, fontSize=14, color=style.MUTED, lineHeight=20)
        .properties(width=width - 60, height=160, usermeta={NOTHING: reason})
    )
    return layer
