"""`python -m benchmarks.pod`: what a pod costs beside bare Starlette, and what an idle pod weighs.

Both answer the time with the same uvicorn (httptools, uvloop); bare Starlette does it by a plain handler. They are
measured in turn, several rounds in one run, so that a busy machine disturbs both alike; of the ratios of the rounds the
median counts. Exit code 1 when a target is missed, 2 when wrk is not there.
"""

import argparse
import contextlib
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

LEAST_RATIO = 0.85
MOST_IDLE_BYTES = 40_000_000
CONNECTIONS = 8


async def timestamp(_: Request) -> PlainTextResponse:
    """The cheapest request."""
    return PlainTextResponse(f"{time.time_ns() // 1_000_000}")


bare = Starlette(routes=[Route("/timestamp", timestamp)])


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    target: str
    reached: str
    good: bool


def main() -> int:
    """Measure, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7, help="rounds of each of the two (default: %(default)s)")
    parser.add_argument("--seconds", type=int, default=2, help="length of a round (default: %(default)s)")
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        print("wrk is not on the PATH; install it first (Debian, Ubuntu: apt install wrk; macOS: brew install wrk)")
        return 2
    with running_pod() as pod, running_bare() as other:
        rows = [weigh(pod), compare(pod, other, options.rounds, options.seconds)]
    print(f"{'measured':<44} {'target':>12}  reached")
    for row in rows:
        print(f"{row.name:<44} {row.target:>12}  {row.reached}{'' if row.good else '   MISSED'}")
    return 0 if all(row.good for row in rows) else 1


def compare(pod: "Server", other: "Server", rounds: int, seconds: int) -> Row:
    """Requests per second of both, in turn."""
    for server in (pod, other):
        requests_per_second(server, 1)  # warm up
    pairs = [(requests_per_second(pod, seconds), requests_per_second(other, seconds)) for _ in range(rounds)]
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    spread = ", ".join(f"{a / b:.2f}" for a, b in sorted(pairs, key=lambda pair: pair[0] / pair[1]))
    reached = f"{ratio:.2f} ({ours:,.0f} and {theirs:,.0f} requests/s; rounds: {spread})"
    return Row("/timestamp with metrics, of bare Starlette", f">= {LEAST_RATIO}", reached, ratio >= LEAST_RATIO)


def weigh(pod: "Server") -> Row:
    """Resident memory of the pod before it has worked."""
    time.sleep(1)
    fields = Path(f"/proc/{pod.process.pid}/statm").read_text().split()
    resident_bytes = int(fields[1]) * os.sysconf("SC_PAGE_SIZE")
    good = resident_bytes < MOST_IDLE_BYTES
    return Row("an idle pod, resident", f"< {MOST_IDLE_BYTES / 1e6:.0f} MB", f"{resident_bytes / 1e6:.1f} MB", good)


def requests_per_second(server: "Server", seconds: int) -> float:
    """What wrk reports; errors are no requests, so that there must be none."""
    url = f"http://127.0.0.1:{server.port}/timestamp"
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", url]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"Requests/sec:\s+([0-9.]+)", output)
    if found is None or "Non-2xx" in output or "Socket errors" in output:
        raise RuntimeError(f"wrk did not get good answers from {url}:\n{output}")
    return float(found[1])


@dataclass(frozen=True)
class Server:
    """A server in a process of its own."""

    process: "subprocess.Popen[bytes]"
    port: int


@contextlib.contextmanager
def running_pod() -> Iterator[Server]:
    """A pod with its settings as they are, but for ports and drain."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PODSCALE_")}
    port = free_port()
    environment |= {
        "PODSCALE_HOST": "127.0.0.1",
        "PODSCALE_ADMIN_HOST": "127.0.0.1",
        "PODSCALE_PORT": str(port),
        "PODSCALE_ADMIN_PORT": str(free_port()),
        "PODSCALE_DRAIN_SECONDS": "0",
    }
    with running([sys.executable, "-m", "podscale.pod"], port, environment) as server:
        yield server


@contextlib.contextmanager
def running_bare() -> Iterator[Server]:
    """The same route in nothing but Starlette."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "benchmarks.pod:bare", "--port", str(port)]
    command += ["--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "error"]
    with running(command, port, dict(os.environ)) as server:
        yield server


@contextlib.contextmanager
def running(command: list[str], port: int, environment: dict[str, str]) -> Iterator[Server]:
    """Start `command`, wait until it serves /timestamp on `port`, and end it after use."""
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + 20
            while not serves(port):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{' '.join(command)} does not serve on port {port}")
                time.sleep(0.05)
            yield Server(process, port)
        finally:
            process.terminate()


def serves(port: int) -> bool:
    """Whether /timestamp is answered."""
    connection = HTTPConnection("127.0.0.1", port, timeout=2)
    with contextlib.closing(connection), contextlib.suppress(OSError):
        connection.request("GET", "/timestamp")
        return connection.getresponse().status == 200
    return False


def free_port() -> int:
    """A TCP port on 127.0.0.1 that nothing listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    sys.exit(main())
