"""The admin port: health and metrics on a thread with an event loop of its own, so that no job can hold them up."""

import socket
import threading
from functools import partial

import uvicorn
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from podscale import contract
from podscale.pod.health import Health


async def live(request: Request) -> Response:
    """Whether the event loops come round."""
    health: Health = request.app.state.health
    good, line = health.live()
    return PlainTextResponse(f"{line}\n", 200 if good else 503)


async def ready(request: Request) -> Response:
    """Whether every process serves."""
    health: Health = request.app.state.health
    good, line = health.ready()
    return PlainTextResponse(f"{line}\n", 200 if good else 503)


async def metrics(request: Request) -> Response:
    """All metrics, in the format that the scraper asks for."""
    accept = ",".join(request.headers.getlist("accept"))
    try:
        encoder, content_type = choose_encoder(accept)
    except (TypeError, ValueError):  # a version that is no number
        encoder, content_type = choose_encoder("")
    return Response(encoder(request.app.state.registry), headers={"Content-Type": content_type})


async def refuse_route(request: Request, error: Exception) -> Response:
    """The answer where no route fits the path, or the method does not fit the route."""
    assert isinstance(error, HTTPException)
    paths = ", ".join(route.path for route in ROUTES)
    return PlainTextResponse(f"GET {paths} are all there is here\n", error.status_code, error.headers)


ROUTES = [
    Route(contract.LIVE, live),
    Route(contract.READY, ready),
    Route(contract.METRICS, metrics),
]


def create_admin_app(health: Health, registry: CollectorRegistry) -> Starlette:
    """The app of the admin port."""
    app = Starlette(routes=ROUTES, exception_handlers={HTTPException: refuse_route})
    app.router.redirect_slashes = False
    app.state.health = health
    app.state.registry = registry
    return app


class AdminThread:
    """Serves the admin port from `start` to `stop`."""

    def __init__(self, config: uvicorn.Config, listener: socket.socket) -> None:
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=partial(self._server.run, [listener]), name="admin", daemon=True)

    def start(self) -> None:
        """Return at once."""
        self._thread.start()

    def stop(self) -> None:
        """Return when the thread has ended, or does not within a few seconds."""
        self._server.should_exit = True
        self._thread.join(3)
