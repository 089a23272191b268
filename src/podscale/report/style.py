"""Colours, shapes and type of all charts, and how a chart becomes SVG or PNG.

Colours are Okabe and Ito's (https://jfly.uni-koeln.de/color/), told apart with every common colour blindness; shape or
dash says the same a second time. The page swaps the same names for a dark background (templates/report.html.j2).
"""

import html
import re
from typing import Any

import altair as alt
import vl_convert

INK = "#1b1f24"
MUTED = "#57606a"
GRID = "#e3e6ea"
BLUE = "#0072b2"
ORANGE = "#d55e00"
RUST = "#a34400"  # orange for text, which needs more contrast than a mark
GREEN = "#009e73"
PURPLE = "#aa4499"
GREY = "#6e7781"

FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"
# The newest Vega-Lite that both libraries know: altair writes it, vl-convert carries it and loads nothing.
VEGA_LITE = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])


def finish(chart: Any, title: list[str], subtitle: list[str], background: str = "white") -> dict[str, Any]:
    """The chart's Vega-Lite specification, with its title and the conditions below it, if it has one."""
    heading = alt.TitleParams(
        text=title,
        subtitle=subtitle,
        anchor="start",
        frame="bounds",
        fontSize=15,
        fontWeight=600,
        subtitleFontSize=12,
        color=INK,
        subtitleColor=MUTED,
        offset=14,
        subtitlePadding=5,
    )
    specification: dict[str, Any] = (
        chart.properties(
            background=background,
            padding={"left": 22, "right": 14, "top": 14, "bottom": 14},
            **({"title": heading} if title else {}),
        )
        .configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            labelColor=INK,
            titleColor=MUTED,
            gridColor=GRID,
            domainColor=GREY,
            tickColor=GREY,
            titlePadding=10,
        )
        .configure_legend(
            labelFontSize=12,
            labelColor=INK,
            labelLimit=0,
            title=None,
            orient="top",
            symbolSize=90,
            columnPadding=18,
            offset=10,
        )
        .configure_title(fontSize=13, fontWeight=600, color=INK, anchor="start")
        .to_dict()
    )
    # Legends one below the other; Vega-Lite hands this on to Vega, altair's schema does not know it.
    specification["config"]["legend"]["layout"] = {"top": {"direction": "vertical", "anchor": "start", "margin": 6}}
    return specification


def svg(specification: dict[str, Any]) -> str:
    """The chart as SVG text. Each mark has its description as a tooltip, without any script."""
    text = vl_convert.vegalite_to_svg(specification, vl_version=VEGA_LITE, allowed_base_urls=[])
    return _MARK.sub(r"\1><title>\2</title></path>", text)


def png(specification: dict[str, Any]) -> bytes:
    """The chart as PNG, at twice its size, for sharp print and screens."""
    return vl_convert.vegalite_to_png(specification, vl_version=VEGA_LITE, scale=2, allowed_base_urls=[])


def inline(svg_text: str, description: str) -> str:
    """The SVG as an element of a page: its width follows the page, and a screen reader gets `description`."""
    size = re.search(r'width="(\d+)" height="(\d+)"', svg_text)
    width = size.group(1) if size else "100%"
    head = f'<svg role="img" aria-label="{html.escape(description)}" style="max-width:{width}px" '
    return re.sub(r'^<svg ([^>]*?)width="\d+" height="\d+"', head + r"\1", svg_text, count=1)


# A point as Vega writes it; its label was escaped when it was written.
_MARK = re.compile(r'(<path aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="[a-z ]*"[^>]*?)/>')
