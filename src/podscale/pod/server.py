"""One serving process: uvicorn with a heartbeat and a stop that loses no request."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from podscale import contract
from podscale.pod.app import Pod, create_app
from podscale.pod.health import BEAT_SECONDS, Pulse
from podscale.pod.metrics import Meters
from podscale.pod.protocol import BoundedProtocol, give_up_late_requests
from podscale.pod.queue import settle
from podscale.pod.settings import SettingError, Settings

BACKLOG = 2048
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
# Of the grace period, what is left for refusing what could not be run and for ending.
_MARGIN_SECONDS = 1.0

logger = logging.getLogger("podscale.pod")


def bind(setting: str, host: str, port: int, *, reuse_port: bool = False) -> socket.socket:
    """A listening socket; raises SettingError, which names `setting`, where the port cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG, reuse_port=reuse_port)
    except OSError as error:
        # socket.create_server adds the address in brackets, which we say ourselves.
        reason = str(error.strerror or error).partition(" (while")[0]
        raise SettingError(f"{setting} is {port}: cannot listen on {host}:{port}: {reason}") from None


def uvicorn_config(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """How uvicorn serves `app`, on the http and the admin port alike."""
    return uvicorn.Config(
        app,
        interface="asgi3",
        loop="uvloop",
        http=BoundedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        # Else an environment with WEB_CONCURRENCY would set it.
        workers=1,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=settings.keep_alive_seconds,
        # Here, so that they are also on what uvicorn refuses by itself.
        headers=[(contract.POD_HEADER, settings.pod_name), (contract.PROCESS_HEADER, str(os.getpid()))],
    )


class PodServer(uvicorn.Server):
    """Serves the http port, and stops in these steps.

    The first signal makes the process unready; it goes on serving for `drain_seconds`, while the endpoint is withdrawn
    everywhere, and each answer closes its connection. Then it accepts nothing new, answers what waits, and ends. What
    cannot end within the grace period gets 503. A signal during the drain ends the drain; one after it refuses what
    still waits.

    Args:
        pod: whose queues are told when to end.
        meters: where requests are counted.
        pulse: where the heartbeat and the phase are shown.
        clock: time.monotonic.
        signals: what stops it; of the other stop signals it takes no notice.
    """

    def __init__(
        self,
        pod: Pod,
        meters: Meters,
        pulse: Pulse,
        clock: Callable[[], float],
        signals: tuple[signal.Signals, ...],
    ) -> None:
        super().__init__(uvicorn_config(create_app(pod, meters, pulse), pod.settings))
        self._pod = pod
        self._pulse = pulse
        self._clock = clock
        self._signals = signals
        self._stops: list[float] = []  # when each stop signal came
        self._told = False
        self._care: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then be ready."""
        await super().startup(sockets)
        self._care = asyncio.create_task(self._take_care())
        self._pulse.beat(self._clock())
        if not self._stops:
            self._pulse.enter("serving")

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second while serving; true ends that."""
        if self._stops:
            if not self._told:
                self._told = True
                logger.info("draining: not ready, serving for %g s more", self._pod.settings.drain_seconds)
            drained = self._clock() - self._stops[0] >= self._pod.settings.drain_seconds
            self.should_exit = drained or len(self._stops) > 1
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept nothing new, answer what waits, end."""
        # Connections that the kernel holds, because a job held the loop, would be lost with the listener.
        await settle()
        # uvicorn's own end is for clients that do not take their answer: ours, which answers with 503, comes before.
        left_seconds = self._must_end_by - self._clock()
        self.config.timeout_graceful_shutdown = round(max(0, left_seconds) + _MARGIN_SECONDS / 2)
        await super().shutdown(sockets)
        # Idle children would be waited for at the interpreter's end; a child of a worker for ever.
        self._pod.offload.close()
        if self._care is not None:
            self._care.cancel()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn's, but a stop that was asked for ends with exit code 0, also where the process is not PID 1."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in self._signals}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A stop signal has come, possibly in the middle of a job: only take note."""
        self._pulse.enter("draining")
        self._stops.append(self._clock())

    @property
    def _must_end_by(self) -> float:
        grace_seconds = self._pod.settings.grace_seconds
        began = self._stops[0] if self._stops else self._clock()
        return began + grace_seconds - min(_MARGIN_SECONDS, grace_seconds / 4)

    @property
    def _in_a_hurry(self) -> bool:
        """Whether a signal came after the drain, or two in it."""
        drained = self._stops[0] + self._pod.settings.drain_seconds
        return len(self._stops) > 2 or (len(self._stops) == 2 and self._stops[1] >= drained)

    async def _take_care(self) -> None:
        """The heartbeat; it also looks after slow clients and the stop."""
        most_rounds = self._pod.settings.request_seconds / BEAT_SECONDS
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            self._pulse.beat(self._clock())
            give_up_late_requests(self.server_state.connections, most_rounds)
            if self._stops:
                self._tell_queues()

    def _tell_queues(self) -> None:
        """Jobs that cannot end within the grace period get 503, those that wait as well as those in a child."""
        queues = self._pod.loop_queue, self._pod.offload_queue
        over = self._in_a_hurry or self._clock() >= self._must_end_by
        for queue in queues:
            queue.end_by(0 if over else self._must_end_by)
            if over:
                queue.refuse_waiting()
        if over:
            self._pod.offload.close()
