"""`docs/articles.md`: the articles' systems and, where there are runs, what they measured. Made, never written by hand.

python -m podscale.report.reproduction docs/articles/local docs/articles/cluster > docs/articles.md
"""

from collections.abc import Sequence

from podscale.report import cells
from podscale.report.reproduction import shown
from podscale.sweep.reproduce.results import CheckedClaim, Reproduction
from podscale.sweep.reproduce.row import Row
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
    parts = [_INTRODUCTION, _routes(), _summary(runs)]
    parts += [_row(row, runs) for row in ROWS.values()]
    parts += [_environment(run) for run in runs]
    return "\n".join(parts)


_INTRODUCTION = """# The articles' systems, run again

This page is made by `make articles` from the runs in [docs/articles](articles), and not written by hand.

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


def _routes() -> str:
    lines = ["## Routes, one to one", "", "| the articles | here |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {theirs} | {ours} |" for theirs, ours in _ROUTES), ""])


def _summary(runs: Sequence[Reproduction]) -> str:
    if not runs:
        return "## Results\n\nNo full run has been recorded yet.\n"
    lines = ["## Results", "", *(f"- {_name(run)}: {shown.summary(run)}" for run in runs), ""]
    lines += ['The first claim of each row, as a ratio; "none" where the article gives no figure for it.', ""]
    lines += _head(["row", "claim", "article", *(_name(run) for run in runs)], left=2)
    for row in ROWS.values():
        found = [_claim(run, row.name, 0) for run in runs]
        cells_of = [f"[{row.name}](#{row.name})", row.claims[0].says, shown.ratio(row.article.ratio, absent="none")]
        lines.append(_line([*cells_of, *(_short(claim) for claim in found)]))
    return "\n".join([*lines, ""])


def _row(row: Row, runs: Sequence[Reproduction]) -> str:
    """What the article did, what we did, what was measured, and why they differ."""
    lines = [f"### {row.name}", "", f"The article: {row.article.system} Headline: {row.article.headline}.", ""]
    lines += [f"Here: {row.runs}.", ""]
    if runs:
        lines += _head(["claim", *(heading for run in runs for heading in (_name(run), "wanted", "holds"))], left=1)
    for number, claim in enumerate(row.claims):
        found = [_claim(run, row.name, number) for run in runs]
        if runs:
            lines.append(_line([claim.says, *(fact for each in found for fact in _facts(each))]))
    lines += ["", *(_figures(run, row.name) for run in runs), ""] if runs else []
    return "\n".join([*lines, row.why, ""])


def _figures(run: Reproduction, name: str) -> str:
    row = next((row for row in run.rows if row.row == name), None)
    measured = {} if row is None else row.measured
    steps = "; ".join(f"{step}: {shown.figures(found)}" for step, found in measured.items())
    return f"- {_name(run)}: {steps or 'not measured'}"


def _environment(run: Reproduction) -> str:
    lines = [f"## Environment: {_name(run)}", "", f"Measured on {run.started_at[:10]}.", "", "| | |", "| --- | --- |"]
    named = {key: value for key, value in run.environment.items() if key != "preflight" and value is not None}
    return "\n".join([*lines, *(f"| {key} | {cells.plain(key, value)} |" for key, value in named.items()), ""])


def _name(run: Reproduction) -> str:
    where = "cluster" if run.asked.get("target") == "kubernetes" else "one machine"
    return f"{where}, n = {run.n}"


def _claim(run: Reproduction, name: str, number: int) -> CheckedClaim | None:
    return next((row.claims[number] for row in run.rows if row.row == name), None)


def _facts(claim: CheckedClaim | None) -> list[str]:
    if claim is None:
        return ["not measured", "", ""]
    return [shown.ratio(claim.ratio), shown.bounds(claim.low, claim.high), shown.holds(claim.holds)]


def _short(claim: CheckedClaim | None) -> str:
    ratio, wanted, holds = _facts(claim)
    return ratio if claim is None else f"{ratio} (wanted {wanted}: {holds})"


def _head(headings: Sequence[str], left: int) -> list[str]:
    return [_line(headings), _line(["---"] * left + ["--:"] * (len(headings) - left))]


def _line(facts: Sequence[str]) -> str:
    return f"| {' | '.join(facts)} |"
