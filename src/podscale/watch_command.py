"""The command `podscale watch`: parses options, calls one function."""

import contextlib
import signal
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from podscale import cli_steps as steps
from podscale.sweep.options import OPTIONS
from podscale.sweep.watch.options import WATCH_OPTIONS

_ROWS = OPTIONS | WATCH_OPTIONS


def _flag(name: str) -> Any:
    row = _ROWS[name]
    return typer.Option(row.flag, help=row.help_line(), show_default=False)


def watch(
    *,
    deployment: Annotated[str | None, typer.Option(help="Watch the pods of this Deployment; any one will do.")] = None,
    context: Annotated[str | None, _flag("context")] = None,
    namespace: Annotated[str | None, _flag("namespace")] = None,
    container: Annotated[str | None, _flag("container")] = None,
    url: Annotated[
        list[str] | None,
        typer.Option(help="Watch a pod by its admin port, as in http://127.0.0.1:9100; may come again."),
    ] = None,
    start: Annotated[int | None, _flag("start")] = None,
    interval_seconds: Annotated[float | None, _flag("interval_seconds")] = None,
    count: Annotated[int | None, _flag("count")] = None,
    sort: Annotated[str | None, _flag("sort")] = None,
    max_pods: Annotated[int | None, _flag("max_pods")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line for each reading.")] = False,
) -> None:
    """Show what each pod does, live; scale by the keys + and -.

    In a terminal a table with keys; into a pipe plain blocks, or JSON. Rates, shares and p99 are those between two
    readings. Pods of another kind than podscale's show what their nodes know of them.
    """
    parameters = dict(locals())
    from podscale.cli import refusals  # noqa: PLC0415 - it imports this module to register the command

    with refusals():
        given = {name: parameters[name] for name in _ROWS if name in parameters and name != "url"}
        for name, value in given.items():
            _ROWS[name].check(value)
        chosen = {name: _ROWS[name].default if value is None else value for name, value in given.items()}
        code = _watch(chosen, url or [], as_json=as_json)
    raise typer.Exit(code)


def _watch(given: dict[str, Any], urls: list[str], *, as_json: bool) -> int:
    from podscale import watching  # noqa: PLC0415
    from podscale.sweep.measure import Interrupted  # noqa: PLC0415

    console = Console()
    how = {"interval_seconds": given["interval_seconds"], "count": given["count"], "sort": given["sort"]}
    with steps.one_interruption(Console(stderr=True)):
        try:
            with _opened(given, urls) as source:
                if as_json:
                    watching.as_json(source, sys.stdout, **how)
                elif console.is_terminal:
                    watching.live(source, console, **how)
                else:
                    watching.lines(source, console, **how)
        except Interrupted as interrupted:
            return steps.INTERRUPTED + signal.Signals[str(interrupted)]
    return steps.GOOD


@contextlib.contextmanager
def _opened(given: dict[str, Any], urls: list[str]) -> Iterator[Any]:
    """The one source that was named, closed at the end."""
    from podscale.sweep.watch.sources import Addresses, Started  # noqa: PLC0415

    named = {"--deployment": given["deployment"], "--url": urls, "--start": given["start"]}
    chosen = [flag for flag, value in named.items() if value]
    if len(chosen) != 1:
        said = f"{' and '.join(chosen)} do not go together" if chosen else "nothing to watch"
        raise steps.RefusalError(f"{said}; name one of --deployment NAME, --url ADDRESS, --start N")
    for name in ("context", "namespace", "container"):
        if given[name] is not None and given["deployment"] is None:
            raise steps.RefusalError(f"--{name} belongs to --deployment, which names what to watch on a cluster")
    with contextlib.ExitStack() as stack:
        if urls:
            source: Any = Addresses(urls)
        elif given["start"]:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="podscale-watch-")))
            source = Started(given["start"], folder, given["max_pods"])
        else:
            source = _deployment(given)
        stack.callback(source.close)
        yield source


def _deployment(given: dict[str, Any]) -> Any:
    from podscale.sweep.kubernetes.watched import open_deployment  # noqa: PLC0415

    names = ("deployment", "context", "namespace", "container")
    open_it = partial(open_deployment, most=given["max_pods"], say=partial(typer.echo, err=True))
    return open_it(**{name: given[name] for name in names})
