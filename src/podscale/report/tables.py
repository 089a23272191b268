"""The page's tables as data: what each column is called, in which unit, and what it shows of a stage."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from podscale.report import cells, figures
from podscale.report.figures import theory_words
from podscale.sweep.results import Fit, Generator, Latency, Result, Stage

Show = Callable[[Stage], str]


@dataclass(frozen=True)
class Column:
    """A heading, its unit (may be empty) and the cell of a stage. `text` is set to the left; `wrap` may break."""

    heading: str
    unit: str
    show: Show
    text: bool = False
    wrap: bool = False


@dataclass(frozen=True)
class Row:
    """The cells of one stage."""

    cells: tuple[str, ...]
    valid: bool


@dataclass(frozen=True)
class Table:
    """A table of stages. `note` says in a sentence how to read it."""

    title: str
    note: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


def stage_tables(result: Result) -> list[Table]:
    """All tables that have one row for each stage, in the order of reading."""
    stages = figures.in_order(result.stages)
    goals = [stage for stage in stages if stage.purpose == "goal"]
    tables = [
        _table(
            "Stages",
            "What was asked, beside what was measured. A void stage is shown and does not count.",
            [*_measured(result), *_errors(stages), Column("Verdict", "", figures.verdicts, text=True, wrap=True)],
            stages,
        ),
        _table(
            "Latency in ms",
            "From the moment a request was due, queueing in the load generator included; service time counts from "
            "the moment it was really sent.",
            _LATENCIES,
            stages,
        ),
    ]
    if goals:
        tables.append(
            _table(
                "Goal beside theory",
                "What queueing theory expects for jobs of equal length at the measured capacity: it explains how much "
                "of the p99 comes from picking pods at random.",
                _theories(result),
                goals,
            )
        )
    return [
        *tables,
        _table("Cost", "What the pods used in the measuring window, all together.", _COSTS, stages),
        _table(
            "Load generator",
            "Whether the ruler itself was straight: a busy or late generator measures itself.",
            _GENERATORS,
            stages,
        ),
    ]


def fit_rows(fits: Sequence[Fit]) -> list[tuple[str, str, str, str]]:
    """Law, its coefficients or why it was refused, its error, and its peak, in words."""
    return [(_LAWS[fit.law], _coefficients(fit), cells.number(fit.rmse), _peak(fit)) for fit in fits]


_LAWS = {
    "linear": "Linear: lambda n",
    "amdahl": "Amdahl: lambda n / (1 + sigma (n-1))",
    "usl": "USL: lambda n / (1 + sigma (n-1) + kappa n (n-1))",
}


def _coefficients(fit: Fit) -> str:
    if not fit.coefficients:
        return f"refused: {fit.refused or 'reason unknown'}"
    units = {"lambda": "/s"}
    return ", ".join(f"{name} = {cells.number(value)}{units.get(name, '')}" for name, value in fit.coefficients.items())


def _peak(fit: Fit) -> str:
    if not fit.coefficients:
        return "not fitted"
    return f"{fit.peak_size:.1f} pods" if fit.peak_size is not None else "none"


def _table(title: str, note: str, columns: Sequence[Column], stages: Sequence[Stage]) -> Table:
    columns = (Column("Stage", "", figures.name, text=True), *columns)
    rows = tuple(Row(tuple(column.show(stage) for column in columns), stage.valid) for stage in stages)
    return Table(title, note, columns, rows)


def _measured(result: Result) -> list[Column]:
    return [
        Column("Load asked", "", figures.load, text=True),
        Column("Measured", "s", lambda stage: cells.number(stage.measured_seconds)),
        Column("Requests", "", lambda stage: cells.count(stage.requests)),
        Column("Throughput", "/s", lambda stage: cells.number(stage.throughput_per_second)),
        Column("Per pod", "/s", _per_pod),
        Column("Efficiency", "of linear", lambda stage: _efficiency(result, stage)),
        Column("p99", "ms", _p99),
        Column("Errors", "and share", _errors_and_share),
    ]


def _efficiency(result: Result, stage: Stage) -> str:
    return "-" if stage.purpose == "goal" else cells.percent(figures.efficiency(result, stage))


def _errors_and_share(stage: Stage) -> str:
    failed, fraction = figures.error_count(stage), figures.error_fraction(stage)
    return cells.count(failed) + (f" ({fraction:.2%})" if fraction else "")


def _per_pod(stage: Stage) -> str:
    return cells.number(stage.throughput_per_second and stage.throughput_per_second / stage.size)


def _errors(stages: Sequence[Stage]) -> list[Column]:
    """A column for each class of error that occurred."""
    kinds = sorted({kind for stage in stages for kind in stage.errors})

    def shown(kind: str) -> Show:
        return lambda stage: cells.UNKNOWN if stage.requests is None else cells.count(stage.errors.get(kind, 0))

    return [Column(figures.verdict(kind), "errors", shown(kind)) for kind in kinds]


def _quantile(pick: Callable[[Latency], float]) -> Show:
    return lambda stage: _of(stage.latency_seconds, pick)


def _service(pick: Callable[[Latency], float]) -> Show:
    return lambda stage: _of(stage.service_seconds, pick)


def _of(latency: Latency | None, pick: Callable[[Latency], float]) -> str:
    return cells.UNKNOWN if latency is None else cells.milliseconds(pick(latency))


def _p99(stage: Stage) -> str:
    return _of(stage.latency_seconds, lambda latency: latency.p99)


_LATENCIES = (
    Column("mean", "", _quantile(lambda latency: latency.mean)),
    Column("p50", "", _quantile(lambda latency: latency.p50)),
    Column("p90", "", _quantile(lambda latency: latency.p90)),
    Column("p99", "", _quantile(lambda latency: latency.p99)),
    Column("p99.9", "", _quantile(lambda latency: latency.p999)),
    Column("max", "", _quantile(lambda latency: latency.max)),
    Column("p50", "service", _service(lambda latency: latency.p50)),
    Column("p99", "service", _service(lambda latency: latency.p99)),
    Column("max", "service", _service(lambda latency: latency.max)),
)


def _theories(result: Result) -> list[Column]:
    def predicted(stage: Stage, *, shared: bool) -> str:
        theory = figures.theory(result, stage)
        if theory is None:
            return cells.UNKNOWN
        return theory_words(theory.shared_queue_seconds if shared else theory.random_choice_seconds)

    return [
        Column("Load asked", "", figures.load, text=True),
        Column("p99 measured", "ms", _p99),
        Column("p99 in theory", "pod picked at random", lambda stage: predicted(stage, shared=False)),
        Column("p99 in theory", "one shared queue", lambda stage: predicted(stage, shared=True)),
    ]


def _throttled_share(stage: Stage) -> str:
    return cells.percent(figures.throttled_share(stage))


_COSTS = (
    Column("CPU", "s", lambda stage: cells.number(stage.cpu_seconds)),
    Column("CPU per request", "ms", lambda stage: cells.milliseconds(stage.cpu_seconds_per_request)),
    Column("Machine busy", "of all cores", lambda stage: cells.percent(stage.node_cpu_fraction)),
    Column("Throttled", "of periods", _throttled_share),
    Column("Throttled", "s", lambda stage: cells.number(stage.throttled.seconds)),
    Column("Memory", "MB", lambda stage: cells.megabytes(stage.memory_bytes)),
    Column("Ready after", "s", lambda stage: cells.number(stage.ready_seconds)),
    Column("Busiest pod", "of mean", lambda stage: cells.number(figures.busiest_over_mean(stage))),
)


def _of_generator(show: Callable[[Generator], str]) -> Show:
    return lambda stage: cells.UNKNOWN if stage.generator is None else show(stage.generator)


_GENERATORS = (
    Column("Arrivals", "due", lambda stage: cells.count(stage.arrivals)),
    Column("Workers", "", _of_generator(lambda generator: cells.count(generator.workers))),
    Column("Lost", "", _of_generator(lambda generator: cells.count(generator.lost_workers))),
    Column("Busiest worker", "of a core", _of_generator(lambda generator: cells.percent(generator.cpu_fraction))),
    Column("Late", "sends", _of_generator(lambda generator: cells.count(generator.late))),
    Column("Dropped", "sends", _of_generator(lambda generator: cells.count(generator.dropped))),
    Column("Send lag p99", "ms", _of_generator(lambda generator: cells.milliseconds(generator.send_lag_p99_seconds))),
    Column("Throttled", "s", _of_generator(lambda generator: cells.number(generator.throttled_seconds))),
    Column("Counted by load", "whole stage", lambda stage: cells.count(stage.client_requests)),
    Column("Counted by pods", "whole stage", lambda stage: cells.count(stage.server_requests)),
    Column("Connections", "", lambda stage: stage.asked.connections, text=True),
    Column("Started", "", lambda stage: stage.started_at, text=True),
)
