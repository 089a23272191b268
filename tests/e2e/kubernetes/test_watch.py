"""`podscale watch` of a Deployment: its pods under load, the keys with their question, and what is not ours."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.e2e.commands import podscale
from tests.e2e.kubernetes.release import Release
from tests.e2e.kubernetes.sweeping import of
from tests.e2e.terminal import says, terminal
from tests.e2e.tmux import tmux

pytestmark = pytest.mark.waits
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


def test_an_unknown_deployment_is_refused_with_those_that_are_there(shared: Release, tmp_path: Path) -> None:
    """One line, exit code 2."""
    options = ("--deployment=none", f"--namespace={shared.namespace}")
    with podscale("watch", *options, out=tmp_path, cluster=shared.cluster) as command:
        assert command.wait(30) == 2
    assert f"it has {shared.deployment}" in command.stderr
    assert command.stderr.count("\n") == 1
