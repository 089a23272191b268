"""The routes of the http port."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from podscale import __version__, contract
from podscale.pod.arrival import Arrivals
from podscale.pod.errors import ClientLeftError, RequestError, TooLargeError
from podscale.pod.health import Pulse
from podscale.pod.instrument import Instrument, arrived_at, set_cost
from podscale.pod.jobs import CLOCKS, Clock, Cost
from podscale.pod.metrics import Meters
from podscale.pod.offload import Offload
from podscale.pod.primes import NUMBER_ALGORITHMS, PRIMES_ALGORITHMS, NumberAlgorithm, PrimesAlgorithm
from podscale.pod.queue import JobQueue
from podscale.pod.settings import Settings
from podscale.pod.validation import Choice, Decimal, Parameter, Values, Whole, read_json, read_query
from podscale.pod.work import burn_for, list_primes, try_number

T = TypeVar("T")

CLOCK = Choice[Clock]("clock", CLOCKS, "cpu")
PRIMES_ALGORITHM = Choice[PrimesAlgorithm]("algorithm", PRIMES_ALGORITHMS, "trial")
NUMBER_ALGORITHM = Choice[NumberAlgorithm]("algorithm", NUMBER_ALGORITHMS, "exhaustive")
OFFLOAD = Choice[str]("offload", ("none", "worker"), "none")


@dataclass(frozen=True)
class Pod:
    """What the handlers work with: the CPU's queue, the children's queue, and the limits on what may be asked."""

    settings: Settings
    loop_queue: JobQueue
    offload_queue: JobQueue
    offload: Offload
    arrivals: Arrivals
    longest_job_seconds: float

    @property
    def cpu_time_ms(self) -> Decimal:
        """How long to burn."""
        return Decimal("cpuTimeMs", 0, self.settings.max_cpu_time_ms, 100)

    @property
    def limit(self) -> Whole:
        """Up to where to list primes."""
        return Whole("limit", 0, self.settings.max_limit, 100_000)

    @property
    def number(self) -> Whole:
        """What to test for being prime."""
        return Whole("number", 0, self.settings.max_number)


async def index(request: Request) -> Response:
    """Name, version, and what can be asked."""
    _query(request)
    pod = _pod(request)
    return JSONResponse(
        {
            "name": "podscale",
            "version": __version__,
            "pod": pod.settings.pod_name,
            "routes": [{"path": example.path, "does": example.does, "example": example.shell} for example in EXAMPLES],
            "limits": {
                "cpuTimeMs": pod.settings.max_cpu_time_ms,
                "limit": pod.settings.max_limit,
                "number": pod.settings.max_number,
                "bodyBytes": pod.settings.max_body_bytes,
                "queueLength": pod.settings.queue_length,
            },
        }
    )


class Timestamp:
    """Milliseconds since the epoch: the cheapest request, so an ASGI endpoint, without the layers around a handler."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["query_string"]:
            read_query(scope["query_string"], ())
        await PlainTextResponse(f"{time.time_ns() // 1_000_000}")(scope, receive, send)


async def blocking(request: Request) -> Response:
    """Keep the event loop busy."""
    return await _burn(request, offloaded=False)


async def worker(request: Request) -> Response:
    """The same job in a child process."""
    return await _burn(request, offloaded=True)


async def primes(request: Request) -> Response:
    """All primes up to a limit."""
    limit, algorithm = _pod(request).limit, PRIMES_ALGORITHM
    asked = _query(request, limit, algorithm, OFFLOAD)
    job = partial(list_primes, asked[limit], asked[algorithm])
    found, cost = await _run(request, job, _pod(request).longest_job_seconds, offloaded=asked[OFFLOAD] == "worker")
    if "application/json" not in request.headers.get("accept", ""):
        return PlainTextResponse("".join(f"{prime}\n" for prime in found.primes))
    return JSONResponse(
        {
            "limit": asked[limit],
            "algorithm": asked[algorithm],
            "count": len(found.primes),
            "divisions": found.divisions,
            "cpuSeconds": cost.cpu_seconds,
            "primes": found.primes,
        }
    )


async def prime(request: Request) -> Response:
    """Whether one number is prime, in a child process."""
    _query(request)
    number, algorithm = _pod(request).number, NUMBER_ALGORITHM
    asked = read_json(await _body(request), (number, algorithm))
    job = partial(try_number, asked[number], asked[algorithm])
    tested, cost = await _run(request, job, _pod(request).longest_job_seconds, offloaded=True)
    return JSONResponse(
        {
            "number": asked[number],
            "prime": tested.prime,
            "algorithm": asked[algorithm],
            "divisions": tested.divisions,
            "cpuSeconds": cost.cpu_seconds,
        }
    )


async def _burn(request: Request, *, offloaded: bool) -> Response:
    cpu_time_ms = _pod(request).cpu_time_ms
    asked = _query(request, cpu_time_ms, CLOCK)
    seconds = asked[cpu_time_ms] / 1000
    _, cost = await _run(request, partial(burn_for, seconds, asked[CLOCK]), seconds, offloaded=offloaded)
    return PlainTextResponse(f"cpu {cost.cpu_seconds * 1000:.1f} ms, wall {cost.wall_seconds * 1000:.1f} ms\n")


async def _run(
    request: Request, work: Callable[[], tuple[T, Cost]], longest_seconds: float, *, offloaded: bool
) -> tuple[T, Cost]:
    """Run `work` when its turn comes, on the loop or in a child, and put its cost on the answer."""
    pod = _pod(request)

    async def on_loop() -> tuple[T, Cost]:
        try:
            return work()
        finally:
            pod.arrivals.loop_was_held()

    async def in_child() -> tuple[T, Cost]:
        return await pod.offload.run(work)

    queue = pod.offload_queue if offloaded else pod.loop_queue
    job: Callable[[], Awaitable[tuple[T, Cost]]] = in_child if offloaded else on_loop
    (result, cost), queue_seconds = await queue.run(job, longest_seconds, arrived_at(request.scope), request.receive)
    set_cost(request.scope, queue_seconds, cost)
    return result, cost


def _pod(request: Request) -> Pod:
    pod: Pod = request.app.state.pod
    return pod


def _query(request: Request, *parameters: Parameter[Any]) -> Values:
    return read_query(request.scope["query_string"], parameters)


async def _body(request: Request) -> bytes:
    """The body, of which no more is read than allowed."""
    most_bytes = _pod(request).settings.max_body_bytes
    too_large = TooLargeError(f"the body is too long; at most {most_bytes} bytes are allowed")
    # httptools has checked that the length is a number.
    if int(request.headers.get("content-length", 0)) > most_bytes:
        raise too_large
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > most_bytes:
                raise too_large
    except ClientDisconnect:
        raise ClientLeftError("the client left before the end of its request") from None
    return bytes(body)


async def refuse(_: Request, error: Exception) -> Response:
    """The answer to a request that is not carried out."""
    assert isinstance(error, RequestError)
    return PlainTextResponse(f"{error}\n", error.status, error.headers)


async def refuse_route(request: Request, error: Exception) -> Response:
    """The answer where no route fits the path, or the method does not fit the route."""
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(sorted(request["route"].methods))
        line = f"{request['route'].path} takes {headers['Allow']}, not {request.method}"
    else:
        line = f"no such path; there are {', '.join(route.path for route in ROUTES)}"
    return PlainTextResponse(f"{line}\n", error.status_code, headers)


class Example(NamedTuple):
    """A route, for a person: what it does and how to ask it in a shell, after the address."""

    path: str
    does: str
    shell: str


EXAMPLES = (
    Example(contract.TIMESTAMP, "milliseconds since the epoch", "curl $POD/timestamp"),
    Example(contract.BLOCKING, "keeps the event loop busy", "curl '$POD/blocking?cpuTimeMs=100&clock=cpu'"),
    Example(contract.WORKER, "the same job in a child process", "curl '$POD/worker?cpuTimeMs=100&clock=cpu'"),
    Example(
        contract.PRIMES, "all primes up to a limit", "curl '$POD/primes?limit=100000&algorithm=trial&offload=none'"
    ),
    Example(
        contract.PRIME,
        "whether one number is prime",
        """curl $POD/prime --json '{"number": 100000007, "algorithm": "exhaustive"}'""",
    ),
    Example(contract.INDEX, "this list", "curl $POD/"),
)

ROUTES = [
    Route(contract.TIMESTAMP, Timestamp(), methods=["GET"]),
    Route(contract.BLOCKING, blocking),
    Route(contract.WORKER, worker),
    Route(contract.PRIMES, primes),
    Route(contract.PRIME, prime, methods=["POST"]),
    Route(contract.INDEX, index),
]


def create_app(pod: Pod, meters: Meters, pulse: Pulse) -> ASGIApp:
    """The app of one serving process."""
    app = Starlette(routes=ROUTES, exception_handlers={RequestError: refuse, HTTPException: refuse_route})
    # A redirect to the path without its slash would double the requests of a careless load.
    app.router.redirect_slashes = False
    app.state.pod = pod
    return Instrument(app, meters, pulse, pod.arrivals)
