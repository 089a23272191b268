"""The whole command on real processes: pods, Locust, result, report, and nothing left behind."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from podscale.sweep import results
from podscale.sweep.results import Stage
from tests.browser import chromium, visit
from tests.e2e.commands import Command, podscale
from tests.processes import running_pod, wait_until

SHORT = ("--warmup-seconds", "1", "--repeats", "1")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    """One short sweep of one and two pods, as a newcomer would run it, with its goal checked at the end.

    Where something else took the machine, the sweep itself calls a stage void: then it is resumed, as its user would.
    """
    out = tmp_path_factory.mktemp("sweep") / "out"
    # One pod does 20/s: it must fail at 30/s by far, and two, three quarters busy, must hold by far.
    goal = ("--rate", "30", "--slo-p99-ms", "1500")
    options = ("--sizes", "1,2", "--stage-seconds", "4", "--cpu-time-ms", "50", *goal, *SHORT)
    with contextlib.ExitStack() as stack:
        command = stack.enter_context(podscale("sweep", *options, "--out", str(out), out=out))
        code = command.wait(150)
        for _ in range(3):
            if code == 1:
                command = stack.enter_context(podscale("sweep", "--resume", str(out), out=out))
                code = command.wait(150)
        yield command


def test_two_pods_do_nearly_twice_as_much(measured: Command) -> None:
    """Throughput at 2 is at least 1.8 times that at 1 where two cores are free, and follows the CPU time anywhere."""
    assert measured.process.returncode == 0, measured.stderr
    one, two = (_capacity(measured, size) for size in (1, 2))
    assert one.throughput_per_second
    assert two.throughput_per_second
    assert one.cpu_seconds
    assert two.cpu_seconds
    ratio = two.throughput_per_second / one.throughput_per_second
    assert ratio >= 0.93 * two.cpu_seconds / one.cpu_seconds
    if _others_used_cores(two) < 0.2:
        assert ratio >= 1.8
    # A pod of 50 ms jobs on one core cannot do more than 20 a second, and should do nearly that.
    assert 16 < one.throughput_per_second <= 20.5


def test_the_result_file_follows_its_schema(measured: Command) -> None:
    """result.json is valid, says what was asked and where, and holds all stages with their figures."""
    data = measured.result()
    jsonschema.validate(data, results.json_schema())
    assert data["asked"]["sizes"] == [1, 2]
    assert data["environment"]["cores"] == len(os.sched_getaffinity(0))
    assert data["environment"]["locust"]
    assert data["aborted"] is None
    for stage in data["stages"]:
        assert stage["latency_seconds"]["p99"] >= stage["latency_seconds"]["p50"] > 0.04
        assert stage["throttled"]["periods"] is None
        seconds = stage["timeline"]
        assert (seconds["start_seconds"], seconds["step_seconds"]) == (-stage["asked"]["warmup_seconds"], 1.0)
        assert sum(seconds["answers"]) + sum(seconds["failures"]) >= stage["requests"]


def test_the_work_is_exact_and_both_sides_count_the_same(measured: Command) -> None:
    """A request costs its 50 ms and little more; clients and pods agree on the requests within 0.1 %."""
    for stage in results.load(measured.out).stages:
        assert stage.cpu_seconds_per_request is not None
        assert 0.049 < stage.cpu_seconds_per_request < 0.062
        assert stage.client_requests
        assert stage.server_requests is not None
        if not stage.errors:
            difference = abs(stage.client_requests - stage.server_requests)
            assert difference <= max(0, 0.001 * stage.client_requests)
            assert sum(stage.requests_by_pod.values()) == stage.requests


def test_the_number_of_pods_is_proved(measured: Command) -> None:
    """At one and a half times what one pod can do, two are advised, and both sizes were measured."""
    result = results.load(measured.out)
    assert result.advice is not None
    assert result.advice.pods == 2
    assert result.advice.verified
    assert {stage.size for stage in result.stages if stage.purpose == "goal"} == {1, 2}


def test_the_terminal_fits_80_columns_and_says_the_advice(measured: Command) -> None:
    """Table and sentence are printed, no line is wider than 80, and there is no control character in a pipe."""
    result = results.load(measured.out)
    assert result.advice is not None
    words = " ".join(measured.stdout.split())
    assert result.advice.sentence.split(":")[0][:40] in words
    assert str(measured.out) in words.replace(" ", "") or measured.out.name in words
    assert max(len(line) for line in measured.stdout.splitlines()) <= 80 + len(str(measured.out))
    assert "\x1b" not in measured.stdout
    assert "Traceback" not in measured.stderr


def test_charts_and_page_are_written_and_open(measured: Command) -> None:
    """The folder holds page and pictures; the page opens without console errors and shows its charts."""
    names = {path.name for path in measured.out.iterdir()}
    assert {"result.json", "report.html", "scaling.png", "latency.png"} <= names
    with chromium() as browser, visit(browser, (measured.out / "report.html").as_uri()) as opened:
        assert opened.problems == []
        assert opened.overflow_pixels() == 0
        # Each chart is there for a wide and for a narrow window; one of the two shows.
        charts = opened.page.locator("figure svg")
        assert sum(charts.nth(number).is_visible() for number in range(charts.count())) >= 3


def test_no_process_is_left(measured: Command) -> None:
    """Pods, Locust and their children are gone when the command has ended."""
    assert measured.processes() == []


def interrupted(out: Path, number: signal.Signals) -> Command:
    """A sweep of two short stages that got a signal in its second one, and has ended."""
    options = ("--sizes", "1,2", "--stage-seconds", "2", "--clock", "sleep", "--no-goal", *SHORT)
    with podscale("sweep", *options, "--out", str(out), out=out) as command:
        wait_until(lambda: len(_stages(command)) == 1, 60, "the first stage to be saved")
        time.sleep(1.5)
        command.process.send_signal(number)
        command.wait(30)
    return command


def test_stopped_in_a_stage_it_saves_tidies_up_and_can_be_resumed(tmp_path: Path) -> None:
    """The first stage is kept, the second marked, no process is left; --resume measures only what is missing."""
    out = tmp_path / "out"
    command = interrupted(out, signal.SIGINT)
    assert command.process.returncode == 130
    assert command.processes() == []
    broken = results.load(out)
    assert broken.aborted == "SIGINT"
    assert [stage.valid for stage in broken.stages] == [True, False]
    assert (out / "report.html").exists()
    with podscale("sweep", "--resume", str(out), out=out) as command:
        assert command.wait(60) == 0, command.stderr
    whole = results.load(out)
    assert whole.aborted is None
    assert sorted(stage.size for stage in whole.stages) == [1, 2]
    assert whole.stages[0] == broken.stages[0]


def test_a_terminated_sweep_tidies_up_as_well(tmp_path: Path) -> None:
    """SIGTERM, as a CI system sends it, saves and tidies up, and the exit code names it."""
    command = interrupted(tmp_path / "out", signal.SIGTERM)
    assert command.process.returncode == 143
    assert command.processes() == []
    assert results.load(tmp_path / "out").aborted == "SIGTERM"


def test_a_killed_sweep_leaves_no_process(tmp_path: Path) -> None:
    """SIGKILL gives it no time to tidy up: the kernel ends its children."""
    out = tmp_path / "out"
    with podscale("sweep", "--sizes", "2", "--clock", "sleep", *SHORT, "--out", str(out), out=out) as command:
        wait_until(lambda: len(command.processes()) >= 4, 60, "two pods and Locust to run")
        command.process.kill()
        command.process.wait(10)
        wait_until(lambda: command.processes() == [], 15, "the children to end")


def test_pods_that_sleep_scale_beyond_the_cores(tmp_path: Path) -> None:
    """Eight sleeping pods do eight times the work of one: scaling is measured, not the number of cores."""
    out = tmp_path / "out"
    options = ("--sizes", "1,8", "--clock", "sleep", "--cpu-time-ms", "50", "--stage-seconds", "3", "--no-goal", *SHORT)
    with podscale("sweep", *options, "--out", str(out), out=out) as command:
        assert command.wait(90) == 0, command.stderr
    rates = {stage.size: stage.throughput_per_second for stage in results.load(out).stages}
    assert rates[1] is not None
    assert rates[8] is not None
    assert rates[8] / rates[1] > 7


def test_a_running_service_is_measured_as_it_is(tmp_path: Path) -> None:
    """--url loads somebody else's process at one size, scales nothing and leaves it running."""
    out = tmp_path / "out"
    with running_pod(tmp_path, pod_name="theirs") as pod:
        options = ("--url", pod.url, "--stage-seconds", "2", *SHORT)
        with podscale("sweep", *options, "--out", str(out), out=out) as command:
            assert command.wait(60) == 0, command.stderr
        (stage,) = results.load(out).stages
        assert set(stage.requests_by_pod) == {"theirs"}
        assert stage.throughput_per_second is not None
        assert stage.throughput_per_second > 20
        assert stage.cpu_seconds is None
        assert pod.process.poll() is None


def test_a_locustfile_of_ones_own_is_run(tmp_path: Path) -> None:
    """A plain Locust file, with nothing of ours in it, drives the pods."""
    own = tmp_path / "own.py"
    own.write_text(
        "from locust import HttpUser, task\n\n\nclass Mine(HttpUser):\n    @task\n    def stamp(self) -> None:\n"
        '        self.client.get("/timestamp")\n'
    )
    out = tmp_path / "out"
    options = ("--sizes", "1", "--locustfile", str(own), "--stage-seconds", "2", "--no-goal", *SHORT)
    with podscale("sweep", *options, "--out", str(out), out=out) as command:
        assert command.wait(60) in {0, 1}, command.stderr
    (stage,) = results.load(out).stages
    assert stage.asked.scenario == "own"
    assert stage.requests
    assert set(stage.requests_by_pod) == {"pod-1"}


def _stages(command: Command) -> list[object]:
    try:
        stages: list[object] = command.result()["stages"]
    except (FileNotFoundError, ValueError):
        return []
    return stages


def _capacity(command: Command, size: int) -> Stage:
    """The capacity stage of this size."""
    return next(
        stage for stage in results.load(command.out).stages if (stage.purpose, stage.size) == ("capacity", size)
    )


def _others_used_cores(stage: Stage) -> float:
    """How many cores something else than the pods used in the window, the load generator included."""
    assert stage.node_cpu_fraction is not None
    assert stage.cpu_seconds is not None
    assert stage.measured_seconds is not None
    return stage.node_cpu_fraction * (os.cpu_count() or 1) - stage.cpu_seconds / stage.measured_seconds
