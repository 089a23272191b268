"""The live table of pods, as rich renderables that fit 80 columns and a given height. Pure.

Texts from outside are never read as rich markup, and nothing is shown that a terminal without UTF-8 could not print.
"""

import math
import re
import time
from collections.abc import Callable, Sequence

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from podscale.analysis import words
from podscale.sweep.watch.results import Look, PodRow, Total

WIDE_COLUMNS = 120
UNKNOWN, NONE = "?", "-"
# From here on a pod is worth a look, and then something is wrong.
THROTTLED_SHARES = (0.05, 0.25)
CPU_SHARES = (0.8, 0.95)
LEGEND = "p99: coarse, from the pods' histogram since the last reading. ? unknown, - none"


class Column(msgspec.Struct, frozen=True):
    """A heading and its width at 80 columns, and from WIDE_COLUMNS on."""

    heading: str
    narrow: int
    wide: int
    right: bool = True


# Together 70 and 110, and a space between two of them.
COLUMNS = (
    Column("Pod", 8, 30, right=False),
    Column("Node", 8, 14, right=False),
    Column("State", 11, 18, right=False),
    Column("Rst", 3, 3),
    Column("Up", 4, 4),
    Column("CPU", 10, 15, right=False),
    Column("Thr.", 4, 4),
    Column("MB", 5, 5),
    Column("Req/s", 6, 6),
    Column("p99 ms", 6, 6),
    Column("Queue", 5, 5),
)
_CPU_DIGITS = 4
# States that pass by themselves; all others but Ready are worth red.
PASSING = frozenset(
    {"Pending", "ContainerCreating", "PodInitializing", "NotReady", "Terminating", "starting", "stopping"}
)

# What a sort looks at; most first, unknown last.
_BY: dict[str, Callable[[PodRow], float | None]] = {
    "cpu": lambda row: row.cpu_cores,
    "throttled": lambda row: row.throttled_share,
    "requests": lambda row: row.requests_per_second,
    "p99": lambda row: row.p99_seconds,
    "queue": lambda row: row.queue_length,
}


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """The rows that fit, and where they are among all."""

    rows: list[PodRow]
    number: int  # from 1
    pages: int


def block(look: Look, width: int) -> RenderableType:
    """Everything, for a pipe or a file: a line of time and size, all pods, the total, the notes."""
    notes = [Text(note) for note in look.notes]
    return Group(_title(look), *_table(look, look.pods, width), *notes, Text(LEGEND), Text(""))


def screen(look: Look, page: Page, width: int, last_line: str, old_seconds: float | None = None) -> RenderableType:
    """What is seen at once; `last_line` says the keys, asks or answers, `old_seconds` how late the next reading is."""
    notes = [Text(note, style="yellow", no_wrap=True, overflow="crop") for note in look.notes]
    lines = [_title(look, old_seconds), *_table(look, page.rows, width), *notes]
    if page.pages > 1:
        lines.append(Text(f"page {page.number} of {page.pages}, {words.pods(len(look.pods))}", style="dim"))
    return Group(*lines, Text(LEGEND, style="dim", no_wrap=True, overflow="crop"), Text(last_line, style="bold"))


def page(look: Look, height: int, number: int) -> Page:
    """Page `number`, counted from 0 and around, of the rows of a terminal of `height` lines."""
    others = 6 + len(look.notes)  # title, heading, total, legend, and two for what the keys say
    room = max(1, height - others)
    if len(look.pods) > room:
        room = max(1, room - 1)  # the line that names the page
    pages = max(1, math.ceil(len(look.pods) / room))
    at = number % pages
    return Page(rows=look.pods[at * room : (at + 1) * room], number=at + 1, pages=pages)


def ordered(look: Look, sort: str) -> Look:
    """The same with its rows in order: those that are not Ready first."""

    def place(row: PodRow) -> tuple[bool, float, list[str | int]]:
        value = _BY[sort](row) if sort in _BY else None
        return row.ready, math.inf if value is None else -value, _natural(row.pod)

    return msgspec.structs.replace(look, pods=sorted(look.pods, key=place))


def _natural(name: str) -> list[str | int]:
    """pod-2 before pod-10: text and numbers in turn, so that like is compared with like."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Names that fit: without the words that all of them begin with, then the end of what is left."""
    if all(len(name) <= width for name in names):
        return list(names)
    parts = [name.split("-") for name in names]
    common = 0
    while len({tuple(part[: common + 1]) for part in parts}) == 1 and common < min(map(len, parts)) - 1:
        common += 1
    return ["-".join(part[common:])[-width:] for part in parts]


def _title(look: Look, old_seconds: float | None = None) -> Text:
    old = "" if old_seconds is None else f", {_age(old_seconds)} ago"
    clock = time.strftime("%H:%M:%S", time.localtime(look.at_seconds))
    if look.total is None:
        size = "pods unknown"
    else:
        asked = "" if look.wanted in {None, look.total.pods} else f", {look.wanted} asked for"
        size = f"{look.total.ready} of {words.pods(look.total.pods)} Ready{asked}"
    figures = f"  {size}  {look.what}"
    return Text.assemble(clock, (old, "yellow"), figures, style="bold", no_wrap=True, overflow="crop")


def _table(look: Look, rows: Sequence[PodRow], width: int) -> list[RenderableType]:
    if look.total is None:
        return []
    wide = width >= WIDE_COLUMNS
    widths = [column.wide if wide else column.narrow for column in COLUMNS]
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold underline")
    for column, each in zip(COLUMNS, widths, strict=True):
        table.add_column(
            column.heading,
            width=each,
            no_wrap=True,
            overflow="crop",
            justify="right" if column.right else "left",
        )
    bar_width = widths[5] - _CPU_DIGITS - 1
    # Of all pods, not of this page: else a pod would change its name from page to page.
    pods = _shortened([row.pod for row in look.pods], widths[0])
    nodes = _shortened([row.node for row in look.pods if row.node is not None], widths[1])
    for row in rows:
        table.add_row(*_cells(row, pods[row.pod], nodes.get(row.node or "", UNKNOWN), bar_width))
    table.add_row(*_total_cells(look.total, bar_width), style="bold")
    return [table]


def _shortened(names: Sequence[str], width: int) -> dict[str, str]:
    different = sorted(set(names))
    return dict(zip(different, short_names(different, width), strict=True))


def _cells(row: PodRow, name: str, node: str, bar_width: int) -> list[Text]:
    # The loop of a pod without a limit fills one core at most.
    limit = row.cpu_limit_cores if row.cpu_limit_cores and math.isfinite(row.cpu_limit_cores) else 1.0
    state = "green" if row.ready else "yellow" if row.state in PASSING else "red"
    return [
        Text(name),
        Text(node),
        Text(row.state, style=state),
        Text(_whole(row.restarts), style="yellow" if row.restarts else ""),
        Text(_age(row.uptime_seconds)),
        _cpu(row.cpu_cores, limit, bar_width),
        *_figures(row),
    ]


def _total_cells(total: Total, bar_width: int) -> list[Text]:
    limit = total.cpu_limit_cores if total.cpu_limit_cores and math.isfinite(total.cpu_limit_cores) else None
    return [
        Text("total"),
        Text(""),
        Text(f"{total.ready} Ready"),
        Text(_whole(total.restarts)),
        Text(""),
        _cpu(total.cpu_cores, limit, bar_width),
        *_figures(total),
    ]


def _figures(row: PodRow | Total) -> list[Text]:
    """What a pod and all of them have in common."""
    if row.p99_seconds is None:
        p99 = NONE if row.requests_per_second == 0 else UNKNOWN
    else:
        p99 = ">60000" if math.isinf(row.p99_seconds) else words.number(row.p99_seconds * 1000)
    share = row.throttled_share
    return [
        Text(UNKNOWN if share is None else f"{share:.0%}", style=_style(share, THROTTLED_SHARES)),
        Text(_whole(None if row.memory_bytes is None else row.memory_bytes / 1e6)),
        Text(UNKNOWN if row.requests_per_second is None else words.number(row.requests_per_second)),
        Text(p99),
        Text(_whole(row.queue_length)),
    ]


def _cpu(cores: float | None, limit: float | None, width: int) -> Text:
    """Cores in use, and a bar of the limit."""
    if cores is None:
        return Text(UNKNOWN.rjust(_CPU_DIGITS))
    figure = f"{cores:.2f}" if cores < 10 else f"{cores:.1f}"
    if limit is None:
        return Text(figure.rjust(_CPU_DIGITS))
    filled = min(width, round(width * cores / limit))
    bar = "#" * filled + "." * (width - filled)
    return Text.assemble(f"{figure.rjust(_CPU_DIGITS)} ", (bar, _style(cores / limit, CPU_SHARES)))


def _style(share: float | None, shares: tuple[float, float]) -> str:
    if share is None or share < shares[0]:
        return ""
    return "yellow" if share < shares[1] else "red"


def _whole(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.0f}"


def _age(seconds: float | None) -> str:
    """The largest unit alone, as kubectl has it: 59s, 12m, 3h, 5d."""
    if seconds is None:
        return UNKNOWN
    for unit, each in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= each:
            return f"{seconds // each:.0f}{unit}"
    return f"{seconds:.0f}s"
