"""Figures as sentences carry them."""

import math

import pytest

from podscale.analysis import words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.02771, "0.0277"),
        (0.5, "0.5"),
        (19.64, "19.6"),
        (99.96, "100"),
        (212.4, "212"),
        (999.6, "1,000"),
        (4310, "4,310"),
        (1234567, "1,234,567"),
        (-2.5, "-2.5"),
        (math.inf, "without end"),
        (math.nan, "not a number"),
    ],
)
def test_a_number_has_three_digits(value: float, text: str) -> None:
    """Three significant digits, thousands apart, no exponent and no idle zeros."""
    assert words.number(value) == text


def test_units_follow_their_number() -> None:
    """Durations are given in milliseconds, rates per second."""
    assert words.milliseconds(4.31) == "4,310 ms"
    assert words.milliseconds(0.00042) == "0.42 ms"
    assert words.per_second(28) == "28 requests/s"


def test_one_pod_is_not_plural() -> None:
    """1 pod, 2 pods."""
    assert (words.pods(1), words.pods(2)) == ("1 pod", "2 pods")


@pytest.mark.parametrize(
    ("items", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_a_list_reads_as_a_sentence(items: list[str], text: str) -> None:
    """Commas, and an "and" before the last."""
    assert words.listed(items) == text
