"""From a specification to SVG and PNG."""

import re

import pytest

from podscale.report import frame, style
from podscale.report.charts import CHARTS
from podscale.report.page import page
from tests.report import samples

SPECIFICATION = CHARTS["scaling"](samples.hostile(), frame.WIDE, "white")


def test_tooltips_are_escaped() -> None:
    """Markup in a name stays text on its way into the SVG's titles and labels."""
    drawn = style.svg(CHARTS["balance"](samples.hostile(), frame.WIDE, "white"))
    assert "<script" not in drawn
    assert "&lt;script&gt;" in drawn


def test_an_inline_svg_follows_the_width_of_its_page() -> None:
    """Fixed width and height give way to a style and a description; the drawing keeps its own coordinates."""
    inline = style.inline(style.svg(SPECIFICATION), 'what "it" shows')
    head = inline[: inline.index(">")]
    assert re.search(r'style="max-width:\d+px"', head)
    assert 'aria-label="what &quot;it&quot; shows"' in head
    assert " width=" not in head
    assert "viewBox=" in head


def test_png_is_drawn_at_twice_the_size() -> None:
    """A 960 point chart has about 1,900 pixels, sharp enough for print."""
    width = int(style.png(SPECIFICATION)[16:20].hex(), 16)
    drawn = re.search(r'width="(\d+)"', style.svg(SPECIFICATION))
    assert drawn is not None
    assert width == 2 * int(drawn.group(1))


def test_the_page_knows_all_colours_of_the_charts() -> None:
    """Every colour that a chart uses is swapped by the page's style sheet on a dark background."""
    used = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', page(samples.mixed())))
    swapped = set(re.findall(r'\[(?:fill|stroke)="(#[0-9a-f]{6})"\]', page(samples.empty())))
    assert len(used) >= 6
    assert used <= swapped


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_marks_stand_out_from_the_paper(scheme: str) -> None:
    """Text 4.5 to 1 and marks 3 to 1, as WCAG 2.2 asks (1.4.3, 1.4.11): axe does not look into an SVG."""
    light, dark = re.findall(r":root \{([^}]*)\}", page(samples.empty()))[:2]
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", light if scheme == "light" else dark))
    for name in ("ink", "muted", "rust", "moss", "blue"):
        assert contrast(colours[name], colours["paper"]) >= 4.5, name
        assert contrast(colours[name], colours["soft"]) >= 4.5, name
    for name in ("orange", "green", "purple", "grey"):
        assert contrast(colours[name], colours["paper"]) >= 3, name


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio."""
    dark, light = sorted(_luminance(colour) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
