"""`podscale watch` of a Deployment: its pods under load, the keys with their question, and what is not ours."""

import json
import re
import sys
import time
from functools import partial
from pathlib import Path

import psutil
import pytest

from tests.e2e.commands import podscale
from tests.e2e.kubernetes.release import QUICK_STOP, Release
from tests.e2e.kubernetes.sweeping import of
from tests.e2e.terminal import terminal
from tests.e2e.tmux import tmux

WATCH = (sys.executable, "-m", "podscale.cli", "watch", "--interval=1")


def test_pods_under_load_are_seen_and_scaled(shared: Release) -> None:
    """A throttled pod shows it; `+` asks before it scales, a no changes nothing, a yes brings a second pod."""
    command = shared.cluster.command(*WATCH, *of(shared))
    with shared.load(60, users=8), terminal(command, shared.cluster.environment()) as screen:
        # About five requests a second of 50 ms at a quarter of a core, which holds them back in most periods.
        busy = re.compile(r"Ready +0 +\w+ 0\.2\d #+\.* +\d{2,3}% +\d+ +[3-7][.\d]* +[\d,]+ +\d+")
        lines = screen.wait_for(lambda lines: any(busy.search(line) for line in lines), 40, "a pod under load")
        assert all(len(line) <= 80 for line in lines)
        screen.press("+")
        screen.wait_for(lambda lines: says(lines, "scale from 1 to 2 pods? y/n"), 10, "the question")
        screen.press("n")
        screen.wait_for(lambda lines: says(lines, "not scaled"), 10, "the answer")
        assert shared.replicas() == 1
        screen.press("+")
        screen.wait_for(lambda lines: says(lines, "scale from 1 to 2 pods? y/n"), 10, "the question again")
        screen.press("y")
        screen.wait_for(lambda lines: says(lines, "2 of 2 pods Ready"), 60, "the second pod")
        assert shared.replicas() == 2
        screen.press("q")
        assert screen.ended(15) == 0
    shared.scale(1)


def test_tmux_shows_a_deployment(shared: Release, tmp_path: Path) -> None:
    """In a terminal that people use: the pod, the question of `+`, a no, and the shell again."""
    command = shared.cluster.command(*WATCH, *of(shared))
    with tmux(command, shared.cluster.environment(), tmp_path) as window:
        lines = window.wait_for(lambda lines: "1 of 1 pod Ready" in lines[0], 30, "the pod")
        assert re.search(r"\S +Ready +0 ", lines[2]), lines
        window.press("+")
        window.wait_for(lambda lines: says(lines, "scale from 1 to 2 pods? y/n"), 10, "the question")
        window.press("n")
        window.wait_for(lambda lines: says(lines, "not scaled"), 10, "the answer")
        window.press("q")
        window.wait_for(lambda lines: "exit code 0" in lines, 15, "the end")
    assert shared.replicas() == 1


def test_a_size_that_came_meanwhile_is_not_overwritten(shared: Release) -> None:
    """Somebody scales while the question stands: the yes is refused with both numbers. Old versions are conflicts."""
    command = shared.cluster.command(*WATCH, *of(shared))
    with terminal(command, shared.cluster.environment(), columns=120, lines=40) as screen:
        screen.wait_for(lambda lines: says(lines, "1 of 1 pod Ready"), 30, "the pod")
        screen.press("+")
        screen.wait_for(lambda lines: says(lines, "scale from 1 to 2 pods? y/n"), 10, "the question")
        shared.kubectl("scale", f"deployment/{shared.deployment}", "--replicas=0")
        screen.press("y")
        refusal = f"not scaled: somebody set {shared.deployment} from 1 to 0 pods meanwhile"
        screen.wait_for(lambda lines: says(lines, refusal), 10, "the refusal")
        screen.press("q")
        assert screen.ended(15) == 0
    assert shared.replicas() == 0
    old = '{"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 2}}'
    with pytest.raises(RuntimeError, match="Conflict"):
        shared.kubectl("patch", f"deployment/{shared.deployment}", "--subresource=scale", "--type=merge", f"-p={old}")
    assert shared.replicas() == 0
    shared.scale(1)


def test_an_autoscaler_keeps_its_size(shared: Release) -> None:
    """The key is refused with the autoscaler's name, and nothing is asked."""
    shared.kubectl("autoscale", f"deployment/{shared.deployment}", "--min=1", "--max=3", "--cpu=50%")
    command = shared.cluster.command(*WATCH, *of(shared))
    try:
        with terminal(command, shared.cluster.environment(), columns=120, lines=40) as screen:
            screen.wait_for(lambda lines: says(lines, "1 of 1 pod Ready"), 30, "the pod")
            screen.press("+")
            refusal = f"not scaled: HorizontalPodAutoscaler {shared.deployment} owns {shared.deployment}"
            screen.wait_for(lambda lines: says(lines, refusal), 10, "the refusal")
            screen.press("y")
            screen.press("q")
            assert screen.ended(15) == 0
        assert shared.replicas() == 1
    finally:
        shared.kubectl("delete", "hpa", shared.deployment)


def test_pods_of_another_kind_show_what_their_node_knows(shared: Release, tmp_path: Path) -> None:
    """Locust's worker, without a Service and without metrics of ours: CPU and memory, and nothing of requests."""
    options = (f"--deployment={shared.deployment}-locust-worker", f"--namespace={shared.namespace}", "--json")
    with podscale("watch", *options, "--interval=1", "--count=60", out=tmp_path, cluster=shared.cluster) as command:
        assert command.process.stdout is not None
        known = None
        for line in command.process.stdout:
            (pod,) = json.loads(line)["pods"]
            assert (pod["state"], pod["requests_per_second"], pod["p99_seconds"]) == ("Ready", None, None)
            assert pod["node"].startswith("node")
            known = pod["cpu_cores"]
            if known is not None:
                assert pod["memory_bytes"] > 20e6
                break
    assert known is not None
    assert 0 <= known < 1


def test_64_pods_stay_readable_and_cheap(release: Release) -> None:
    """In 80 columns and 24 lines, page by page, with title and total on each; it costs under a tenth of a core."""
    release.install(
        "replicaCount=64",
        "locust.enabled=false",
        "resources.requests.cpu=10m",
        "resources.requests.memory=40Mi",
        "startupProbe.periodSeconds=2",
        "readinessProbe.periodSeconds=10",
        *QUICK_STOP,
        seconds=300,
    )
    # As a person starts it: two seconds between readings.
    command = release.cluster.command(sys.executable, "-m", "podscale.cli", "watch", *of(release))
    with terminal(command, release.cluster.environment()) as screen:
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


def test_an_unknown_deployment_is_refused_with_those_that_are_there(shared: Release, tmp_path: Path) -> None:
    """One line, exit code 2."""
    options = ("--deployment=none", f"--namespace={shared.namespace}")
    with podscale("watch", *options, out=tmp_path, cluster=shared.cluster) as command:
        assert command.wait(30) == 2
    assert f"it has {shared.deployment}" in command.stderr
    assert command.stderr.count("\n") == 1


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


def says(lines: list[str], text: str) -> bool:
    """Whether it is on the screen."""
    return any(text in line for line in lines)
