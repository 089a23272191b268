"""The comparison in the terminal."""

import pytest
from rich.console import Console

from podscale.report import terminal as common
from podscale.report.comparison import terminal
from podscale.sweep.topologies import TOPOLOGIES
from tests.report.comparison import samples


def printed(*parts: object) -> str:
    """What a terminal of 80 columns shows."""
    console = Console(width=80, record=True, quiet=False, file=None, color_system=None)
    with console.capture() as caught:
        for part in parts:
            console.print(part)
    return caught.get()


@pytest.mark.parametrize("name", samples.ALL)
def test_any_comparison_fits_80_columns(name: str) -> None:
    """No line is wider, and nothing is cut, whatever was measured."""
    result = samples.ALL[name]()
    text = printed(terminal.tables(result), common.advice(result))
    assert max(map(len, text.splitlines())) <= 80
    assert "\N{HORIZONTAL ELLIPSIS}" not in text


def test_every_variant_has_its_figures_with_the_spread_of_the_repeats() -> None:
    """Four topologies at two sizes; means with least and most; what the kill cost; the quota leads."""
    result = samples.cluster()
    text = printed(terminal.tables(result), common.advice(result))
    for size in (2, 4):
        for name in TOPOLOGIES:
            assert f"{size} {name} " in text
    assert "1,966 (1,915-2,017)" in text
    assert "The CPU quota costs most" in text
    row = next(line for line in text.splitlines() if line.startswith("4 pods ") and "45%" in line)
    assert row.split()[-2:] == ["3", "2.3"]


def test_what_is_unknown_is_a_question_mark_and_void_stages_say_why() -> None:
    """A lost pod and a size that was not reached: no number, the reasons below."""
    text = printed(terminal.tables(samples.spoiled()))
    assert "ended during the stage: pod-3" in " ".join(text.split())
    assert "0 of 1 pods were ready" in " ".join(text.split())
    row = next(line for line in text.splitlines() if line.startswith("4 pods"))
    assert set(row.split()[2:]) == {"?"}


def test_a_plan_states_each_budget() -> None:
    """Before anything is measured: the budgets, the number of stages and the time."""
    budgets = {(4, name): TOPOLOGIES[name].budget(4, samples.BASE) for name in samples.FIRST_TRIAL}
    text = printed(terminal.plan(budgets, 28, 386))
    assert "4 pods of 1 process, 0.25 cores (limit), 128 MB each" in text
    assert "1 pod of 4 processes, 1 core (limit), 512 MB" in text
    assert "28 stages, about 6 min 26 s." in text
