"""The page's tables as data."""

import pytest

from podscale.report.tables import fit_rows, stage_tables
from podscale.sweep.results import Fit
from tests.report import samples


@pytest.mark.parametrize("name", samples.ALL)
def test_no_cell_is_blank(name: str) -> None:
    """Each cell of each table says something, for every kind of result."""
    for table in stage_tables(samples.ALL[name]()):
        for row in table.rows:
            assert len(row.cells) == len(table.columns)
            assert all(row.cells), (table.title, row.cells)


def test_each_class_of_error_has_its_column() -> None:
    """The classes that occurred, and no others."""
    headings = [column.heading for column in stage_tables(samples.mixed())[0].columns]
    assert headings[-3:] == ["refused", "timeout", "Verdict"]
    assert "refused" not in [column.heading for column in stage_tables(samples.one_size())[0].columns]


def test_theory_has_a_table_only_where_a_goal_was_measured() -> None:
    """Without goal stages there is nothing to hold against theory."""
    assert "Goal beside theory" in [table.title for table in stage_tables(samples.mixed())]
    assert "Goal beside theory" not in [table.title for table in stage_tables(samples.one_size())]


def test_fits_in_words() -> None:
    """Coefficients by name, the peak in pods, and a refusal instead of numbers."""
    fits = [
        Fit(law="usl", coefficients={"lambda": 90.0, "sigma": 0.02771, "kappa": 1.0437e-4}, rmse=62.6, peak_size=96.52),
        Fit(law="amdahl", refused="too few sizes."),
    ]
    assert fit_rows(fits) == [
        (
            "USL: lambda n / (1 + sigma (n-1) + kappa n (n-1))",
            "lambda = 90/s, sigma = 0.0277, kappa = 0.000104",
            "62.6",
            "96.5 pods",
        ),
        ("Amdahl: lambda n / (1 + sigma (n-1))", "refused: too few sizes.", "unknown", "not fitted"),
    ]
