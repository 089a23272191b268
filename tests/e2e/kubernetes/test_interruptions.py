"""A sweep on the cluster that is stopped, killed, or cut off: replicas come back, and what was measured stays."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from podscale import contract
from podscale.sweep import results
from tests.cluster import processes
from tests.e2e.commands import Command
from tests.e2e.kubernetes.release import Release
from tests.e2e.kubernetes.sweeping import PATIENT, SHORT, codes, sweeping, swept
from tests.processes import wait_until

pytestmark = pytest.mark.waits
# The larger size comes first or second, and the second stage is the one that is cut.
TWO = ("--sizes=1,2", "--clock=sleep", *SHORT, PATIENT)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_restores_and_the_sweep_goes_on_later(
    shared: Release, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """In the middle of a stage: the exit code names the signal, one pod is asked for again, --resume does the rest."""
    out = tmp_path / "out"
    command = cut(shared, out, number)
    assert command.process.returncode == code, command.stderr
    assert shared.replicas() == 1
    broken = results.load(out)
    assert broken.aborted == number.name
    assert [stage.valid for stage in broken.stages] == [True, False]
    assert "interrupted" in codes(broken.stages[1])
    if number == signal.SIGINT:
        resumed = swept(shared, out, f"--resume={out}")
        assert resumed.process.returncode == 0, resumed.stderr
        assert sorted(stage.size for stage in results.load(out).stages) == [1, 2]
        assert results.load(out).aborted is None


def test_after_a_kill_the_next_start_says_so_and_restore_puts_it_back(shared: Release, tmp_path: Path) -> None:
    """SIGKILL leaves two pods; the preflight tells of it, and --restore makes it one again."""
    cut(shared, tmp_path / "out", signal.SIGKILL, sizes="2,3")
    assert shared.replicas() in {2, 3}
    told = swept(shared, tmp_path / "told", "--dry-run", *TWO)
    assert "it had found 1 pods" in " ".join(told.stdout.split())
    assert "--restore" in told.stdout
    restored = swept(shared, tmp_path / "none", "--restore")
    assert restored.process.returncode == 0, restored.stderr
    assert "1 replicas again" in restored.stdout
    assert shared.replicas() == 1
    again = swept(shared, tmp_path / "none", "--restore")
    assert "nothing to put back" in again.stdout


@pytest.mark.alone  # which others need
def test_an_api_server_that_is_away_for_20_s_does_not_end_the_stage(shared: Release, tmp_path: Path) -> None:
    """The load goes on in the cluster meanwhile: the stage is whole, and the message says what was waited for."""
    if shared.cluster.layout is None:
        pytest.skip("the cluster is not ours to stop")
    record = shared.cluster.layout.root / "processes" / "kube-apiserver.json"
    server = processes.Process(*json.loads(record.read_text()))
    assert server.alive
    options = ("--sizes=1", "--stage-seconds=8", "--clock=sleep", *SHORT[:1], *SHORT[2:], PATIENT)
    with sweeping(shared, tmp_path / "out", *options) as command:
        wait_until(lambda: holds_lease(shared), 60, "the sweep to begin")
        time.sleep(4)
        os.kill(server.pid, signal.SIGSTOP)
        try:
            time.sleep(20)
        finally:
            os.kill(server.pid, signal.SIGCONT)
        assert command.wait(120) in {0, 1}, command.stderr
    (stage,) = results.load(command.out).stages
    assert stage.requests
    assert stage.throughput_per_second
    assert stage.cpu_seconds is None
    assert "unread" in codes(stage)
    assert shared.replicas() == 1


def test_a_worker_that_is_lost_voids_its_stage_alone(shared: Release, tmp_path: Path) -> None:
    """Its stage has no figure that counts and says why; the next one waits for the new worker and is whole."""
    with sweeping(shared, tmp_path / "out", *TWO, "--stage-seconds=6") as command:
        wait_until(lambda: holds_lease(shared), 60, "the sweep to begin")
        time.sleep(5)
        shared.kubectl("delete", "pods", "--selector=app.kubernetes.io/component=locust-worker", "--force")
        assert command.wait(120) == 1, command.stderr
    first, second = results.load(command.out).stages
    assert not first.valid
    assert {"worker_lost", "void"} & codes(first)
    assert second.valid


def cut(release: Release, out: Path, number: signal.Signals, sizes: str = "1,2") -> Command:
    """A sweep that got a signal in its second stage, and has ended."""
    with sweeping(release, out, *TWO, f"--sizes={sizes}", "--stage-seconds=4") as command:
        wait_until((out / "result.json").exists, 90, "the first stage to be saved")
        wait_until(lambda: stage_state(release) == "measuring", 60, "the second stage to measure", every_seconds=0.2)
        command.process.send_signal(number)
        command.wait(60)
    return command


def stage_state(release: Release) -> str:
    """How far the newest stage of the release's Locust is."""
    answer = release.ask(contract.STAGE_PATH, service=f"{release.deployment}-locust", port="web")
    return str(json.loads(answer)["state"])


def holds_lease(release: Release) -> bool:
    """Whether a sweep has begun."""
    return "podscale-sweep" in release.kubectl("get", "leases", "--output=name")
