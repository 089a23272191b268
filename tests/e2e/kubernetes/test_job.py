"""The chart's sweep Job, which has no rights but those of its Role."""

import json
from pathlib import Path

import pytest

from podscale.sweep import results
from tests.cluster.cluster import Cluster
from tests.e2e.commands import podscale
from tests.e2e.kubernetes.release import CHART, QUARTER_CORE, QUICK_STOP, Release
from tests.processes import wait_until

pytestmark = pytest.mark.waits
SWEEP = r"sweep.args={--sizes=1\,2,--stage-seconds=6,--warmup-seconds=1,--repeats=1,--no-goal,--clock=sleep,--users=3}"


def test_a_job_sweeps_and_a_second_one_is_refused(
    release: Release, cluster: Cluster, sweep_image: str, tmp_path: Path
) -> None:
    """From the install to the report: the Job measures, its result is fetched, one that comes meanwhile is refused."""
    del sweep_image
    values = [f"--set={value}" for value in ("sweep.enabled=true", SWEEP, *QUARTER_CORE, *QUICK_STOP)]
    release.helm("install", release.name, str(CHART), *values)
    wait_until(lambda: "podscale-sweep" in release.kubectl("get", "leases", "-oname"), 120, "the sweep to begin")
    (first,) = jobs(release)
    made = json.loads(release.kubectl("get", f"job/{first}", "--output=json"))
    template = made["spec"]["template"]
    template["metadata"].pop("labels")
    second = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "second"}}
    second["spec"] = {"backoffLimit": 0, "template": template}
    release.kubectl("create", "--filename=-", given=json.dumps(second))
    release.kubectl("wait", "job/second", "--for=condition=Failed", "--timeout=90s")
    assert "another sweep holds podscale" in " ".join(release.kubectl("logs", "job/second").split())
    release.kubectl("wait", f"job/{first}", "--for=condition=Complete", "--timeout=120s")
    assert release.replicas() == 1
    options = (f"--from-job={first}", f"--namespace={release.namespace}", str(tmp_path))
    with podscale("report", *options, out=tmp_path, cluster=cluster) as command:
        assert command.wait(60) == 0, command.stderr
    result = results.load(tmp_path)
    assert [stage.valid for stage in result.stages] == [True, True]
    assert (tmp_path / "report.html").exists()
    unknown = {check["text"] for check in result.environment["preflight"] if check["state"] == "unknown"}
    assert any("nodes/proxy" in text for text in unknown)


def jobs(release: Release) -> list[str]:
    """Names of the Jobs."""
    return [name.rpartition("/")[2] for name in release.kubectl("get", "jobs", "--output=name").split()]
