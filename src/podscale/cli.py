"""The command `podscale`: parses options, calls one function, prints."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

try:
    import msgspec  # noqa: F401  # the steps need it
    import rich  # noqa: F401
    import typer
except ImportError as missing:  # the base install is the pod alone
    sys.stderr.write(f"podscale: {missing.name} is missing; the command needs: pip install 'podscale[load,sweep]'\n")
    sys.exit(2)

from podscale import cli_steps as steps
from podscale.compare_command import compare
from podscale.reproduce_command import is_reproduced, report_again, reproduce
from podscale.sweep.options import OPTIONS, OptionError
from podscale.watch_command import watch

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


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
    resume: Annotated[Path | None, typer.Option(help="Go on with the broken sweep in this folder.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print checks, plan and time, measure nothing.")] = False,
    restore: Annotated[bool, typer.Option("--restore", help="Put back the replicas that a killed sweep left.")] = False,
    keep: Annotated[str | None, typer.Option(help="Keep the result in this ConfigMap too.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of tables.")] = False,
) -> None:
    """Scale pods step by step under load, on this machine or a Deployment's; say how many are needed."""
    parameters = dict(locals())
    with refusals():
        plan, earlier = steps.plan_of(parameters, OPTIONS, "sweep", steps.planned)
        if restore:
            steps.restore(plan)
            return
        if dry_run:
            code = steps.print_plan(plan, as_json=as_json)
        else:
            code = steps.sweep(plan, resume or steps.new_folder(out), earlier, keep=keep, as_json=as_json)
    raise typer.Exit(code)


app.command()(compare)
app.command()(reproduce)
app.command()(watch)


@app.command()
def report(
    *,
    folder: Annotated[Path | None, typer.Argument(help="A folder that a sweep wrote, or is to be written.")] = None,
    from_job: Annotated[str | None, typer.Option(help="Fetch the result of this Job of the chart first.")] = None,
    context: Annotated[str | None, _flag("context")] = None,
    namespace: Annotated[str | None, typer.Option(help="Of the Job.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of tables.")] = False,
) -> None:
    """Write the report of a measured sweep again, or of reproduced rows, and print its table."""
    from podscale.sweep.results import load  # noqa: PLC0415

    with refusals():
        if from_job is not None:
            folder = steps.fetched(from_job, context, namespace, folder)
        if folder is None:
            raise steps.RefusalError("name the folder that a sweep wrote, or the Job with --from-job")
        if is_reproduced(folder):
            raise typer.Exit(report_again(folder, as_json=as_json))
        result = load(folder)
        steps.write_and_print(result, folder, as_json=as_json)
        code = steps.exit_code(result)
    raise typer.Exit(code)


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """Turn what a user can mend into one line on standard error and exit code 2."""
    from podscale.sweep.locust import LocustError  # noqa: PLC0415
    from podscale.sweep.results import ResultError  # noqa: PLC0415
    from podscale.sweep.targets import TargetError  # noqa: PLC0415

    try:
        yield
    except (OptionError, ResultError, TargetError, LocustError, steps.RefusalError) as error:
        typer.echo(f"podscale: {error}", err=True)
        raise typer.Exit(steps.REFUSED) from error


if __name__ == "__main__":
    main()
