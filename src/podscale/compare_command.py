"""The command `podscale compare`: parses options, calls one function, prints."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from podscale import cli_steps as steps
from podscale.sweep.compare_plan import COMPARE_OPTIONS, SWEEP_ALONE
from podscale.sweep.options import OPTIONS

_ROWS = OPTIONS | COMPARE_OPTIONS


def _flag(name: str) -> Any:
    row = _ROWS[name]
    return typer.Option(row.flag, help=row.help_line(), show_default=False)


def compare(
    *,
    sizes: Annotated[str | None, typer.Option(help="Numbers of processes, as in 1,2,4.  [default: those]")] = None,
    topologies: Annotated[str | None, _flag("topologies")] = None,
    repeats: Annotated[int | None, _flag("repeats")] = None,
    scenario: Annotated[str | None, _flag("scenario")] = None,
    locustfile: Annotated[str | None, _flag("locustfile")] = None,
    rate_per_second: Annotated[
        float | None,
        typer.Option("--rate", help="Arrivals per second at every size.  [default: by --utilisation]"),
    ] = None,
    utilisation: Annotated[float | None, _flag("utilisation")] = None,
    users_per_pod: Annotated[int | None, _flag("users_per_pod")] = None,
    stage_seconds: Annotated[float | None, _flag("stage_seconds")] = None,
    warmup_seconds: Annotated[float | None, _flag("warmup_seconds")] = None,
    timeout_seconds: Annotated[float | None, _flag("timeout_seconds")] = None,
    cpu_time_ms: Annotated[float | None, _flag("cpu_time_ms")] = None,
    clock: Annotated[str | None, _flag("clock")] = None,
    connections: Annotated[str | None, _flag("connections")] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="An argument of the locustfile, as in limit=20000; may come again.")
    ] = None,
    locust_workers: Annotated[int | None, _flag("locust_workers")] = None,
    recovery: Annotated[bool | None, _flag("recovery")] = None,
    seed: Annotated[int | None, _flag("seed")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the result.  [default: results/<time>]")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the broken comparison in this folder.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and the time, measure nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of tables.")] = False,
) -> None:
    """Set n pods beside one pod of n workers, at the same CPU and memory, and say what their tail is made of."""
    parameters = dict(locals())
    from podscale.cli import refusals  # noqa: PLC0415 - it imports this module to register the command

    with refusals():
        names = [name for name in _ROWS if name not in SWEEP_ALONE]
        beside = ["sizes", "option", "out"]
        given = {name: parameters[name] for name in [*names, *beside] if parameters[name] is not None}
        if resume is not None:
            plan, earlier = steps.resumed(resume, given, "compare")
        else:
            given.pop("out", None)
            plan, earlier = _planned(given), None
        if dry_run:
            _print_plan(plan, as_json=as_json)
            return
        code = _compare(plan, resume or steps.new_folder(out), earlier, as_json=as_json)
    raise typer.Exit(code)


def _planned(given: dict[str, Any]) -> Any:
    from podscale.sweep.compare_plan import make_compare_plan  # noqa: PLC0415
    from podscale.sweep.environment import usable_cores  # noqa: PLC0415
    from podscale.sweep.topologies import Base  # noqa: PLC0415

    sizes, options, names = (given.pop(name, None) for name in ("sizes", "option", "topologies"))
    return make_compare_plan(
        cores=usable_cores(),
        base=Base(),
        sizes=steps.sizes_of(sizes),
        options=steps.options_of(options or []),
        topologies=[name.strip() for name in names.split(",") if name.strip()] if names is not None else None,
        **given,
    )


def _print_plan(plan: Any, *, as_json: bool) -> None:
    from podscale.report.comparison import terminal  # noqa: PLC0415
    from podscale.sweep.compare_plan import capacity_stages, estimate_seconds, load_stages  # noqa: PLC0415

    rates = dict.fromkeys(plan.sizes, plan.rate_per_second)
    stages = [*capacity_stages(plan), *load_stages(plan, rates)]
    seconds = estimate_seconds(plan)
    if as_json:
        shown = {"plan": plan, "stages": stages, "seconds": seconds}
        typer.echo(msgspec.json.format(msgspec.json.encode(shown), indent=1).decode())
        return
    budgets = {(stage.size, stage.topology): stage.budget for stage in stages}
    Console().print(terminal.plan(budgets, len(stages), seconds))


def _compare(plan: Any, folder: Path, earlier: Any, *, as_json: bool) -> int:
    from podscale.progress import TerminalObserver  # noqa: PLC0415
    from podscale.sweep.compare import Comparison  # noqa: PLC0415
    from podscale.sweep.compare_plan import estimate_seconds  # noqa: PLC0415
    from podscale.sweep.local import LocalTarget  # noqa: PLC0415
    from podscale.sweep.locust import LocalLocust, locustfile_of  # noqa: PLC0415

    locustfile = Path(plan.locustfile) if plan.locustfile else locustfile_of(plan.scenario)
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    console = Console(stderr=True)
    with steps.one_interruption(console):
        target = LocalTarget(logs, one_core_each=plan.one_core_each)
        load = LocalLocust(locustfile, target.url, plan.locust_workers, logs)
        with TerminalObserver(console, estimate_seconds(plan)) as observer:
            result = Comparison(plan, target, load, folder=folder, observer=observer, earlier=earlier).run()
        steps.write_and_print(result, folder, as_json=as_json)
    return steps.exit_code(result)
