"""Tests of the command's manners: help, refusals in one line, dry run."""

import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from podscale import compare_command
from podscale.sweep import results
from podscale.sweep.compare_plan import COMPARE_OPTIONS, SWEEP_ALONE
from podscale.sweep.options import OPTIONS

EXAMPLE = Path(__file__).parents[1] / "docs" / "example"


def podscale(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """The command, ended, with what it printed."""
    command = [sys.executable, "-W", "error", "-m", "podscale.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sizes", "one"), "'one' is not a list of whole numbers"),
        (("--sizes", "0"), "0 is not between 1 and 64"),
        (("--sizes", "1,1"), "names a size twice"),
        (("--sizes", ""), "--sizes is empty"),
        (("--repeats", "0"), "--repeats: 0 is not between"),
        (("--rate", "nan"), "--rate: nan is not between"),
        (("--rate", "1e400"), "--rate: inf is not between"),
        (("--model", "open"), "--model open needs --rate"),
        (("--model", "ajar"), "'ajar' is not one of open, closed"),
        (("--scenario", "dance"), "'dance' is not one of blocking"),
        (("--option", "limit"), "'limit' is not of the form name=value"),
        (("--locustfile", "/none.py"), "there is no file /none.py"),
        (("--url", "ftp://x"), "does not start with http"),
        (("--resume", "/none"), "no result in /none"),
        (("--out", "/proc/none"), "cannot make the folder /proc/none"),
        (("--url", "http://127.0.0.1:9"), "nothing answers at http://127.0.0.1:9"),
    ],
)
def test_a_mistake_is_told_in_one_line_with_exit_code_2(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    """What is wrong and what is allowed, on standard error, without a traceback."""
    out = () if "--out" in arguments or "--resume" in arguments else ("--out", str(tmp_path / "out"))
    ended = podscale("sweep", *arguments, *out)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert ended.stderr.startswith("podscale: ")


@pytest.mark.parametrize("arguments", [("--sizes", "abc", "--frobnicate"), ("--repeats", "many")])
def test_an_unknown_flag_or_type_is_refused(arguments: tuple[str, ...]) -> None:
    """The parser's own refusals have exit code 2 and no traceback either."""
    ended = podscale("sweep", *arguments)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr


def test_a_dry_run_prints_the_plan_and_starts_nothing(tmp_path: Path) -> None:
    """Stages, sizes and the time are printed within 80 columns; no folder is made."""
    out = tmp_path / "out"
    ended = podscale("sweep", "--sizes", "1,2", "--dry-run", "--out", str(out))
    assert ended.returncode == 0, ended.stderr
    assert not out.exists()
    assert "min" in ended.stdout or " s" in ended.stdout
    assert all(len(line) <= 80 for line in ended.stdout.splitlines())


def test_help_is_quick_to_come_and_names_the_exit_codes() -> None:
    """The command's help lists its verbs and what the exit codes mean."""
    ended = podscale("--help")
    assert ended.returncode == 0
    for word in ("sweep", "report", "Exit codes"):
        assert word in ended.stdout


def test_a_folder_with_a_result_is_not_overwritten(tmp_path: Path) -> None:
    """A second sweep into the same folder is refused and names --resume."""
    (tmp_path / "result.json").write_text("{}")
    ended = podscale("sweep", "--sizes", "1", "--out", str(tmp_path))
    assert ended.returncode == 2
    assert f"--resume {tmp_path}" in ended.stderr
    assert (tmp_path / "result.json").read_text() == "{}"


def test_a_report_is_written_again_and_printed(tmp_path: Path) -> None:
    """From result.json alone: page and charts, the table within 80 columns, or the result as JSON."""
    shutil.copy(EXAMPLE / "result.json", tmp_path)
    printed = podscale("report", str(tmp_path))
    assert printed.returncode == 0, printed.stderr
    assert "2 pods hold" in printed.stdout
    assert {"report.html", "scaling.png", "latency.svg"} <= {path.name for path in tmp_path.iterdir()}
    as_json = podscale("report", str(tmp_path), "--json")
    assert msgspec.json.decode(as_json.stdout, type=results.Result) == results.load(EXAMPLE)


def test_a_full_disk_is_told_in_one_line(tmp_path: Path) -> None:
    """What cannot be written is no traceback: where, why, and that the result itself is untouched."""
    shutil.copy(EXAMPLE / "result.json", tmp_path)
    (tmp_path / "report.html").symlink_to("/dev/full")
    ended = podscale("report", str(tmp_path))
    assert ended.returncode == 2
    assert ended.stderr == (
        f"podscale: cannot write into {tmp_path}: No space left on device; what it holds already stays\n"
    )


def test_without_its_extras_the_command_says_what_to_install() -> None:
    """The base install is the pod alone: the command names the extras instead of a traceback."""
    code = "import sys; sys.modules['typer'] = None; import podscale.cli"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode == 2
    assert "pip install 'podscale[load,sweep]'" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_comparison_has_every_option_of_a_sweep_that_makes_sense_for_it() -> None:
    """An option that a sweep gains is one of compare too, or is named among those that it has no use for."""
    names = set(inspect.signature(compare_command.compare).parameters)
    assert (set(OPTIONS) | set(COMPARE_OPTIONS)) - names == SWEEP_ALONE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sizes", "one"), "'one' is not a list of whole numbers"),
        (("--topologies", "pods"), "is no comparison"),
        (("--topologies", "pods,pods-large"), "needs --target kubernetes"),
        (("--utilisation", "2"), "--utilisation: 2 is not between"),
        (("--cpu-time-ms", "0"), "--cpu-time-ms"),
        (("--target", "kubernetes"), "needs --deployment"),
        (("--resume", "nowhere"), "no result in nowhere"),
    ],
)
def test_a_comparison_refuses_in_one_line(arguments: tuple[str, ...], message: str) -> None:
    """Exit code 2, the option and what is allowed, no traceback."""
    done = podscale("compare", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_comparison_shows_its_budgets_and_starts_nothing(tmp_path: Path) -> None:
    """--dry-run prints each budget within 80 columns; --json the plan with its stages."""
    shown = podscale("compare", "--sizes", "1,2", "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert "1 pod of 2 processes, 2 cores (no limit)" in shown.stdout
    plan = msgspec.json.decode(podscale("compare", "--sizes", "1,2", "--dry-run", "--json").stdout)
    assert plan["plan"]["command"] == "compare"
    assert {stage["topology"] for stage in plan["stages"]} == {"pods", "workers"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to watch; name one of --deployment NAME, --url ADDRESS, --start N"),
        (("--start", "1", "--url", "http://127.0.0.1:9"), "--url and --start do not go together"),
        (("--start", "0"), "--start: 0 is not between 1 and"),
        (("--start", "65"), "64 pods are the most; --max-pods raises that"),
        (("--url", "http://127.0.0.1:9"), "no pod of podscale answers at http://127.0.0.1:9/metrics"),
        (("--start", "1", "--namespace", "shop"), "--namespace belongs to --deployment"),
        (("--start", "1", "--interval", "0"), "--interval: 0 is not between 0.5 and 3600"),
        (("--start", "1", "--sort", "age"), "--sort: 'age' is not one of name, cpu"),
    ],
)
def test_a_watch_refuses_in_one_line(arguments: tuple[str, ...], message: str) -> None:
    """Exit code 2, what is wrong and what to do, no traceback, nothing started."""
    done = podscale("watch", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
