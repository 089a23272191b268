"""Single values in tables."""

import pytest

from podscale.report import cells


def test_what_is_not_known_is_unknown() -> None:
    """None is never 0 and never blank, whatever the unit; 0 is 0."""
    for show in (cells.number, cells.count, cells.milliseconds, cells.percent, cells.megabytes):
        assert show(None) == "unknown"
        assert show(0) in {"0", "0%"}


def test_values_have_the_unit_of_their_column() -> None:
    """Seconds become ms, fractions per cent, bytes MB."""
    assert cells.milliseconds(0.2124) == "212"
    assert cells.percent(0.5348, 2) == "53.48%"
    assert cells.megabytes(68_200_000) == "68.2"
    assert cells.count(12345) == "12,345"


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("target", "local", "local"),
        ("sizes", [1, 2, 4], "1, 2, 4"),
        ("sizes", [], "none"),
        ("options", {}, "none"),
        ("options", {"cpu_time_ms": 20, "clock": None}, "cpu_time_ms 20, clock unknown"),
        ("goal", True, "yes"),
        ("port", 8000, "8000"),
        ("memory_bytes", 16541913088, "16,541,913,088"),
        ("load", 0.3099999, "0.31"),
        ("x", None, "unknown"),
    ],
)
def test_any_value_of_plan_and_environment_is_shown(key: str, value: object, text: str) -> None:
    """Lists, options, switches, ports and bytes each read well."""
    assert cells.plain(key, value) == text
