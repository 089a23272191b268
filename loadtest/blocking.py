"""Keeps the pod's event loop busy: each request burns CPU time on the loop itself, so that everybody else waits.

    locust -f loadtest/blocking.py --host http://127.0.0.1:8000
    locust -f $(python -m podscale.load),loadtest/blocking.py --host http://127.0.0.1:8000 --rate 10

Then open http://127.0.0.1:8089. The second line adds arrivals at a rate; see loadtest/README.md.
"""

from argparse import ArgumentError
from contextlib import suppress

from locust import FastHttpUser, events, task
from locust.argument_parser import LocustArgumentParser


@events.init_command_line_parser.add_listener
def add_arguments(parser: LocustArgumentParser) -> None:
    """The work of one request, as fields of the start form; another file of this folder may have added some of them."""
    with suppress(ArgumentError):
        parser.add_argument("--cpu-time-ms", type=float, default=50.0, help="CPU time that one request burns, in ms")
    with suppress(ArgumentError):
        parser.add_argument("--clock", choices=["cpu", "wall", "sleep"], default="cpu", help="What measures that time")


class Blocking(FastHttpUser):
    """Asks for one job after the other."""

    @task
    def blocking(self) -> None:
        """One job on the event loop."""
        asked = self.environment.parsed_options
        self.client.get(f"/blocking?cpuTimeMs={asked.cpu_time_ms:g}&clock={asked.clock}", name="/blocking")
