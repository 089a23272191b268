"""Tests of a row's picture."""

import pytest

from podscale.report import frame
from podscale.report.reproduction.charts import picture
from podscale.sweep.reproduce.claims import row_result
from podscale.sweep.reproduce.rows import ROWS
from tests.report.drawing import texts, tooltips
from tests.report.reproduction import samples


@pytest.mark.parametrize("width", [frame.WIDE, frame.NARROW])
def test_a_picture_has_our_ratio_and_the_articles(width: int) -> None:
    """Both are marks that tell themselves; claims stand in words, whatever the width."""
    drawn = picture(samples.mixed().rows[0], width)
    assert "the last takes three jobs, here: 3" in tooltips(drawn)
    assert "the last takes three jobs, the article: 2.7" in tooltips(drawn)
    assert "the second takes two: 2" in texts(drawn)
    assert {"here", "the article"} <= set(texts(drawn))


def test_what_is_not_known_has_no_mark() -> None:
    """The claim says unknown; the article's ratio stays."""
    primes = picture(samples.mixed().rows[2], frame.WIDE)
    assert [text for text in tooltips(primes) if "here" in text] == []
    assert any("the article: 3.79" in text for text in tooltips(primes))
    assert any(text.endswith("unknown") for text in texts(primes))


def test_a_row_without_any_ratio_says_that_there_is_nothing() -> None:
    """Neither ours nor the article's."""
    drawn = picture(row_result(ROWS["pods"], [], 2, "local"), frame.WIDE)
    assert any("Nothing of this row was measured" in text for text in texts(drawn))


@pytest.mark.parametrize("name", ROWS)
def test_every_row_has_a_picture_even_before_it_is_measured(name: str) -> None:
    """Nothing about a row keeps it from being drawn."""
    assert texts(picture(row_result(ROWS[name], [], 2, "local"), frame.NARROW))
