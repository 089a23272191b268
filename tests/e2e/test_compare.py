"""`podscale compare` on this machine: pods beside workers, real load, one report, and what goes wrong is marked."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import psutil
import pytest

from podscale.sweep import results
from podscale.sweep.results import Result, Stage
from tests.browser import chromium, visit
from tests.e2e.commands import Command, podscale
from tests.processes import wait_until

pytestmark = pytest.mark.timeout(900)
# Jobs that sleep fill their process as working ones do, and leave the machine to the load that measures them.
WORK = ("--cpu-time-ms", "50", "--clock", "sleep")
SHORT = ("--stage-seconds", "2", "--warmup-seconds", "1", "--repeats", "1", *WORK)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    """Sizes 1 and 2, each topology at the same load.

    Where something else took the machine, stages are void: then it is resumed, as its user would.
    """
    out = tmp_path_factory.mktemp("compare") / "out"
    with contextlib.ExitStack() as stack:
        start = podscale("compare", "--sizes", "1,2", *SHORT, "--out", str(out), out=out)
        command = stack.enter_context(start)
        code = command.wait(240)
        for _ in range(3):
            if code == 1:
                command = stack.enter_context(podscale("compare", "--resume", str(out), out=out))
                code = command.wait(240)
        yield command


@pytest.fixture(scope="module")
def result(compared: Command) -> Result:
    """What it wrote."""
    assert compared.process.returncode == 0, compared.stderr
    return results.load(compared.out)


def test_both_topologies_are_measured_at_one_load(result: Result) -> None:
    """At each size capacity, constant and Poisson arrivals and a kill, for both, at the same rate and CPU."""
    found = {(stage.size, stage.topology, stage.purpose, stage.asked.arrivals) for stage in result.stages}
    kinds = (("capacity", None), ("load", "constant"), ("load", "poisson"), ("recovery", "constant"))
    assert found == {(size, name, *kind) for size in (1, 2) for name in ("pods", "workers") for kind in kinds}
    for size in (1, 2):
        rates = {stage.asked.rate_per_second for stage in result.stages if stage.size == size} - {None}
        cores = {stage.budget.cpu_cores for stage in result.stages if stage.size == size and stage.budget}
        assert len(rates) == 1
        assert cores == {size}
        for stage in result.stages:
            if stage.size == size and stage.budget:
                assert stage.budget.processes == size
                assert stage.budget.pods == (1 if stage.topology == "workers" else size)


def test_every_figure_of_the_comparison_is_there(result: Result) -> None:
    """Capacity, p99, memory, CPU, each process's share, start-up and recovery, of every variant."""
    for stage in result.stages:
        assert stage.latency_seconds is not None
        # Of a process that was replaced, what it had used is not known.
        assert stage.memory_bytes or stage.purpose == "recovery"
        if stage.purpose == "capacity":
            # 50 ms for each job, one at a time in each process.
            assert stage.throughput_per_second is not None
            assert 0.8 < stage.throughput_per_second / (20 * stage.size) < 1.05
        if stage.purpose == "load":
            assert stage.cpu_seconds_per_request is not None
            assert stage.cpu_seconds_per_request < 0.05
            assert 1 <= len(stage.requests_by_process) <= stage.size
            assert not stage.errors
        if stage.purpose == "recovery":
            assert stage.recovery is not None
            assert stage.recovery.killed
            assert stage.recovery.seconds_until_full is not None
            assert 0.1 < stage.recovery.seconds_until_full < 9
    started = {(stage.size, stage.topology) for stage in result.stages if stage.ready_seconds}
    assert len(started) == 4
    # One of one process is gone: nobody else takes its requests.
    lone = [stage.recovery for stage in result.stages if stage.purpose == "recovery" and stage.size == 1]
    assert all(recovery and recovery.failed_requests for recovery in lone)


def test_the_quota_is_not_named_where_there_is_none(result: Result) -> None:
    """Random choice and queueing of two processes have figures; the quota is unknown, not 0."""
    assert [(cause.size, cause.arrivals) for cause in result.causes] == [
        (2, arrivals) for arrivals in ("constant", "poisson")
    ]
    for cause in result.causes:
        seconds = {share.cause: share.seconds for share in cause.causes}
        assert seconds["quota"] is None
        assert seconds["random choice"] is not None
        assert seconds["queueing"] is not None


def test_result_file_terminal_and_page_hold_all_variants(compared: Command, result: Result) -> None:
    """The schema holds, the tables fit 80 columns, the page opens, and a report written again is the same."""
    jsonschema.validate(compared.result(), results.json_schema())
    assert compared.result()["asked"]["command"] == "compare"
    assert max(len(line) for line in compared.stdout.splitlines()) <= 80 + len(str(compared.out))
    for size in (1, 2):
        for name in ("pods", "workers"):
            assert f"{size} {name} " in compared.stdout
    with chromium() as browser, visit(browser, (compared.out / "report.html").as_uri()) as opened:
        assert opened.problems == []
        for name in ("1: workers", "1: pods", "2: workers", "2: pods"):
            assert opened.page.get_by_role("rowheader", name=name, exact=True).count() == 2
    page = (compared.out / "report.html").read_bytes()
    with podscale("report", str(compared.out), out=compared.out) as again:
        assert again.wait(60) == 0
        assert result.advice is not None
        assert result.advice.sentence.split(":")[0][:30] in " ".join(again.stdout.split())
    assert (compared.out / "report.html").read_bytes() == page


def test_nothing_is_left_running(compared: Command) -> None:
    """Pods, workers and Locust are gone."""
    assert compared.processes() == []


def test_a_worker_that_dies_marks_the_stage(tmp_path: Path) -> None:
    """One of two workers is killed in the middle: its stage says so in the result, as soon as it has ended."""
    out = tmp_path / "out"
    options = ("--sizes", "2", "--rate", "10", "--no-recovery", *SHORT, "--stage-seconds", "8")
    with podscale("compare", *options, "--out", str(out), out=out) as command:
        wait_until(lambda: len(_workers(command)) == 2, 90, "two workers", every_seconds=0.2)
        time.sleep(5)  # they start in one or two, and are loaded for nine
        os.kill(_workers(command)[0], signal.SIGKILL)
        wait_until(lambda: (out / "result.json").is_file() and bool(_marked(out)), 60, "the marked stage")
        os.kill(command.process.pid, signal.SIGINT)  # the stages that follow show nothing new
        assert command.wait(60) == 130, command.stderr
    marked = _marked(out)
    assert len(marked) == 1
    assert marked[0].topology == "workers"
    assert not marked[0].valid
    assert "1 worker of a pod" in next(each.evidence for each in marked[0].verdicts if each.code == "pod_lost")


def test_a_sweep_does_not_go_on_with_a_comparison(tmp_path: Path) -> None:
    """--resume of the other command is refused in one line that names the right one."""
    found = Result(id="x", started_at="2026-01-01T00:00:00+00:00", asked={"command": "compare"}, environment={})
    results.save(found, tmp_path)
    with podscale("sweep", "--resume", str(tmp_path), out=tmp_path) as command:
        assert command.wait(60) == 2
    assert "podscale compare --resume" in command.stderr
    assert "Traceback" not in command.stderr


def _marked(out: Path) -> list[Stage]:
    stages = results.load(out).stages
    return [stage for stage in stages if any(verdict.code == "pod_lost" for verdict in stage.verdicts)]


def _workers(command: Command) -> list[int]:
    """Serving processes of a pod of several workers."""
    found = []
    for pid in command.processes():
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(pid)
            parent = process.parent()
            ours = parent is not None and "podscale.pod" in parent.cmdline()
            if ours and "--multiprocessing-fork" in process.cmdline():
                found.append(pid)
    return found
