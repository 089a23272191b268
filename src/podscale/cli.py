"""The command `podscale`: parses options, calls one function, prints."""

import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

try:
    import msgspec
    import typer
    from rich.console import Console
except ImportError as missing:  # the base install is the pod alone
    sys.stderr.write(f"podscale: {missing.name} is missing; the command needs: pip install 'podscale[load,sweep]'\n")
    sys.exit(2)

from podscale.compare_command import compare
from podscale.sweep.options import OPTIONS, OptionError

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

GOOD, INVALID_PARTS, REFUSED = 0, 1, 2
# What a shell says of a program that a signal ended: 128 and the signal's number.
INTERRUPTED = 128


class RefusalError(Exception):
    """Something cannot be done as asked; the message is for the user."""


def main() -> None:
    """The entry point of the command `podscale`."""
    app()


@app.callback()
def podscale() -> None:
    """Scales a service pod by pod, measures it, and says how many pods a latency goal needs.

    Exit codes: 0 good, 1 finished with parts that are not valid, 2 refused, 130 or 143 stopped by a signal.
    """


def _flag(name: str) -> Any:
    """The flag of an option, from the options' one table."""
    row = OPTIONS[name]
    return typer.Option(row.flag, help=row.help_line(), show_default=False)


@app.command()
def sweep(
    *,
    sizes: Annotated[str | None, typer.Option(help="Numbers of pods, as in 1,2,4.  [default: 1 to one a core]")] = None,
    repeats: Annotated[int | None, _flag("repeats")] = None,
    scenario: Annotated[str | None, _flag("scenario")] = None,
    locustfile: Annotated[str | None, _flag("locustfile")] = None,
    model: Annotated[str | None, _flag("model")] = None,
    rate_per_second: Annotated[float | None, _flag("rate_per_second")] = None,
    arrivals: Annotated[str | None, _flag("arrivals")] = None,
    users_per_pod: Annotated[int | None, _flag("users_per_pod")] = None,
    stage_seconds: Annotated[float | None, _flag("stage_seconds")] = None,
    warmup_seconds: Annotated[float | None, _flag("warmup_seconds")] = None,
    timeout_seconds: Annotated[float | None, _flag("timeout_seconds")] = None,
    slo_p99_ms: Annotated[float | None, _flag("slo_p99_ms")] = None,
    cpu_time_ms: Annotated[float | None, _flag("cpu_time_ms")] = None,
    clock: Annotated[str | None, _flag("clock")] = None,
    connections: Annotated[str | None, _flag("connections")] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="An argument of the locustfile, as in limit=20000; may come again.")
    ] = None,
    locust_workers: Annotated[int | None, _flag("locust_workers")] = None,
    goal: Annotated[bool | None, _flag("goal")] = None,
    url: Annotated[str | None, _flag("url")] = None,
    seed: Annotated[int | None, _flag("seed")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the result.  [default: results/<time>]")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the broken sweep in this folder.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and the time, measure nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of tables.")] = False,
) -> None:
    """Scale pods on this machine step by step under load; say how many are needed."""
    parameters = dict(locals())
    with refusals():
        given = {name: parameters[name] for name in OPTIONS if parameters[name] is not None}
        beside = {"sizes": sizes, "option": option, "out": out}
        given |= {name: value for name, value in beside.items() if value is not None}
        if resume is not None:
            plan, earlier = resumed(resume, given, "sweep")
        else:
            given.pop("out", None)
            plan, earlier = _planned(given), None
        if dry_run:
            _print_plan(plan, as_json=as_json)
            return
        code = _sweep(plan, resume or new_folder(out), earlier, as_json=as_json)
    raise typer.Exit(code)


app.command()(compare)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A folder that a sweep wrote.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of tables.")] = False,
) -> None:
    """Write the report of a measured sweep again, and print its table."""
    from podscale.sweep.results import load  # noqa: PLC0415

    with refusals():
        result = load(folder)
        write_and_print(result, folder, as_json=as_json)
        code = exit_code(result)
    raise typer.Exit(code)


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """Turn what a user can mend into one line on standard error and exit code 2."""
    from podscale.sweep.locust import LocustError  # noqa: PLC0415
    from podscale.sweep.results import ResultError  # noqa: PLC0415
    from podscale.sweep.targets import TargetError  # noqa: PLC0415

    try:
        yield
    except (OptionError, ResultError, TargetError, LocustError, RefusalError) as error:
        typer.echo(f"podscale: {error}", err=True)
        raise typer.Exit(REFUSED) from error


def _planned(given: dict[str, Any]) -> Any:
    from podscale.sweep.environment import usable_cores  # noqa: PLC0415
    from podscale.sweep.plan import make_plan  # noqa: PLC0415

    sizes, options = given.pop("sizes", None), given.pop("option", None)
    return make_plan(cores=usable_cores(), sizes=sizes_of(sizes), options=options_of(options or []), **given)


def sizes_of(text: str | None) -> list[int] | None:
    """Sizes as people write them, None as they are."""
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise RefusalError(f"--sizes: {text!r} is not a list of whole numbers such as 1,2,4") from None


def options_of(pairs: list[str]) -> dict[str, str | int | float]:
    """Arguments of a locustfile, from name=value."""
    options: dict[str, str | int | float] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise RefusalError(f"--option: {pair!r} is not of the form name=value, as in limit=20000")
        options[name.strip().lstrip("-").replace("-", "_")] = _number_or_text(value)
    return options


def _number_or_text(value: str) -> str | int | float:
    for cast in (int, float):
        with contextlib.suppress(ValueError):
            return cast(value)
    return value


def resumed(folder: Path, given: dict[str, Any], command: str) -> tuple[Any, Any]:
    """The plan and the result of a broken run; the plan is its own, so other options make no sense beside it."""
    from podscale.sweep.compare_plan import ComparePlan  # noqa: PLC0415
    from podscale.sweep.plan import Plan  # noqa: PLC0415
    from podscale.sweep.results import ResultError, load  # noqa: PLC0415

    if given:
        option = next(iter(given)).replace("_", "-")
        raise RefusalError(f"--resume goes on with the plan in {folder}; leave out --{option}, or start a new sweep")
    earlier = load(folder)
    wrote = earlier.asked.get("command", "sweep")
    if wrote != command:
        raise RefusalError(f"--resume: {folder} was written by podscale {wrote}; go on with podscale {wrote} --resume")
    try:
        return msgspec.convert(earlier.asked, ComparePlan if command == "compare" else Plan), earlier
    except msgspec.ValidationError as error:
        raise ResultError(f"{folder} holds a plan that this podscale cannot read: {error}") from error


def new_folder(out: Path | None) -> Path:
    """A folder without a result in it."""
    from podscale.sweep.results import RESULT_FILE  # noqa: PLC0415

    folder = out or Path("results") / time.strftime("%Y-%m-%d-%H%M%S")
    if (folder / RESULT_FILE).exists():
        raise RefusalError(f"{folder} holds a result already; choose another --out, or go on with --resume {folder}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RefusalError(f"--out: cannot make the folder {folder}: {error.strerror}") from error
    return folder


def _print_plan(plan: Any, *, as_json: bool) -> None:
    from podscale.report import terminal  # noqa: PLC0415
    from podscale.sweep.plan import asks_goal, capacity_stages, estimate_seconds  # noqa: PLC0415

    stages = list(capacity_stages(plan))
    seconds = estimate_seconds(plan)
    if as_json:
        shown = {"plan": plan, "stages": stages, "seconds": seconds}
        typer.echo(msgspec.json.format(msgspec.json.encode(shown), indent=1).decode())
        return
    rows = [
        terminal.PlanRow(stage.purpose, stage.size, stage.repeat, stage.asked.describe(), stage.seconds)
        for stage in stages
    ]
    console = Console()
    console.print(terminal.plan_table(rows, seconds))
    if asks_goal(plan):
        console.print(
            "Then, while it is in question: which size holds the latency goal, and that one pod fewer does not."
        )


def _sweep(plan: Any, folder: Path, earlier: Any, *, as_json: bool) -> int:
    from podscale.progress import TerminalObserver  # noqa: PLC0415
    from podscale.sweep.local import LocalTarget  # noqa: PLC0415
    from podscale.sweep.locust import LocalLocust, locustfile_of  # noqa: PLC0415
    from podscale.sweep.plan import estimate_seconds  # noqa: PLC0415
    from podscale.sweep.run import Sweep  # noqa: PLC0415
    from podscale.sweep.targets import UrlTarget  # noqa: PLC0415

    locustfile = Path(plan.locustfile) if plan.locustfile else locustfile_of(plan.scenario)
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    console = Console(stderr=True)
    with one_interruption(console):
        target = UrlTarget(plan.url) if plan.url else LocalTarget(logs, one_core_each=plan.one_core_each)
        load = LocalLocust(locustfile, target.url, plan.locust_workers, logs)
        with TerminalObserver(console, estimate_seconds(plan)) as observer:
            result = Sweep(plan, target, load, folder=folder, observer=observer, earlier=earlier).run()
        write_and_print(result, folder, as_json=as_json)
    return exit_code(result)


def write_and_print(result: Any, folder: Path, *, as_json: bool) -> None:
    """Write the report beside the result, and print its tables."""
    from podscale.report import comparison, terminal  # noqa: PLC0415
    from podscale.report.comparison import terminal as compared  # noqa: PLC0415
    from podscale.report.writer import write  # noqa: PLC0415

    written = write(result, folder)
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(result), indent=1).decode())
        return
    console = Console()
    console.print(compared.tables(result) if comparison.is_one(result) else terminal.result_table(result))
    console.print()
    console.print(terminal.advice(result))
    console.print(f"\nReport: {written[0]}", soft_wrap=True, highlight=False, markup=False)


@contextlib.contextmanager
def one_interruption(console: Console) -> Iterator[None]:
    """Turn the first SIGINT, SIGTERM or SIGHUP into an Interrupted; later ones wait for the tidying up."""
    from podscale.sweep.measure import Interrupted  # noqa: PLC0415

    def interrupt(number: int, _frame: FrameType | None) -> None:
        for each in signals:
            signal.signal(each, lambda *_: console.print("stopping already, a few seconds more"))
        raise Interrupted(signal.Signals(number).name)

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {each: signal.signal(each, interrupt) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def exit_code(result: Any) -> int:
    """Whether all parts of the result count, or the signal that ended it."""
    if result.aborted:
        known = [INTERRUPTED + each for each in signal.Signals if each.name == result.aborted]
        return known[0] if known else INVALID_PARTS
    return GOOD if result.stages and all(stage.valid for stage in result.stages) else INVALID_PARTS


if __name__ == "__main__":
    main()
