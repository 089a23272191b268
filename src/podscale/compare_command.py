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
    max_pods: Annotated[int | None, _flag("max_pods")] = None,
    max_rate: Annotated[float | None, _flag("max_rate")] = None,
    max_minutes: Annotated[float | None, _flag("max_minutes")] = None,
    seed: Annotated[int | None, _flag("seed")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the result.  [default: results/<time>]")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the broken comparison in this folder.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and the time, measure nothing.")] = False,
    keep: Annotated[str | None, typer.Option(help="Keep the result in this ConfigMap too.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of tables.")] = False,
) -> None:
    """Set n pods beside one pod of n workers, at the same CPU and memory, and say what their tail is made of."""
    parameters = dict(locals())
    from podscale.cli import refusals  # noqa: PLC0415 - it imports this module to register the command

    with refusals():
        names = [name for name in _ROWS if name not in SWEEP_ALONE]
        plan, earlier = steps.plan_of(parameters, names, "compare", _planned)
        if dry_run:
            code = _print_plan(plan, as_json=as_json)
        else:
            code = steps.compare(plan, resume or steps.new_folder(out), earlier, keep=keep, as_json=as_json)
    raise typer.Exit(code)


def _planned(given: dict[str, Any]) -> Any:
    from podscale.sweep.compare_plan import make_compare_plan  # noqa: PLC0415
    from podscale.sweep.environment import usable_cores  # noqa: PLC0415

    own = {name: given.pop(name, None) for name in COMPARE_OPTIONS}
    names = own.pop("topologies")
    chosen = [name.strip() for name in names.split(",") if name.strip()] if names is not None else None
    # A sweep of the same options finds what is wrong with them, before the Deployment is looked at.
    base = steps.base_of(steps.planned(dict(given)))
    sizes, options = given.pop("sizes", None), given.pop("option", None)
    return make_compare_plan(
        cores=usable_cores(),
        base=base,
        sizes=steps.sizes_of(sizes),
        options=steps.options_of(options or []),
        topologies=chosen,
        **own,
        **given,
    )


def _print_plan(plan: Any, *, as_json: bool) -> int:
    from podscale.report import terminal as tables  # noqa: PLC0415
    from podscale.report.comparison import terminal  # noqa: PLC0415
    from podscale.sweep.compare_plan import capacity_stages, estimate_seconds, load_stages  # noqa: PLC0415

    stages = [*capacity_stages(plan), *load_stages(plan, dict.fromkeys(plan.sizes, plan.rate_per_second))]
    seconds = estimate_seconds(plan)
    checks = steps.checks_of(plan)
    code = steps.REFUSED if any(check.state == "refused" for check in checks) else steps.GOOD
    if as_json:
        shown = {"plan": plan, "stages": stages, "seconds": seconds, "checks": checks}
        typer.echo(msgspec.json.format(msgspec.json.encode(shown), indent=1).decode())
        return code
    budgets = {(stage.size, stage.topology): stage.budget for stage in stages}
    console = Console()
    if checks:
        console.print(tables.checks_table([(check.state, check.name, check.text) for check in checks]))
    console.print(terminal.plan(budgets, len(stages), seconds))
    return code
