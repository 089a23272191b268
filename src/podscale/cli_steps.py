"""What the commands do, one function for each step. Libraries are imported where they are needed, to start quickly."""

import contextlib
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import typer
from rich.console import Console

GOOD, INVALID_PARTS, REFUSED = 0, 1, 2
# What a shell says of a program that a signal ended: 128 and the signal's number.
INTERRUPTED = 128


class RefusalError(Exception):
    """Something cannot be done as asked; the message is for the user."""


def plan_of(
    parameters: Mapping[str, Any], options: Iterable[str], command: str, make: Callable[[dict[str, Any]], Any]
) -> tuple[Any, Any]:
    """The plan that `make` builds of what was given, or, with `resume`, a broken run's own plan and its result."""
    given = {name: parameters[name] for name in (*options, "sizes", "option", "out") if parameters[name] is not None}
    if parameters["resume"] is not None:
        return resumed(parameters["resume"], given, command)
    given.pop("out", None)
    return make(given), None


def planned(given: dict[str, Any]) -> Any:
    """The plan that the given options make; raises OptionError or RefusalError."""
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
    """A folder for a new result, made if need be."""
    from podscale.sweep.reproduce.results import RESULT_FILE as REPRODUCED_FILE  # noqa: PLC0415
    from podscale.sweep.results import RESULT_FILE  # noqa: PLC0415

    folder = out or Path("results") / time.strftime("%Y-%m-%d-%H%M%S")
    if (folder / RESULT_FILE).exists():
        raise RefusalError(f"{folder} holds a result already; choose another --out, or go on with --resume {folder}")
    if (folder / REPRODUCED_FILE).exists():
        raise RefusalError(f"{folder} holds a result of podscale reproduce already; choose another --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RefusalError(f"--out: cannot make the folder {folder}: {error.strerror}") from error
    return folder


def print_plan(plan: Any, *, as_json: bool) -> int:
    """The checks where there is something to check, the plan and its time."""
    from podscale.report import terminal  # noqa: PLC0415
    from podscale.sweep.plan import asks_goal, capacity_stages, estimate_seconds  # noqa: PLC0415

    stages = list(capacity_stages(plan))
    seconds = estimate_seconds(plan)
    checks = checks_of(plan)
    code = REFUSED if any(check.state == "refused" for check in checks) else GOOD
    if as_json:
        shown = {"plan": plan, "stages": stages, "seconds": seconds, "checks": checks}
        typer.echo(msgspec.json.format(msgspec.json.encode(shown), indent=1).decode())
        return code
    rows = [
        terminal.PlanRow(stage.purpose, stage.size, stage.repeat, stage.asked.describe(), stage.seconds)
        for stage in stages
    ]
    console = Console()
    if checks:
        console.print(terminal.checks_table([(check.state, check.name, check.text) for check in checks]))
    console.print(terminal.plan_table(rows, seconds))
    if asks_goal(plan):
        console.print(
            "Then, while it is in question: which size holds the latency goal, and that one pod fewer does not."
        )
    return code


def checks_of(plan: Any) -> list[Any]:
    """The preflight of a cluster; nothing where there is none."""
    if plan.target != "kubernetes":
        return []
    from podscale.sweep.kubernetes import session  # noqa: PLC0415

    return list(session.check(plan, _say))


def sweep(plan: Any, folder: Path, earlier: Any, *, keep: str | None, as_json: bool) -> int:
    """Measure, write and print; returns the exit code."""
    from podscale.sweep.plan import estimate_seconds  # noqa: PLC0415
    from podscale.sweep.run import Sweep  # noqa: PLC0415

    return _measured(Sweep, plan, folder, earlier, estimate_seconds(plan), keep=keep, as_json=as_json)


def compare(plan: Any, folder: Path, earlier: Any, *, keep: str | None, as_json: bool) -> int:
    """The same for a comparison."""
    from podscale.sweep.compare import Comparison  # noqa: PLC0415
    from podscale.sweep.compare_plan import estimate_seconds  # noqa: PLC0415

    return _measured(Comparison, plan, folder, earlier, estimate_seconds(plan), keep=keep, as_json=as_json)


def _measured(
    kind: Any, plan: Any, folder: Path, earlier: Any, seconds: float, *, keep: str | None, as_json: bool
) -> int:
    from podscale.progress import TerminalObserver  # noqa: PLC0415
    from podscale.sweep.measure import Interrupted  # noqa: PLC0415

    console = Console(stderr=True)
    with one_interruption(console):
        try:
            with TerminalObserver(console, seconds) as observer:
                target, load, keeper = _opened(plan, folder, observer, keep)
                run = kind(plan, target, load, folder=folder, observer=observer, earlier=earlier, keep=keeper)
                result = run.run()
        except Interrupted as interrupted:  # before anything was measured
            return signalled(str(interrupted))
        write_and_print(result, folder, as_json=as_json)
    return exit_code(result)


def _opened(plan: Any, folder: Path, observer: Any, keep: str | None) -> tuple[Any, Any, Any]:
    """What the plan scales, what loads it, and what keeps the result beside the folder."""
    if plan.target == "kubernetes":
        from podscale.sweep.kubernetes import session  # noqa: PLC0415

        return session.begin(plan, say=observer.says, waits=observer.waits, keep=keep)
    from podscale.sweep.local import LocalTarget  # noqa: PLC0415
    from podscale.sweep.locust import LocalLocust, locustfile_of  # noqa: PLC0415
    from podscale.sweep.targets import UrlTarget  # noqa: PLC0415

    if keep is not None:
        raise RefusalError("--keep: a ConfigMap needs a cluster; --out has the result")
    locustfile = Path(plan.locustfile) if plan.locustfile else locustfile_of(plan.scenario)
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    target = UrlTarget(plan.url) if plan.url else LocalTarget(logs, one_core_each=plan.one_core_each)
    return target, LocalLocust(locustfile, target.url, plan.locust_workers, logs), lambda _: None


def restore(plan: Any) -> None:
    """Put back what a killed sweep has left."""
    from podscale.sweep.kubernetes import session  # noqa: PLC0415

    typer.echo(session.restore(plan, _say))


def fetched(job: str, context: str | None, namespace: str | None, folder: Path | None) -> Path:
    """The folder into which the result of a Job was written."""
    from podscale.sweep.kubernetes import session  # noqa: PLC0415
    from podscale.sweep.results import RESULT_FILE  # noqa: PLC0415

    data = session.fetch(job, context, namespace, _say)
    folder = folder or Path("results") / job
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RESULT_FILE).write_bytes(data)
    return folder


def base_of(plan: Any) -> Any:
    """What one pod has that a comparison divides: on a cluster, of the Deployment."""
    from podscale.sweep.topologies import Base  # noqa: PLC0415

    if plan.target != "kubernetes":
        return Base()
    from podscale.sweep.kubernetes import session  # noqa: PLC0415

    return session.base(plan, _say)


def _say(text: str) -> None:
    typer.echo(text, err=True)


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
    """What a result says to the shell."""
    if result.aborted:
        return signalled(result.aborted)
    return GOOD if result.stages and all(stage.valid for stage in result.stages) else INVALID_PARTS


def signalled(name: str) -> int:
    """The exit code after a signal of this name."""
    known = [INTERRUPTED + each for each in signal.Signals if each.name == name]
    return known[0] if known else INVALID_PARTS
