"""`podscale watch` of pods on this machine: in a terminal with keys, into a pipe, as JSON, and at 64 pods."""

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import httpx
import psutil

from podscale import contract
from tests.e2e.commands import podscale
from tests.e2e.terminal import Terminal, terminal
from tests.e2e.tmux import tmux
from tests.processes import running_pod, wait_until

WATCH = (sys.executable, "-m", "podscale.cli", "watch")


def test_keys_start_and_stop_pods() -> None:
    """One pod, `+` makes it two, `-` one again, `q` ends all; the terminal has its table, then the shell again."""
    with terminal([*WATCH, "--start=1", "--interval=0.5"], os.environ) as screen:
        shown(screen, "1 of 1 pod Ready")
        screen.press("+")
        lines = shown(screen, "2 of 2 pods Ready")
        assert all(len(line) <= 80 for line in lines)
        assert len(lines) <= 24
        assert [line.split()[0] for line in lines[2:5]] == ["pod-1", "pod-2", "total"]
        pods = children(screen)
        assert len(pods) == 2
        screen.press("-")
        shown(screen, "1 of 1 pod Ready")
        screen.press("q")
        assert screen.ended(15) == 0
        assert not any(pod.is_running() for pod in pods)
        # The last table stays in the terminal, after its own screen has gone.
        assert "1 of 1 pod Ready" in screen.everything().rpartition("q quit")[2]


def test_tmux_shows_the_same_in_any_size(tmp_path: Path) -> None:
    """A terminal that people use: its window becomes narrow and wide, keys work, and it is given back as it was."""
    with tmux([*WATCH, "--start=1", "--interval=0.5"], os.environ, tmp_path) as window:
        window.wait_for(lambda lines: "1 of 1 pod Ready" in lines[0], 30, "the pod")
        window.press("+")
        lines = window.wait_for(lambda lines: "2 of 2 pods Ready" in lines[0], 30, "the second pod")
        assert [line.split()[0] for line in lines[1:5]] == ["Pod", "pod-1", "pod-2", "total"]
        heading = lines[1]
        window.resize(40, 10)
        window.wait_for(lambda lines: 0 < len(lines[1]) <= 40 and lines[1] != heading, 10, "the narrow table")
        window.resize(80, 24)
        window.wait_for(lambda lines: lines[1] == heading, 10, "the table as it was")
        window.press("C-c")
        lines = window.wait_for(lambda lines: "exit code 130" in lines, 15, "the end")
        assert "2 of 2 pods Ready" in lines[0]


def test_load_shows_in_the_pods_line() -> None:
    """Requests, CPU and p99 of a pod that works; its figures are those of the time between two readings."""
    with terminal([*WATCH, "--start=1", "--interval=1"], os.environ, columns=120, lines=40) as screen:
        lines = shown(screen, "1 of 1 pod Ready")
        found = re.search(r"http://127\.0\.0\.1:\d+", lines[0])
        assert found is not None
        begun = time.monotonic()
        while time.monotonic() < begun + 4:
            httpx.get(f"{found[0]}{contract.BLOCKING}?cpuTimeMs=50")
            screen.read(0.01)
        row = shown(screen, "1 of 1 pod Ready")[2].split()
        figures = dict(zip(("requests", "p99", "queue"), row[-3:], strict=True))
        assert float(figures["requests"]) > 5
        assert 25 <= float(figures["p99"]) <= 1000
        assert "#" in " ".join(row)
        screen.press("\x03")
        assert screen.ended(15) == 128 + signal.SIGINT


def test_a_pipe_has_plain_blocks(tmp_path: Path) -> None:
    """So many readings of a running pod, each with its heading, nothing to be interpreted by a terminal."""
    with (
        running_pod(tmp_path) as pod,
        podscale("watch", f"--url={pod.admin_url}", "--count=2", "--interval=0.5", out=tmp_path) as command,
    ):
        assert command.wait(30) == 0, command.stderr
    assert command.stdout.count("Pod ") == 2
    assert command.stdout.count("1 of 1 pod Ready") == 2
    assert "\x1b" not in command.stdout
    assert max(map(len, command.stdout.splitlines())) <= 80


def test_json_has_one_object_for_each_reading(tmp_path: Path) -> None:
    """Also of a pod that is killed: then its values are null and its state says so; a signal ends it, 143."""
    with (
        running_pod(tmp_path) as pod,
        podscale("watch", f"--url={pod.admin_url}", "--json", "--interval=0.5", out=tmp_path) as command,
    ):
        assert command.process.stdout is not None
        first = json.loads(command.process.stdout.readline())
        assert first["pods"][0]["requests_per_second"] == 0
        assert first["total"]["ready"] == 1
        pod.stop(signal.SIGKILL)
        for _ in range(4):
            last = json.loads(command.process.stdout.readline())
        assert (last["pods"][0]["state"], last["pods"][0]["requests_per_second"]) == ("no answer", None)
        command.process.send_signal(signal.SIGTERM)
        assert command.process.wait(10) == 128 + signal.SIGTERM


def test_a_pod_that_hangs_holds_no_key(tmp_path: Path) -> None:
    """Its reading takes four seconds: meanwhile the title says how old the one before is, keys work, and `q` ends."""
    with (
        running_pod(tmp_path) as pod,
        terminal([*WATCH, f"--url={pod.admin_url}", "--interval=0.5"], os.environ) as screen,
    ):
        shown(screen, "1 of 1 pod Ready")
        pod.process.send_signal(signal.SIGSTOP)
        old = re.compile(r"^\d\d:\d\d:\d\d, [12]s ago  1 of 1 pod Ready")
        screen.wait_for(lambda lines: any(old.search(line) for line in lines), 15, "the age of the reading")
        begun = time.monotonic()
        screen.press("s")
        shown(screen, "sort: cpu")
        screen.press("q")
        assert screen.ended(15) == 0
        assert time.monotonic() - begun < 2


def test_64_pods_stay_readable_and_cheap() -> None:
    """All 64 pods are read, as many as fit are shown with the total; it costs less than a tenth of a core."""
    with terminal([*WATCH, "--start=64"], os.environ) as screen:
        lines = shown(screen, "64 of 64 pods Ready", seconds=150)
        assert len(lines) <= 24
        assert all(len(line) <= 80 for line in lines)
        assert sum(line.startswith("pod-") for line in lines) >= 15
        assert any(line.startswith("total") for line in lines)
        screen.press("n")
        shown(screen, "page 2 of 4")
        own = psutil.Process(screen.process.pid)
        before, begun = own.cpu_times(), time.monotonic()
        while time.monotonic() < begun + 10:
            screen.read(0.5)
        after = own.cpu_times()
        seconds = after.user + after.system - before.user - before.system
        share = seconds / (time.monotonic() - begun)
        screen.press("q")
        assert screen.ended(30) == 0
    assert share < 0.1, f"{share:.1%} of a core"


def test_a_killed_watch_leaves_no_pod(tmp_path: Path) -> None:
    """SIGKILL cannot be caught: the kernel ends what it started."""
    with terminal([*WATCH, "--start=2", "--interval=0.5"], os.environ | {"TMPDIR": str(tmp_path)}) as screen:
        shown(screen, "2 of 2 pods Ready")
        pods = children(screen)
        screen.process.kill()
        wait_until(lambda: not any(pod.is_running() for pod in pods), 15, "the pods to end")


def test_a_closed_window_leaves_nothing(tmp_path: Path) -> None:
    """The terminal goes: the command ends as by SIGHUP, with its pods and its folder of logs."""
    with terminal([*WATCH, "--start=1", "--interval=0.5"], os.environ | {"TMPDIR": str(tmp_path)}) as screen:
        shown(screen, "1 of 1 pod Ready")
        pods = children(screen)
        assert len(list(tmp_path.iterdir())) == 1
        screen.hang_up()
        screen.process.wait(15)
        assert not any(pod.is_running() for pod in pods)
    assert list(tmp_path.iterdir()) == []


def shown(screen: Terminal, text: str, seconds: float = 30) -> list[str]:
    """The screen, once it has this text."""
    return screen.wait_for(lambda lines: any(text in line for line in lines), seconds, text)


def children(screen: Terminal) -> list[psutil.Process]:
    """What the command started."""
    return psutil.Process(screen.process.pid).children()
