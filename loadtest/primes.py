"""All primes up to a limit: real work with an answer that can be checked.

    locust -f loadtest/primes.py --host http://127.0.0.1:8000
    locust -f $(python -m podscale.load),loadtest/primes.py --host http://127.0.0.1:8000 --rate 1

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
        parser.add_argument("--limit", type=int, default=100_000, help="Primes up to this number")
    with suppress(ArgumentError):
        parser.add_argument(
            "--algorithm", default="trial", help="primes: trial, sqrt, sieve; prime: exhaustive, trial, sqrt, fast"
        )
    with suppress(ArgumentError):
        parser.add_argument("--offload", choices=["none", "worker"], default="none", help="worker: in a child process")


class Primes(FastHttpUser):
    """Asks for one list after the other."""

    @task
    def primes(self) -> None:
        """One list of primes."""
        asked = self.environment.parsed_options
        query = f"limit={asked.limit}&algorithm={asked.algorithm}&offload={asked.offload}"
        self.client.get(f"/primes?{query}", name="/primes")
