"""Tests of the manners of `podscale reproduce`; it runs for real in tests/e2e."""

import json
from pathlib import Path

import pytest

from podscale.sweep.reproduce import results
from podscale.sweep.reproduce.rows import ROWS
from tests.report.reproduction import samples
from tests.test_cli import podscale


def test_the_list_explains_every_row_in_80_columns() -> None:
    """Names, what the article built and told, what is run here and what must be true of it."""
    ended = podscale("reproduce", "--list")
    assert ended.returncode == 0, ended.stderr
    words = " ".join(ended.stdout.split())
    for row in ROWS.values():
        assert row.name in words
    assert "10, 20 and 27 s" in words
    assert "the last takes three jobs: 2.8 to 3.4" in words
    assert all(len(line) <= 80 for line in ended.stdout.splitlines())


def test_the_list_of_some_rows_comes_as_json_too() -> None:
    """In the order of the table, with every claim."""
    ended = podscale("reproduce", "primes", "blocking", "--list", "--json")
    rows = json.loads(ended.stdout)
    assert [row["name"] for row in rows] == ["blocking", "primes"]
    assert rows[0]["claims"][0]["low"] == 2.8


def test_a_report_is_written_again(tmp_path: Path) -> None:
    """From reproduce.json alone; exit code 1, since not all of its rows hold. It is not written over."""
    results.save(samples.mixed(), tmp_path)
    ended = podscale("report", str(tmp_path))
    assert ended.returncode == 1, ended.stderr
    assert "2 of 4 rows hold" in ended.stdout
    assert {"report.html", "blocking.png", "memory.svg"} <= {path.name for path in tmp_path.iterdir()}
    refused = podscale("reproduce", "blocking", "--out", str(tmp_path))
    assert refused.returncode == 2
    assert "holds a result of podscale reproduce already" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dance",), "'dance' is no row; there are blocking"),
        (("dance", "--list"), "'dance' is no row"),
        (("--target", "moon"), "'moon' is not one of local, kubernetes"),
        (("--target", "kubernetes"), "needs --deployment"),
        (("--out", "/proc/none"), "cannot make the folder"),
    ],
)
def test_a_mistake_is_refused_in_one_line(arguments: tuple[str, ...], message: str) -> None:
    """Exit code 2, what is wrong and what is allowed, no traceback."""
    ended = podscale("reproduce", *arguments)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert ended.stderr.count("\n") == 1
