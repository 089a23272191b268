"""The live table, at 80 columns and wider, and what fits into a height."""

import math

import msgspec
import pytest

from podscale.report import watch
from podscale.sweep.watch.options import SORTS
from podscale.sweep.watch.results import Look, PodRow, Total
from tests.report.test_terminal import shown

FULL = PodRow(
    pod="podscale-7d9f8c6b5d-x2k4q",
    node="gke-pool-1-abcdef",
    state="CrashLoopBackOff",
    ready=False,
    restarts=12,
    uptime_seconds=86400 * 3,
    cpu_cores=0.125,
    cpu_limit_cores=0.25,
    throttled_share=0.315,
    memory_bytes=123.4e6,
    requests_per_second=1234.5,
    p99_seconds=math.inf,
    queue_length=1000,
)
NOTHING = PodRow(pod="podscale-7d9f8c6b5d-aaaaa", state="Pending", ready=False)


def look(*pods: PodRow, notes: list[str] | None = None) -> Look:
    """A reading of these pods; the total has what the first one has."""
    names = ("cpu_cores", "cpu_limit_cores", "throttled_share", "memory_bytes", "requests_per_second", "p99_seconds")
    values = {name: getattr(pods[0], name) for name in names} if pods else {}
    ready = sum(pod.ready for pod in pods)
    total = Total(ready=ready, pods=len(pods), restarts=3, queue_length=7, **values)
    return Look(at_seconds=0, what="pods here", wanted=2, pods=list(pods), total=total, notes=notes or [])


def many(count: int) -> list[PodRow]:
    """So many Ready pods of one ReplicaSet."""
    return [
        msgspec.structs.replace(FULL, pod=f"podscale-7d9f8c6b5d-x{n:04}", ready=True, state="Ready", cpu_cores=n / 100)
        for n in range(count)
    ]


@pytest.mark.parametrize("width", [80, 120, 200])
def test_nothing_is_cut_or_wider_than_the_terminal(width: int) -> None:
    """The largest figures fit their columns; every line fits the width; a plain terminal can print it."""
    lines = shown(watch.block(look(FULL, NOTHING), width), width)
    assert max(map(len, lines)) <= width
    assert all(line.isascii() for line in lines)
    heads = ["Pod", "Node", "State", "Rst", "Up", "CPU", "Thr.", "MB", "Req/s", "p99", "ms", "Queue"]
    assert lines[1].split() == heads
    assert "aaaaa" in lines[3] if width == 80 else "podscale-7d9f8c6b5d-aaaaa" in lines[3]
    assert "x2k4q" in lines[2]
    assert "CrashLoop" in lines[2]
    for text in (" 12 ", " 3d ", "0.12 ##", " 32%", " 123 ", "1,234 >60000  1000"):
        assert text in lines[2], text


def test_unknown_is_a_question_mark_and_never_0() -> None:
    """A pod of which nothing is known has no figure; the legend says what the mark means."""
    lines = shown(watch.block(look(NOTHING), 80))
    assert lines[2].split() == ["aaaaa", "?", "Pending", *["?"] * 8]
    assert "? unknown" in lines[4]


def test_no_request_means_no_p99() -> None:
    """That is known, and so it is a dash."""
    idle = msgspec.structs.replace(FULL, requests_per_second=0.0, p99_seconds=None)
    assert shown(watch.block(look(idle), 80))[2].split()[-2:] == ["-", "1000"]


def test_the_bar_is_that_of_the_limit_or_of_one_core() -> None:
    """Half of the limit is half a bar; a pod without a limit fills one core at most."""
    half = msgspec.structs.replace(FULL, cpu_cores=0.5, cpu_limit_cores=1.0)
    free = msgspec.structs.replace(half, cpu_limit_cores=math.inf)
    unknown = msgspec.structs.replace(half, cpu_limit_cores=None)
    for row in (half, free, unknown):
        assert "0.50 #####....." in shown(watch.block(look(row), 120), 120)[2]


@pytest.mark.parametrize("height", [8, 24, 40])
def test_a_page_of_64_pods_fits_the_height(height: int) -> None:
    """Whatever the height, with notes too: every pod is on exactly one page, and paging goes around."""
    asked = look(*many(64), notes=["one", "two"])
    first = watch.page(asked, height, 0)
    rows = [row.pod for number in range(first.pages) for row in watch.page(asked, height, number).rows]
    assert rows == [row.pod for row in asked.pods]
    assert watch.page(asked, height, first.pages) == first
    assert watch.page(asked, height, -1).number == first.pages
    lines = shown(watch.screen(asked, first, 80, "keys"))
    assert len(lines) <= max(height - 1, 9)
    assert lines[-1] == "keys"
    assert f"page 1 of {first.pages}, 64 pods" in lines[-3]


def test_all_pods_are_on_one_page_where_they_fit() -> None:
    """Without a line about pages."""
    asked = look(*many(10))
    page = watch.page(asked, 16, 0)
    assert (page.pages, len(page.rows)) == (1, 10)
    assert len(shown(watch.screen(asked, page, 80, "keys"))) == 15


def test_names_lose_what_all_have_in_common() -> None:
    """At 80 columns the part that tells pods apart is left; where all fit, they stay whole."""
    one = [f"podscale-7d9f8c6b5d-{end}" for end in ("aaaaa", "bbbbb")]
    assert watch.short_names(one, 10) == ["aaaaa", "bbbbb"]
    assert watch.short_names(one, 30) == one
    assert watch.short_names([*one, "podscale-66b5-ccccc"], 10) == ["6b5d-aaaaa", "6b5d-bbbbb", "66b5-ccccc"]
    assert watch.short_names(["podscale-7d9f8c6b5d-aaaaa"], 10) == ["aaaaa"]
    assert watch.short_names(["a" * 20], 10) == ["a" * 10]
    assert watch.short_names([], 10) == []


@pytest.mark.parametrize("sort", SORTS)
def test_pods_in_trouble_come_first_in_every_order(sort: str) -> None:
    """Then most first, unknown last; by name in alphabetical order."""
    good = many(3)
    quiet = msgspec.structs.replace(NOTHING, pod="z", ready=True, state="Ready")
    names = [row.pod for row in watch.ordered(look(*good, quiet, FULL), sort).pods]
    assert names[0] == FULL.pod
    assert names[-1] == "z"
    local = [msgspec.structs.replace(FULL, pod=f"pod-{n}", ready=True) for n in (10, 9, 1)]
    assert [row.pod for row in watch.ordered(look(*local), sort).pods] == ["pod-1", "pod-9", "pod-10"]
    if sort == "cpu":
        assert names[1:4] == [row.pod for row in reversed(good)]


def test_pods_that_cannot_be_listed_are_unknown() -> None:
    """No empty table, no 0 pods: the reason alone."""
    away = Look(at_seconds=0, what="x", wanted=None, pods=[], total=None, notes=["the API server is away"])
    lines = shown(watch.block(away, 80))
    assert "pods unknown" in lines[0]
    assert lines[1] == "the API server is away"
