"""The command `podscale reproduce`: parses options, calls one function, prints."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from podscale import cli_steps as steps
from podscale.sweep.options import OPTIONS
from podscale.sweep.reproduce.plan import N_OPTION

# What says where it runs; everything else of a sweep's options is a row's own.
WHERE = (
    "target",
    "deployment",
    "context",
    "namespace",
    "service",
    "port",
    "container",
    "locust",
    "host",
    "ready_seconds",
    "wait_seconds",
    "locust_workers",
    "max_minutes",
)


def _flag(name: str) -> Any:
    row = OPTIONS[name]
    return typer.Option(row.flag, help=row.help_line(), show_default=False)


def reproduce(
    *,
    rows: Annotated[list[str] | None, typer.Argument(help="Rows to run.  [default: all]", show_default=False)] = None,
    list_rows: Annotated[bool, typer.Option("--list", help="Explain the rows, run nothing.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A fifth of the work and the time, for a first look.")] = False,
    n: Annotated[int | None, typer.Option("--n", help=N_OPTION.help_line(), show_default=False)] = None,
    target: Annotated[str | None, _flag("target")] = None,
    deployment: Annotated[str | None, _flag("deployment")] = None,
    context: Annotated[str | None, _flag("context")] = None,
    namespace: Annotated[str | None, _flag("namespace")] = None,
    service: Annotated[str | None, _flag("service")] = None,
    port: Annotated[int | None, _flag("port")] = None,
    container: Annotated[str | None, _flag("container")] = None,
    locust: Annotated[str | None, _flag("locust")] = None,
    host: Annotated[str | None, _flag("host")] = None,
    ready_seconds: Annotated[float | None, _flag("ready_seconds")] = None,
    wait_seconds: Annotated[float | None, _flag("wait_seconds")] = None,
    locust_workers: Annotated[int | None, _flag("locust_workers")] = None,
    max_minutes: Annotated[float | None, _flag("max_minutes")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the result.  [default: results/<time>]")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of tables.")] = False,
) -> None:
    """Run every system of the articles again, and set our figures beside theirs."""
    parameters = dict(locals())
    from podscale.cli import refusals  # noqa: PLC0415 - it imports this module to register the command

    with refusals():
        if list_rows:
            _print_rows(rows or [], as_json=as_json)
            return
        given = {name: parameters[name] for name in WHERE if parameters[name] is not None}
        plan = _planned(rows or [], given, quick=quick, n=n)
        code = _run(plan, steps.new_folder(out), as_json=as_json)
    raise typer.Exit(code)


def _print_rows(names: list[str], *, as_json: bool) -> None:
    from podscale.report.reproduction import terminal  # noqa: PLC0415
    from podscale.sweep.reproduce.rows import chosen  # noqa: PLC0415

    rows = chosen(names)
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(rows), indent=1).decode())
    else:
        Console().print(terminal.rows_list(rows))


def _planned(rows: list[str], given: dict[str, Any], *, quick: bool, n: int | None) -> Any:
    from podscale.sweep.environment import usable_cores  # noqa: PLC0415
    from podscale.sweep.reproduce.plan import make_reproduce_plan  # noqa: PLC0415
    from podscale.sweep.reproduce.rows import chosen  # noqa: PLC0415

    chosen(rows)  # a misspelt row is told before a cluster is looked at
    base = steps.base_of(steps.planned(dict(given)))
    return make_reproduce_plan(cores=usable_cores(), base=base, rows=rows, quick=quick, n=n, **given)


def _run(plan: Any, folder: Path, *, as_json: bool) -> int:
    from podscale.progress import TerminalObserver  # noqa: PLC0415
    from podscale.sweep.measure import Interrupted  # noqa: PLC0415
    from podscale.sweep.reproduce.plan import estimate_seconds  # noqa: PLC0415
    from podscale.sweep.reproduce.run import Reproduce  # noqa: PLC0415

    console = Console(stderr=True)
    with steps.one_interruption(console):
        try:
            with TerminalObserver(console, estimate_seconds(plan)) as observer:
                target, load = _opened(plan, folder, observer)
                result = Reproduce(plan, target, load, folder=folder, observer=observer).run()
        except Interrupted as interrupted:  # before anything was measured
            return steps.signalled(str(interrupted))
        _write_and_print(result, folder, as_json=as_json)
    return exit_code(result)


def _opened(plan: Any, folder: Path, observer: Any) -> tuple[Any, Any]:
    if plan.target == "kubernetes":
        from podscale.sweep.kubernetes import session  # noqa: PLC0415

        return session.begin(plan, say=observer.says, waits=observer.waits, keep=None)[:2]
    from podscale.sweep.local import LocalTarget  # noqa: PLC0415
    from podscale.sweep.locust import LocalLocust, locustfile_of  # noqa: PLC0415

    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    target = LocalTarget(logs, one_core_each=True)
    # One Locust for all rows: it loads every file of the folder, and a stage names the user class that takes part.
    return target, LocalLocust(locustfile_of("blocking").parent, target.url, plan.locust_workers, logs)


def _write_and_print(result: Any, folder: Path, *, as_json: bool) -> None:
    from podscale.report.reproduction import terminal, writer  # noqa: PLC0415

    written = writer.write(result, folder)
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(result), indent=1).decode())
        return
    console = Console()
    console.print(terminal.results(result))
    console.print(f"\nReport: {written[0]}", soft_wrap=True, highlight=False, markup=False)


def exit_code(result: Any) -> int:
    """Good if all rows were measured and hold."""
    if result.aborted:
        return steps.signalled(result.aborted)
    wanted = result.asked["rows"]
    good = len(result.rows) == len(wanted) and all(row.holds for row in result.rows)
    return steps.GOOD if good else steps.INVALID_PARTS


def is_reproduced(folder: Path) -> bool:
    """Whether the folder holds what this command wrote."""
    from podscale.sweep.reproduce.results import RESULT_FILE  # noqa: PLC0415

    return (folder / RESULT_FILE).is_file()


def report_again(folder: Path, *, as_json: bool) -> int:
    """Write and print the report of rows that were measured before; returns the exit code."""
    from podscale.sweep.reproduce.results import load  # noqa: PLC0415

    result = load(folder)
    _write_and_print(result, folder, as_json=as_json)
    return exit_code(result)
