"""Tests of the words and figures of rows."""

from podscale.report.reproduction import shown
from podscale.sweep.reproduce.rows import ROWS
from tests.report.reproduction import samples


def test_bounds_read_as_people_say_them() -> None:
    """Two sides, one side, none, and a single value."""
    assert shown.bounds(2.8, 3.4) == "2.8 to 3.4"
    assert shown.bounds(100.0, None) == "from 100"
    assert shown.bounds(None, 10.0) == "to 10"
    assert shown.bounds(2.0, 2.0) == "2"
    assert shown.bounds(None, None) == "any"


def test_a_claim_tells_how_its_bounds_go_with_n() -> None:
    """Before n is known."""
    assert shown.claim(ROWS["primes"].claims[0]).endswith("one: 0.75 to 1.1 x n")
    assert shown.claim(ROWS["algorithm"].claims[0]).endswith("from 200 / n")


def test_figures_have_their_units_and_unknown_is_a_word() -> None:
    """Seconds, milliseconds, megabytes, rates, plain numbers."""
    found = shown.figures({"last": 30.0, "median": 0.05, "memory": 36_300_000, "throughput": None, "failed": 0})
    assert found == "last 30 s, median 50 ms, memory 36.3 MB, throughput unknown, failed 0"


def test_the_summary_names_what_does_not_hold_and_what_is_not_known() -> None:
    """Failing and not measured are different things."""
    assert shown.summary(samples.mixed()) == "2 of 4 rows hold; not: worker; not known: primes."
    assert "box, 2 cores; n is 2; quick" in shown.conditions(samples.mixed())
