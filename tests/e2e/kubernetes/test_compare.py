"""`podscale compare` on a Deployment: the quota is found, a kill is timed, and the Deployment is what it was."""

import json
import os
import signal
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from podscale.sweep import results
from podscale.sweep.results import Result
from podscale.sweep.topologies import TOPOLOGIES
from tests.cluster.cluster import Cluster
from tests.e2e.commands import Command, podscale
from tests.e2e.kubernetes.release import QUARTER_CORE, QUICK_STOP, Release
from tests.processes import wait_until

pytestmark = pytest.mark.timeout(1500)
# The load is measured by a worker that no pod may hold up.
LOCUST = ("locust.worker.resources.requests.cpu=500m",)
SHORT = ("--stage-seconds", "2", "--warmup-seconds", "1", "--repeats", "1", "--cpu-time-ms", "50")


def test_at_80_percent_of_one_core_the_quota_leads(release: Release, tmp_path: Path) -> None:
    """Sizes 1, 2 and 4 of 250m: all topologies in one report, at 4 the quota leads, with the throttled periods."""
    release.install(*QUARTER_CORE, *QUICK_STOP, *LOCUST)
    before = template(release)
    result = compared(release, tmp_path / "out", "--sizes", "1,2,4", "--no-recovery")
    names = {size: {stage.topology for stage in result.stages if stage.size == size} for size in (1, 2, 4)}
    assert names == {1: set(TOPOLOGIES) - {"pods-large"}, 2: set(TOPOLOGIES), 4: set(TOPOLOGIES)}
    for size in (2, 4):
        rates = {stage.asked.rate_per_second for stage in result.stages if stage.size == size and stage.asked.arrivals}
        assert len(rates) == 1
        # 50 ms of CPU each on a quarter of a core: 5/s for each size of one, of which 80 % are offered; less where
        # chance left one of few pods idle for a part of the short window that measured how much they can do.
        assert 0.5 < (rates.pop() or 0) / (5 * size) < 0.9
        cores = {stage.budget.cpu_cores for stage in result.stages if stage.size == size and stage.budget}
        assert cores == {0.25 * size}
    steady = next(cause for cause in result.causes if (cause.size, cause.arrivals) == (4, "constant"))
    assert steady.leading == "quota", steady.parts
    quota = next(share for share in steady.causes if share.cause == "quota")
    assert quota.seconds is not None
    assert steady.p99_seconds is not None
    assert quota.seconds > 0.6 * steady.p99_seconds
    assert "of its periods" in quota.evidence
    throttled = [
        stage.throttled
        for stage in result.stages
        if (stage.size, stage.topology, stage.purpose) == (4, "pods", "load") and stage.valid
    ]
    assert all(each.periods and each.throttled_periods for each in throttled)
    page = (tmp_path / "out" / "report.html").read_text()
    for name in TOPOLOGIES:
        assert f"4: {name}" in page
    assert template(release) == before
    assert release.replicas() == 1


def test_a_killed_process_is_timed_in_pods_and_workers(release: Release, tmp_path: Path) -> None:
    """SIGKILL under load: failed requests and time until full are known for both; both are full again in seconds."""
    release.install(*QUARTER_CORE, *QUICK_STOP, *LOCUST)
    result = compared(release, tmp_path / "out", "--sizes", "2", "--topologies", "pods,workers", "--utilisation", "0.4")
    found = {stage.topology: stage.recovery for stage in result.stages if stage.purpose == "recovery"}
    for recovery in found.values():
        assert recovery is not None
        assert recovery.why_not is None
        assert recovery.failed_requests is not None
        assert recovery.seconds_until_full is not None
        assert 0.1 < recovery.seconds_until_full < 10
    workers, pods = found["workers"], found["pods"]
    assert workers is not None
    assert pods is not None
    assert (workers.killed or "").startswith("worker ")
    assert not (pods.killed or "").startswith("worker ")


@pytest.mark.waits
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGKILL])
def test_whatever_ends_it_the_template_comes_back(release: Release, tmp_path: Path, sig: signal.Signals) -> None:
    """Interrupted, it puts back template and size itself; killed, `sweep --restore` does, and says so."""
    release.install(*QUARTER_CORE, *QUICK_STOP, *LOCUST)
    release.scale(2)
    before = template(release)
    out = tmp_path / "out"
    with command(release, out, "--sizes", "4", "--topologies", "workers,pods-unlimited") as running:
        wait_until(lambda: template(release) != before, 60, "another template")
        wait_until(lambda: len(release.pods()) in {1, 4}, 60, "its pods")
        os.kill(running.process.pid, sig)
        code = running.wait(90)
    assert code == (130 if sig == signal.SIGINT else -signal.SIGKILL)
    if sig == signal.SIGKILL:
        assert template(release) != before
        restore = ("sweep", "--restore", "--deployment", release.deployment, "--namespace", release.namespace)
        with inside(release.cluster, *restore, out=out) as again:
            assert again.wait(90) == 0, again.stderr
            assert "its own pod template" in again.stdout
    assert template(release) == before
    wait_until(lambda: release.replicas() == 2, 30, "two replicas")
    release.wait_until_settled()


def compared(release: Release, out: Path, *options: str) -> Result:
    """A comparison to its end; where something else took the machine it is resumed, as its user would."""
    with command(release, out, *options) as running:
        code = running.wait(900)
        assert code in {0, 1}, running.stderr
    for _ in range(3):
        if code == 0:
            break
        with inside(release.cluster, "compare", "--resume", str(out), out=out) as running:
            code = running.wait(900)
    assert code == 0, running.stderr
    return results.load(out)


def command(release: Release, out: Path, *options: str) -> AbstractContextManager[Command]:
    """`podscale compare` of the release, running."""
    where = ("--deployment", release.deployment, "--namespace", release.namespace)
    return inside(release.cluster, "compare", *where, *SHORT, *options, "--out", str(out), out=out)


def inside(cluster: Cluster, *arguments: str, out: Path) -> AbstractContextManager[Command]:
    """The command where it reaches the cluster."""
    return podscale(*arguments, out=out, cluster=cluster)


def template(release: Release) -> dict[str, Any]:
    """The Deployment's pod template, as the API server has it."""
    text = release.kubectl("get", f"deployment/{release.deployment}", "--output=json")
    found: dict[str, Any] = json.loads(text)["spec"]["template"]
    return found
