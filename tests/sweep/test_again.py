"""The command that measures again: read by the command's own options, it makes the very plan."""

import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer.main

from podscale import cli, cli_steps, compare_command, reproduce_command
from podscale.sweep.again import command_line
from podscale.sweep.compare_plan import COMPARE_OPTIONS, SWEEP_ALONE
from podscale.sweep.options import OPTIONS
from podscale.sweep.results import load

EXAMPLE = Path(__file__).parents[2] / "docs" / "example"


def parameters_of(line: str) -> dict[str, Any]:
    """What the command's own parser reads of a line as a shell has it."""
    program, verb, *words = shlex.split(line)
    assert program == "podscale"
    command = typer.main.get_command(cli.app).commands[verb]  # type: ignore[attr-defined]  # a group of commands
    parameters: dict[str, Any] = command.make_context(verb, words).params
    return parameters


def sweep_plan(parameters: dict[str, Any]) -> dict[str, Any]:
    """The plan of `podscale sweep` as a result keeps it."""
    plan, _ = cli_steps.plan_of(parameters, OPTIONS, "sweep", cli_steps.planned)
    asked: dict[str, Any] = msgspec.to_builtins(plan)
    return asked


@pytest.mark.parametrize(
    "line",
    [
        "podscale sweep",
        "podscale sweep --sizes 2,1,4 --repeats 3 --stage-seconds 15 --rate 54.5 --slo-p99-ms 250 --seed 7",
        "podscale sweep --model open --rate 20 --arrivals constant --no-goal --connections 5 --locust-workers 3",
        "podscale sweep --url 'http://127.0.0.1:80/a?b=1&c=$d' --timeout-seconds 0.5",
        "podscale sweep --scenario primes --option limit=20000 --option 'name=two words' --option share=0.5",
        "podscale sweep --deployment web --namespace shop --context 'my cluster' --sizes 1,8 --max-minutes 90",
        "podscale sweep --deployment web --scenario own --locust other/load --host http://web:80 --port 8080",
    ],
)
def test_the_line_makes_the_same_plan(line: str) -> None:
    """Whatever was asked for, with values that a shell would take apart."""
    asked = sweep_plan(parameters_of(line))
    words = command_line(asked)
    assert words is not None
    assert sweep_plan(parameters_of(shlex.join(words))) == asked


def test_the_line_names_only_what_differs() -> None:
    """A default is left out, unless the machine decides it."""
    asked = sweep_plan(parameters_of("podscale sweep --sizes 1,2 --repeats 2 --stage-seconds 15 --locust-workers 1"))
    words = command_line(asked)
    assert words == ["podscale", "sweep", "--sizes", "1,2", "--stage-seconds", "15", "--locust-workers", "1"]


def test_the_example_of_the_documents_can_be_run_again() -> None:
    """A result from a file has a line, which makes the plan that the file has."""
    asked = load(EXAMPLE).asked
    words = command_line(asked)
    assert words is not None
    again = sweep_plan(parameters_of(shlex.join(words)))
    assert {name: again[name] for name in asked} == asked


def test_a_comparison_and_rows_have_lines_of_their_own() -> None:
    """Their own options are named; those that they do not have are not."""
    line = "podscale compare --sizes 2 --topologies workers,pods --utilisation 0.7 --no-recovery --locust-workers 1"
    names = [name for name in OPTIONS | COMPARE_OPTIONS if name not in SWEEP_ALONE]
    plan, _ = cli_steps.plan_of(parameters_of(line), names, "compare", compare_command._planned)
    words = command_line(msgspec.to_builtins(plan))
    assert words is not None
    assert sorted(words) == sorted(line.split())
    rows = "podscale reproduce blocking prime --quick --n 3"
    found = parameters_of(rows)
    given = reproduce_command._planned(found["rows"], {}, quick=found["quick"], n=found["n"])
    words = command_line(given.describe())
    assert words is not None
    assert words == rows.split()


def test_what_is_no_plan_has_no_line() -> None:
    """A result of something else, or an empty one, is not guessed at."""
    assert command_line({}) is None
    assert command_line({"command": "something", "sizes": [1]}) is None
    assert command_line({"sizes": None}) is None
