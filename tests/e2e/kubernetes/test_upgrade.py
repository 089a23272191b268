"""Upgrading a release that serves."""

import subprocess
from pathlib import Path

import pytest

from podscale import contract
from tests.cluster.layout import CHECKOUT
from tests.e2e.kubernetes.release import Release, shares
from tests.processes import wait_until

pytestmark = pytest.mark.waits
RATE_PER_SECOND = 50
CHART_IN_GIT = "helm/podscale"


def test_an_upgrade_fails_no_request_and_keeps_the_replicas(release: Release, tmp_path: Path) -> None:
    """From an earlier chart to this one, every pod replaced, at a steady 50 requests a second.

    The load is that of a second release, since an upgrade may replace a release's own Locust too.
    """
    release.install("locust.enabled=false", "settings.maxCpuTimeMs=5000", chart=earlier_chart(tmp_path))
    release.scale(3)
    before = {pod["metadata"]["name"] for pod in release.pods()}
    load = Release(release.cluster, release.namespace, "load")
    load.install("locust.scenario=timestamp", f"locust.host=http://{release.deployment}:{contract.HTTP_PORT}")
    with load.load(150, rate_per_second=RATE_PER_SECOND) as report:
        release.upgrade("podAnnotations.upgraded=yes")
        after = {pod["metadata"]["name"] for pod in release.pods()}
        wait_until(lambda: before | after <= set(shares(report())), 30, "an answer of each pod", every_seconds=1)
        wait_until(lambda: len(release.objects("pods", "pod")) == len(after), 60, "old pods to go", every_seconds=1)
        during = report()
    assert len(after) == 3
    assert not before & after
    assert during["requests"] >= RATE_PER_SECOND * 10
    assert not during["errors"], during["errors"]
    assert release.helm("get", "values", release.name, "--output=json").count("5000") == 1


def earlier_chart(folder: Path) -> Path:
    """The newest chart in the history that is not this one; the first, which may be this one, if there is no other."""
    commits = git("log", "--format=%H", "--", CHART_IN_GIT).split()
    differing = [commit for commit in commits if git("diff", "--name-only", commit, "--", CHART_IN_GIT)]
    commit = (differing or commits[-1:] or ["HEAD"])[0]
    archive = subprocess.run(["git", "archive", commit, CHART_IN_GIT], cwd=CHECKOUT, check=True, capture_output=True)
    subprocess.run(["tar", "--extract", "--file=-"], cwd=folder, check=True, input=archive.stdout)
    return folder / CHART_IN_GIT


def git(*arguments: str) -> str:
    """What git says of this checkout."""
    return subprocess.run(["git", *arguments], cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout
