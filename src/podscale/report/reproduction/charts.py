"""The picture of a row: for each claim what must be true, the article's ratio, and ours."""

import textwrap
from typing import Any

import altair as alt

from podscale.report import frame, style
from podscale.report.frame import Rows
from podscale.report.reproduction import shown
from podscale.sweep.reproduce.results import RowResult

_HERE, _ARTICLE = "here", "the article"
_COLOURS = {_HERE: style.BLUE, _ARTICLE: style.ORANGE}
_SHAPES = {_HERE: "circle", _ARTICLE: "diamond"}
_PIXELS_PER_CHARACTER = 6.8
_MARGIN = 40  # pixels on both sides together
# A bound that is open ends here, beyond everything that is shown.
_BEYOND = 1.15


def picture(row: RowResult, width: int, background: str = "white") -> dict[str, Any]:
    """The claims of a row one below the other, as ratios from 0 on: grey is where each of them holds."""
    title = textwrap.wrap(f"{row.row}: {row.article.headline}", int(width / 9.6))
    below = textwrap.wrap(row.runs, int(width / _PIXELS_PER_CHARACTER))
    marks = _marks(row)
    if not marks:
        drawing: Any = frame.nothing("Nothing of this row was measured, and the article has no ratio.", width)
        return style.finish(drawing, title, below, background)
    return style.finish(_claims(row, marks, width - _MARGIN), title, below, background)


def _claims(row: RowResult, marks: Rows, width: int) -> alt.LayerChart | alt.FacetChart:
    most = _beyond(row, marks)
    bands = _bands(row, most, int(width / _PIXELS_PER_CHARACTER))
    y = alt.Y("claim:N", sort=None, title=None, axis=None)
    # An outline, so that a claim with one value alone shows too.
    holds = frame.chart(bands).mark_bar(height=14, color=style.GRID, stroke=style.GRID, strokeWidth=3, aria=False)
    says = frame.chart(bands).mark_text(
        align="left", baseline="bottom", dx=2, dy=-12, fontSize=12, color=style.INK, lineBreak="\n"
    )
    points = frame.chart(marks).mark_point(size=110, filled=True, opacity=1)
    names = [name for name in _SHAPES if any(mark["whose"] == name for mark in marks)]
    colours = alt.Scale(domain=names, range=[_COLOURS[name] for name in names])
    shapes = alt.Scale(domain=names, range=[_SHAPES[name] for name in names])
    lines = max(band["says"].count("\n") for band in bands)
    return alt.layer(
        holds.encode(y=y, x=_axis("low:Q", most), x2="high:Q"),
        points.encode(
            y=y,
            x=_axis("ratio:Q", most),
            color=alt.Color("whose:N", scale=colours),
            shape=alt.Shape("whose:N", scale=shapes),
            description="description:N",
        ),
        says.encode(y=y, x=alt.value(0), text="says:N"),
    ).properties(width=width, height=alt.Step(46 + 15 * lines))


def _axis(field: str, most: float) -> alt.X:
    scale = alt.Scale(domain=[0, most], nice=False)
    return alt.X(field, title="ratio", scale=scale, axis=alt.Axis(format=",.3~r", tickCount=6))


def _marks(row: RowResult) -> Rows:
    found: Rows = [_mark(claim.says, _HERE, claim.ratio) for claim in row.claims if claim.ratio is not None]
    if row.article.ratio is not None:
        found.append(_mark(row.claim, _ARTICLE, row.article.ratio))
    return found


def _mark(claim: str, whose: str, ratio: float) -> dict[str, Any]:
    return {"claim": claim, "whose": whose, "ratio": ratio, "description": f"{claim}, {whose}: {shown.ratio(ratio)}"}


def _beyond(row: RowResult, marks: Rows) -> float:
    bounds = [bound for claim in row.claims for bound in (claim.low, claim.high) if bound is not None]
    ratios: list[float] = [mark["ratio"] for mark in marks]
    return _BEYOND * max(*bounds, *ratios, 0.0)


def _bands(row: RowResult, most: float, characters: int) -> Rows:
    return [
        {
            "claim": claim.says,
            "low": claim.low or 0.0,
            "high": most if claim.high is None else claim.high,
            "says": "\n".join(textwrap.wrap(f"{claim.says}: {shown.ratio(claim.ratio)}", characters)),
        }
        for claim in row.claims
    ]
