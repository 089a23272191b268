"""The admin port of running pods: it answers whatever the pod works at, in the format that is asked for."""

import contextlib
import http.client
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from podscale import contract
from tests.processes import Pod, running_pod, wait_until

# The longest legal job of every kind.
AT_THE_CAP: list[tuple[str, str, Mapping[str, object] | None]] = [
    *[("GET", f"/primes?limit=300000&algorithm={name}", None) for name in ("trial", "sqrt", "sieve")],
    *[("GET", f"/primes?limit=300000&offload=worker&algorithm={name}", None) for name in ("trial", "sqrt", "sieve")],
    *[("POST", "/prime", {"number": 4_999_999_937, "algorithm": name}) for name in ("exhaustive", "sqrt", "fast")],
]


def ask(pod: Pod, method: str, target: str, body: Mapping[str, object] | None) -> None:
    """Ask for a long job and wait for it."""
    httpx.request(method, pod.url + target, json=body, timeout=120).raise_for_status()


def probe(pod: Pod, path: str) -> float:
    """Ask the admin port as a kubelet does, on a new connection, with a timeout of 1 s; the seconds it took."""
    began = time.monotonic()
    with contextlib.closing(http.client.HTTPConnection(urlsplit(pod.admin_url).netloc, timeout=1)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        assert (answer.status, bool(body)) == (200, True), body
    return time.monotonic() - began


def probe_while(pod: Pod, jobs: list[threading.Thread]) -> list[float]:
    """Probe /live and /metrics from the start of `jobs` to their end."""
    for job in jobs:
        job.start()
    seconds = []
    while any(job.is_alive() for job in jobs):
        seconds += [probe(pod, contract.LIVE), probe(pod, contract.METRICS)]
    return seconds


@pytest.mark.timeout(300)
def test_probes_are_answered_whatever_the_pod_works_at(tmp_path: Path) -> None:
    """While 4 clients block the loop for 10 s each, and while every algorithm works at its cap, both paths answer
    1,000 times within 1 s; afterwards nothing is in progress or waits.
    """

    def compute() -> None:
        for method, target, body in AT_THE_CAP:
            ask(pod, method, target, body)

    with running_pod(tmp_path) as pod:
        blocking = [
            threading.Thread(target=ask, args=(pod, "GET", "/blocking?cpuTimeMs=10000&clock=wall", None))
            for _ in range(4)
        ]
        seconds = probe_while(pod, blocking) + probe_while(pod, [threading.Thread(target=compute)])
        assert len(seconds) >= 1000
        assert max(seconds) < 1
        wait_until(lambda: pod.metric(contract.IN_PROGRESS) == 0, 5, "the requests to end")
        assert pod.metric(contract.QUEUE_LENGTH) == 0


def test_metrics_come_as_openmetrics_or_text(pod: Pod) -> None:
    """The Accept header decides; what is not known gets the classic text; neither has creation timestamps."""
    httpx.get(f"{pod.url}/timestamp")
    for accept in (
        "application/openmetrics-text;version=1.0.0",
        "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1",
    ):
        answer = httpx.get(f"{pod.admin_url}/metrics", headers={"Accept": accept})
        assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
        assert answer.text.endswith("# EOF\n")
        families = parse_openmetrics(answer.text)  # type: ignore[no-untyped-call] # the library has no type for it
        assert len(list(families)) > 10
        assert "_created" not in answer.text
    for accept in (
        "",
        "*/*",
        "text/plain;version=0.0.4",
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited",
        "application/openmetrics-text;version=x",
    ):
        answer = httpx.get(f"{pod.admin_url}/metrics", headers={"Accept": accept})
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert len(list(parse_text(answer.text))) > 10
        assert "_created" not in answer.text


def test_every_metric_of_the_contract_is_there(pod: Pod) -> None:
    """What other rooms read is exposed under the agreed name."""
    httpx.get(f"{pod.url}/blocking?cpuTimeMs=1")
    text = httpx.get(f"{pod.admin_url}/metrics").text
    samples = {sample.name for family in parse_text(text) for sample in family.samples}
    histograms = {contract.REQUEST_SECONDS, contract.QUEUE_SECONDS}
    plain = {
        contract.REQUESTS,
        contract.IN_PROGRESS,
        contract.QUEUE_LENGTH,
        contract.SHED,
        contract.ABANDONED,
        contract.LOOP_LAG_SECONDS,
        contract.INFO,
        contract.PROCESS_CPU_SECONDS,
        contract.PROCESS_MEMORY_BYTES,
    }
    assert plain | {f"{name}_bucket" for name in histograms} <= samples


def test_children_count_as_the_pods_cpu(pod: Pod) -> None:
    """A second burned in a child appears in the pod's process CPU time."""
    before = pod.metric(contract.PROCESS_CPU_SECONDS)
    httpx.get(f"{pod.url}/worker?cpuTimeMs=1000", timeout=30)
    assert 1 <= pod.metric(contract.PROCESS_CPU_SECONDS) - before < 2


def test_lag_shows_a_held_loop(pod: Pod) -> None:
    """While a job holds the loop the lag grows, and afterwards it is small again."""
    job = threading.Thread(target=ask, args=(pod, "GET", "/blocking?cpuTimeMs=1500&clock=sleep", None))
    job.start()
    wait_until(lambda: pod.metric(contract.LOOP_LAG_SECONDS) > 0.7, 10, "the lag to grow")
    job.join()
    wait_until(lambda: pod.metric(contract.LOOP_LAG_SECONDS) < 0.5, 10, "the lag to go")


def test_other_paths_and_methods_are_refused(pod: Pod) -> None:
    """The admin port has three paths, for GET and HEAD."""
    assert httpx.get(f"{pod.admin_url}/").status_code == 404
    assert httpx.get(f"{pod.admin_url}/metrics/").status_code == 404
    assert httpx.post(f"{pod.admin_url}/metrics").status_code == 405
    assert httpx.head(f"{pod.admin_url}/live").status_code == 200
    assert httpx.get(f"{pod.admin_url}/live").text.count("\n") == 1


def test_a_loop_that_stands_still_too_long_is_not_live(tmp_path: Path) -> None:
    """Beyond the allowed time /live says 503 with the age while the loop is held, and 200 again afterwards."""
    with running_pod(tmp_path, live_seconds=1) as pod:
        job = threading.Thread(target=ask, args=(pod, "GET", "/blocking?cpuTimeMs=3000&clock=sleep", None))
        job.start()
        wait_until(lambda: httpx.get(f"{pod.admin_url}/live").status_code == 503, 5, "the pod to be dead")
        assert "has stood still for" in httpx.get(f"{pod.admin_url}/live").text
        assert httpx.get(f"{pod.admin_url}/ready").status_code == 200
        job.join()
        wait_until(lambda: httpx.get(f"{pod.admin_url}/live").status_code == 200, 5, "the pod to live")
        assert pod.stop(signal.SIGTERM) == 0
