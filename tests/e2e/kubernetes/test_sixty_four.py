"""Sixty-four sleeping pods on two cores: all serve, `podscale watch` shows them, and most of them go in good order."""

import re
import sys
import time
from collections.abc import Iterator
from functools import partial

import psutil
import pytest

from podscale import contract
from tests.cluster.cluster import Cluster
from tests.e2e.kubernetes.release import SMALL, Release, installed, shares, succeeded
from tests.e2e.kubernetes.sweeping import of
from tests.e2e.terminal import says, terminal

SLEEPING = {"clock": "sleep", "cpu_time_ms": 200}


@pytest.fixture(scope="module")
def many(cluster: Cluster, pod_image: str, locust_image: str) -> Iterator[Release]:
    """The 64, all Ready."""
    del pod_image, locust_image
    with installed(cluster, *SMALL, "replicaCount=64", seconds=300) as release:
        yield release


def test_all_of_them_serve(many: Release) -> None:
    """Under load each answers, and no request fails."""
    report = many.stage(6, rate_per_second=150, options=SLEEPING)
    assert succeeded(report), report
    assert len(shares(report)) == 64


def test_watch_stays_readable_and_cheap(many: Release) -> None:
    """In 80 columns and 24 lines, page by page, with title and total on each; it costs under a tenth of a core."""
    # As a person starts it: two seconds between readings.
    command = many.cluster.command(sys.executable, "-m", "podscale.cli", "watch", *of(many))
    with terminal(command, many.cluster.environment()) as screen:
        screen.wait_for(lambda lines: says(lines, "64 of 64 pods Ready"), 60, "64 pods")
        names = set()
        for page in (1, 2, 3, 4):
            title = f"page {page} of 4"
            lines = screen.wait_for(partial(says, text=title), 10, title)
            fits(lines)
            names |= {line.split()[0] for line in lines[2:] if re.search(r"\S +Ready +0 ", line)} - {"total"}
            screen.press("n")
        assert len(names) == 64
        screen.wait_for(lambda lines: says(lines, "page 1 of 4"), 10, "the first page again")
        screen.press("p")
        screen.wait_for(lambda lines: says(lines, "page 4 of 4"), 10, "the page before the first")
        own = [each for each in family(screen.process.pid) if "podscale.cli" in each.cmdline()][-1]
        before, begun = own.cpu_times(), time.monotonic()
        while time.monotonic() < begun + 20:
            screen.read(0.5)
            fits(screen.lines())
        after, seconds = own.cpu_times(), time.monotonic() - begun
        screen.press("q")
        assert screen.ended(15) == 0
    share = (after.user + after.system - before.user - before.system) / seconds
    assert share < 0.1, f"{share:.1%} of a core"


def test_most_of_them_go_without_a_failed_request(many: Release) -> None:
    """Scaled down to 4 under load."""
    with many.load(120, rate_per_second=10, options=SLEEPING) as report:
        many.scale(4, seconds=100)
        left = report()
    assert left["requests"] > 100
    assert not left["errors"], left
    assert many.ask(contract.TIMESTAMP).strip().isdecimal()


def fits(lines: list[str]) -> None:
    """No line is cut or missing: title and heading above, total and keys below."""
    assert len(lines) <= 24
    assert all(len(line) <= 80 for line in lines)
    assert re.match(r"\d\d:\d\d:\d\d  64 of 64 pods Ready ", lines[0]), lines[0]
    assert lines[1].startswith("Pod ")
    assert sum(line.startswith("total ") for line in lines) == 1
    assert [line for line in lines if line][-1].startswith("+ - scale ")


def family(pid: int) -> list[psutil.Process]:
    """A process and its descendants."""
    first = psutil.Process(pid)
    return [first, *first.children(recursive=True)]
