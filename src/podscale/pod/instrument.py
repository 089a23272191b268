"""The outermost layer of the app: counts each request and says on each answer what it cost. Kept cheap on purpose."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from podscale.contract import SERVER_TIMING_HEADER
from podscale.pod.arrival import Arrivals
from podscale.pod.health import Pulse
from podscale.pod.jobs import Cost
from podscale.pod.metrics import UNMATCHED, Meters

_ARRIVED_KEY = "podscale.arrived"
_TIMING_KEY = "podscale.server_timing"
_TIMING_HEADER = SERVER_TIMING_HEADER.lower().encode()
_CLOSE = (b"connection", b"close")
NO_JOB = (_TIMING_HEADER, b"queue;dur=0.0, cpu;dur=0.0, wall;dur=0.0")


class Instrument:
    """Wraps `app`. While the process drains, each answer tells its client to connect anew for the next request."""

    def __init__(self, app: ASGIApp, meters: Meters, pulse: Pulse, arrivals: Arrivals) -> None:
        self._app = app
        self._meters = meters
        self._pulse = pulse
        self._since = arrivals.since
        self._clock = arrivals.clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        arrived = scope[_ARRIVED_KEY] = self._since(scope)
        status = 500

        async def send_with_cost(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"].append(scope.get(_TIMING_KEY, NO_JOB))
                if self._pulse.draining:
                    message["headers"].append(_CLOSE)
            await send(message)

        self._meters.begin()
        try:
            await self._app(scope, receive, send_with_cost)
        finally:
            route = scope.get("route")
            seconds = self._clock() - arrived
            self._meters.end(scope["method"], route.path if route else UNMATCHED, status, seconds)


def arrived_at(scope: Scope) -> float:
    """When this request arrived, by the clock of Arrivals."""
    arrived: float = scope[_ARRIVED_KEY]
    return arrived


def set_cost(scope: Scope, queue_seconds: float, cost: Cost) -> None:
    """Say what the job of this request cost; a request without a job says 0."""
    durations = ("queue", queue_seconds), ("cpu", cost.cpu_seconds), ("wall", cost.wall_seconds)
    value = ", ".join(f"{name};dur={seconds * 1000:.3f}" for name, seconds in durations)
    scope[_TIMING_KEY] = (_TIMING_HEADER, value.encode())
