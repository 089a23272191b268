"""The routes of a running pod: what they answer, in which order, and at what cost."""

import json
import os
import re
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from podscale.cgroup import Cgroup, usable_cores
from tests.pod import wire
from tests.processes import Pod, running_pod, wait_until

TIMING = re.compile(r"queue;dur=([0-9.]+), cpu;dur=([0-9.]+), wall;dur=([0-9.]+)")


def cost_ms(answer: httpx.Response) -> tuple[float, float, float]:
    """Queue, CPU and wall time that an answer names."""
    match = TIMING.fullmatch(answer.headers["server-timing"])
    assert match is not None
    return float(match[1]), float(match[2]), float(match[3])


def at_once(*urls: str) -> list[tuple[float, httpx.Response]]:
    """Ask all `urls` at once; each answer with the seconds it took, in the order they ended.

    One client for all, made before: on a busy machine a client of its own costs each thread tenths of a second.
    """
    ended: list[tuple[float, httpx.Response]] = []
    ready = threading.Barrier(len(urls) + 1)

    def ask(url: str) -> None:
        ready.wait()
        answer = client.get(url)
        ended.append((time.monotonic() - began, answer))

    with httpx.Client(timeout=60) as client:
        threads = [threading.Thread(target=ask, args=(url,)) for url in urls]
        for thread in threads:
            thread.start()
        began = time.monotonic()
        ready.wait()
        for thread in threads:
            thread.join()
    return ended


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 200),
        ("GET", "/timestamp", 200),
        ("GET", "/blocking?cpuTimeMs=5", 200),
        ("GET", "/worker?cpuTimeMs=5", 200),
        ("GET", "/primes?limit=10", 200),
        ("GET", "/prime", 405),
        ("DELETE", "/blocking", 405),
        ("GET", "/nowhere", 404),
        ("GET", "/blocking?cpuTimeMs=x", 400),
        ("POST", "/prime", 400),
    ],
)
def test_every_answer_says_who_gave_it_and_what_it_cost(pod: Pod, method: str, path: str, status: int) -> None:
    """Pod, process and cost are on good answers and on errors."""
    answer = httpx.request(method, pod.url + path)
    assert answer.status_code == status
    assert answer.headers["x-podscale-process"] == str(pod.process.pid)
    assert answer.headers["x-podscale-pod"]
    cost_ms(answer)


def test_cost_is_that_of_the_job(pod: Pod) -> None:
    """50 ms of CPU are named as 50 ms of CPU, on the loop and in a child; sleeping costs none."""
    for path in ("blocking", "worker"):
        _, cpu_ms, wall_ms = cost_ms(httpx.get(f"{pod.url}/{path}?cpuTimeMs=50"))
        assert 50 <= cpu_ms < 55
        assert wall_ms >= cpu_ms * 0.99
        _, cpu_ms, wall_ms = cost_ms(httpx.get(f"{pod.url}/{path}?cpuTimeMs=50&clock=sleep"))
        assert cpu_ms < 10
        assert wall_ms >= 50


def test_timestamp_is_now_in_milliseconds(pod: Pod) -> None:
    """The text is the number of milliseconds since the epoch."""
    before = time.time()
    answer = httpx.get(f"{pod.url}/timestamp")
    assert before - 1 <= int(answer.text) / 1000 <= time.time() + 1
    assert answer.headers["content-type"].startswith("text/plain")


def test_primes_are_text_or_json(pod: Pod) -> None:
    """One prime a line; with the Accept header, an object with the count, the divisions and the CPU time."""
    assert httpx.get(f"{pod.url}/primes?limit=12").text == "2\n3\n5\n7\n11\n"
    assert httpx.get(f"{pod.url}/primes?limit=1").text == ""
    answer = httpx.get(
        f"{pod.url}/primes?limit=100000&algorithm=trial&offload=worker", headers={"Accept": "application/json"}
    ).json()
    assert list(answer) == ["limit", "algorithm", "count", "divisions", "cpuSeconds", "primes"]
    assert (answer["limit"], answer["algorithm"]) == (100_000, "trial")
    assert (answer["count"], answer["divisions"], len(answer["primes"])) == (9592, 455_189_150, 9592)
    assert answer["cpuSeconds"] > 0


def test_prime_answers_as_in_the_article(pod: Pod) -> None:
    """The number comes back with the verdict, the algorithm, its divisions and the CPU time."""
    for algorithm, divisions in (("exhaustive", 100_001), ("trial", 100_001), ("sqrt", 315), ("fast", 0)):
        body = {"number": 100_003, "algorithm": algorithm}
        answer = httpx.post(f"{pod.url}/prime", json=body).json()
        assert list(answer) == ["number", "prime", "algorithm", "divisions", "cpuSeconds"]
        assert (answer["number"], answer["algorithm"]) == (100_003, algorithm)
        assert (answer["prime"], answer["divisions"]) == (True, divisions)
    composite = httpx.post(f"{pod.url}/prime", content=b'{"number": 9.0}').json()
    assert (composite["number"], composite["prime"], composite["algorithm"]) == (9, False, "exhaustive")


def test_the_index_lists_every_route_with_an_example_that_works(pod: Pod) -> None:
    """Each example, asked as it stands, is answered with 200."""
    answer = httpx.get(f"{pod.url}/").json()
    assert {route["path"] for route in answer["routes"]} == {
        "/timestamp",
        "/blocking",
        "/worker",
        "/primes",
        "/prime",
        "/",
    }
    for route in answer["routes"]:
        target = re.search(r"\$POD(/[^' ]*)", route["example"])
        assert target is not None
        body = re.search(r"--json '(.*)'", route["example"])
        url = pod.url + target[1]
        asked = httpx.post(url, json=json.loads(body[1])) if body else httpx.get(url)
        assert asked.status_code == 200, route


def test_head_is_get_without_a_body(pod: Pod) -> None:
    """HEAD works on every GET route."""
    for path in ("/", "/timestamp", "/blocking?cpuTimeMs=1", "/worker?cpuTimeMs=1", "/primes?limit=10"):
        answer = httpx.head(pod.url + path)
        assert (answer.status_code, answer.content) == (200, b"")


def test_wrong_methods_and_paths_are_told_what_is_right(pod: Pod) -> None:
    """405 names the methods, 404 the paths, and a slash too many is no redirect."""
    wrong = httpx.post(f"{pod.url}/blocking")
    assert wrong.status_code == 405
    assert set(wrong.headers["allow"].split(", ")) == {"GET", "HEAD"}
    assert httpx.get(f"{pod.url}/prime").headers["allow"] == "POST"
    assert httpx.get(f"{pod.url}/timestamp/").status_code == 404
    assert "/timestamp" in httpx.get(f"{pod.url}/nowhere").text


def test_three_blocking_requests_take_one_two_and_three_seconds(pod: Pod) -> None:
    """On the loop the jobs run one after the other: the second waits for one, the third for two."""
    answers = at_once(*[f"{pod.url}/blocking?cpuTimeMs=1000"] * 3)
    waits = [cost_ms(answer)[0] / 1000 for _, answer in answers]
    walls = [cost_ms(answer)[2] / 1000 for _, answer in answers]
    assert waits[0] < 0.5
    assert waits[1] == pytest.approx(walls[0], abs=0.3)
    assert waits[2] == pytest.approx(walls[0] + walls[1], abs=0.3)
    took = [seconds for seconds, _ in answers]
    assert took[0] >= 1
    assert took[1] >= 2
    assert took[2] >= 3
    for _, answer in answers:
        assert cost_ms(answer)[1] == pytest.approx(1000, rel=0.02)


def test_three_worker_requests_overlap_and_leave_the_loop_free(pod: Pod) -> None:
    """Each child burns its second of CPU, the loop answers meanwhile, and jobs with a slot each do not wait."""
    with ThreadPoolExecutor() as pool:
        jobs = pool.submit(at_once, *[f"{pod.url}/worker?cpuTimeMs=1000"] * 3)
        time.sleep(0.3)
        pauses = [httpx.get(f"{pod.url}/timestamp").elapsed.total_seconds() for _ in range(20)]
        answers = jobs.result()
    assert statistics.median(pauses) < 0.3
    walls = [cost_ms(answer)[2] for _, answer in answers]
    waits = [cost_ms(answer)[0] for _, answer in answers]
    for _, answer in answers:
        assert cost_ms(answer)[1] == pytest.approx(1000, rel=0.02)
    at_once_count = min(3, usable_cores(Cgroup().read(), len(os.sched_getaffinity(0))))
    assert sum(wait < 500 for wait in waits) == at_once_count
    if at_once_count > 1:
        assert max(seconds for seconds, _ in answers) < 0.9 * sum(walls) / 1000


def test_jobs_of_clients_that_left_are_not_run(pod: Pod) -> None:
    """Of 40 queued jobs of 300 ms whose clients closed, at most 2 run; the others count as abandoned."""
    abandoned = pod.metric("podscale_requests_abandoned_total")
    burned = pod.metric("podscale_queue_seconds_count")
    clients = [wire.connect(pod.url) for _ in range(40)]
    for client in clients:
        client.sendall(wire.get("/blocking?cpuTimeMs=300"))
    time.sleep(0.1)
    for client in clients:
        client.close()
    wait_until(lambda: pod.metric("http_requests_in_progress") == 0, 20, "the requests to end")
    ran = pod.metric("podscale_queue_seconds_count") - burned
    assert 1 <= ran <= 2
    assert pod.metric("podscale_requests_abandoned_total") - abandoned == 40 - ran
    assert pod.metric("podscale_queue_length") == 0
    assert pod.metric('http_requests_total{method="GET",route="/blocking",status="499"}') == 40


def test_a_full_queue_answers_503_and_counts_it(tmp_path: Path) -> None:
    """With one child and room for 2 in the queue, of 6 requests 3 are answered and 3 are told to try again."""
    with running_pod(tmp_path, queue_length=2, offload_processes=1) as pod:
        answers = [answer for _, answer in at_once(*[f"{pod.url}/worker?cpuTimeMs=1000&clock=sleep"] * 6)]
        shed = [answer for answer in answers if answer.status_code == 503]
        assert len(shed) == 3
        assert pod.metric("podscale_requests_shed_total") == 3
    for answer in shed:
        assert answer.headers["retry-after"] == "1"
        assert "2 jobs are waiting" in answer.text
