"""Runs a pod: one serving process beside its admin thread, or a supervisor of several."""

import logging
import time

from prometheus_client import CollectorRegistry

from podscale.pod import collectors, parts
from podscale.pod.health import PULSE_BYTES, Pulse
from podscale.pod.server import bind
from podscale.pod.settings import Settings

logger = logging.getLogger("podscale.pod")


def run(settings: Settings) -> None:
    """Serve until a stop signal and its drain are over; raises SettingError where a port cannot be had."""
    parts.configure_logging(settings.log_level)
    if collectors.gil_came_back():
        logger.warning("this is a free-threaded Python, but an extension module has made it take its lock again")
    if settings.workers == 1:
        _run_alone(settings)
    else:
        from podscale.pod.cluster import run_workers  # noqa: PLC0415 - a single process does without its memory

        run_workers(settings)
    logger.info("shutdown complete")


def _run_alone(settings: Settings) -> None:
    registry = CollectorRegistry()
    pulse = Pulse(bytearray(PULSE_BYTES))
    pulse.reset(time.monotonic())
    with (
        bind("PODSCALE_PORT", settings.host, settings.port, reuse_port=settings.reuse_port) as listener,
        parts.admin_port(settings, registry, [pulse]),
    ):
        server = parts.build_server(settings, registry, pulse)
        parts.give_back_memory()
        parts.announce(settings)
        server.run([listener])
