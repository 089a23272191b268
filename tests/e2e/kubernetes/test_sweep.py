"""`podscale sweep` of Deployments: quarter cores, sleeping pods, and a service that is not ours."""

from pathlib import Path

import pytest

from podscale.sweep import results
from tests.e2e.kubernetes.release import CHART, QUARTER_CORE, QUICK_STOP, SMALL, Release
from tests.e2e.kubernetes.sweeping import PATIENT, SHORT, codes, stage_of, swept
from tests.processes import wait_until

# A server of another kind in an image that is on the nodes, and a plain locustfile for it.
THEIRS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      terminationGracePeriodSeconds: 1
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: web
          image: %s
          imagePullPolicy: IfNotPresent
          command: [python3, -m, http.server, "8080", --directory, /etc]
          ports: [{name: web, containerPort: 8080}]
          readinessProbe: {tcpSocket: {port: web}, periodSeconds: 1}
          resources: {requests: {cpu: 50m, memory: 32Mi}, limits: {cpu: 100m, memory: 64Mi}}
          securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
---
apiVersion: v1
kind: Service
metadata: {name: shop}
spec:
  selector: {app: shop}
  ports: [{port: 80, targetPort: web}]
"""
LOCUSTFILE = """
from locust import HttpUser, task


class Reader(HttpUser):
    @task
    def read(self):
        self.client.get("/hostname")
"""


def test_quarter_cores_scale_and_the_quota_is_named(release: Release, tmp_path: Path) -> None:
    """Four pods of 250m do four times the work of one; they are the limit, and their quota; nothing stays changed."""
    release.install(*QUARTER_CORE, *QUICK_STOP)
    options = ("--sizes=1,2,4", "--stage-seconds=10", "--warmup-seconds=3", "--users=48", "--timeout-seconds=60")
    for attempt in range(3):
        command = swept(release, tmp_path / f"out-{attempt}", *SHORT, *options, PATIENT)
        # Where something else took the machine, pods did not get their quota, which is said: then measure again.
        if all("not_saturated" not in codes(stage) for stage in results.load(command.out).stages):
            break
    assert command.process.returncode == 0, command.stderr
    one, four = stage_of(command, 1), stage_of(command, 4)
    assert one.throughput_per_second
    assert four.throughput_per_second
    assert four.throughput_per_second >= 0.97 * 4 * one.throughput_per_second
    for stage in results.load(command.out).stages:
        assert {"pods_limit", "throttled"} <= codes(stage)
        assert stage.throttled.throttled_periods
        assert stage.client_requests
        assert stage.server_requests is not None
        assert abs(stage.client_requests - stage.server_requests) <= 0.005 * stage.client_requests
        assert len(stage.requests_by_pod) == stage.size
        seconds = stage.timeline
        assert seconds is not None
        assert len(seconds.answers) * seconds.step_seconds >= 10
        assert sum(seconds.answers) >= sum(stage.requests_by_pod.values())
    assert release.replicas() == 1
    assert "podscale-sweep" not in release.kubectl("get", "leases", "--output=name")


def test_little_of_the_time_is_lost_between_windows(shared: Release, tmp_path: Path) -> None:
    """Four sizes, two repeats of 8 s: at most 35 % is scaling, waiting and warm-up, and the share is printed."""
    # Jobs of 50 ms are in their stride after ten of them.
    options = ("--sizes=1,2,3,4", "--repeats=2", "--stage-seconds=8", "--warmup-seconds=0.5", "--clock=sleep", PATIENT)
    command = swept(shared, tmp_path / "out", *SHORT, *options)
    assert command.process.returncode == 0, command.stderr
    result = results.load(command.out)
    assert len(result.stages) == 8
    assert result.overhead_fraction is not None
    assert result.overhead_fraction <= 0.35
    assert "outside of measuring windows" in command.stdout


@pytest.mark.timeout(600)
def test_sixty_four_sleeping_pods_do_sixty_four_times_as_much(release: Release, tmp_path: Path) -> None:
    """Pods that sleep 200 ms for each request, 10m of CPU each: the work grows with them, on two cores."""
    release.install(*SMALL, *QUICK_STOP)
    # Visits go to a pod by chance: with u users for each pod, one has nothing to do in up to 1 of 1 + u moments (a
    # closed network of equal servers, doi.org/10.1287/opre.15.2.254), which 16 would already show.
    options = ("--sizes=1,4,16,64", "--stage-seconds=8", "--clock=sleep", "--cpu-time-ms=200", "--users=32")
    patience = ("--warmup-seconds=4", "--timeout-seconds=30", PATIENT)
    times = 0.0
    for attempt in range(3):
        command = swept(release, tmp_path / f"out-{attempt}", *SHORT, *options, *patience)
        assert command.process.returncode == 0, command.stderr
        one, all_of_them = stage_of(command, 1), stage_of(command, 64)
        assert len(all_of_them.requests_by_pod) == 64
        assert one.throughput_per_second
        assert all_of_them.throughput_per_second
        times = all_of_them.throughput_per_second / one.throughput_per_second
        # Their 320 answers a second take most of two slow cores; what else wants these shows as time between sleeps.
        if times >= 0.95 * 64:
            break
        options = ("--sizes=1,64", *options[1:])
    assert times >= 0.95 * 64


@pytest.mark.waits
def test_a_service_that_is_not_ours(release: Release, locust_image: str, tmp_path: Path) -> None:
    """Another server, its own locustfile: scaled, loaded and reported; what nobody counts is unknown and not 0."""
    own = tmp_path / "own.py"
    own.write_text(LOCUSTFILE)
    release.helm("install", release.name, str(CHART), "--set-file", f"locust.locustfile={own}", "--set=replicaCount=0")
    release.kubectl("apply", "--filename=-", given=THEIRS % locust_image)
    release.wait_until_settled()
    release.kubectl("rollout", "status", "deployment/shop")
    options = ("--deployment=shop", f"--namespace={release.namespace}", "--scenario=own", "--sizes=1,2")
    named = (PATIENT, f"--locust={release.name}")
    command = swept(release, tmp_path / "out", *options, *SHORT, *named)
    assert command.process.returncode == 0, command.stderr
    result = results.load(command.out)
    assert result.environment["service"].startswith(f"http://shop.{release.namespace}.")
    for stage in result.stages:
        assert stage.requests
        assert not stage.errors
        assert set(stage.requests_by_pod) == {"unknown"}
        assert stage.server_requests is None
        assert stage.memory_bytes is None or stage.memory_bytes > 2**20
        assert stage.cpu_seconds is None or stage.cpu_seconds > 0
    assert (command.out / "report.html").exists()
    wait_until(lambda: release.kubectl("get", "deploy/shop", "-o=jsonpath={.spec.replicas}") == "1", 10, "its replica")
    # Long enough for figures that are half a minute old: the pod works at its limit, 100m.
    command = swept(release, tmp_path / "long", *options[:-1], "--sizes=1", *SHORT, "--stage-seconds=60", *named)
    (stage,) = results.load(command.out).stages
    assert stage.cpu_seconds is not None
    assert 1 < stage.cpu_seconds < 7
    assert stage.memory_bytes is not None
    assert stage.memory_bytes > 2**20
