"""`docs/articles.md`: the articles' systems and, where there are runs, what they measured. Made, never written by hand.

python -m podscale.report.reproduction results/local results/cluster > docs/articles.md
"""

from collections.abc import Sequence

from podscale.report import cells
from podscale.report.reproduction import shown
from podscale.sweep.reproduce.results import Reproduction
from podscale.sweep.reproduce.rows import ROWS

# What the articles' servers have, and where it is here.
_ROUTES = (
    ("spins for a given time on the only thread", "`GET /blocking?cpuTimeMs=10000&clock=wall`"),
    ("the same in a worker thread", "`GET /worker?cpuTimeMs=10000&clock=wall`, in a child process that stays alive"),
    ("POST a number, a forked child tries every divisor", '`POST /prime {"number": 1000000007}`'),
    ("the time of day", "`GET /timestamp`"),
    ("all primes up to a limit by trial division", "`GET /primes?limit=100000&algorithm=trial`"),
    ("a better algorithm for them", "`GET /primes?limit=100000&algorithm=sqrt` or `sieve`"),
    ("PM2 or Node's cluster, one process for each core", "`PODSCALE_WORKERS`, one pod of n processes on one queue"),
    ("PM2's list and monitor", "requests by process in the report, and the dashboards"),
    ("PM2 starts a crashed process again", "the pod's supervisor, and the kubelet"),
)


def document(runs: Sequence[Reproduction]) -> str:
    """The whole page. Without runs there is no figure of ours in it."""
    parts = [_INTRODUCTION, _articles(), _routes(), *(_run(run) for run in runs)]
    if not runs:
        parts.append(_NO_RUN)
    return "\n".join(parts)


_INTRODUCTION = """# The articles' systems, run again

This page is made by `make articles` and not written by hand.

This project began from three articles on how Node.js uses the cores of one machine. `podscale reproduce` runs each of
their systems again, on this machine or on a cluster, and sets its figures beside theirs. Times of another machine say
little, so what is held is a ratio of two figures of one run.

```sh
podscale reproduce --list                           # the rows, and what must be true of each
podscale reproduce --quick                          # all of them on this machine, a fifth of the work
podscale reproduce primes restart                   # some of them
podscale reproduce --target kubernetes --deployment podscale   # pods with equal limits, and Locust of the chart
```

On a cluster the chart is to be installed with `--set locust.scenario=all`. n is the number of cores, or what `--n`
says. A quick run shortens long jobs and measuring windows to a fifth, and its result says so.
"""
_NO_RUN = """## Measured

No full run of both targets has been recorded yet.
"""


def _articles() -> str:
    lines = ["## Rows", "", "| row | the article | its headline | here |", "| --- | --- | --- | --- |"]
    lines += [f"| {row.name} | {row.article.system} | {row.article.headline} | {row.runs} |" for row in ROWS.values()]
    return "\n".join([*lines, ""])


def _routes() -> str:
    lines = ["## Routes, one to one", "", "| the articles | here |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {theirs} | {ours} |" for theirs, ours in _ROUTES), ""])


def _run(run: Reproduction) -> str:
    target = run.rows[0].target if run.rows else "nothing"
    lines = [f"## Measured: {target}", "", f"{shown.conditions(run)}. {run.started_at[:10]}. {shown.summary(run)}", ""]
    lines += ["| row | claim | article | here | wanted | holds |", "| --- | --- | --: | --: | --: | --- |"]
    for row in run.rows:
        for number, claim in enumerate(row.claims):
            article = shown.ratio(row.article.ratio, absent="none") if number == 0 else ""
            facts = [claim.says, article, shown.ratio(claim.ratio), shown.bounds(claim.low, claim.high)]
            lines.append(f"| {' | '.join([row.row if number == 0 else '', *facts, shown.holds(claim.holds)])} |")
    lines += ["", *(_figures(run)), "", *_environment(run)]
    return "\n".join(lines)


def _figures(run: Reproduction) -> list[str]:
    lines: list[str] = []
    for row in run.rows:
        steps = "; ".join(f"{step}: {shown.figures(found)}" for step, found in row.measured.items())
        lines.append(f"- **{row.row}**: {steps}. {row.why}")
    return lines


def _environment(run: Reproduction) -> list[str]:
    lines = ["| environment | |", "| --- | --- |"]
    named = {key: value for key, value in run.environment.items() if key != "preflight"}
    return [*lines, *(f"| {key} | {cells.plain(key, value)} |" for key, value in named.items()), ""]
