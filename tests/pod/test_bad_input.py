"""Whatever a client sends, a running pod answers 4xx with one short line, and does not grow."""

import contextlib
import random
import socket
import string
import time

import httpx
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.pod import wire
from tests.processes import Pod

MEGABYTE = 1 << 20


def query(path: str, text: str) -> bytes:
    """A GET request with this query."""
    return wire.get(f"{path}?{text}")


def body(content: bytes | str) -> bytes:
    """A POST request with this body to /prime."""
    return wire.post("/prime", content.encode() if isinstance(content, str) else content)


# name of the case -> (request, status, what the line says)
CASES: dict[str, tuple[bytes, int, bytes]] = {
    **{
        f"cpuTimeMs={value}": (query(path, f"cpuTimeMs={value}"), 400, b"it must be a number from 0 to 10000")
        for path, value in [
            ("/blocking", "10000.1"),
            ("/blocking", "10001"),
            ("/blocking", "1e400"),
            ("/blocking", "1e3"),
            ("/blocking", "-1"),
            ("/blocking", "-0"),
            ("/blocking", "%2B5"),
            ("/blocking", "+5"),
            ("/blocking", "5%20"),
            ("/blocking", "NaN"),
            ("/blocking", "Infinity"),
            ("/blocking", "0x10"),
            ("/blocking", "1_000"),
            ("/blocking", "007"),
            ("/blocking", "%D9%A5"),
            ("/blocking", "%FF"),
            ("/blocking", "%00"),
            ("/blocking", "5%0D%0AX-Evil:1"),
            ("/blocking", "true"),
            ("/blocking", ""),
            ("/blocking", "9" * 5000),
            ("/worker", "99999999999"),
            ("/worker", "abc"),
        ]
    },
    **{
        f"limit={value}": (query("/primes", f"limit={value}"), 400, b"it must be a whole number from 0 to 300000")
        for value in ["300001", "-5", "5.0", "5.5", "1e5", "1" * 400, "", "null", "[]", "%D9%A5"]
    },
    "clock": (query("/blocking", "clock=moon"), 400, b"it must be one of cpu, wall, sleep"),
    "algorithm": (query("/primes", "algorithm=fast"), 400, b"it must be one of trial, sqrt, sieve"),
    "offload": (query("/primes", "offload=cloud"), 400, b"it must be one of none, worker"),
    "twice": (query("/blocking", "cpuTimeMs=5&cpuTimeMs=5"), 400, b"cpuTimeMs is given more than once"),
    "unknown": (query("/blocking", "cpuTimMs=5"), 400, b"unknown parameter 'cpuTimMs'; known here: cpuTimeMs, clock"),
    "none known": (query("/timestamp", "a=1"), 400, b"this route takes none"),
    "none known on index": (query("/", "a=1"), 400, b"this route takes none"),
    "query on post": (wire.post("/prime?number=7", b'{"number": 7}'), 400, b"this route takes none"),
    "many": (query("/blocking", "&".join(f"a{i}=1" for i in range(2000))), 400, b"more than 16 parameters"),
    **{
        f"number {value[:20]}": (body(f'{{"number": {value}}}'), 400, b"it must be a whole number from 0 to 5000000000")
        for value in [
            "5000000001",
            "1000000000000000009",
            "9007199254740993",
            "-7",
            "5.5",
            "1e400",
            "-1e400",
            "true",
            "null",
            '"7"',
            "[]",
            "{}",
            "[7]",
            "9" * 4000,
        ]
    },
    **{
        f"body {content[:20]!r}": (body(content), 400, b"the body is ")
        for content in [
            b"",
            b"{",
            b"\xff\xfe",
            b'\xef\xbb\xbf{"number": 7}',
            b"[7]",
            b"7",
            b"null",
            b'"number"',
            b'{"number": NaN}',
            b'{"number": Infinity}',
            b'{"number": 07}',
            b'{"number": 7,}',
            b"{'number': 7}",
            b"[" * 4000,
            b'{"a":' * 800,
            b"\x00" * 4000,
        ]
    },
    "missing": (body("{}"), 400, b"number is missing"),
    "key twice": (body('{"number": 7, "number": 9}'), 400, b"number is given more than once"),
    "unknown key": (body('{"number": 7, "x": 1}'), 400, b"unknown parameter 'x'; known here: number, algorithm"),
    "algorithm of another": (body('{"number": 7, "algorithm": "sieve"}'), 400, b"it must be one of exhaustive, trial"),
    "body too long": (body(b" " * 4097), 413, b"at most 4096 bytes are allowed"),
    "wrong method": (wire.post("/primes", b""), 405, b"/primes takes GET, HEAD, not POST"),
    "no such path": (wire.get("/../../etc/passwd"), 404, b"no such path"),
    "long path": (wire.get("/" + "a" * 10_000), 404, b"no such path"),
    "slash": (wire.get("/primes/"), 404, b"no such path"),
    "long head": (wire.get("/timestamp", f"X-Long: {'a' * 70_000}\r\n"), 431, b"longer than 65536 bytes"),
    "many headers": (wire.get("/timestamp", "".join(f"X-{i}: a\r\n" for i in range(9000))), 431, b"longer than 65536"),
    "no http": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, b"Invalid HTTP"),
    "no method": (b"BREW /pot HTTP/1.1\r\nHost: pod\r\n\r\n", 400, b"Invalid HTTP"),
    "no length": (b"POST /prime HTTP/1.1\r\nHost: pod\r\nContent-Length: x\r\n\r\n", 400, b"Invalid HTTP"),
    "bare path": (b"GET timestamp HTTP/1.1\r\nHost: pod\r\n\r\n", 400, b"Invalid HTTP"),
    "connect": (b"CONNECT pod:80 HTTP/1.1\r\nHost: pod\r\n\r\n", 400, b"Invalid HTTP"),
    "path not ascii": (b"GET /\xff HTTP/1.1\r\nHost: pod\r\n\r\n", 400, b"Invalid HTTP"),
    "odd chunk": (
        b"POST /prime HTTP/1.1\r\nHost: pod\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        400,
        b"Invalid HTTP",
    ),
}


def resident_bytes(pod: Pod) -> int:
    """Memory of the pod's own process."""
    return int(psutil.Process(pod.process.pid).memory_info().rss)


def assert_refused(answer: wire.Answer) -> None:
    """A refusal is 4xx, one line of printable text, under 1 KB, and names its pod."""
    assert 400 <= answer.status < 500
    assert len(answer.body) < 1024
    line = answer.body.decode("ascii")
    assert line.endswith("\n")
    assert line[:-1].isprintable()
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["server-timing"] == "queue;dur=0.0, cpu;dur=0.0, wall;dur=0.0"
    assert "x-podscale-pod" in answer.headers
    assert "x-evil" not in answer.headers


def test_there_are_enough_cases() -> None:
    """The table has at least 60 cases."""
    assert len(CASES) >= 60


@pytest.mark.parametrize("name", CASES)
def test_a_bad_request_is_told_what_is_allowed(pod: Pod, name: str) -> None:
    """Each case of the table gets its status and a line that says what is wrong."""
    request, status, says = CASES[name]
    answer = wire.exchange(pod.url, request)
    assert_refused(answer)
    assert answer.status == status
    assert says in answer.body


def test_bad_requests_leave_no_memory_behind(pod: Pod) -> None:
    """The whole table 20 times over grows the pod by less than 10 MB."""
    before = resident_bytes(pod)
    for _ in range(20):
        for request, _, _ in CASES.values():
            wire.exchange(pod.url, request)
    assert resident_bytes(pod) - before < 10 * MEGABYTE
    assert "Traceback" not in pod.log.read_text()


def test_a_body_of_100_mb_is_refused_at_once(pod: Pod) -> None:
    """The announced length is enough: 413 comes before the body, and the connection closes."""
    with wire.connect(pod.url) as connection:
        began = time.monotonic()
        connection.sendall(b"POST /prime HTTP/1.1\r\nHost: pod\r\nContent-Length: 104857600\r\n\r\n")
        answer = wire.read(connection)
        assert time.monotonic() - began < 1
        assert_refused(answer)
        assert (answer.status, answer.headers["connection"]) == (413, "close")
        assert wire.is_closed(connection)
    assert httpx.post(f"{pod.url}/prime", content=b" " * 20 * MEGABYTE).status_code == 413


@pytest.mark.parametrize("target", ["/prime", "/blocking?cpuTimeMs=1", "/nowhere"])
def test_a_body_without_end_is_cut(pod: Pod, target: str) -> None:
    """A chunked body that never ends is answered with 4xx and cut soon, on every route, without growth."""
    before = resident_bytes(pod)
    sent = 0
    with wire.connect(pod.url) as connection:
        connection.sendall(f"POST {target} HTTP/1.1\r\nHost: pod\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        with contextlib.suppress(ConnectionError):
            while sent < 50 * MEGABYTE:
                connection.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")
                sent += 4096
        assert sent < 50 * MEGABYTE
        with contextlib.suppress(ConnectionResetError):
            assert_refused(wire.read(connection))
    assert resident_bytes(pod) - before < 10 * MEGABYTE


@pytest.mark.parametrize(
    "endless",
    [b"GET /timestamp HTTP/1.1\r\n" + b"X-A: b\r\n" * 50_000, b"GET /" + b"a" * 400_000],
    ids=["headers", "path"],
)
def test_a_head_without_end_is_cut(pod: Pod, endless: bytes) -> None:
    """Headers or a path that never end are refused at 64 KiB."""
    with wire.connect(pod.url) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(endless)
        with contextlib.suppress(ConnectionResetError):
            answer = wire.read(connection)
            assert_refused(answer)
            assert answer.status == 431


def test_unfinished_requests_do_not_keep_others_out(pod: Pod) -> None:
    """Beside 300 connections with half a head, the routes are answered."""
    with contextlib.ExitStack() as stack:
        for _ in range(300):
            half = stack.enter_context(wire.connect(pod.url))
            half.sendall(b"GET /timestamp HTTP/1.1\r\nHost:")
        assert httpx.get(f"{pod.url}/blocking?cpuTimeMs=1").status_code == 200
        assert httpx.get(f"{pod.admin_url}/ready").status_code == 200


def test_random_paths_and_methods_make_at_most_five_series(pod: Pod) -> None:
    """10,000 random paths and 50 invented methods add no more series than that."""
    choose = random.Random(1)
    before = set(series(pod))
    wire.exchange(pod.url, wire.get("/nowhere"))
    requests = [wire.get(f"/{''.join(choose.choices(string.ascii_letters, k=12))}") for _ in range(10_000)]
    with wire.connect(pod.url) as connection:
        for i in range(0, len(requests), 50):
            connection.sendall(b"".join(requests[i : i + 50]))
            read_all(connection, 50)
    known_to_parsers = ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "MKCOL", "LOCK", "PURGE", "LINK"]
    invented = ["".join(choose.choices(string.ascii_uppercase, k=6)) for _ in range(40)]
    for method in known_to_parsers + invented:
        answer = wire.exchange(pod.url, f"{method} /nowhere HTTP/1.1\r\nHost: pod\r\n\r\n".encode())
        assert 400 <= answer.status < 500
    assert len(set(series(pod)) - before) <= 5


def series(pod: Pod) -> list[str]:
    """The names and labels of all series."""
    text = httpx.get(f"{pod.admin_url}/metrics").text
    return [line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")]


def read_all(connection: socket.socket, count: int) -> None:
    """Read this many pipelined answers."""
    data = b""
    while data.count(b"no such path") < count:
        data += connection.recv(1 << 20)


@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    path=st.sampled_from(["/primes", "/blocking", "/worker", "/timestamp", "/"]),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_query_makes_a_pod_fail(pod: Pod, text: str, path: str) -> None:
    """Any text as a query is refused properly, or is a good request."""
    name = {"/primes": "limit", "/blocking": "cpuTimeMs", "/worker": "cpuTimeMs"}.get(path, "a")
    answer = httpx.get(pod.url + path, params={name: text})
    if answer.status_code != 200:
        assert_refused(wire.Answer(answer.status_code, dict(answer.headers), answer.content))


@given(st.binary(max_size=5000))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_body_makes_a_pod_fail(pod: Pod, content: bytes) -> None:
    """Any bytes as a body are refused properly; none of these is a good request."""
    assert_refused(wire.exchange(pod.url, body(content)))


@given(st.binary(min_size=1, max_size=300))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_on_the_wire_make_a_pod_fail(pod: Pod, content: bytes) -> None:
    """Any bytes in place of HTTP are refused, or taken for the beginning of a request; afterwards the pod serves."""
    with wire.connect(pod.url, timeout=0.02) as connection, contextlib.suppress(OSError):
        connection.sendall(content)
        assert_refused(wire.read(connection))
    assert wire.exchange(pod.url, wire.get("/timestamp")).status == 200
