"""Tests of the table of rows: it is whole, and speaks of nothing that does not exist."""

import pytest

from podscale.sweep.options import SCENARIOS, OptionError
from podscale.sweep.reproduce.figures import FIGURES
from podscale.sweep.reproduce.row import Of, Open, Row
from podscale.sweep.reproduce.rows import ROWS, chosen

NAMES = "blocking worker cluster arrivals pods prime timestamp memory primes restart algorithm"


def test_every_system_of_the_articles_has_its_row() -> None:
    """Eleven, in the order of the articles."""
    assert list(ROWS) == NAMES.split()


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.name)
def test_a_row_speaks_of_its_own_steps_and_of_known_figures(row: Row) -> None:
    """Claims name figures that exist and steps that are measured; each has a bound; no two steps share a name."""
    names = [step.name for step in row.steps]
    assert len(set(names)) == len(names)
    assert row.claims
    for claim in row.claims:
        assert claim.low is not None or claim.high is not None
        for of in (claim.top, claim.bottom):
            if isinstance(of, Of):
                assert of.step in names
                assert of.figure in FIGURES
    assert set(row.shows) <= set(FIGURES)


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.name)
def test_a_step_asks_what_its_scenario_can_do(row: Row) -> None:
    """Scenarios exist; a share of the CPU needs a job whose CPU time is known; what is shortened is an option."""
    for step in row.steps:
        assert step.scenario in SCENARIOS
        assert set(step.shortened) <= set(step.options)
        if isinstance(step.load, Open):
            assert (step.load.utilisation is None) != (step.load.rate_per_second is None)
            assert step.load.utilisation is None or "cpu_time_ms" in step.options


def test_rows_are_chosen_by_name_in_the_order_of_the_table() -> None:
    """None named means all; a misspelt one is refused with the names that there are."""
    assert [row.name for row in chosen(["primes", "blocking"])] == ["blocking", "primes"]
    assert len(chosen([])) == len(ROWS)
    with pytest.raises(OptionError, match="'dance' is no row; there are blocking, worker"):
        chosen(["dance"])


def test_bounds_go_with_n_where_they_are_for_one_of_n() -> None:
    """At least 0.75 of n for n pods; three jobs are three jobs whatever n is; n pods share the lead of a sieve."""
    assert ROWS["algorithm"].claims[0].bounds(4) == (50.0, None)
    pods, blocking = ROWS["pods"].claims[0], ROWS["blocking"].claims[0]
    assert pods.bounds(4) == pytest.approx((3.0, 4.4))
    assert blocking.bounds(4) == (blocking.low, blocking.high)
